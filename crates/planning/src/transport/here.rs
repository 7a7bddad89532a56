//! This machine: nothing stands in front of a worker.

use super::{Share, Transport};
use powerband_core::base::process_spec::ProcessSpec;
use powerband_core::domain::setup::HERE;

/// This machine.
#[derive(Debug)]
pub struct LocalTransport;

impl Transport for LocalTransport {
    fn id(&self) -> &'static str {
        HERE
    }

    fn form(&self) -> &'static str {
        HERE
    }

    fn check(&self, target: &str) -> Result<(), String> {
        if target.is_empty() {
            return Ok(());
        }
        Err(format!(
            "where=here is this machine, and takes no :{target}"
        ))
    }

    fn shell_command(&self, _target: &str, _share: Share<'_>, line: &str) -> ProcessSpec {
        ProcessSpec::new("sh").args(["-c", line])
    }

    fn trouble(&self, _target: &str, stderr: &str) -> String {
        stderr.trim().to_owned()
    }
}
