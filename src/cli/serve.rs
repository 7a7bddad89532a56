//! `powerband serve`: the page of sessions from a port of this machine, to look at a machine without a screen.
//!
//! It answers GET and HEAD of HTTP/1.1, one request for each connection, and only below an address that cannot be
//! guessed.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::Context as _;

use super::args::ServeArgs;
use super::export_page::sources;
use super::{Context, output};
use crate::page_contents::PageContents;
use crate::result_page;
use crate::secret::secret;
use powerband_core::base::{clock, humanize, system};
use powerband_findings::analysis::category::Rules;
use powerband_findings::export::html::escaped;
use powerband_store::library;

/// Bytes of a request that are read at most.
const LONGEST_REQUEST: u64 = 16 << 10;
/// How long a browser may take to ask, and to take the next part of its answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// Connections that are answered at a time; further ones are closed.
const MOST_OPEN: usize = 32;
/// Before it is tried again to take a connection.
const PAUSE: Duration = Duration::from_millis(100);
const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:3rem auto;padding:0 1rem;color-scheme:light dark}\
table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.35rem .8rem .35rem 0;border-bottom:1px solid #8884}";

/// Answers until it is ended.
pub(super) fn run(context: &Context, args: &ServeArgs) -> anyhow::Result<ExitCode> {
    result_page::check_viewer()?;
    // What cannot be read is said here and not in the browser.
    sources(args.sessions.iter().map(PathBuf::as_path))?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, args.port)).with_context(|| {
        format!(
            "port {} of this machine cannot be used; name another with --port, or none for a free one",
            args.port
        )
    })?;
    let port = listener.local_addr()?.port();
    let site = Site {
        context,
        sessions: &args.sessions,
        secret: secret().context("there are no random numbers for the address")?,
    };
    output::answer(&format!("http://127.0.0.1:{port}/{}/", site.secret))?;
    output::note(&format!(
        "Ctrl-C ends it. On another machine the address works after: ssh -L {port}:127.0.0.1:{port} {}",
        system::machine_name()
    ));
    let (site, n_open) = (&site, &AtomicUsize::new(0));
    thread::scope(|scope| {
        for stream in listener.incoming() {
            let Ok(stream) = stream else {
                // Too many files are open, most likely: some close soon.
                thread::sleep(PAUSE);
                continue;
            };
            if n_open.load(Ordering::Relaxed) >= MOST_OPEN {
                continue;
            }
            n_open.fetch_add(1, Ordering::Relaxed);
            let answer = move || {
                // A browser that leaves before it has its answer is no error.
                drop(site.answer(stream));
                n_open.fetch_sub(1, Ordering::Relaxed);
            };
            if thread::Builder::new().spawn_scoped(scope, answer).is_err() {
                n_open.fetch_sub(1, Ordering::Relaxed);
            }
        }
    });
    Ok(ExitCode::SUCCESS)
}

struct Site<'a> {
    context: &'a Context,
    /// None for all of the library.
    sessions: &'a [PathBuf],
    secret: String,
}

/// What is sent back.
struct Answer {
    status: &'static str,
    body: String,
}

impl Answer {
    fn page(body: String) -> Self {
        Self {
            status: "200 OK",
            body,
        }
    }

    fn refusal(status: &'static str) -> Self {
        Self {
            status,
            body: format!("<!doctype html><title>{status}</title><p>{status}</p>\n"),
        }
    }
}

