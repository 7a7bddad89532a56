//! Plans that are kept for another time: one small RON file each, in a folder beside the library.

use std::fs;
use std::path::{Path, PathBuf};

use super::plan::Draft;
use crate::base::atomic_file;
use crate::base::paths::Paths;
use crate::store::library;

/// Where plans are kept.
pub fn folder(paths: &Paths) -> PathBuf {
    paths.library.join("plans")
}

/// What a draft is called when it is kept.
pub fn title(draft: &Draft) -> String {
    if draft.name.trim().is_empty() {
        draft.model.clone()
    } else {
        draft.name.trim().to_owned()
    }
}

/// Keeps a draft, in place of one of the same name.
pub fn keep(paths: &Paths, draft: &Draft) -> Result<PathBuf, String> {
    let folder = folder(paths);
    let path = folder.join(format!("{}.ron", library::safe(&title(draft))));
    let text = ron::ser::to_string_pretty(draft, ron::ser::PrettyConfig::default())
        .map_err(|error| error.to_string())?;
    fs::create_dir_all(&folder)
        .and_then(|()| atomic_file::write_bytes(&path, text.as_bytes()))
        .map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    Ok(path)
}

/// Every plan that is kept and can be read, by name.
pub fn list(folder: &Path) -> Vec<(PathBuf, Draft)> {
    let mut plans: Vec<(PathBuf, Draft)> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "ron"))
        .filter_map(|path| {
            let draft = ron::from_str(&fs::read_to_string(&path).ok()?).ok()?;
            Some((path, draft))
        })
        .collect();
    plans.sort_by(|(a, _), (b, _)| a.cmp(b));
    plans
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_is_kept_under_its_name() {
        let folder_of_all = tempfile::tempdir().unwrap();
        let paths = Paths::under(folder_of_all.path());
        let draft = Draft {
            name: "Two engines".to_owned(),
            batches: "1, 3".to_owned(),
            ..Draft::default()
        };
        let path = keep(&paths, &draft).unwrap();
        assert_eq!(keep(&paths, &draft).unwrap(), path, "in place of itself");
        assert_eq!(list(&folder(&paths)), [(path, draft)]);
    }
}
