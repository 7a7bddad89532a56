//! Plans that are kept for another time: one small RON file each, in a folder beside the library.

use std::fs;
use std::path::{Path, PathBuf};

use super::plan::Draft;
use crate::base::paths::Paths;
use crate::base::{atomic_file, regular_file};
use crate::store::library;
use crate::store::trash::discard;

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

/// The file that a draft is kept in.
fn file(paths: &Paths, draft: &Draft) -> PathBuf {
    folder(paths).join(format!("{}.ron", library::safe(&title(draft))))
}

/// Keeps a draft in place of one of the same name, which goes to the trash where it is another plan. What was
/// done, in words.
pub fn keep_instead(paths: &Paths, draft: &Draft) -> Result<String, String> {
    let path = file(paths, draft);
    let earlier = read(&path).filter(|earlier| earlier != draft);
    if earlier.is_some() {
        discard(paths, &path)?;
    }
    keep(paths, draft)?;
    let title = title(draft);
    Ok(match earlier {
        Some(earlier) => {
            let name = self::title(&earlier);
            format!("The plan is kept as {title}; the earlier {name} is in the trash")
        }
        None => format!("The plan is kept as {title}"),
    })
}

fn keep(paths: &Paths, draft: &Draft) -> Result<PathBuf, String> {
    let (folder, path) = (folder(paths), file(paths, draft));
    let text = ron::ser::to_string_pretty(draft, ron::ser::PrettyConfig::default())
        .map_err(|error| error.to_string())?;
    fs::create_dir_all(&folder)
        .and_then(|()| atomic_file::write_bytes(&path, text.as_bytes()))
        .map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    Ok(path)
}

fn read(path: &Path) -> Option<Draft> {
    ron::from_str(&regular_file::read_to_string(path).ok()?).ok()
}

/// Every plan that is kept and can be read, by name.
pub fn list(folder: &Path) -> Vec<(PathBuf, Draft)> {
    let mut plans: Vec<(PathBuf, Draft)> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "ron"))
        .filter_map(|path| Some((path.clone(), read(&path)?)))
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
        assert_eq!(list(&folder(&paths)), [(path.clone(), draft.clone())]);
        let same = keep_instead(&paths, &draft).unwrap();
        assert!(!same.contains("trash"), "{same}");
        let other = Draft {
            batches: "8".to_owned(),
            ..draft
        };
        let said = keep_instead(&paths, &other).unwrap();
        assert!(
            said.contains("the earlier Two engines is in the trash"),
            "{said}"
        );
        assert_eq!(list(&folder(&paths)), [(path, other)]);
    }
}
