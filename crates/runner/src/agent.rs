//! This program on another machine as an agent of a run: it has cases watched there, takes files and gives files back.
//!
//! It speaks the protocol of workers, behind a guard that ends it with the connection. Its files lie in a folder of its
//! own, which goes with it.

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Component, Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::watched::{self, CaseWatch};
use powerband_core::base::atomic_file;
use powerband_core::base::cancel::CancelToken;
use powerband_core::base::process_spec::ProcessSpec;
use powerband_core::domain::plan::TimeLimits;
use powerband_store::trace_file;
use powerband_worker::child;
use powerband_worker::engines::EngineError;
use powerband_worker::process::{self, Finished, named};
use powerband_worker::protocol::{
    AgentReply, AgentRequest, Reply, Request, WatchOrder, WatchedProfile,
};
use powerband_worker::remote::guard;
use powerband_worker::supervisor::Worker;

/// Bytes of a file in one line: so many that a slow link is waited for seldom.
const PIECE: u64 = 8 << 20;
/// A timeline that is larger is not fetched, in bytes.
pub const LONGEST_TIMELINE: u64 = 1 << 30;
/// How long a piece may take.
const PIECE_LIMIT: Duration = Duration::from_mins(2);
/// A command over there is looked at so often.
const COMMAND_LOOK: Duration = Duration::from_millis(400);
/// Profilers take long: so many times what starting, loading and measuring may take.
const PATIENCE: u32 = 10;
/// The timeline of the case that was watched last.
const TIMELINE: &str = "timeline.json.gz";

/// An agent that was started.
pub struct Agent<'a> {
    worker: Worker,
    stop: &'a CancelToken,
    while_waiting: &'a mut dyn FnMut(),
}

impl<'a> Agent<'a> {
    /// Starts it; something small is done a few times a second while it is waited for.
    pub fn start(
        spec: &ProcessSpec,
        limits: &TimeLimits,
        stop: &'a CancelToken,
        while_waiting: &'a mut dyn FnMut(),
    ) -> Result<Self, String> {
        let start = Duration::from_millis(limits.start_ms);
        let worker = Worker::start_process(spec, start, stop);
        Ok(Self {
            worker: worker.map_err(|error| error.to_string())?,
            stop,
            while_waiting,
        })
    }

    fn ask(&mut self, request: AgentRequest, limit: Duration) -> Result<AgentReply, String> {
        let request = Request::Agent(request);
        let answer = self
            .worker
            .ask_while_waiting(&request, limit, self.stop, self.while_waiting);
        match answer.map_err(|error| error.to_string())? {
            Reply::Agent(reply) => Ok(reply),
            other => Err(self.worker.confused(&other).to_string()),
        }
    }

    /// Has a case watched.
    pub fn watch(&mut self, order: &WatchOrder) -> Result<WatchedProfile, String> {
        let limits = &order.limits;
        let all_ms = limits.start_ms + limits.load_ms + limits.measure_ms;
        let limit = Duration::from_millis(all_ms) * PATIENCE;
        let asked = AgentRequest::Watch(Box::new(order.clone()));
        let AgentReply::Watched(mut watched) = self.ask(asked, limit)? else {
            return Err(another_answer());
        };
        watched.profile.trace_file = None;
        Ok(*watched)
    }

    /// Writes the timeline of the case that was watched last to a file here.
    pub fn fetch_timeline(&mut self, to: &Path) -> Result<(), String> {
        self.fetch(Path::new(TIMELINE), to, LONGEST_TIMELINE)
            .map(|_length| ())
    }

