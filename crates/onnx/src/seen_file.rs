//! Whether files are still those that were read: by what the file system says of them, and by their hash where that
//! differs.

use std::fs;
use std::path::{Path, PathBuf};

use powerband_core::base::system;

/// What the file system said of files when they were read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SeenFiles(Vec<(PathBuf, Option<FileState>)>);

/// Metadata of a file that changes with its contents.
type FileState = [i64; 7];

fn read_state(path: &Path) -> Option<FileState> {
    Some(system::file_state(&fs::metadata(path).ok()?))
}

impl SeenFiles {
    /// Files as they are now: taken before they are read, so that a change while they are read counts.
    pub fn now<'a>(paths: impl IntoIterator<Item = &'a Path>) -> Self {
        let states = paths
            .into_iter()
            .map(|path| (path.to_owned(), read_state(path)));
        Self(states.collect())
    }

    /// Both lists of files together.
    pub(crate) fn merged_with(mut self, others: Self) -> Self {
        self.0.extend(others.0);
        self
    }

    /// Whether nothing about the files differs. Where something does, their contents may still be the same.
    pub fn are_untouched(&self) -> bool {
        let mut files = self.0.iter();
        files.all(|(path, state)| read_state(path) == *state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_change_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.onnx");
        let other = folder.path().join("other.onnx");
        let changes: [fn(&Path, &Path); 4] = [
            |path, _| fs::write(path, "grown by some").unwrap(),
            |path, other| fs::rename(other, path).unwrap(),
            |path, _| fs::remove_file(path).unwrap(),
            |path, _| {
                // As `cp --preserve` and `rsync --times` do.
                let file = fs::File::options().write(true).open(path).unwrap();
                let modified = file.metadata().unwrap().modified().unwrap();
                fs::write(path, "else").unwrap();
                file.set_modified(modified).unwrap();
            },
        ];
        for (number, change) in changes.into_iter().enumerate() {
            fs::write(&path, "same").unwrap();
            fs::write(&other, "same").unwrap();
            let seen = SeenFiles::now([path.as_path()]);
            assert!(seen.are_untouched(), "{number}");
            // Changes within one tick of the file system's clock look alike.
            std::thread::sleep(std::time::Duration::from_millis(20));
            change(&path, &other);
            assert!(!seen.are_untouched(), "{number}");
        }
    }
}
