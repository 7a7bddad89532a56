//! Reports as a user gets them: written, read, opened in a browser, and repeated from.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;
use std::time::Duration;

use crate::support::{Home, ProgramRun, component, files};

/// Whoever says nothing for so long has nothing to say.
const SILENCE: Duration = Duration::from_millis(500);
/// A host that a smuggled-in picture would call.
const HOST: &str = "smuggled.powerband.test";

/// Measures on the engine that makes timings up.
pub(crate) fn measure(home: &Home, file: &str, rest: &[&str]) {
    let mut args = vec![
        "bench",
        "resnet18@cifar",
        "--preset",
        "quick",
        "--rounds",
        "3",
    ];
    args.extend(["--batch", "1,2", "--setup", "fake,fixed=300", "--out", file]);
    args.extend(rest);
    let run = home.run(&args);
    assert_eq!(run.status, Some(0), "{run:#?}");
}

fn read(home: &Home, file: &str) -> String {
    std::fs::read_to_string(home.path(file)).expect("a file")
}

fn written(run: &ProgramRun) {
    assert_eq!(run.status, Some(0), "{run:#?}");
    assert!(run.out.is_empty(), "{run:#?}");
    assert!(run.err.contains("Saved to"), "{run:#?}");
}

#[test]
fn every_layout_is_written_in_both_formats() {
    let home = Home::new();
    measure(&home, "a.ron", &["--setup", "fake,fixed=100"]);
    measure(&home, "b.ron", &["--name", "after"]);
    for layout in ["full", "summary", "case-study"] {
        written(&home.run(&["report", "a.ron", "--layout", layout, "--to", "r.html"]));
        let page = read(&home, "r.html");
        assert!(page.starts_with("<!doctype html>"), "{layout}");
        assert!(page.contains("These timings are made up"), "{layout}");
        written(&home.run(&["report", "a.ron", "--layout", layout, "--to", "r.md"]));
        assert!(read(&home, "r.md").starts_with("# "), "{layout}");
    }
    written(&home.run(&[
        "report", "a.ron", "b.ron", "--to", "two.md", "--title", "Mine",
    ]));
    let text = read(&home, "two.md");
    assert!(text.starts_with("# Mine\n"), "{text}");
    assert!(text.contains("## Case by case"), "{text}");
    let pictures = files(&home.path("two.files"));
    assert!(!pictures.is_empty());
    for picture in pictures {
        let name = picture.file_name().unwrap().to_string_lossy().into_owned();
        assert!(text.contains(&format!("(two.files/{name})")), "{name}");
    }
}

/// A file of another tool as a session.
fn imported(home: &Home, fixture: &str, out: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures/import")
        .join(fixture);
    let run = home.run(&["import", &file.display().to_string(), "--out", out]);
    assert_eq!(run.status, Some(0), "{run:#?}");
}

#[test]
fn a_report_of_an_offline_run_has_the_rate_that_was_imported() {
    let home = Home::new();
    let fixture = "mlperf-loadgen/local-offline.mlperf_log_summary.txt";
    imported(&home, fixture, "offline.ron");
    for layout in ["full", "summary"] {
        written(&home.run(&["report", "offline.ron", "--layout", layout, "--to", "r.md"]));
        let text = read(&home, "r.md");
        let rates = ["152 items/s", "151.8 items/s", "151.75 items/s"];
        let has_rate = rates.iter().any(|rate| text.contains(rate));
        assert!(has_rate, "{layout}: {text}");
        // Samples wait for each other, so that no latency stands for a run.
        assert!(!text.contains("170 ms"), "{layout}: {text}");
    }
    let shown = home.run(&["show", "offline.ron"]);
    assert!(shown.out.contains("152 /s"), "{shown:#?}");
    assert!(shown.out.contains("is INVALID"), "{shown:#?}");
}

