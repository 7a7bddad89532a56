//! Which programs and libraries this user has started through setups, and from which folder: a small RON file.
//!
//! A setup may name a command, a library or a Python module. In a plan that its user typed that is meant; in one that
//! came as a file it may be anyone's. What was started from here before is known by its line and by the folder, since
//! `python bench.py` is another program in another folder.

use std::env;
use std::io;
use std::path::{Path, PathBuf};

use ron::ser::PrettyConfig;
use serde::{Deserialize, Serialize};

use super::own_file;
use powerband_core::base::paths::Paths;

/// So many are remembered, the newest.
const MOST: usize = 1000;

/// A program that was started, or a library that was loaded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct StartedProgram {
    /// The folder that it was started from.
    folder: PathBuf,
    /// What the setup says, as `run=python bench.py`.
    line: String,
}

/// Programs that this user has started from here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Programs(Vec<StartedProgram>);

impl Programs {
    /// Those that are remembered; none where the file is missing or cannot be read, so that each is asked for.
    pub fn read(paths: &Paths) -> Self {
        let text = own_file::read(&paths.programs).ok().flatten();
        Self(ron::from_str(&text.unwrap_or_default()).unwrap_or_default())
    }

    /// The lines that were not started from this folder before, in their order.
    pub fn unknown(&self, folder: &Path, lines: &[String]) -> Vec<String> {
        let is_known = |line: &&String| {
            let started = |one: &StartedProgram| one.folder == folder && one.line == **line;
            self.0.iter().any(started)
        };
        lines
            .iter()
            .filter(|line| !is_known(line))
            .cloned()
            .collect()
    }
}

/// The folder that programs are started from.
pub fn folder() -> PathBuf {
    env::current_dir().unwrap_or_default()
}

/// Lines with unknown programs that the user must allow before a plan from a file runs.
pub fn to_ask_for(paths: &Paths, lines: &[String]) -> Vec<String> {
    if lines.is_empty() {
        return Vec::new();
    }
    Programs::read(paths).unknown(&folder(), lines)
}

/// Remembers lines as started from a folder.
pub fn remember(paths: &Paths, folder: &Path, lines: &[String]) -> io::Result<()> {
    let Programs(mut all) = Programs::read(paths);
    let unknown = Programs(all.clone()).unknown(folder, lines);
    if unknown.is_empty() {
        return Ok(());
    }
    all.extend(unknown.into_iter().map(|line| StartedProgram {
        folder: folder.to_path_buf(),
        line,
    }));
    let kept = all.split_off(all.len().saturating_sub(MOST));
    let text = ron::ser::to_string_pretty(&kept, PrettyConfig::new().struct_names(false));
    let text = text.map_err(io::Error::other)?;
    let about = "// Programs and libraries that you started through setups. Plans from files may use these unasked.\n";
    own_file::set_aside(&paths.programs, |text| {
        ron::from_str::<Vec<StartedProgram>>(text).is_ok()
    })?;
    own_file::write(&paths.programs, &format!("{about}{text}\n"))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_line_is_known_in_its_folder_alone() {
        let home = tempfile::tempdir().unwrap();
        let paths = Paths::under(home.path());
        let lines = ["run=python a.py, \"b\"", "library=/x.so"].map(str::to_owned);
        let here = Path::new("/here");
        assert_eq!(Programs::read(&paths).unknown(here, &lines), lines);
        remember(&paths, here, &lines[..1]).unwrap();
        let known = Programs::read(&paths);
        assert_eq!(known.unknown(here, &lines), lines[1..]);
        assert_eq!(known.unknown(Path::new("/elsewhere"), &lines), lines);
        for number in 0..MOST {
            let many = [format!("run={number}")];
            remember(&paths, here, &many).unwrap();
        }
        let known = Programs::read(&paths);
        assert_eq!(known.0.len(), MOST);
        assert_eq!(
            known.unknown(here, &lines),
            lines,
            "the oldest is asked for again"
        );
        // A file that makes no sense is no permission.
        fs::write(&paths.programs, "(((").unwrap();
        assert_eq!(Programs::read(&paths), Programs::default());
        remember(&paths, here, &lines).unwrap();
        assert_eq!(Programs::read(&paths).0.len(), 2);
        let aside = paths.programs.with_file_name("programs.ron.unreadable");
        assert_eq!(fs::read_to_string(aside).unwrap(), "(((");
    }
}