    /// Runs one of the program's own commands over there to its end; what it wrote, which is to standard error and an error
    /// where it failed. `told` hears each line to standard error as it comes.
    pub fn command(
        &mut self,
        words: Vec<String>,
        limit: Duration,
        told: &mut dyn FnMut(&str),
    ) -> Result<String, String> {
        let AgentReply::Began(file) = self.ask(AgentRequest::Command { words }, PIECE_LIMIT)?
        else {
            return Err(another_answer());
        };
        let until = Instant::now() + limit;
        let mut said: Vec<u8> = Vec::new();
        let mut n_told = 0;
        while Instant::now() < until {
            let reply = self.ask(AgentRequest::Wait, PIECE_LIMIT)?;
            let is_over = !matches!(reply, AgentReply::GoesOn);
            loop {
                let piece = self.piece(&file, said.len() as u64)?;
                let is_last = piece.is_empty() || !is_over;
                said.extend(piece);
                if is_last {
                    break;
                }
            }
            let line_end = said.iter().rposition(|&byte| byte == b'\n');
            let whole = match line_end {
                _ if is_over => said.len(),
                Some(at) => at + 1,
                None => 0,
            };
            let lines = String::from_utf8_lossy(said.get(n_told..whole).unwrap_or_default());
            lines.lines().for_each(&mut *told);
            n_told = n_told.max(whole);
            match reply {
                AgentReply::GoesOn => {}
                AgentReply::Ended {
                    success: true,
                    stdout,
                    ..
                } => return Ok(stdout),
                AgentReply::Ended { how, .. } if said.is_empty() => return Err(how),
                AgentReply::Ended { .. } => return Err(text_of(&said)),
                _ => return Err(another_answer()),
            }
        }
        Err(format!("it took longer than {} min", limit.as_secs() / 60))
    }

    fn piece(&mut self, file: &Path, from: u64) -> Result<Vec<u8>, String> {
        let file = file.to_path_buf();
        let AgentReply::Piece(piece) = self.ask(AgentRequest::Take { file, from }, PIECE_LIMIT)?
        else {
            return Err(another_answer());
        };
        let piece = STANDARD.decode(piece);
        piece.map_err(|error| format!("a file came broken: {error}"))
    }

    /// A folder of this name below its own; its whole path over there.
    pub fn folder(&mut self, name: &str) -> Result<PathBuf, String> {
        let name = name.to_owned();
        match self.ask(AgentRequest::Folder { name }, PIECE_LIMIT)? {
            AgentReply::Folder(path) => Ok(path),
            _ => Err(another_answer()),
        }
    }

    /// Sends a file to a place below its folder; its whole path over there.
    pub fn put(&mut self, file: &Path, to: &str) -> Result<PathBuf, String> {
        let unreadable = |error: io::Error| format!("{} cannot be read: {error}", file.display());
        let length = fs::metadata(file).map_err(unreadable)?.len();
        let mut from = 0;
        loop {
            let piece = read_piece(file, from).map_err(unreadable)?;
            let asked = AgentRequest::Put {
                to: to.to_owned(),
                from,
                bytes: STANDARD.encode(&piece),
            };
            let AgentReply::Stored(path) = self.ask(asked, PIECE_LIMIT)? else {
                return Err(another_answer());
            };
            from += piece.len() as u64;
            if piece.is_empty() || from >= length {
                return Ok(path);
            }
        }
    }

    /// Writes a file of its folder to a file here, whole or not at all; its length in bytes. One that is longer than
    /// `most_bytes` is an error.
    pub fn fetch(&mut self, file: &Path, to: &Path, most_bytes: u64) -> Result<u64, String> {
        let broken = |error: io::Error| format!("{} cannot be written: {error}", to.display());
        let folder = to.parent().unwrap_or_else(|| Path::new("."));
        fs::create_dir_all(folder).map_err(broken)?;
        let mut written = tempfile::NamedTempFile::new_in(folder).map_err(broken)?;
        let mut from = 0;
        loop {
            let piece = self.piece(file, from)?;
            if piece.is_empty() {
                break;
            }
            written.write_all(&piece).map_err(broken)?;
            from += piece.len() as u64;
            if from > most_bytes {
                return Err(format!("{} is too large to be fetched", file.display()));
            }
        }
        if from > 0 {
            atomic_file::make_readable(written.as_file());
            written.persist(to).map_err(|error| broken(error.error))?;
        }
        Ok(from)
    }
}