#[test]
fn a_profile_alone_has_a_page_and_is_no_case_study() {
    let home = Home::new();
    imported(
        &home,
        "onnxruntime/resnet50-cpu-ort1.31.json",
        "profile.ron",
    );
    let args = [
        "report",
        "profile.ron",
        "--layout",
        "summary",
        "--to",
        "r.md",
    ];
    written(&home.run(&args));
    let text = read(&home, "r.md");
    assert!(text.contains("### Top operations"), "{text}");
    assert!(text.contains("Conv"), "{text}");
    assert!(text.contains("Operator fusion potential"), "{text}");
    let args = [
        "report",
        "profile.ron",
        "--layout",
        "case-study",
        "--to",
        "r.md",
    ];
    home.run(&args)
        .fails_saying(&["case-study", "1 profile", "--layout summary"]);
    measure(&home, "one.ron", &[]);
    let args = [
        "report",
        "one.ron",
        "--layout",
        "case-study",
        "--to",
        "r.md",
    ];
    home.run(&args)
        .fails_saying(&["one measured setup", "--layout full"]);
}

#[test]
fn what_cannot_be_written_is_said() {
    let home = Home::new();
    measure(&home, "a.ron", &[]);
    let report = |rest: &[&str]| home.run(&[&["report", "a.ron"], rest].concat());
    report(&["--to", "r.docx"]).fails_saying(&["r.docx", ".html", ".md"]);
    report(&["--to", "r.html", "--layout", "poem"]).fails_saying(&["poem", "case-study"]);
    report(&["--to", "r.html", "--layout", "comparison"]).fails_saying(&["two sessions"]);
    report(&["a.ron", "--to", "r.html", "--layout", "full"]).fails_saying(&["one session"]);
    report(&["--to", "nowhere/r.html"]).fails_saying(&["cannot write", "nowhere/r.html"]);
    home.write("r.files", "in the way");
    report(&["--to", "r.md"]).fails_saying(&["cannot write", "r.files"]);
    home.run(&["report", "none.ron", "--to", "r.html"])
        .fails_saying(&["none.ron"]);
    assert!(!home.path("r.html").exists());
}

#[test]
fn the_command_in_a_report_measures_the_same_plan() {
    let home = Home::new();
    let rest = ["--setup", "fake,fixed=100", "--telemetry", "5", "--journey"];
    measure(&home, "a.ron", &rest);
    written(&home.run(&["report", "a.ron", "--to", "r.md"]));
    let text = read(&home, "r.md");
    let line = text
        .lines()
        .find(|line| line.starts_with("powerband bench"));
    let line = line.unwrap_or_else(|| panic!("no command in {text}"));
    let mut words: Vec<&str> = line.split(' ').skip(1).collect();
    words.extend(["--out", "b.ron"]);
    let run = home.run(&words);
    assert_eq!(run.status, Some(0), "{run:#?}");
    let plan = |file: &str| {
        let text = read(&home, file);
        let from = text.find("plan: (").expect("a plan");
        let to = text.find("\n    model: (").expect("a model after the plan");
        text[from..to].to_owned()
    };
    assert_eq!(plan("a.ron"), plan("b.ron"));
}

/// A browser without a window.
pub(crate) fn browser() -> Option<PathBuf> {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let mut places = folders
        .iter()
        .flat_map(|folder| names.map(|name| folder.join(name)));
    component(places.find(|place| place.is_file()), "Chromium")
}

