//! The library as the window sees it: what was found on disk, what is searched for, what can be undone.

pub(crate) mod action;
pub(crate) mod commands;
pub(crate) mod menu;
pub(crate) mod palette;
mod several;
mod table;
mod update;
pub(crate) mod work;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use powerband_core::base::humanize;
pub use powerband_store::examples;
pub use powerband_store::library::{ScannedFile, SessionEntry, typed_tags};
use powerband_store::trash::Discarded;

/// What the search field of the screen is called.
pub const SEARCH: &str = "Search the library";
/// The same of the list beside other screens.
pub const SEARCH_BESIDE: &str = "Find a session";
/// What the field is called that adds tags to all selected sessions.
pub const TAG_ALL: &str = "Tags for the selected sessions";

/// What is to be done with sessions once they are open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum AfterOpening {
    /// Compares them, the first one as the baseline.
    Compare(PathBuf, PathBuf),
    /// Follows a case of the first one through all of them.
    History(Vec<PathBuf>),
    /// Compares the machines that they were measured on.
    Fleet(Vec<PathBuf>),
}

impl AfterOpening {
    /// The files that it needs open.
    fn files(&self) -> Vec<PathBuf> {
        match self {
            Self::Compare(before, after) => vec![before.clone(), after.clone()],
            Self::History(files) => files.first().cloned().into_iter().collect(),
            Self::Fleet(files) => files.clone(),
        }
    }
}

/// The library screen and the list beside the rail.
#[derive(Debug, Default)]
pub struct LibraryState {
    /// What was found, by file.
    pub found: Arc<BTreeMap<PathBuf, ScannedFile>>,
    /// Whether the folder was looked through at least once.
    pub is_scanned: bool,
    /// Why the folder cannot be read.
    pub trouble: Option<String>,
    /// Words that a session must have.
    pub search: String,
    /// The session whose details are shown.
    pub selected: Option<PathBuf>,
    /// Sessions trashed since the window opened, oldest first.
    pub discarded: Vec<(Discarded, String)>,
    /// Files that were trashed together, oldest first.
    pub(crate) together: Vec<Vec<PathBuf>>,
    /// What is to be done with sessions once they are open.
    pub(crate) next: Option<AfterOpening>,
    /// Every file, the newest session first, those that cannot be read last.
    newest: Vec<PathBuf>,
    /// Those of them that have the words.
    listed: Vec<PathBuf>,
}

impl LibraryState {
    /// Takes in what was found.
    pub fn take(&mut self, found: BTreeMap<PathBuf, ScannedFile>) {
        self.found = Arc::new(found);
        self.is_scanned = true;
        if self
            .selected
            .as_ref()
            .is_some_and(|path| !self.found.contains_key(path))
        {
            self.selected = None;
        }
        self.order();
        self.relist();
    }

    /// Looks for other words.
    pub fn search(&mut self, words: String) {
        self.search = words;
        self.relist();
    }

    /// Sessions that have the words, newest first, then the files that cannot be read.
    pub fn listed(&self) -> impl Iterator<Item = (&PathBuf, &ScannedFile)> {
        self.listed
            .iter()
            .filter_map(|path| self.found.get_key_value(path))
    }

    /// Every session whatever is searched for, newest first, then the files that cannot be read.
    pub fn newest(&self) -> impl Iterator<Item = (&PathBuf, &ScannedFile)> {
        self.newest
            .iter()
            .filter_map(|path| self.found.get_key_value(path))
    }

    /// How many are listed.
    pub fn listed_len(&self) -> usize {
        self.listed.len()
    }

    /// One of those listed, by its place.
    pub fn listed_at(&self, place: usize) -> Option<(&PathBuf, &ScannedFile)> {
        self.listed
            .get(place)
            .and_then(|path| self.found.get_key_value(path))
    }

    /// The readable session of a file.
    pub fn entry(&self, path: &std::path::Path) -> Option<&SessionEntry> {
        self.found.get(path)?.entry.as_ref().ok()
    }

    /// What each session is called, newest first: its name, with its time where another is called the same;
    /// what cannot be read by its file.
    pub fn titles(&self) -> Vec<(&PathBuf, String)> {
        let name =
            |scanned: &ScannedFile| scanned.entry.as_ref().ok().map(|entry| entry.name.clone());
        let mut named: BTreeMap<String, usize> = BTreeMap::new();
        for name in self.found.values().filter_map(name) {
            *named.entry(name).or_default() += 1;
        }
        let title = |(path, scanned): (&'_ PathBuf, &ScannedFile)| match &scanned.entry {
            Ok(entry) if named.get(&entry.name) == Some(&1) => entry.name.clone(),
            Ok(entry) => {
                let moment = humanize::short_moment(&entry.created);
                format!("{}, {moment}", entry.name)
            }
            Err(_) => path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned(),
        };
        self.newest()
            .map(|(path, scanned)| (path, title((path, scanned))))
            .collect()
    }

    /// Every tag in use, each once.
    pub fn tags(&self) -> Vec<String> {
        let all = self
            .found
            .values()
            .filter_map(|scanned| scanned.entry.as_ref().ok());
        let tags: std::collections::BTreeSet<&String> = all.flat_map(|entry| &entry.tags).collect();
        tags.into_iter().cloned().collect()
    }

    fn order(&mut self) {
        let mut found: Vec<(&PathBuf, &ScannedFile)> = self.found.iter().collect();
        // Readable before broken, then by when the run began, newest first.
        found.sort_by(|(path_a, a), (path_b, b)| {
            let key = |scanned: &ScannedFile| {
                scanned
                    .entry
                    .as_ref()
                    .ok()
                    .map(|entry| entry.created.clone())
            };
            key(b).cmp(&key(a)).then_with(|| path_a.cmp(path_b))
        });
        self.newest = found.into_iter().map(|(path, _)| path.clone()).collect();
    }

    fn relist(&mut self) {
        let words: Vec<String> = self
            .search
            .split_whitespace()
            .map(str::to_lowercase)
            .collect();
        let has_words = |(path, scanned): &(&PathBuf, &ScannedFile)| {
            let text = haystack(path, scanned);
            words.iter().all(|word| text.contains(word))
        };
        let listed = self.newest().filter(has_words);
        self.listed = listed.map(|(path, _)| path.clone()).collect();
    }
}

/// Everything that words are looked for in. `#tag` finds a tag alone.
fn haystack(path: &std::path::Path, scanned: &ScannedFile) -> String {
    let file = path
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .to_lowercase();
    let Ok(entry) = &scanned.entry else {
        return file;
    };
    let mut text = format!(
        "{file} {} {} {} {}",
        entry.name, entry.model, entry.created, entry.notes
    );
    for word in entry.engines.iter().chain([&entry.machine]) {
        text.push(' ');
        text.push_str(word);
    }
    for setup in &entry.setups {
        text.push(' ');
        text.push_str(setup);
    }
    for tag in &entry.tags {
        text.push_str(" #");
        text.push_str(tag);
    }
    text.to_lowercase()
}
