//! Words of the user's in front of a command, such as `kubectl exec -i pod --`: whatever carries standard input and
//! output of a command can carry a worker.

use super::{Share, Transport, script};
use powerband_core::base::process_spec::ProcessSpec;

/// Any prefix.
#[derive(Debug)]
pub struct Via;

impl Transport for Via {
    fn id(&self) -> &'static str {
        "via"
    }

    fn form(&self) -> &'static str {
        "via=\"WORDS IN FRONT OF A COMMAND\""
    }

    fn check(&self, target: &str) -> Result<(), String> {
        match split_words(target) {
            Some(words) if !words.is_empty() => Ok(()),
            Some(_) => {
                Err("via= has no words; for example via=\"kubectl exec -i pod --\"".to_owned())
            }
            None => Err(format!("via={target} opens a quote and does not close it")),
        }
    }

    fn shell_command(&self, target: &str, _share: Share<'_>, line: &str) -> ProcessSpec {
        let mut words = split_words(target).unwrap_or_default().into_iter();
        let program = words.next().unwrap_or_default();
        ProcessSpec::new(program)
            .args(words)
            .args(["/bin/sh", "-c", line])
    }

    fn trouble(&self, target: &str, stderr: &str) -> String {
        match script::last_line(stderr) {
            "" => format!("{target} ended without a word"),
            line => format!("{target} says: {line}"),
        }
    }
}

/// Words as a shell divides them, with single quotes; nothing where a quote stays open.
fn split_words(text: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quoted = false;
    for c in text.chars() {
        match c {
            '\'' => {
                quoted = !quoted;
                word.get_or_insert_default();
            }
            c if c.is_whitespace() && !quoted => words.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    (!quoted).then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_divided_as_a_shell_does() {
        let of = |text: &str| split_words(text).unwrap_or_default().join("|");
        assert_eq!(of("kubectl exec -i  pod --"), "kubectl|exec|-i|pod|--");
        assert_eq!(of("docker exec -i 'my box'"), "docker|exec|-i|my box");
        assert_eq!(split_words("a 'b"), None);
    }
}