/// Everything that a browser asks of the network goes here, and gets no answer.
fn watched_network() -> (String, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    let (sender, requests) = sync_channel(1024);
    thread::Builder::new()
        .name("watched-network".to_owned())
        .spawn(move || {
            for mut stream in listener.incoming().flatten() {
                // Some connections are opened ahead and never used.
                if stream.set_read_timeout(Some(SILENCE)).is_err() {
                    continue;
                }
                let mut line = String::new();
                let read = BufReader::new(&stream).read_line(&mut line);
                drop(stream.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"));
                if read.is_ok() && sender.send(line).is_err() {
                    return;
                }
            }
        })
        .expect("a thread");
    (address, requests)
}

/// Opens a page, gives its picture, and tells what it asked of the network.
pub(crate) fn open(
    home: &Home,
    browser: &Path,
    page: &Path,
    picture: &Path,
    look: &[&str],
) -> Vec<String> {
    let (proxy, requests) = watched_network();
    let proxy = format!("--proxy-server={proxy}");
    let picture = format!("--screenshot={}", picture.display());
    let profile = format!("--user-data-dir={}", home.path("browser").display());
    let address = format!("file://{}", page.display());
    let mut args = vec![
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--no-first-run",
    ];
    args.extend([
        "--disable-background-networking",
        "--disable-component-update",
    ]);
    args.extend([
        "--disable-sync",
        "--disable-default-apps",
        "--hide-scrollbars",
    ]);
    args.extend([&proxy, &picture, &profile].map(String::as_str));
    args.extend(look);
    args.push(&address);
    let mut command = home.command_of(browser, &args);
    let output = command.env("HOME", home.path("")).output();
    let output = output.expect("the browser starts");
    assert!(
        output.status.success(),
        "{:#?}",
        ProgramRun::from_output(&output)
    );
    // What the browser wants for itself names its maker.
    let own = ["google", "gvt1", "chromium"];
    let asked = std::iter::from_fn(|| requests.recv_timeout(SILENCE).ok());
    asked
        .filter(|line| !own.iter().any(|name| line.contains(name)))
        .collect()
}

#[test]
fn a_browser_shows_a_report_and_asks_nobody() {
    let Some(browser) = browser() else {
        return;
    };
    let home = Home::new();
    let name = format!("<img src=\"http://{HOST}/a.png\"> url(http://{HOST}/b) & co");
    measure(
        &home,
        "a.ron",
        &["--name", &name, "--setup", "fake,fixed=100"],
    );
    written(&home.run(&["report", "a.ron", "--to", "r.html"]));
    let page = home.path("r.html");
    let open = |page: &Path, picture: &str, look: &[&str]| {
        let picture = home.path(picture);
        let asked = open(&home, &browser, page, &picture, look);
        assert!(picture.exists());
        let pixels = image::open(&picture).unwrap().into_rgb8();
        (asked, pixels.get_pixel(3, 3).0)
    };
    let light = [
        "--blink-settings=preferredColorScheme=1",
        "--window-size=1280,900",
    ];
    let dark = [
        "--blink-settings=preferredColorScheme=0",
        "--window-size=420,900",
    ];
    let (asked, ground) = open(&page, "light.png", &light);
    assert_eq!(asked, Vec::<String>::new());
    assert_eq!(ground, [0xf6, 0xf7, 0xf9]);
    let (asked, ground) = open(&page, "dark.png", &dark);
    assert_eq!(asked, Vec::<String>::new());
    assert_eq!(ground, [0x0e, 0x10, 0x14]);
    // A page that does ask is seen to ask.
    let other = home.write("other.html", format!("<img src=\"http://{HOST}/a.png\">"));
    let (asked, _) = open(&other, "other.png", &light);
    assert!(asked.iter().any(|line| line.contains(HOST)), "{asked:#?}");
}

#[test]
fn what_others_published_is_reported_as_theirs() {
    let home = Home::new();
    let session = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("sessions/published-resnet50-case-study.ron")
        .display()
        .to_string();
    for name in ["r.md", "r.html"] {
        let run = home.run(&["report", &session, "--to", name]);
        assert_eq!(run.status, Some(0), "{run:#?}");
        let text = fs::read_to_string(home.path(name)).expect("a report");
        for words in [
            "Published numbers",
            "Inconsistent numbers",
            "1,730",
            "21.6 ×",
            "not measured",
        ] {
            assert!(text.contains(words), "{words} in {text}");
        }
        for words in ["run is not complete", "Governor", "worker process"] {
            assert!(!text.contains(words), "{words} in {text}");
        }
    }
}
