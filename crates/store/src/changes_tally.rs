//! How often changes made cases of this machine faster: a small RON file, so that what is suggested next says how often it
//! did before.

use std::collections::BTreeMap;
use std::io;

use ron::ser::PrettyConfig;

use super::own_file;
use powerband_core::base::paths::Paths;

/// So many cases are remembered, the newest.
const MOST: usize = 1000;

/// Changes that were tried on one case: by name, whether each made it faster beyond the noise.
pub type TriedChanges = BTreeMap<String, bool>;

/// What was tried on every case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangesTally(BTreeMap<String, TriedChanges>);

impl ChangesTally {
    /// What is remembered; nothing where the file is missing or cannot be read.
    pub fn read(paths: &Paths) -> Self {
        let text = own_file::read(&paths.changes).ok().flatten();
        Self(ron::from_str(&text.unwrap_or_default()).unwrap_or_default())
    }

    /// On how many other cases a change was tried, and on how many it held.
    pub fn count(&self, change: &str, without: &str) -> (usize, usize) {
        let others = self.0.iter().filter(|(case, _)| *case != without);
        let tried: Vec<bool> = others
            .filter_map(|(_, changes)| changes.get(change).copied())
            .collect();
        (tried.len(), tried.iter().filter(|held| **held).count())
    }
}

/// Remembers whether changes made a case faster; what is known of the same case is replaced.
pub fn remember(paths: &Paths, case: &str, changes: TriedChanges) -> io::Result<()> {
    let ChangesTally(mut all) = ChangesTally::read(paths);
    if changes.is_empty() || all.get(case) == Some(&changes) {
        return Ok(());
    }
    all.insert(case.to_owned(), changes);
    while all.len() > MOST {
        all.pop_first();
    }
    let text = ron::ser::to_string_pretty(&all, PrettyConfig::new());
    own_file::write(&paths.changes, &text.map_err(io::Error::other)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_counted_on_each_other_case_once() {
        let home = tempfile::tempdir().unwrap();
        let paths = Paths::under(home.path());
        let tried = |held| TriedChanges::from([("int8".to_owned(), held)]);
        for (case, held) in [
            ("one", true),
            ("two", false),
            ("two", true),
            ("three", false),
        ] {
            remember(&paths, case, tried(held)).unwrap();
        }
        remember(&paths, "four", TriedChanges::new()).unwrap();
        let tally = ChangesTally::read(&paths);
        assert_eq!(tally.count("int8", ""), (3, 2));
        assert_eq!(tally.count("int8", "one"), (2, 1));
        assert_eq!(tally.count("graph-capture", ""), (0, 0));
        std::fs::write(&paths.changes, "damaged").unwrap();
        assert_eq!(ChangesTally::read(&paths), ChangesTally::default());
    }
}
