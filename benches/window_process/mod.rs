//! What the window promises about its start and its rest, measured as the user sees it: the program in a window of its own
//! on a display without a screen. `window` says which part is wanted, and prints with the helpers here.

use std::env;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use tempfile::TempDir;

use crate::display::Display;
use powerband_core::stats::summary::median;

/// Names another build of the program: cargo builds this one with the tests' features.
const OTHER: &str = "POWERBAND_PROGRAM";
const STARTS: usize = 10;
const REST: Duration = Duration::from_secs(30);
const PATIENCE: Duration = Duration::from_mins(1);

/// The program in a window of its own, ended with its owner.
struct WindowProcess {
    program: Child,
    lines: Receiver<(Duration, String)>,
}

impl WindowProcess {
    #[expect(
        clippy::disallowed_methods,
        reason = "the bench is the user, who starts programs"
    )]
    fn start(display: &Display, home: &Path) -> Result<Self> {
        let begin = Instant::now();
        let mut program = Command::new(program())
            .env("DISPLAY", display.name())
            .env("LIBGL_ALWAYS_SOFTWARE", "1")
            .env("POWERBAND_HOME", home)
            .env("POWERBAND_TIMES", "1")
            .env_remove("WAYLAND_DISPLAY")
            .env_remove("WAYLAND_SOCKET")
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()?;
        let stderr = program.stderr.take().context("no standard error")?;
        let (sender, lines) = sync_channel(64);
        thread::Builder::new()
            .name("stderr".to_owned())
            .spawn(move || {
                for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                    if sender.send((begin.elapsed(), line)).is_err() {
                        return;
                    }
                }
            })?;
        Ok(Self { program, lines })
    }

    /// How long it took from the start of the process, and from the start of the window, in milliseconds.
    fn first_frame(&self) -> Result<(f64, f64)> {
        loop {
            let (at, line) = self
                .lines
                .recv_timeout(PATIENCE)
                .context("no first frame")?;
            if let Some(rest) = line.strip_prefix("first frame ") {
                let own = rest.split(' ').next().unwrap_or_default().parse()?;
                return Ok((at.as_secs_f64() * 1e3, own));
            }
        }
    }

    /// Time on processors so far, all threads together, without children.
    fn processor_time(&self) -> Result<Duration> {
        let mut ns = 0;
        for thread in fs::read_dir(format!("/proc/{}/task", self.program.id()))? {
            let spent = fs::read_to_string(thread?.path().join("schedstat"))?;
            ns += spent.split(' ').next().unwrap_or_default().parse::<u64>()?;
        }
        Ok(Duration::from_nanos(ns))
    }

    /// Memory in MB by a line of `/proc/PID/status`.
    fn memory(&self, line: &str) -> Result<f64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.program.id()))?;
        let found = status.lines().find_map(|each| each.strip_prefix(line));
        let kib: f64 = found
            .and_then(|rest| rest.split_whitespace().next())
            .context("no such line")?
            .parse()?;
        Ok(kib * 1024.0 / 1e6)
    }
}

impl Drop for WindowProcess {
    fn drop(&mut self) {
        // Both fail only where it has ended by itself.
        drop(self.program.kill());
        drop(self.program.wait());
    }
}

pub(crate) fn start_up(display: &Display) -> Result<()> {
    let home = TempDir::new()?;
    let (mut whole, mut own) = (Vec::new(), Vec::new());
    // The first start reads the files from the disk and does not count.
    for n in 0..=STARTS {
        let (from_exec, from_window) = WindowProcess::start(display, home.path())?.first_frame()?;
        if n > 0 {
            whole.push(from_exec);
            own.push(from_window);
        }
    }
    let ms = median(&whole).context("no starts")?;
    let own = median(&own).context("no starts")?;
    let what = format!("first frame, of which {own:.0} ms in the window");
    promise(&what, &format!("{ms:.0} ms"), "≤ 150 ms", ms <= 150.0);
    Ok(())
}

pub(crate) fn rest(display: &Display) -> Result<()> {
    let home = TempDir::new()?;
    let shown = WindowProcess::start(display, home.path())?;
    shown.first_frame()?;
    // Until the engines are found and the notices are gone.
    thread::sleep(Duration::from_secs(15));
    let before = shown.processor_time()?;
    thread::sleep(REST);
    let spent = shown.processor_time()?.saturating_sub(before);
    let share = spent.as_secs_f64() / REST.as_secs_f64() * 100.0;
    promise(
        "at rest, of one core",
        &format!("{share:.3} %"),
        "< 0.5 %",
        share < 0.5,
    );
    let all = shown.memory("VmRSS:")?;
    let own = shown.memory("RssAnon:")?;
    let what = format!("at rest, memory, of which {own:.0} MB its own");
    promise(&what, &format!("{all:.0} MB"), "≤ 150 MB", all <= 150.0);
    Ok(())
}

pub(crate) fn program() -> PathBuf {
    let other = env::var_os(OTHER).map(PathBuf::from);
    other.unwrap_or_else(|| PathBuf::from(env!("CARGO_BIN_EXE_powerband")))
}

#[expect(
    clippy::print_stdout,
    reason = "the figures are what this program is for"
)]
pub(crate) fn say(line: &str) {
    println!("{line}");
}

fn promise(what: &str, figure: &str, promised: &str, kept: bool) {
    let verdict = if kept { "kept" } else { "MISSED" };
    say(&format!(
        "{what:<46}{figure:>12}   {promised:<12} {verdict}"
    ));
}
