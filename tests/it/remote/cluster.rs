//! Setups on nodes of a real Slurm, which the test starts on loopback: one allocation for a run, given back in every
//! ending.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::bench::bench;
use super::server::program;
use crate::support::{self, Home, ProgramRun};

/// One cluster at a time: they share munge.
static ONE: Mutex<()> = Mutex::new(());

/// A cluster of a few nodes. It is ended with this.
pub(super) struct Cluster {
    folder: tempfile::TempDir,
    starts_munge: bool,
    nodes: usize,
    _only: MutexGuard<'static, ()>,
}

impl Cluster {
    /// Starts it; nothing, with a word, where Slurm or the right to start it is missing.
    pub(super) fn start(nodes: usize) -> Option<Self> {
        let only = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        let is_root = rustix::process::geteuid().is_root();
        let programs = [
            "/usr/sbin/slurmctld",
            "/usr/sbin/slurmd",
            "/usr/bin/salloc",
            "/usr/sbin/munged",
        ];
        let are_there = programs.iter().all(|program| Path::new(program).exists());
        let what = "Slurm, as root (apt-get install slurmctld slurmd slurm-client munge)";
        support::component((is_root && are_there).then_some(()), what)?;
        let folder = tempfile::Builder::new()
            .prefix("pb-slurm-")
            .tempdir_in("/tmp")
            .expect("a folder");
        let starts_munge = !run("munge", &["-n"], None).status.success();
        let cluster = Self {
            folder,
            starts_munge,
            nodes,
            _only: only,
        };
        if starts_munge {
            run("sh", &["-c", MUNGE], None);
        }
        cluster.configure();
        cluster.tool("slurmctld", &[]);
        for node in 1..=nodes {
            cluster.tool("slurmd", &["-N", &format!("n{node}")]);
        }
        let deadline = Instant::now() + Duration::from_mins(1);
        let idle = ["-h", "-p", "all", "-t", "idle", "-o", "%D"];
        while cluster.tool("sinfo", &idle).trim() != nodes.to_string() {
            let log = fs::read_to_string(cluster.file_path("ctld.log")).unwrap_or_default();
            assert!(Instant::now() < deadline, "no node is idle: {log}");
            std::thread::sleep(Duration::from_millis(200));
        }
        Some(cluster)
    }

    fn configure(&self) {
        let host = fs::read_to_string("/proc/sys/kernel/hostname").expect("a host");
        let host = host.trim();
        let folder = self.folder.path().display();
        for sub in ["state", "spool"] {
            fs::create_dir_all(self.file_path(sub)).expect("a folder");
        }
        let mut text = format!(
            "ClusterName=loopback\nSlurmctldHost={host}(127.0.0.1)\nSlurmUser=root\nSlurmdUser=root\n\
             AuthType=auth/munge\nCryptoType=crypto/munge\nSlurmctldPort={}\n\
             StateSaveLocation={folder}/state\nSlurmdSpoolDir={folder}/spool/%n\n\
             SlurmctldPidFile={folder}/ctld.pid\nSlurmdPidFile={folder}/d.%n.pid\n\
             SlurmctldLogFile={folder}/ctld.log\nSlurmdLogFile={folder}/d.%n.log\n\
             ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nSelectType=select/cons_tres\n\
             SelectTypeParameters=CR_Core\nReturnToService=2\nSwitchType=switch/none\nMpiDefault=none\n\
             KillWait=5\nPreemptType=preempt/partition_prio\nPreemptMode=CANCEL\nSchedulerParameters=sched_interval=2,bf_interval=2\n",
            free_port()
        );
        let mut names = Vec::new();
        for node in 1..=self.nodes {
            let port = free_port();
            text.push_str(&format!(
                "NodeName=n{node} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=2 RealMemory=2000\n"
            ));
            names.push(format!("n{node}"));
        }
        let names = names.join(",");
        for (partition, rest) in [
            ("all", "Default=YES OverSubscribe=FORCE PreemptMode=OFF"),
            ("low", "OverSubscribe=NO PriorityTier=1 PreemptMode=CANCEL"),
            ("high", "OverSubscribe=NO PriorityTier=9 PreemptMode=OFF"),
        ] {
            text.push_str(&format!(
                "PartitionName={partition} Nodes={names} MaxTime=INFINITE State=UP {rest}\n"
            ));
        }
        fs::write(self.file_path("slurm.conf"), text).expect("a configuration");
    }

