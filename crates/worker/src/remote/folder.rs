//! A place for our files on another machine: the first of the user's folders there in which a program can be kept
//! and started.

use super::RemoteError;
use super::link::Link;
use powerband_core::base::cancel::CancelToken;
use powerband_planning::transport::script::{last_line, quoted};

/// What a machine says before anything was sent to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct MachineFacts {
    /// Its operating system, as `uname` calls it.
    pub system: String,
    /// Its processors, as `uname` calls them.
    pub arch: String,
    /// Its C library, where it names one.
    pub libc: String,
    /// The folder for our files; nothing where there is none.
    pub folder: Option<String>,
    /// Why folders before it were passed over.
    pub passed_over: Vec<String>,
    /// Free space in the folder, in bytes, where known.
    pub free_bytes: Option<u64>,
    /// Whether the program is there already.
    pub has_program: bool,
}

/// Asks a machine for its system and a usable folder.
pub(crate) fn ask_machine(
    link: &Link,
    program: &str,
    cancel: &CancelToken,
) -> Result<MachineFacts, RemoteError> {
    let finished = link.run(&question(program), cancel)?;
    if !finished.stdout.contains("system=") {
        return Err(link.lost(&finished.stderr));
    }
    Ok(read(&finished.stdout))
}

/// One line of shell: tries the folders, and says what it finds.
fn question(program: &str) -> String {
    // A folder of somebody else's, or one that programs cannot be started from, is passed over with its reason.
    let attempt = "try() { [ -z \"$f\" ] || return 0; d=\"$1\"; \
         e=$(umask 077; mkdir -p \"$d\" 2>&1) || { echo \"no=$e\"; return 0; }; \
         [ -O \"$d\" ] || { echo \"no=$d belongs to another user\"; return 0; }; \
         e=$( (umask 077; echo : > \"$d/try.$$\" && chmod 700 \"$d/try.$$\") 2>&1) || { echo \"no=$e\"; return 0; }; \
         e=$(\"$d/try.$$\" 2>&1) || { rm -f \"$d/try.$$\"; echo \"no=$d: programs cannot be started there ($e)\"; return 0; }; \
         rm -f \"$d/try.$$\"; f=\"$d\"; }; f=; ";
    let cache = "try \"${XDG_CACHE_HOME:-$HOME/.cache}/powerband-remote\"; ";
    let runtime = "[ -z \"$XDG_RUNTIME_DIR\" ] || try \"$XDG_RUNTIME_DIR/powerband-remote\"; ";
    let temporary = "try \"/tmp/powerband-remote-$(id -u)\"; ";
    let rest = format!(
        "echo \"system=$(uname -s)\"; echo \"arch=$(uname -m)\"; \
         echo \"libc=$(getconf GNU_LIBC_VERSION 2>/dev/null)\"; \
         echo \"folder=$f\"; [ -z \"$f\" ] || echo \"free=$(df -Pk \"$f\" 2>/dev/null | tail -n 1)\"; \
         if [ -x \"$f\"/{} ]; then echo has=1; fi",
        quoted(program)
    );
    [attempt, cache, runtime, temporary, &rest].concat()
}

fn read(answer: &str) -> MachineFacts {
    let mut facts = MachineFacts::default();
    for (key, value) in answer.lines().filter_map(|line| line.split_once('=')) {
        let value = value.trim();
        match key {
            "system" => value.clone_into(&mut facts.system),
            "arch" => value.clone_into(&mut facts.arch),
            "libc" => value.clone_into(&mut facts.libc),
            "no" => facts.passed_over.push(last_line(value).to_owned()),
            "folder" if !value.is_empty() => facts.folder = Some(value.to_owned()),
            "free" => {
                let kib = value
                    .split_whitespace()
                    .nth(3)
                    .and_then(|kib| kib.parse::<u64>().ok());
                facts.free_bytes = kib.map(|kib| kib << 10);
            }
            "has" => facts.has_program = true,
            _ => {}
        }
    }
    facts
}

#[cfg(test)]
mod tests {
    use super::*;
    use powerband_planning::transport::SetupMachine;

    #[test]
    fn an_answer_is_read() {
        let facts = read(
            "no=mkdir: cannot create directory: Read-only file system\nsystem=Linux\narch=aarch64\nlibc=glibc 2.36\nfolder=/tmp/powerband\nfree=tmpfs 100 40 60 40% /tmp\nhas=1\n",
        );
        assert_eq!(
            (facts.arch.as_str(), facts.libc.as_str()),
            ("aarch64", "glibc 2.36")
        );
        assert_eq!(facts.free_bytes, Some(60 << 10));
        assert!(facts.has_program && facts.passed_over[0].contains("Read-only"));
        assert_eq!(facts.folder.as_deref(), Some("/tmp/powerband"));
    }

    #[test]
    fn a_shell_answers_the_question() {
        let home = tempfile::tempdir().unwrap();
        let cache = home.path().join("cache");
        let words = format!("env XDG_CACHE_HOME={}", cache.display());
        let setup = format!("fake,via=\"{words}\"").parse().unwrap();
        let machine = SetupMachine::of_setup(&setup, &[]).unwrap().unwrap();
        let cancel = CancelToken::default();
        let link = Link::open(&machine, &cancel, &mut |_| ()).unwrap();
        let facts = ask_machine(&link, "program-1", &cancel).unwrap();
        assert_eq!(facts.arch, std::env::consts::ARCH);
        let folder = cache.join("powerband-remote");
        assert_eq!(facts.folder.as_deref(), folder.to_str());
        assert!(!facts.has_program && facts.free_bytes.is_some());
        // A file in the way of the folder: the next one is taken, and it is said why.
        std::fs::remove_dir_all(&cache).unwrap();
        std::fs::write(&cache, "").unwrap();
        let facts = ask_machine(&link, "program-1", &cancel).unwrap();
        assert!(
            facts
                .folder
                .is_some_and(|other| !other.starts_with(cache.to_str().unwrap()))
        );
        assert_eq!(facts.passed_over.len(), 1, "{:?}", facts.passed_over);
    }
}
