//! `powerband export SESSION... --to result.html`: a page that shows the screens of its sessions in a browser, offline.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use powerband_core::domain::anonymous::PrivateNames;
use powerband_core::domain::machine::RemoteMachine;
use powerband_store::session_file;

use crate::reports::{browser, measure, open};
use crate::support::{self, Home, ProgramRun, component, skipped};

/// Markup that a session's name may have.
const MARKUP: &str = "<script>document.title='smuggled'</script> & co";
/// Distinct colours of a screen with charts; an empty canvas has one, a page of text some dozens.
const LEAST_COLOURS: usize = 400;
/// The switch that lets a browser without a graphics card draw with WebGL, and patience for its pages.
pub(crate) const WEBGL: [&str; 2] = ["--enable-unsafe-swiftshader", "--virtual-time-budget=30000"];

/// Writes a page; nothing where this program has no viewer.
pub(crate) fn page(home: &Home, args: &[&str]) -> Option<(PathBuf, ProgramRun)> {
    if std::env::var_os("POWERBAND_WITHOUT_VIEWER").is_some() {
        skipped("the viewer, which is left out here");
        return None;
    }
    let mut all = vec!["export"];
    all.extend(args);
    all.extend(["--to", "result.html"]);
    let run = home.run(&all);
    let has_viewer = !run.err.contains("scripts/viewer");
    component(
        has_viewer.then_some(()),
        "the viewer, which scripts/viewer builds",
    )?;
    assert_eq!(run.status, Some(0), "{run:#?}");
    assert!(
        run.out.is_empty() && run.err.contains("In it: "),
        "{run:#?}"
    );
    Some((home.path("result.html"), run))
}

/// What a browser makes of a page: its document.
pub(crate) fn document(home: &Home, browser: &Path, page: &Path, look: &[&str]) -> String {
    let profile = format!("--user-data-dir={}", home.path("browser").display());
    let address = format!("file://{}", page.display());
    let mut args = vec![
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--no-first-run",
    ];
    args.extend([profile.as_str(), "--dump-dom"]);
    args.extend(look);
    args.push(&address);
    let mut command = home.command_of(browser, &args);
    let output = command.env("HOME", home.path("")).output();
    String::from_utf8_lossy(&output.expect("the browser starts").stdout).into_owned()
}

/// The bytes of a part, of which five characters are four.
fn bytes_of(text: &str) -> Vec<u8> {
    let digit = |code: u8| u32::from(if code == b'!' { b'<' } else { code }) - 40;
    let groups = text.as_bytes().chunks(5);
    let value = |group: &[u8]| {
        group
            .iter()
            .fold(0, |value, code| value * 85 + digit(*code))
    };
    groups
        .flat_map(|group| value(group).to_be_bytes())
        .collect()
}

/// Everything in a page as text: what is packed in it comes unpacked.
pub(crate) fn unpacked(page: &Path) -> String {
    let text = fs::read_to_string(page).expect("a page");
    let mut all = text.clone();
    for id in ["script", "sessions"] {
        let begin = format!("id=\"powerband-{id}\"");
        let (_, rest) = text.split_once(&begin).expect("a part");
        let (_, rest) = rest.split_once('>').expect("its begin");
        let (packed, _) = rest.split_once('<').expect("its end");
        let bytes = bytes_of(packed);
        all.push_str(&String::from_utf8_lossy(&bytes));
        for (at, _) in bytes
            .windows(3)
            .enumerate()
            .filter(|(_, head)| *head == [0x1f, 0x8b, 8])
        {
            let mut part = Vec::new();
            // Other bytes may look like the beginning of a part.
            let read = MultiGzDecoder::new(&bytes[at..]).read_to_end(&mut part);
            drop(read);
            all.push_str(&String::from_utf8_lossy(&part));
        }
    }
    all
}

#[test]
fn the_screens_are_drawn_and_nobody_is_asked() {
    let Some(browser) = browser() else {
        return;
    };
    let home = Home::new();
    measure(
        &home,
        "a.ron",
        &["--name", MARKUP, "--setup", "fake,fixed=100"],
    );
    let Some((page, _)) = page(&home, &["a.ron"]) else {
        return;
    };
    let text = fs::read_to_string(&page).expect("a page");
    assert!(!text.contains("<script>document"), "markup of a name");
    for (theme, ground) in [("1", [0xf6, 0xf7, 0xf9]), ("0", [0x0e, 0x10, 0x14])] {
        let theme = format!("--blink-settings=preferredColorScheme={theme}");
        let mut look = vec![theme.as_str(), "--window-size=1280,900"];
        look.extend(WEBGL);
        let picture = home.path("screen.png");
        assert_eq!(
            open(&home, &browser, &page, &picture, &look),
            Vec::<String>::new()
        );
        let pixels = image::open(&picture).expect("a picture").into_rgb8();
        let colours: BTreeSet<[u8; 3]> = pixels.pixels().map(|pixel| pixel.0).collect();
        assert!(colours.len() > LEAST_COLOURS, "{} colours", colours.len());
        assert_eq!(pixels.get_pixel(1_272, 450).0, ground);
        let shown = document(&home, &browser, &page, &look);
        assert!(shown.contains("class=\"viewing\""), "{}", &shown[..300]);
        assert!(!shown.contains("<title>smuggled"), "{}", &shown[..300]);
    }
}