fn text_of(said: &[u8]) -> String {
    String::from_utf8_lossy(said).into_owned()
}

fn another_answer() -> String {
    "the program over there does not answer as it should; machines clean removes it, and it is sent anew".to_owned()
}

/// Over there: runs an agent until the connection closes; returns how it ended.
pub fn guarded(program: &Path) -> io::Result<String> {
    // What it and all that it starts keep for a while goes with this process, however they end.
    let folder = tempfile::tempdir()?;
    let agent = ProcessSpec::new(program)
        .args(["worker", "agent"])
        .env("TMPDIR", folder.path());
    Ok(guard::run(&agent)?.farewell)
}

/// Over there: does what it is asked, until its standard input closes.
pub fn serve(program: &Path) -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let mut command = None;
    child::serve(&mut |request| {
        let answer = match request {
            Request::Agent(AgentRequest::Command { words }) => {
                let begun = OwnCommand::begin(program, words, folder.path());
                begun.map(|begun| AgentReply::Began(command.insert(begun).said.clone()))
            }
            Request::Agent(AgentRequest::Wait) => match &command {
                Some(command) => command.wait(),
                None => Err("no command was begun".to_owned()),
            },
            Request::Agent(request) => answer(request, program, folder.path()),
            _ => Err("it was asked to measure, which workers do".to_owned()),
        };
        Ok(match answer {
            Ok(reply) => Reply::Agent(reply),
            Err(reason) => Reply::Refused(EngineError::Failed(reason)),
        })
    })
}

/// One of the program's own commands, on a thread of its own.
struct OwnCommand {
    /// The file that its standard error goes into.
    said: PathBuf,
    end: Receiver<io::Result<Finished>>,
}

impl OwnCommand {
    /// Begins it within the group of this process, so that it ends with that.
    fn begin(program: &Path, words: Vec<String>, folder: &Path) -> Result<Self, String> {
        let said = folder.join("said.txt");
        let made = File::create(&said);
        made.map_err(|error| format!("{} cannot be written: {error}", said.display()))?;
        let redirected = ["-c", "exec \"$@\" 2>\"$POWERBAND_SAID\"", "sh"].map(ToOwned::to_owned);
        let own = [program.display().to_string()].into_iter().chain(words);
        let words = redirected.into_iter().chain(own);
        let spec = ProcessSpec::new("/bin/sh")
            .args(words.collect::<Vec<_>>())
            .env("POWERBAND_SAID", &said);
        let (sender, end) = sync_channel(1);
        let work = move || {
            let finished = process::run_within_group(&spec).map(|(finished, _)| finished);
            sender.send(finished).unwrap_or_default();
        };
        named("command", work).map_err(|error| error.to_string())?;
        Ok(Self { said, end })
    }

    /// Its end, or that it goes on.
    fn wait(&self) -> Result<AgentReply, String> {
        match self.end.recv_timeout(COMMAND_LOOK) {
            Ok(finished) => {
                let finished = finished.map_err(|error| error.to_string())?;
                Ok(AgentReply::Ended {
                    success: finished.success,
                    how: finished.how,
                    stdout: finished.stdout,
                })
            }
            Err(RecvTimeoutError::Timeout) => Ok(AgentReply::GoesOn),
            Err(RecvTimeoutError::Disconnected) => Err("the command has ended already".to_owned()),
        }
    }
}

