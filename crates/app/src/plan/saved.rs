//! Saved plans: one small RON file each, in a folder beside the library.

use std::fs;
use std::path::{Path, PathBuf};

use super::Draft;
use powerband_core::base::paths::Paths;
use powerband_core::base::{atomic_file, regular_file};
use powerband_store::library;
use powerband_store::ron_keys;
use powerband_store::trash::discard;

/// The folder of saved plans.
pub fn folder(paths: &Paths) -> PathBuf {
    paths.library.join("plans")
}

/// The title under which a draft is saved.
pub fn title(draft: &Draft) -> String {
    if draft.name.trim().is_empty() {
        draft.model.clone()
    } else {
        draft.name.trim().to_owned()
    }
}

/// The file of a saved draft.
fn file(paths: &Paths, draft: &Draft) -> PathBuf {
    folder(paths).join(format!("{}.ron", library::safe(&title(draft))))
}

/// Saves a draft in place of one of the same name, which goes to the trash where it is another plan.
/// Returns a message.
pub(crate) fn save_replacing(paths: &Paths, draft: &Draft) -> Result<String, String> {
    let path = file(paths, draft);
    let earlier = read(&path);
    // A file that cannot be read whole is from a later version; it goes to the trash too.
    let is_whole =
        regular_file::read_to_string(&path).map_or(true, |text| has_no_more(&text, draft));
    if !is_whole || earlier.as_ref().is_some_and(|earlier| earlier != draft) {
        discard(paths, &path)?;
    }
    save(paths, draft)?;
    let title = title(draft);
    Ok(match earlier.filter(|earlier| earlier != draft) {
        _ if !is_whole => format!(
            "The plan is saved as {title}; the earlier one, from another version of Powerband, is in the trash"
        ),
        Some(earlier) => {
            let name = self::title(&earlier);
            format!("The plan is saved as {title}; the earlier {name} is in the trash")
        }
        None => format!("The plan is saved as {title}"),
    })
}

fn save(paths: &Paths, draft: &Draft) -> Result<PathBuf, String> {
    let (folder, path) = (folder(paths), file(paths, draft));
    let text = ron::ser::to_string_pretty(draft, ron::ser::PrettyConfig::default())
        .map_err(|error| error.to_string())?;
    fs::create_dir_all(&folder)
        .and_then(|()| atomic_file::write_bytes(&path, text.as_bytes()))
        .map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    Ok(path)
}

/// Whether the text of a plan's file has nothing but what this program can read.
fn has_no_more(text: &str, draft: &Draft) -> bool {
    let known = ron::to_string(draft).unwrap_or_default();
    let known = ron_keys::entries(&known).unwrap_or_default();
    let is_known = |(key, _): &ron_keys::KeyText| known.iter().any(|(known, _)| known == key);
    ron::from_str::<Draft>(text).is_ok()
        && ron_keys::entries(text).is_ok_and(|entries| entries.iter().all(is_known))
}

fn read(path: &Path) -> Option<Draft> {
    ron::from_str(&regular_file::read_to_string(path).ok()?).ok()
}

/// Every readable saved plan, by name.
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
        let path = save(&paths, &draft).unwrap();
        assert_eq!(save(&paths, &draft).unwrap(), path, "in place of itself");
        assert_eq!(list(&folder(&paths)), [(path.clone(), draft.clone())]);
        let same = save_replacing(&paths, &draft).unwrap();
        assert!(!same.contains("trash"), "{same}");
        let other = Draft {
            batches: "8".to_owned(),
            ..draft
        };
        let said = save_replacing(&paths, &other).unwrap();
        assert!(
            said.contains("the earlier Two engines is in the trash"),
            "{said}"
        );
        assert_eq!(list(&folder(&paths)), [(path, other)]);
    }

    /// As it was written when the plan got its last key.
    const SAVED: &str = r#"(
        name: "Two engines", model: "minilm",
        setups: [(spec: "ort:cpu,threads=2", label: "two", colour: Some(3))],
        batches: "1, 3", sweeps: "sequence=128", dims: "n=batch", journey: true,
        preset: Publish, rounds: "7", spacing: Some((between_ms: 250, span_ms: 0)), blocks: true, requests: AtRandom, rate: "12.5", energy: true,
        accuracy: true, samples: "pictures", inputs: Some(512), profile: Some(Engine), profile_starts: Some(5),
        shapes: "ids=Nx128", batch_axis: "ids=0", fills: "ids=ones",
        rules: None, keeping: OneAtATime, seed: Some(11), timeout_s: Some(30),
    )"#;

    #[test]
    fn a_plan_that_was_saved_opens_with_everything_in_it() {
        let draft: Draft = ron::from_str(SAVED).unwrap();
        let keys = |text: &str| {
            let entries = ron_keys::entries(text).unwrap().into_iter();
            entries.map(|(key, _)| key).collect::<Vec<_>>()
        };
        assert_eq!(keys(&ron::to_string(&draft).unwrap()), keys(SAVED));
        let request = draft.request().unwrap();
        assert_eq!(Draft::of_request(&request).request(), Ok(request));
    }

    #[test]
    fn a_plan_of_another_version_is_never_lost() {
        let folder_of_all = tempfile::tempdir().unwrap();
        let paths = Paths::under(folder_of_all.path());
        let draft = Draft {
            name: "One".to_owned(),
            ..Draft::default()
        };
        let path = save(&paths, &draft).unwrap();
        let known = fs::read_to_string(&path).unwrap();
        let more = known.replacen('(', "(later: Thing(3), ", 1);
        for text in [more.as_str(), "(name: \"One\", requests: Bursts(3))"] {
            fs::write(&path, text).unwrap();
            let said = save_replacing(&paths, &draft).unwrap();
            assert!(said.contains("from another version"), "{said}");
            assert_eq!(list(&folder(&paths)), [(path.clone(), draft.clone())]);
        }
    }
}