    pub(super) fn file_path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// What one of Slurm's programs says.
    pub(super) fn tool(&self, tool: &str, args: &[&str]) -> String {
        let output = run(tool, args, Some(&self.file_path("slurm.conf")));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// The program, which finds this cluster; not started yet.
    pub(super) fn command(&self, home: &Home, args: &[&str]) -> Command {
        let mut command = home.command(args);
        command.env("SLURM_CONF", self.file_path("slurm.conf"));
        command.env("XDG_CACHE_HOME", home.path("cache"));
        command
    }

    fn bench(&self, home: &Home, setup: &str) -> ProgramRun {
        let output = self.command(home, &bench("6", [setup, "fake"])).output();
        ProgramRun::from_output(&output.expect("the program starts"))
    }

    /// Sends a signal to a process that the test started.
    pub(super) fn kill(process: u32, signal: &str) {
        run("kill", &[&format!("-{signal}"), &process.to_string()], None);
    }

    /// Processes with these words that know this cluster and no other one.
    pub(super) fn processes(&self, words: &str) -> Vec<String> {
        let folder = self.file_path("").display().to_string();
        let is_own = |line: &String| {
            let place = line.split(": ").next().unwrap_or_default();
            let variables = fs::read(format!("{place}/environ")).unwrap_or_default();
            String::from_utf8_lossy(&variables).contains(&folder)
        };
        let mut all = support::processes_with(words);
        all.retain(is_own);
        all
    }

    /// Waits until no job is left.
    pub(super) fn until_given_back(&self) {
        let deadline = Instant::now() + Duration::from_mins(1);
        loop {
            let jobs = self.tool("squeue", &["-h", "-o", "%i %j %T"]);
            if jobs.trim().is_empty() {
                return;
            }
            assert!(Instant::now() < deadline, "still allocated: {jobs}");
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let nodes = (1..=self.nodes).map(|node| self.file_path(&format!("d.n{node}.pid")));
        let mut files: Vec<PathBuf> = nodes.collect();
        files.push(self.file_path("ctld.pid"));
        if self.starts_munge {
            files.push("/run/munge/munged.pid".into());
        }
        for file in files {
            let pid = fs::read_to_string(file).unwrap_or_default();
            if !pid.trim().is_empty() {
                run("kill", &[pid.trim()], None);
            }
        }
        // Those of a node that went down while it measured outlive its daemon.
        for line in self.processes("slurmstepd") {
            let pid = line
                .strip_prefix("/proc/")
                .and_then(|rest| rest.split(':').next());
            if let Some(pid) = pid {
                run("kill", &["-KILL", pid], None);
            }
        }
    }
}

/// Starts munge, with a key of its own where it has none.
const MUNGE: &str = "mkdir -p /run/munge && chown munge: /run/munge; \
    [ -f /etc/munge/munge.key ] || { head -c 1024 /dev/urandom >/etc/munge/munge.key; \
    chown munge: /etc/munge/munge.key; chmod 400 /etc/munge/munge.key; }; \
    runuser -u munge -- munged --force; sleep 1";

#[expect(
    clippy::disallowed_methods,
    reason = "the test makes its own surroundings"
)]
fn run(program: &str, args: &[&str], configuration: Option<&Path>) -> Output {
    let mut command = Command::new(program);
    command.args(args).stdin(Stdio::null());
    if let Some(configuration) = configuration {
        command.env("SLURM_CONF", configuration);
    }
    command.output().expect("a program that is there")
}

/// A port that is free now.
fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address").port()
}

#[test]
fn one_allocation_is_taken_for_a_run_and_given_back_in_every_ending() {
    let Some(cluster) = Cluster::start(1) else {
        return;
    };
    let home = Home::new();
    let there = format!(
        "fake,where=slurm:all,slurm.time=5,remote_program={}",
        program()
    );
    let run = cluster.bench(&home, &there);
    assert_eq!(run.status, Some(0), "{run:#?}");
    assert_eq!(run.json()["machines"][0]["name"], "slurm:all");
    cluster.until_given_back();

    let never = format!(
        "fake,where=slurm,slurm.mem=900G,remote_program={}",
        program()
    );
    let run = cluster.bench(&home, &never);
    let case = run.json()["cases"][0].clone();
    assert_eq!(case["outcome"], "unsupported", "{run:#?}");
    assert!(
        case["reason"].to_string().contains("Slurm says"),
        "{case:#}"
    );
    assert_eq!(run.json()["cases"][1]["outcome"], "finished", "{run:#?}");

    let slow = format!(
        "fake,sleep=yes,fixed=100789,where=slurm,remote_program={}",
        program()
    );
    for ending in ["scancel", "SIGKILL"] {
        let mut command = cluster.command(&home, &bench("6", [&*slow, "fake"]));
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("the program starts");
        let deadline = Instant::now() + Duration::from_mins(1);
        while support::processes_with("--setup fake:cpu,fixed=100789").is_empty() {
            assert!(Instant::now() < deadline, "no worker");
            std::thread::sleep(Duration::from_millis(50));
        }
        std::thread::sleep(Duration::from_secs(2));
        if ending == "scancel" {
            cluster.tool("scancel", &["--user=root"]);
            let run = ProgramRun::from_output(&child.wait_with_output().expect("it ends"));
            let outcomes = run.outcomes();
            assert_eq!(outcomes[0].2, "lost", "{run:#?}");
            let reason = run.json()["cases"][0]["reason"].to_string();
            assert!(
                reason.contains("CANCELLED") || reason.contains("Slurm"),
                "{reason}"
            );
            assert_eq!(outcomes[1].2, "finished", "{run:#?}");
        } else {
            child.kill().expect("it is killed");
            child.wait().expect("it is gone");
        }
        cluster.until_given_back();
        super::server::until_gone("fixed=100789");
    }
}
