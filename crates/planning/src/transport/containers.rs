//! Containers and pods that run already, by the `exec` of the program that runs them.
//!
//! Such a program carries standard input and output of a command, and that is all that a worker needs. Which devices a
//! container sees was said when it was started.

use super::{Share, Transport, script};
use powerband_core::base::process_spec::ProcessSpec;

/// A program that runs containers.
#[derive(Debug)]
pub struct Containers {
    /// What `where=` begins with.
    id: &'static str,
    form: &'static str,
    /// The program, and the words before the container's name.
    command: &'static [&'static str],
    /// Before the name, without a space.
    scheme: &'static str,
    /// Words between the container's name and the command.
    behind: &'static [&'static str],
    /// What lists the containers that run.
    lists: &'static str,
}

pub const DOCKER: Containers = Containers {
    id: "docker",
    form: "docker:CONTAINER",
    command: &["docker", "exec", "-i"],
    scheme: "",
    behind: &[],
    lists: "docker ps",
};

pub const PODMAN: Containers = Containers {
    id: "podman",
    form: "podman:CONTAINER",
    command: &["podman", "exec", "-i"],
    scheme: "",
    behind: &[],
    lists: "podman ps",
};

pub const APPTAINER: Containers = Containers {
    id: "apptainer",
    form: "apptainer:INSTANCE",
    command: &["apptainer", "exec"],
    scheme: "instance://",
    behind: &[],
    lists: "apptainer instance list",
};

pub const POD: Containers = Containers {
    id: "pod",
    form: "pod:NAME[/CONTAINER]",
    command: &["kubectl", "exec", "-i"],
    scheme: "",
    behind: &["--"],
    lists: "kubectl get pods",
};

impl Transport for Containers {
    fn id(&self) -> &'static str {
        self.id
    }

    fn form(&self) -> &'static str {
        self.form
    }

    fn check(&self, target: &str) -> Result<(), String> {
        let is_name = |name: &str| {
            let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_.-".contains(letter);
            // It would be taken for an option.
            !name.is_empty() && !name.starts_with('-') && name.chars().all(is_plain)
        };
        let (name, inner) = self.parts(target);
        if is_name(name) && inner.is_none_or(is_name) {
            return Ok(());
        }
        Err(format!(
            "where={}:{target} names no container; write where={}, and {} lists those that run",
            self.id, self.form, self.lists
        ))
    }

    fn shell_command(&self, target: &str, _share: Share<'_>, line: &str) -> ProcessSpec {
        let (program, words) = self.command.split_first().unwrap_or((&"", &[]));
        let (name, inner) = self.parts(target);
        let container = inner.into_iter().flat_map(|inner| ["-c", inner]);
        ProcessSpec::new(program)
            .args(words)
            .args([format!("{}{name}", self.scheme)])
            .args(container)
            .args(self.behind)
            .args(["/bin/sh", "-c", line])
    }

    fn trouble(&self, target: &str, stderr: &str) -> String {
        let said = match script::last_line(stderr) {
            "" => "it ended without a word",
            line => line,
        };
        let command = self.command.first().unwrap_or(&"");
        // Where there is no such container, nothing was looked for in it.
        let help = if said.contains("/bin/sh") {
            format!(
                "{target} has no shell, and Powerband needs /bin/sh there: take an image that has one"
            )
        } else {
            format!("{} lists those that run", self.lists)
        };
        format!("{command} says of {target}: {said}; {help}")
    }
}

impl Containers {
    /// The name, and of a pod the container in it.
    fn parts<'t>(&self, target: &'t str) -> (&'t str, Option<&'t str>) {
        match target.split_once('/') {
            Some((pod, container)) if self.id == POD.id => (pod, Some(container)),
            _ => (target, None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command_line(transport: &Containers, target: &str) -> String {
        let spec = transport.shell_command(target, Share::None, "work");
        spec.command_line()
    }

    #[test]
    fn each_runs_a_line_of_shell_in_what_runs_already() {
        assert_eq!(
            command_line(&DOCKER, "box"),
            "docker exec -i box /bin/sh -c work"
        );
        assert_eq!(
            command_line(&APPTAINER, "box"),
            "apptainer exec instance://box /bin/sh -c work"
        );
        assert_eq!(
            command_line(&POD, "bench/cuda"),
            "kubectl exec -i bench -c cuda -- /bin/sh -c work"
        );
    }

    #[test]
    fn a_name_that_is_none_is_refused() {
        for target in ["", "-it", "a b", "a;b", "a/b", "$(x)"] {
            let refused = DOCKER.check(target).unwrap_err();
            assert!(refused.contains("docker ps"), "{refused}");
        }
        assert!(POD.check("a/b/c").is_err() && POD.check("a/").is_err());
        assert!(POD.check("bench-0/cuda").is_ok() && PODMAN.check("my_box.1").is_ok());
        let said = DOCKER.trouble("box", "Error: No such container: box\n");
        assert!(said.contains("No such container: box") && said.contains("docker ps"));
    }
}