#[test]
fn a_page_that_was_cut_or_that_cannot_draw_shows_its_report() {
    let Some(browser) = browser() else {
        return;
    };
    let home = Home::new();
    measure(&home, "a.ron", &[]);
    let Some((page, _)) = page(&home, &["a.ron"]) else {
        return;
    };
    let text = fs::read_to_string(&page).expect("a page");
    let half = home.write("half.html", &text[..text.len() / 2]);
    let mut cases = vec![
        (&half, WEBGL.to_vec(), "incomplete"),
        (&page, vec!["--disable-3d-apis", WEBGL[1]], "no WebGL"),
    ];
    // Chromium leaves vector instructions out where it takes a processor for one of 2005.
    if cfg!(target_arch = "x86_64") {
        let old = "--js-flags=--no-enable-sse4-1 --no-enable-ssse3 --no-enable-sse3";
        let look = vec![WEBGL[0], WEBGL[1], old];
        cases.push((&page, look, "no vector instructions"));
    }
    for (page, look, reason) in &cases {
        let shown = document(&home, &browser, page, look);
        assert!(
            shown.contains("class=\"failed\""),
            "{reason}: {}",
            &shown[..300]
        );
        let (_, said) = shown
            .split_once("id=\"powerband-said\"")
            .expect("a sentence");
        assert!(said[..300].contains(reason), "{}", &said[..300]);
        assert!(said.contains("These timings are made up"), "no report");
    }
}

/// A timeline with a secret wherever it has a text.
pub(crate) const SECRET_TIMELINE: &str = r#"{"schemaVersion": 1, "traceEvents": [
    {"ph": "M", "name": "process_name", "pid": 7, "tid": 0, "args": {"name": "python of bobby"}},
    {"ph": "M", "name": "thread_name", "pid": 7, "tid": 8, "args": {"name": "/home/bobby/run.sh"}},
    {"ph": "X", "cat": "cpu_op", "name": "aten::conv2d", "pid": 7, "tid": 8, "ts": 11, "dur": 4,
     "args": {"node": "/layer1/conv/Conv", "model": "C:\\Users\\bobby\\net", "from": "\\\\filer77\\team\\bobby\\y.onnx"}},
    {"ph": "X", "cat": "python_function", "name": "/home/bobby/proj/train.py(3): f", "pid": 7, "tid": 8, "ts": 10, "dur": 9,
     "args": {"host": "gpu-node7.corp",
              "Call stack": "file:///home/bobby/x; ../thesis_bobby/model.py; /workspace/bobby-company/net.py"}}
]}"#;

#[test]
fn an_anonymous_page_has_no_path_and_no_name() {
    let home = Home::new();
    let trace = home.write("t.pt.trace.json", SECRET_TIMELINE);
    let imported = home.run(&["import", &trace.display().to_string(), "--out", "b.ron"]);
    assert_eq!(imported.status, Some(0), "{imported:#?}");
    let notes = "read from /home/carolyn/nets/r50.onnx on carolyn@rack7";
    measure(&home, "a.ron", &["--name", notes]);
    let secrets = [
        "/home/carolyn",
        "carolyn",
        "bobby",
        "thesis_bobby",
        "gpu-node7",
        "filer77",
    ];
    let Some((with, run)) = page(&home, &["a.ron", "b.ron"]) else {
        return;
    };
    assert!(run.err.contains("2 sessions, 1 timeline"), "{run:#?}");
    assert!(run.err.contains("such as /home/bobby/"), "{run:#?}");
    for name in ["bobby", "carolyn", "gpu-node7.corp"] {
        assert!(run.err.contains(name), "{run:#?}");
    }
    let all = unpacked(&with);
    for secret in secrets {
        assert!(all.contains(secret), "{secret}");
    }
    let (without, run) = page(&home, &["a.ron", "b.ron", "--anonymous"]).expect("a page");
    assert!(run.err.contains("without paths"), "{run:#?}");
    assert!(run.err.contains("check notes"), "{run:#?}");
    let all = unpacked(&without);
    for secret in secrets {
        let found = all.find(secret).map(|at| {
            let near = &all.as_bytes()[at.saturating_sub(80)..all.len().min(at + 80)];
            String::from_utf8_lossy(near)
        });
        assert_eq!(found, None, "{secret}");
    }
    for rest in [
        "r50.onnx on user",
        "train.py(3): f",
        "/layer1/conv/Conv",
        "python of user",
    ] {
        assert!(all.contains(rest), "{rest}");
    }
}