fn answer(request: AgentRequest, program: &Path, folder: &Path) -> Result<AgentReply, String> {
    match request {
        AgentRequest::Watch(order) => {
            let (watched, trace) = watched::watch(&mut CaseWatch {
                order: &order,
                program,
                stop: &CancelToken::default(),
                while_waiting: &mut || (),
            })?;
            let written = trace_file::write(&folder.join(TIMELINE), &trace);
            written.map_err(|error| format!("the timeline cannot be kept: {error}"))?;
            Ok(AgentReply::Watched(Box::new(watched)))
        }
        AgentRequest::Command { .. } | AgentRequest::Wait => Err(another_answer()),
        AgentRequest::Folder { name } => {
            let path = below(folder, Path::new(&name))?;
            let made = fs::create_dir_all(&path);
            made.map_err(|error| format!("{} cannot be made: {error}", path.display()))?;
            Ok(AgentReply::Folder(path))
        }
        AgentRequest::Put { to, from, bytes } => {
            let path = below(folder, Path::new(&to))?;
            let bytes = STANDARD.decode(bytes).map_err(|error| error.to_string())?;
            let written = write_piece(&path, from, &bytes);
            written.map_err(|error| format!("{} cannot be written: {error}", path.display()))?;
            Ok(AgentReply::Stored(path))
        }
        AgentRequest::Take { file, from } => {
            let path = below(folder, &file)?;
            let piece = read_piece(&path, from);
            let piece =
                piece.map_err(|error| format!("{} cannot be read: {error}", path.display()))?;
            Ok(AgentReply::Piece(STANDARD.encode(piece)))
        }
    }
}

/// A path below a folder, which whole paths may begin with.
fn below(folder: &Path, path: &Path) -> Result<PathBuf, String> {
    let own = path.strip_prefix(folder).unwrap_or(path);
    let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_));
    if own.as_os_str().is_empty() || !own.components().all(is_plain) {
        return Err(format!("{} is no file of this run", path.display()));
    }
    Ok(folder.join(own))
}

fn read_piece(path: &Path, from: u64) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(from))?;
    let mut piece = Vec::new();
    file.take(PIECE).read_to_end(&mut piece)?;
    Ok(piece)
}

fn write_piece(path: &Path, from: u64, bytes: &[u8]) -> io::Result<()> {
    path.parent().map_or(Ok(()), fs::create_dir_all)?;
    let mut file = File::options()
        .create(true)
        .write(true)
        .truncate(from == 0)
        .open(path)?;
    file.seek(SeekFrom::Start(from))?;
    file.write_all(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_come_and_go_in_pieces_and_only_below_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        let ask = |request| answer(request, Path::new("powerband"), folder.path());
        let long = vec![7; PIECE as usize + 5];
        for (from, bytes) in [
            (0, &long[..PIECE as usize]),
            (PIECE, &long[PIECE as usize..]),
        ] {
            let put = AgentRequest::Put {
                to: "inputs/0.npy".to_owned(),
                from,
                bytes: STANDARD.encode(bytes),
            };
            let AgentReply::Stored(path) = ask(put).unwrap() else {
                panic!("it is stored");
            };
            assert_eq!(path, folder.path().join("inputs/0.npy"));
        }
        let take = |file: &Path, from| {
            ask(AgentRequest::Take {
                file: file.to_path_buf(),
                from,
            })
        };
        let whole = folder.path().join("inputs/0.npy");
        let lengths = [0, PIECE, PIECE + 5].map(|from| match take(&whole, from) {
            Ok(AgentReply::Piece(piece)) => STANDARD.decode(piece).unwrap().len(),
            other => panic!("{other:?}"),
        });
        assert_eq!(lengths, [PIECE as usize, 5, 0]);
        for path in ["/etc/hostname", "../x", "", "inputs/../../x"] {
            let refused = take(Path::new(path), 0).unwrap_err();
            assert!(refused.contains("no file of this run"), "{refused}");
        }
        let folder_of = ask(AgentRequest::Folder {
            name: "out/0".to_owned(),
        });
        assert!(matches!(folder_of, Ok(AgentReply::Folder(path)) if path.is_dir()));
    }
}
