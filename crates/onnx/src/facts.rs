//! What is known of a model, remembered by the state of its file: where the same network is planned every
//! day, its weights are not read each time to count them.
//!
//! Built-in networks are known before they are made.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::inspect;
use super::source::{self, SourceError};
use super::zoo;
use powerband_core::base::atomic_file;
use powerband_core::domain::model::ModelSummary;
use powerband_core::domain::networks::BUILT_IN;

/// To be raised when `inspect` says something else of the same file.
const REVISION: u32 = 5;

/// What is remembered of a file.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct RememberedFacts {
    state: ModelFileKey,
    /// Of the files beside it that hold weights.
    data: Vec<ModelFileKey>,
    summary: ModelSummary,
}

/// State of a file and revision of the summary: equal where a remembered summary still holds.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct ModelFileKey {
    revision: u32,
    path: PathBuf,
    bytes: u64,
    modified: SystemTime,
}

impl ModelFileKey {
    fn read(path: &Path) -> io::Result<Self> {
        let path = fs::canonicalize(path)?;
        let known = fs::metadata(&path)?;
        Ok(Self {
            revision: REVISION,
            bytes: known.len(),
            modified: known.modified()?,
            path,
        })
    }

    /// Path of the cached summary.
    fn place(&self, cache_dir: &Path) -> PathBuf {
        let name = source::sha256(self.path.as_os_str().as_encoded_bytes());
        cache_dir.join("facts").join(format!("{name}.json"))
    }
}

/// What `inspect` says of a network by its name, or of a file by its path.
///
/// # Errors
///
/// Where there is no such model, or it cannot be read.
pub fn model_summary(name_or_path: &str, cache_dir: &Path) -> Result<ModelSummary, SourceError> {
    let network = zoo::find(name_or_path);
    if let Some(summary) = network.and_then(|network| BUILT_IN.get(network.id)) {
        return Ok(summary.clone());
    }
    let path = PathBuf::from(name_or_path);
    if let Some(summary) = remembered(&path, cache_dir) {
        return Ok(summary);
    }
    // Before it is read: what is written into it meanwhile makes it another file.
    let before = ModelFileKey::read(&path).ok();
    let model = source::open(name_or_path, cache_dir)?;
    let summary = inspect::summarize(&model.proto, &model.name);
    let data: io::Result<Vec<ModelFileKey>> = model
        .data
        .iter()
        .map(|path| ModelFileKey::read(path))
        .collect();
    let state = before.or_else(|| ModelFileKey::read(&path).ok());
    if let (Some(state), Ok(data)) = (state, data) {
        // What cannot be kept is read again the next time, and nothing else comes of it.
        let summary = summary.clone();
        let known = RememberedFacts {
            state,
            data,
            summary,
        };
        drop(keep(&known, cache_dir));
    }
    Ok(summary)
}

fn remembered(path: &Path, cache_dir: &Path) -> Option<ModelSummary> {
    let state = ModelFileKey::read(path).ok()?;
    let text = fs::read(state.place(cache_dir)).ok()?;
    let known: RememberedFacts = serde_json::from_slice(&text).ok()?;
    // Which files belong to it is in the file itself, and so the same where that is.
    let same = |data: &ModelFileKey| ModelFileKey::read(&data.path).is_ok_and(|now| now == *data);
    (known.state == state && known.data.iter().all(same)).then_some(known.summary)
}

fn keep(known: &RememberedFacts, cache_dir: &Path) -> io::Result<()> {
    let place = known.state.place(cache_dir);
    if let Some(folder) = place.parent() {
        fs::create_dir_all(folder)?;
    }
    atomic_file::write_bytes(&place, &serde_json::to_vec(known)?)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use prost::Message as _;

    #[test]
    fn a_file_is_read_once_for_each_of_its_states() {
        let folder = tempfile::tempdir().unwrap();
        let cache = folder.path().join("cache");
        let path = folder.path().join("mine.onnx");
        let name = path.to_str().unwrap();
        let build = |id: &str| zoo::build(zoo::find(id).unwrap());
        fs::write(&path, build("resnet18@cifar").encode_to_vec()).unwrap();
        let first = model_summary(name, &cache).unwrap();
        assert_eq!(first.name, "mine");
        // Of the same length and time it is taken for what it was, although it cannot be read.
        let known = fs::metadata(&path).unwrap();
        let junk = vec![b'?'; known.len() as usize];
        fs::write(&path, junk).unwrap();
        let file = fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(known.modified().unwrap()).unwrap();
        assert_eq!(model_summary(name, &cache).unwrap(), first);
        // Another moment makes it another file.
        let later = known.modified().unwrap() + std::time::Duration::from_secs(2);
        file.set_modified(later).unwrap();
        assert!(model_summary(name, &cache).is_err());
        fs::write(&path, build("resnet34@cifar").encode_to_vec()).unwrap();
        assert_ne!(
            model_summary(name, &cache).unwrap().parameters,
            first.parameters
        );
    }

    #[test]
    fn weights_beside_a_file_are_part_of_its_state() {
        let folder = tempfile::tempdir().unwrap();
        let cache = folder.path().join("cache");
        let path = crate::external::testing::two_files(folder.path());
        let name = path.to_str().unwrap();
        let first = model_summary(name, &cache).unwrap();
        assert_eq!(model_summary(name, &cache).unwrap(), first);
        let data = folder.path().join("net.onnx.data");
        let known = fs::metadata(&data).unwrap();
        // Too short: the file is read again, which fails.
        fs::write(&data, [0; 8]).unwrap();
        assert!(model_summary(name, &cache).is_err());
        fs::write(&data, vec![1; known.len() as usize]).unwrap();
        assert_eq!(model_summary(name, &cache).unwrap(), first);
    }

    #[test]
    fn what_is_remembered_and_broken_is_found_out_anew() {
        let cache = tempfile::tempdir().unwrap();
        let path = cache.path().join("mine.onnx");
        let network = zoo::build(zoo::find("resnet18@cifar").unwrap());
        fs::write(&path, network.encode_to_vec()).unwrap();
        let name = path.to_str().unwrap();
        let first = model_summary(name, cache.path()).unwrap();
        for file in fs::read_dir(cache.path().join("facts")).unwrap() {
            fs::write(file.unwrap().path(), "{").unwrap();
        }
        assert_eq!(model_summary(name, cache.path()).unwrap(), first);
        assert!(model_summary("nothing-like-it", cache.path()).is_err());
    }

    /// `POWERBAND_RENEW_NETWORKS=1` writes what `inspect` finds now.
    #[test]
    fn built_in_networks_are_known_as_they_are() {
        let found: BTreeMap<String, ModelSummary> = zoo::ALL
            .iter()
            .map(|network| {
                let summary = inspect::summarize(&zoo::outline(network), network.id);
                (network.id.to_owned(), summary)
            })
            .collect();
        if std::env::var_os("POWERBAND_RENEW_NETWORKS").is_some() {
            let place = concat!(env!("CARGO_MANIFEST_DIR"), "/../../assets/networks.json");
            fs::write(place, serde_json::to_string_pretty(&found).unwrap() + "\n").unwrap();
            return;
        }
        for (id, summary) in &found {
            assert_eq!(BUILT_IN.get(id), Some(summary), "{id}");
        }
        assert_eq!(BUILT_IN.len(), found.len());
    }
}
