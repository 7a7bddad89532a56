//! Finds the files of a folder, and the class of each where it has sub-folders.
//!
//! Only names are looked at. Hidden files and those that are neither pictures nor arrays are passed
//! over: every folder has some.

use std::path::{Path, PathBuf};

use super::{FoundFiles, SampleError, is_archive, is_array, picture};
use powerband_core::base::humanize;

/// A folder that archives made on a Mac bring along.
const NOT_A_CLASS: &str = "__MACOSX";

/// Pictures and arrays of a folder, in the order of their names.
pub(super) fn find(folder: &Path) -> Result<FoundFiles, SampleError> {
    let top = Entries::read(folder)?;
    let mut found = FoundFiles::default();
    let mut deeper = 0;
    let mut nested = None;
    for class in &top.folders {
        let inside = Entries::read(class)?;
        let name = name_of(class);
        let mut below = None;
        for inner in &inside.folders {
            if !Entries::read(inner)?.files.is_empty() {
                below = Some(inner.clone());
                deeper += 1;
            }
        }
        if inside.files.is_empty() && below.is_some() {
            nested = nested.or(below);
            continue;
        }
        let files = inside.files.into_iter();
        found
            .files
            .extend(files.map(|file| (file, Some(name.clone()))));
        found.classes.push(name);
    }
    if found.files.is_empty() && !top.files.is_empty() {
        return Ok(FoundFiles {
            files: top.files.into_iter().map(|file| (file, None)).collect(),
            ..Default::default()
        });
    }
    if let Some(inner) = nested {
        let path = folder.to_owned();
        return Err(SampleError::Nested { path, inner });
    }
    if deeper > 0 {
        found.notes.push(format!(
            "{} inside of the classes' folders passed over",
            humanize::pluralised(deeper, "folder")
        ));
    }
    if !top.files.is_empty() {
        found.notes.push(format!(
            "{} beside the classes' folders passed over: no folder, no class",
            humanize::pluralised(top.files.len() as u64, "file")
        ));
    }
    Ok(found)
}

/// What is in a folder, each in the order of the names.
struct Entries {
    folders: Vec<PathBuf>,
    /// Pictures, arrays and archives of arrays only.
    files: Vec<PathBuf>,
}

impl Entries {
    fn read(folder: &Path) -> Result<Self, SampleError> {
        let failed = |why| SampleError::Read {
            path: folder.to_owned(),
            why,
        };
        let mut new = Self {
            folders: Vec::new(),
            files: Vec::new(),
        };
        for entry in std::fs::read_dir(folder).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            let name = name_of(&path);
            if name.starts_with('.') || name == NOT_A_CLASS {
                continue;
            }
            if path.is_dir() {
                new.folders.push(path);
            } else if picture::is_picture(&path) || is_array(&path) || is_archive(&path) {
                new.files.push(path);
            }
        }
        new.folders.sort();
        new.files.sort();
        Ok(new)
    }
}

fn name_of(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}
