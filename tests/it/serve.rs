//! `powerband serve`: sessions in a browser of this machine, and nothing to those who do not know the address.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Stdio};

use crate::reports::measure;
use crate::support::{Home, component, skipped};

struct Server {
    process: Child,
    port: u16,
    secret: String,
}

impl Server {
    /// Starts it; nothing where this program has no viewer.
    fn start(home: &Home, sessions: &[&str]) -> Option<Self> {
        if std::env::var_os("POWERBAND_WITHOUT_VIEWER").is_some() {
            skipped("the viewer, which is left out here");
            return None;
        }
        let mut args = vec!["serve"];
        args.extend(sessions);
        let mut command = home.command(&args);
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = command.spawn().expect("the program starts");
        let mut line = String::new();
        let out = process.stdout.take().expect("its output");
        BufReader::new(out).read_line(&mut line).expect("a line");
        let mut started = Self {
            process,
            port: 0,
            secret: String::new(),
        };
        let address = line.trim().strip_prefix("http://127.0.0.1:");
        let address = component(address, "the viewer, which scripts/viewer builds")?;
        let (port, secret) = address.split_once('/').expect("an address");
        started.port = port.parse().expect("a port");
        secret.trim_end_matches('/').clone_into(&mut started.secret);
        Some(started)
    }

    fn ask(&self, request: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("it listens");
        let sent = write!(stream, "{request} HTTP/1.1\r\nHost: localhost\r\n\r\n");
        sent.expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        answer
    }

    /// Whether it answers now.
    fn answers(&self) -> bool {
        let Ok(mut stream) = TcpStream::connect(("127.0.0.1", self.port)) else {
            return false;
        };
        let mut answer = String::new();
        let asked = write!(stream, "GET /{}/ HTTP/1.1\r\n\r\n", self.secret);
        asked.is_ok() && stream.read_to_string(&mut answer).is_ok() && answer.starts_with(OK)
    }

    fn get(&self, place: &str) -> String {
        self.ask(&format!("GET /{}/{place}", self.secret))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

const OK: &str = "HTTP/1.1 200 OK";

#[test]
fn the_library_is_listed_and_each_session_has_its_page() {
    let home = Home::new();
    let name = ["--name", "Before <b>lunch</b>"];
    let run = home.run(&[
        "bench",
        "resnet18@cifar",
        "--preset",
        "quick",
        "--rounds",
        "2",
        "--batch",
        "1",
        "--setup",
        "fake",
        name[0],
        name[1],
    ]);
    assert_eq!(run.status, Some(0), "{run:#?}");
    let Some(server) = Server::start(&home, &[]) else {
        return;
    };
    let list = server.get("");
    assert!(list.starts_with(OK), "{list}");
    assert!(list.contains("Before &lt;b&gt;lunch&lt;/b&gt;"), "{list}");
    let link = format!("href=\"/{}/", server.secret);
    let (_, place) = list.split_once(&link).expect("a link");
    let (place, _) = place.split_once('"').expect("its end");
    let page = server.get(place);
    assert!(page.starts_with(OK) && page.contains("Referrer-Policy: no-referrer"));
    assert!(page.contains("id=\"powerband-sessions\""));
    assert!(server.get("1").contains("404"));
}

#[test]
fn who_does_not_know_the_secret_gets_nothing() {
    let home = Home::new();
    measure(&home, "a.ron", &[]);
    let Some(server) = Server::start(&home, &["a.ron"]) else {
        return;
    };
    assert!(server.get("").contains("id=\"powerband-sessions\""));
    // What was not named is not shown.
    assert!(server.get("1").contains("404"));
    let wrong = format!("GET /{}/", "0".repeat(server.secret.len()));
    for request in ["GET /", "GET /favicon.ico", "GET /../", &wrong, "GET", ""] {
        let answer = server.ask(request);
        assert!(!answer.contains("powerband"), "{request}: {answer}");
        assert!(!answer.starts_with(OK), "{request}: {answer}");
    }
    let posted = server.ask(&format!("POST /{}/", server.secret));
    assert!(posted.starts_with("HTTP/1.1 405"), "{posted}");
    let head = server.ask(&format!("HEAD /{}/", server.secret));
    assert!(head.starts_with(OK) && head.ends_with("\r\n\r\n"), "{head}");
}

#[test]
fn what_cannot_be_read_is_said_before_it_listens() {
    let home = Home::new();
    if std::env::var_os("POWERBAND_WITHOUT_VIEWER").is_some() {
        return skipped("the viewer, which is left out here");
    }
    home.run(&["serve", "none.ron"]).fails_saying(&["none.ron"]);
}

#[test]
fn connections_that_ask_for_nothing_are_in_the_way_only_while_they_are_open() {
    let home = Home::new();
    measure(&home, "a.ron", &[]);
    let Some(server) = Server::start(&home, &["a.ron"]) else {
        return;
    };
    let connect = |_| TcpStream::connect(("127.0.0.1", server.port)).expect("it listens");
    let idle: Vec<TcpStream> = (0..40).map(connect).collect();
    drop(idle);
    // Until it has seen that they are gone, it may refuse another one.
    let mut attempts = std::iter::repeat_with(|| {
        std::thread::sleep(std::time::Duration::from_millis(50));
        server.answers()
    });
    assert!(attempts.by_ref().take(200).any(|answers| answers));
}
