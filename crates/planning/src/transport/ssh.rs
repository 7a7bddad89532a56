//! The user's own `ssh`, with their configuration, agent and jump hosts.
//!
//! Nothing is asked for on a terminal and no password is kept; no port is opened, here or there. All commands of one
//! machine share a connection: the user's own control master, or one of ours where they have none.

use super::script::{self, last_line};
use super::{Share, Transport};
use powerband_core::base::process_spec::ProcessSpec;

/// The `ssh` on the user's `PATH`.
#[derive(Debug)]
pub struct Ssh;

/// How `ssh` is always called. A connection that goes silent is given up after half a minute.
const OPTIONS: [&str; 9] = [
    "BatchMode=yes",
    "ConnectTimeout=15",
    "ServerAliveInterval=10",
    "ServerAliveCountMax=3",
    "ClearAllForwardings=yes",
    "ForwardX11=no",
    "RequestTTY=no",
    "RemoteCommand=none",
    "PermitLocalCommand=no",
];

impl Transport for Ssh {
    fn id(&self) -> &'static str {
        "ssh"
    }

    fn form(&self) -> &'static str {
        "ssh:HOST"
    }

    fn check(&self, target: &str) -> Result<(), String> {
        let host = target.trim_start_matches('/');
        if host.is_empty() {
            return Err(
                "where=ssh: names no host; write where=ssh:HOST, as in ssh HOST".to_owned(),
            );
        }
        // It would be taken for an option of ssh.
        let is_odd = |c: char| c.is_whitespace() || c.is_control() || "'\"`$;&|<>\\".contains(c);
        if host.starts_with('-') || host.contains(is_odd) {
            return Err(format!(
                "where=ssh:{target} is no name of a host; write where=ssh:HOST or where=ssh:USER@HOST"
            ));
        }
        Ok(())
    }

    fn shell_command(&self, target: &str, share: Share<'_>, line: &str) -> ProcessSpec {
        let options = OPTIONS.iter().flat_map(|option| ["-o", option]);
        let spec = ProcessSpec::new("ssh").args(options);
        let spec = match share {
            Share::None => spec,
            Share::Begin(socket) => spec
                .args(["-o", "ControlMaster=yes", "-o", "ControlPersist=no", "-S"])
                .args([socket]),
            Share::Join(socket) => spec.args(["-o", "ControlMaster=no", "-S"]).args([socket]),
        };
        let command = format!("exec /bin/sh -c {}", script::quoted(line));
        spec.args(["--", &destination(target), &command])
    }

    fn share_query(&self, target: &str) -> Option<ProcessSpec> {
        Some(ProcessSpec::new("ssh").args(["-G", "--", &destination(target)]))
    }

    fn wants_own_share(&self, answer: &str) -> bool {
        let value = |key: &str| {
            let mut lines = answer.lines().filter_map(|line| line.split_once(' '));
            lines.find_map(|(name, value)| (name == key).then_some(value.trim()))
        };
        let path = value("controlpath").is_some_and(|path| path != "none");
        let master =
            value("controlmaster").is_some_and(|master| master != "false" && master != "no");
        !(path && master)
    }

    fn trouble(&self, target: &str, stderr: &str) -> String {
        let host = destination(target);
        let says = |words: &str| {
            stderr
                .lines()
                .map(str::trim)
                .rfind(|line| line.contains(words))
        };
        if let Some(line) = says("Could not resolve hostname") {
            return format!("{line}. Check the name, or give it a HostName in ~/.ssh/config");
        }
        if says("REMOTE HOST IDENTIFICATION HAS CHANGED").is_some() {
            return format!(
                "the host key of {host} is not the one that is known here, so nothing was sent: it is another machine, or it was installed anew. Compare the key with its owner's, then ssh-keygen -R forgets the old one"
            );
        }
        if says("Host key verification failed").is_some() {
            return format!(
                "the host key of {host} is not known here; run ssh {host} once and compare the key"
            );
        }
        if let Some(line) = says("Permission denied") {
            return format!(
                "{line}. The host refuses the keys that ssh offers, and Powerband asks for no password: ssh {host} has to work without a question; ssh-copy-id {host} or ssh-add helps"
            );
        }
        if let Some(line) = says("onnection timed out").or_else(|| says("onnection refused")) {
            return format!("{line}. Check that the machine is on and that ssh {host} works");
        }
        match last_line(stderr) {
            "" => format!("ssh to {host} ended without a word"),
            line => format!("ssh says: {line}"),
        }
    }
}

/// The target as `ssh` takes it: `USER@HOST`, or `ssh://USER@HOST:PORT`.
fn destination(target: &str) -> String {
    if target.starts_with("//") {
        return format!("ssh:{target}");
    }
    target.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn the_users_own_control_master_is_used_where_there_is_one() {
        let wants = |answer: &str| Ssh.wants_own_share(answer);
        assert!(wants("host a\ncontrolmaster false\n"));
        assert!(wants("controlmaster auto\ncontrolpath none\n"));
        assert!(!wants(
            "controlmaster auto\ncontrolpath /home/me/.ssh/cm-%C\n"
        ));
    }

    #[test]
    fn a_command_reaches_the_shell_over_there_as_one_word() {
        let spec = Ssh.shell_command("me@gpu1", Share::Join(Path::new("/run/s")), "echo 'a b'");
        let words: Vec<_> = spec
            .args
            .iter()
            .map(|word| word.to_string_lossy())
            .collect();
        let tail: Vec<&str> = words[words.len() - 5..].iter().map(AsRef::as_ref).collect();
        assert_eq!(tail[..4], ["-S", "/run/s", "--", "me@gpu1"]);
        assert_eq!(tail[4], r"exec /bin/sh -c 'echo '\''a b'\'''");
        assert!(words.iter().any(|word| word == "BatchMode=yes"));
        let ported = Ssh.shell_command("//gpu1:2222", Share::None, "x");
        assert!(ported.args.iter().any(|word| word == "ssh://gpu1:2222"));
    }

    #[test]
    fn what_ssh_says_becomes_a_sentence_that_helps() {
        let told = |stderr: &str| Ssh.trouble("gpu1", stderr);
        let welcome = "Authorised use only.\n";
        for (stderr, words) in [
            (
                "ssh: Could not resolve hostname gpu1: Name or service not known",
                "HostName",
            ),
            (
                "me@gpu1: Permission denied (publickey).",
                "ssh-copy-id gpu1",
            ),
            (
                "@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\nHost key verification failed.",
                "ssh-keygen -R",
            ),
            (
                "No ED25519 host key is known for gpu1\nHost key verification failed.",
                "compare the key",
            ),
            (
                "ssh: connect to host gpu1 port 22: Connection refused",
                "ssh gpu1 works",
            ),
            ("something new", "something new"),
        ] {
            let told = told(&format!("{welcome}{stderr}\n"));
            assert!(told.contains(words), "{stderr}: {told}");
        }
    }
}
