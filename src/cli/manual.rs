//! `powerband manual`: the man pages, a page for each command, from the same definitions as `--help`.

use std::fs;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::CommandFactory as _;

use super::args::{Args, ManualArgs};
use super::output;

/// Writes the pages into a folder, which is made if need be.
pub(super) fn run(args: &ManualArgs) -> anyhow::Result<ExitCode> {
    let cannot = || format!("cannot write the man pages to {}", args.folder.display());
    fs::create_dir_all(&args.folder).with_context(cannot)?;
    clap_mangen::generate_to(Args::command(), &args.folder).with_context(cannot)?;
    output::note(&format!(
        "man {}/powerband.1 shows the first of them",
        args.folder.display()
    ));
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_a_page() {
        let folder = tempfile::tempdir().unwrap();
        let args = ManualArgs {
            folder: folder.path().join("man1"),
        };
        run(&args).unwrap();
        let page = |name: &str| fs::read_to_string(args.folder.join(name)).unwrap();
        assert!(page("powerband.1").contains("powerband\\-bench(1)"));
        assert!(page("powerband-bench.1").contains("\\-\\-preset"));
        assert!(page("powerband-engines-install.1").contains("\\-\\-flavor"));
        fs::write(folder.path().join("file"), "").unwrap();
        let refused = ManualArgs {
            folder: folder.path().join("file/man1"),
        };
        let error = run(&refused).unwrap_err().to_string();
        assert!(error.contains("cannot write the man pages"), "{error}");
    }
}