impl Site<'_> {
    fn answer(&self, mut stream: TcpStream) -> io::Result<()> {
        stream.set_write_timeout(Some(PATIENCE))?;
        let head = read_head(&stream)?;
        let mut line = head.lines().next().unwrap_or_default().split(' ');
        let (method, target) = (
            line.next().unwrap_or_default(),
            line.next().unwrap_or_default(),
        );
        let answer = match method {
            "GET" | "HEAD" => self.answer_for(target),
            _ => Answer::refusal("405 Method Not Allowed"),
        };
        write!(
            stream,
            "HTTP/1.1 {}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\n\
             Cache-Control: no-store\r\nReferrer-Policy: no-referrer\r\n\
             X-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\nConnection: close\r\n\r\n",
            answer.status,
            answer.body.len()
        )?;
        if method != "HEAD" {
            stream.write_all(answer.body.as_bytes())?;
        }
        stream.flush()
    }

    fn answer_for(&self, target: &str) -> Answer {
        let path = target.split('?').next().unwrap_or_default();
        let below = path.strip_prefix('/').and_then(|path| path.split_once('/'));
        let Some((_, place)) = below.filter(|(secret, _)| *secret == self.secret) else {
            return Answer::refusal("404 Not Found");
        };
        let page = match (place, self.sessions) {
            ("", []) => Ok(self.list()),
            ("", sessions) => self.page(sessions.iter().map(PathBuf::as_path)),
            (place, _) => {
                let listed = library::list(&self.context.paths);
                let asked = place.parse::<u64>().ok();
                let found = listed.iter().find(|path| asked == Some(number(path)));
                match found.filter(|_| self.sessions.is_empty()) {
                    Some(path) => self.page(std::iter::once(path.as_path())),
                    None => return Answer::refusal("404 Not Found"),
                }
            }
        };
        page.map_or_else(
            |error| Answer {
                status: "500 Internal Server Error",
                body: format!(
                    "<!doctype html><title>Powerband</title><p>{}</p>\n",
                    escaped(&format!("{error:#}"))
                ),
            },
            Answer::page,
        )
    }

    fn page<'p>(&self, paths: impl Iterator<Item = &'p Path>) -> anyhow::Result<String> {
        let rules = Rules::with_user_rules(&self.context.settings.categories);
        let contents = PageContents::find(&sources(paths)?);
        for note in &contents.notes {
            output::note(note);
        }
        let bundle = contents.bundle(false)?;
        result_page::write(&bundle, &rules)
    }

    /// The sessions of the library, each with its page.
    fn list(&self) -> String {
        let mut text = format!(
            "<!doctype html>\n<meta charset=\"utf-8\">\n<title>Powerband</title>\n<style>{STYLE}</style>\n<h1>{}</h1>\n",
            escaped(&format!("Sessions on {}", system::machine_name()))
        );
        let entries = library::list(&self.context.paths);
        let entries = entries.iter().filter_map(|path| library::entry(path).ok());
        let mut rows = String::new();
        for entry in entries {
            rows.push_str(&format!(
                "<tr><td><a href=\"/{}/{}\">{}</a></td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
                self.secret,
                number(&entry.path),
                escaped(&entry.name),
                escaped(&entry.model),
                escaped(&entry.machine),
                escaped(&humanize::moment(&entry.created))
            ));
        }
        if rows.is_empty() {
            text.push_str("<p>The library has no session yet; powerband bench makes one.</p>\n");
            return text;
        }
        let head = "<tr><th>Session</th><th>Network</th><th>Machine</th><th>Measured</th></tr>";
        text.push_str(&format!("<table>\n{head}\n{rows}</table>\n"));
        text
    }
}

/// A number for a file, which says nothing of its path.
fn number(path: &Path) -> u64 {
    let mut hasher = DefaultHasher::new();
    path.hash(&mut hasher);
    hasher.finish()
}

/// A request up to its empty line.
fn read_head(stream: &TcpStream) -> io::Result<String> {
    let mut head = Vec::new();
    let end_ns = clock::monotonic_ns() + PATIENCE.as_nanos() as u64;
    let mut bytes = stream.take(LONGEST_REQUEST);
    let mut part = [0; 2048];
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        let left_ns = end_ns.saturating_sub(clock::monotonic_ns());
        if left_ns == 0 {
            return Err(io::ErrorKind::TimedOut.into());
        }
        stream.set_read_timeout(Some(Duration::from_nanos(left_ns)))?;
        let n_read = bytes.read(&mut part)?;
        if n_read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        head.extend_from_slice(&part[..n_read]);
    }
    Ok(String::from_utf8_lossy(&head).into_owned())
}
