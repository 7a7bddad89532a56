//! An `sshd` of the test's own: on loopback, with keys and a home that nothing else uses, and an `ssh` in front of
//! `PATH` that knows it.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::link::Link;
use crate::support::{self, Home, ProgramRun};

/// A server that logs in the user who runs the tests. It is ended with this.
pub(super) struct Server {
    folder: tempfile::TempDir,
    sshd: Child,
    port: u16,
    /// The namespace of the program, where a link leads from it to the server.
    here: Option<String>,
}

impl Server {
    /// Starts one; nothing, with a word, where there is no `sshd`.
    pub(super) fn start() -> Option<Self> {
        Self::with("")
    }

    /// The same, with more lines for its configuration.
    pub(super) fn with(lines: &str) -> Option<Self> {
        Self::start_with(None, lines, "")
    }

    /// The same at the other end of a link.
    pub(super) fn over(link: &Link) -> Option<Self> {
        Self::start_with(Some(link), "", "")
    }

    /// The same, with more variables (`NAME=VALUE NAME=VALUE`) for what runs there.
    pub(super) fn with_variables(variables: &str) -> Option<Self> {
        Self::start_with(None, "", variables)
    }

    fn start_with(link: Option<&Link>, lines: &str, variables: &str) -> Option<Self> {
        let programs = ["/usr/sbin/sshd", "/usr/bin/ssh", "/usr/bin/ssh-keygen"];
        let are_there = programs.iter().all(|program| Path::new(program).exists());
        support::component(
            are_there.then_some(()),
            "sshd and ssh (apt-get install openssh-server)",
        )?;
        let folder = tempfile::Builder::new()
            .prefix("pb-sshd-")
            .tempdir_in("/tmp")
            .expect("a folder");
        let at = |name: &str| folder.path().join(name);
        for key in ["host", "user", "stranger"] {
            run(
                "/usr/bin/ssh-keygen",
                &[
                    "-q",
                    "-t",
                    "ed25519",
                    "-N",
                    "",
                    "-f",
                    &at(key).display().to_string(),
                ],
            );
        }
        for sub in ["bin", "there/home", "there/run"] {
            fs::create_dir_all(at(sub)).expect("a folder");
        }
        fs::copy(at("user.pub"), at("authorized_keys")).expect("the key is known");
        // Where sshd keeps the part of itself that has no rights.
        if rustix::process::geteuid().is_root() {
            fs::create_dir_all("/run/sshd").expect("sshd's own folder");
        }
        let port = free_port();
        let address = link.map_or("127.0.0.1", |_| Link::THERE);
        let folder_text = folder.path().display().to_string();
        fs::write(
            at("sshd_config"),
            format!(
                "Port {port}\nListenAddress {address}\nHostKey {folder_text}/host\nPidFile none\n\
                 AuthorizedKeysFile {folder_text}/authorized_keys\nStrictModes no\nUsePAM no\n\
                 PasswordAuthentication no\nPermitRootLogin yes\nPrintMotd no\n{lines}\n\
                 SetEnv HOME={folder_text}/there/home XDG_CACHE_HOME={folder_text}/there/cache \
                 XDG_RUNTIME_DIR={folder_text}/there/run POWERBAND_HOME={folder_text}/there/powerband \
                 ORT_DYLIB_PATH={} {variables}\n",
                std::env::var("ORT_DYLIB_PATH").unwrap_or_default()
            ),
        )
        .expect("a configuration");
        fs::write(
            at("ssh_config"),
            format!(
                "Host box alias stranger unknown\n  HostName {address}\n  Port {port}\n  IdentitiesOnly yes\n\
                 Host box alias unknown\n  IdentityFile {folder_text}/user\n\
                 Host stranger\n  IdentityFile {folder_text}/stranger\n\
                 Host unknown\n  UserKnownHostsFile {folder_text}/none\n  GlobalKnownHostsFile {folder_text}/none\n\
                 Host *\n  HostKeyAlias box\n  UserKnownHostsFile {folder_text}/known_hosts\n  GlobalKnownHostsFile /dev/null\n",
            ),
        )
        .expect("a configuration");
        write_program(
            &at("bin/ssh"),
            format!("#!/bin/sh\nexec /usr/bin/ssh -F {folder_text}/ssh_config \"$@\"\n"),
        );
        let there = link.map(Link::there);
        let sshd = start_sshd(there, &at("sshd_config"), &at("log"));
        let here = link.map(Link::here);
        let server = Self {
            folder,
            sshd,
            port,
            here,
        };
        server.know("host.pub");
        server.wait();
        Some(server)
    }

    /// Has `ssh` take this key for the server's.
    pub(super) fn know(&self, key: &str) {
        let key = fs::read_to_string(self.file_path(key)).expect("a key");
        fs::write(self.file_path("known_hosts"), format!("box {key}")).expect("known hosts");
    }