#[test]
fn no_name_breaks_an_anonymous_session() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/sessions");
    let files = support::files(&root)
        .into_iter()
        .flat_map(|folder| support::files(&folder));
    for file in files {
        let session = session_file::read(&file).expect("a session").session;
        let text = serde_json::to_string(&session).expect("a document");
        let words = text.split(|sign: char| !sign.is_alphanumeric() && !"_-.:".contains(sign));
        let mut named = session.clone();
        named.machines.extend(words.map(|word| RemoteMachine {
            user: word.to_owned(),
            ..RemoteMachine::default()
        }));
        let mut names = PrivateNames::default();
        names.learn(&named);
        let clean = names.session_without(&session);
        let clean = clean.unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        assert_eq!(clean.plan.points, session.plan.points);
        assert_eq!(clean.plan.measure, session.plan.measure);
        for (clean, setup) in clean.plan.setups.iter().zip(&session.plan.setups) {
            assert_eq!(
                (&clean.engine, &clean.device),
                (&setup.engine, &setup.device)
            );
        }
        for (clean, case) in clean.cases.iter().zip(&session.cases) {
            assert_eq!(clean.n_samples(), case.n_samples());
        }
    }
}

#[test]
fn a_page_leaves_a_damaged_timeline_out() {
    let home = Home::new();
    let trace = home.write("t.pt.trace.json", SECRET_TIMELINE);
    let imported = home.run(&["import", &trace.display().to_string(), "--out", "b.ron"]);
    assert_eq!(imported.status, Some(0), "{imported:#?}");
    let session = session_file::read(&home.path("b.ron")).expect("a session");
    let profiles = &session.session.profiles;
    let timeline = profiles[0].trace_file.clone().expect("a timeline");
    home.write(&timeline, "damaged");
    let Some((_, run)) = page(&home, &["b.ron"]) else {
        return;
    };
    assert!(run.err.contains("this timeline is left out"), "{run:#?}");
    let reason = format!("{timeline} cannot be read");
    assert!(run.err.contains(&reason), "{run:#?}");
    assert!(run.err.contains("In it: 1 session;"), "{run:#?}");
}

#[test]
fn a_report_is_written_with_the_page_that_it_links_to() {
    let home = Home::new();
    measure(&home, "a.ron", &[]);
    fs::create_dir(home.path("to send")).expect("a folder");
    let report = |page: &str| home.run(&["report", "a.ron", "--to", "r.html", "--page", page]);
    report("p.md").fails_saying(&["p.md", ".html"]);
    report("./r.html").fails_saying(&["--page", "another"]);
    report("nowhere/p.html").fails_saying(&["nowhere/p.html"]);
    assert!(!home.path("r.html").exists());
    let run = report("to send/#1 <b>.html");
    if run.err.contains("scripts/viewer") {
        assert!(!home.path("r.html").exists(), "{run:#?}");
    }
    if page(&home, &["a.ron"]).is_none() {
        return;
    }
    assert_eq!(run.status, Some(0), "{run:#?}");
    assert!(home.path("to send/#1 <b>.html").exists());
    let text = fs::read_to_string(home.path("r.html")).expect("a report");
    let link = "<a href=\"to%20send/%231%20%3Cb%3E.html\">";
    assert!(text.contains(link));
}

#[test]
fn what_needs_one_session_refuses_several() {
    let home = Home::new();
    measure(&home, "a.ron", &[]);
    for (args, said) in [
        (
            &["a.ron", "a.ron", "--to", "a.json"][..],
            "only a page (.html)",
        ),
        (
            &["a.ron", "--anonymous", "--to", "a.csv"][..],
            "--anonymous is for a page",
        ),
        (
            &[
                "a.ron",
                "--chart",
                "latency",
                "--anonymous",
                "--to",
                "a.html",
            ][..],
            "cannot be used",
        ),
    ] {
        let mut all = vec!["export"];
        all.extend(args);
        let run = home.run(&all);
        assert_eq!(run.status, Some(2), "{run:#?}");
        assert!(run.err.contains(said), "{run:#?}");
    }
}