    fn wait(&self) {
        let deadline = Instant::now() + Duration::from_secs(30);
        let log = || fs::read_to_string(self.file_path("log")).unwrap_or_default();
        let listens = || match self.here {
            Some(_) => log().contains("listening on"),
            None => TcpStream::connect(("127.0.0.1", self.port)).is_ok(),
        };
        while !listens() {
            let log = log();
            assert!(Instant::now() < deadline, "sshd does not listen: {log}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// A path in its folder.
    pub(super) fn file_path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs the program with this server's `ssh`.
    pub(super) fn run(&self, home: &Home, args: &[&str]) -> ProgramRun {
        ProgramRun::from_output(
            &self
                .command(home, args)
                .output()
                .expect("the program starts"),
        )
    }

    /// The program with this server's `ssh`, not started yet.
    pub(super) fn command(&self, home: &Home, args: &[&str]) -> Command {
        let mut command = match &self.here {
            Some(namespace) => {
                let apart = support::follow_one_another(args);
                let words = [&[namespace, "--", program()], args, apart].concat();
                home.command_of(Path::new("/usr/bin/nsenter"), &words)
            }
            None => home.command(args),
        };
        let path = std::env::var_os("PATH").unwrap_or_default();
        let mut own = self.file_path("bin").into_os_string();
        own.push(":");
        own.push(path);
        command.env("PATH", own);
        command
    }

    /// Cuts every connection that is open; the server goes on.
    pub(super) fn cut(&self) {
        for pid in self.sessions() {
            run("kill", &["-9", &pid.to_string()]);
        }
    }

    /// Kills what runs over there with this in its command line; returns how many that were.
    pub(super) fn kill(&self, text: &str) -> usize {
        let killed = self.beneath().into_iter().filter(|pid| {
            let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            let line = String::from_utf8_lossy(&line).replace('\0', " ");
            line.contains(text) && !line.contains("/bin/sh -c") && !is_sshd(*pid)
        });
        let killed: Vec<u32> = killed.collect();
        for pid in &killed {
            run("kill", &["-9", &pid.to_string()]);
        }
        killed.len()
    }

    /// The processes of `sshd` that serve a connection.
    pub(super) fn sessions(&self) -> Vec<u32> {
        let mut found = self.beneath();
        found.retain(|pid| is_sshd(*pid));
        found
    }

    /// Everything that `sshd` has started.
    fn beneath(&self) -> Vec<u32> {
        let mut found = vec![self.sshd.id()];
        let mut next = 0;
        while let Some(&parent) = found.get(next) {
            let children = format!("/proc/{parent}/task/{parent}/children");
            let children = fs::read_to_string(children).unwrap_or_default();
            let children = children.split_whitespace();
            found.extend(children.filter_map(|pid| pid.parse::<u32>().ok()));
            next += 1;
        }
        found.split_off(1)
    }
}

fn is_sshd(pid: u32) -> bool {
    let name = fs::read_to_string(format!("/proc/{pid}/comm"));
    name.is_ok_and(|name| name.trim().starts_with("sshd"))
}

impl Drop for Server {
    fn drop(&mut self) {
        self.cut();
        self.sshd.kill().unwrap_or_default();
        self.sshd.wait().map(drop).unwrap_or_default();
    }
}

/// Reads on what a program says, so that it never waits for a reader.
pub(super) fn drained(mut told: impl std::io::Read + Send + 'static) -> JoinHandle<()> {
    let thread = std::thread::Builder::new().name("stderr".to_owned());
    let drain = move || {
        std::io::copy(&mut told, &mut std::io::sink())
            .map(drop)
            .unwrap_or_default();
    };
    thread.spawn(drain).expect("a thread")
}

/// Waits until nothing runs there any more that has this in its command line.
pub(super) fn until_gone(text: &str) {
    until_gone_within(text, Duration::from_secs(30));
}

/// The same with more time.
pub(super) fn until_gone_within(text: &str, limit: Duration) {
    let deadline = Instant::now() + limit;
    loop {
        let left = support::processes_with(text);
        if left.is_empty() {
            return;
        }
        assert!(Instant::now() < deadline, "left running: {left:#?}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// The program's path as a setup names it over there, so that it need not be sent.
pub(super) fn program() -> &'static str {
    env!("CARGO_BIN_EXE_powerband")
}

/// A setup on a host of the server, with the program that is there already.
pub(super) fn on(host: &str, setup: &str) -> String {
    format!("{setup},where=ssh:{host},remote_program={}", program())
}

fn free_port() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    listener.local_addr().expect("an address").port()
}

pub(super) fn write_program(path: &Path, text: impl AsRef<[u8]>) {
    fs::write(path, text).expect("a script");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("permissions");
}

#[expect(
    clippy::disallowed_methods,
    reason = "the test makes its own surroundings"
)]
fn run(program: &str, args: &[&str]) {
    let output = Command::new(program).args(args).output();
    drop(output.expect("a program that is there"));
}

#[expect(
    clippy::disallowed_methods,
    reason = "the test makes its own surroundings"
)]
fn start_sshd(namespace: Option<String>, configuration: &Path, log: &Path) -> Child {
    let mut command = match namespace {
        Some(namespace) => {
            let mut command = Command::new("/usr/bin/nsenter");
            command.args([&namespace, "--", "/usr/sbin/sshd"]);
            command
        }
        None => Command::new("/usr/sbin/sshd"),
    };
    command
        .args(["-D", "-E"])
        .arg(log)
        .arg("-f")
        .arg(configuration)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("sshd starts")
}
