//! Files that were sent to a machine: models by their hash, each once, and how they are listed and removed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::link::Link;
use super::sending::{self, UploadArchive};
use super::{RemoteError, UploadProgress};
use powerband_core::base::cancel::CancelToken;
use powerband_core::domain::event::UploadKind;
use powerband_onnx::seen_file::SeenFiles;
use powerband_planning::transport::script::{last_line, quoted};

/// Stands in a model's folder once all of it is there.
const WHOLE: &str = "whole";

/// A model as it is here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelFiles {
    /// The ONNX file.
    pub file: PathBuf,
    /// Files beside it that hold weights.
    pub data: Vec<PathBuf>,
    /// SHA-256 of them all.
    pub sha256: String,
    /// What the file system said of them when they were read.
    pub seen: SeenFiles,
}

/// What of our files is on a machine already, by path or hash here.
#[derive(Debug, Default)]
pub(crate) struct Uploads {
    there: BTreeMap<String, PathBuf>,
}

impl Uploads {
    /// A model over there; sent where it is not.
    pub(crate) fn model(
        &mut self,
        link: &Link,
        folder: &str,
        model: &ModelFiles,
        cancel: &CancelToken,
        told: &mut dyn FnMut(UploadProgress),
    ) -> Result<PathBuf, RemoteError> {
        if let Some(path) = self.there.get(&model.sha256) {
            return Ok(path.clone());
        }
        let own = format!("{folder}/models/{}", model.sha256);
        let path = Path::new(&own).join("model.onnx");
        let mark = quoted(&format!("{own}/{WHOLE}"));
        let is_there = link.run(&format!("if [ -e {mark} ]; then echo yes; fi"), cancel)?;
        if is_there.stdout.trim() != "yes" {
            let beside = model.file.parent().unwrap_or_else(|| Path::new(""));
            let mut files = vec![(model.file.as_path(), "model.onnx".to_owned())];
            for data in &model.data {
                let name = data.strip_prefix(beside).unwrap_or(data);
                files.push((data, name.display().to_string()));
            }
            for (file, name) in files {
                let (below, name) = name.rsplit_once('/').unwrap_or(("", &name));
                let parcel = UploadArchive {
                    file,
                    folder: &format!("{own}/{below}"),
                    name,
                    is_program: false,
                    what: UploadKind::Model,
                };
                sending::send(link, &parcel, cancel, told)?;
            }
            link.run(&format!(": > {mark}"), cancel)?;
        }
        self.there.insert(model.sha256.clone(), path.clone());
        Ok(path)
    }

    /// A file that an input is filled from; sent where it is not there.
    pub(crate) fn input(
        &mut self,
        link: &Link,
        folder: &str,
        file: &str,
        cancel: &CancelToken,
        told: &mut dyn FnMut(UploadProgress),
    ) -> Result<String, RemoteError> {
        if let Some(path) = self.there.get(file) {
            return Ok(path.display().to_string());
        }
        let unreadable = |error| RemoteError::Unfit(format!("{file} cannot be read: {error}"));
        let hash = sending::sha256(Path::new(file)).map_err(unreadable)?;
        let name = format!("{hash}.npy");
        let folder = format!("{folder}/inputs");
        let path = format!("{folder}/{name}");
        let is_there = link.run(
            &format!("if [ -e {} ]; then echo yes; fi", quoted(&path)),
            cancel,
        )?;
        if is_there.stdout.trim() != "yes" {
            let parcel = UploadArchive {
                file: Path::new(file),
                folder: &folder,
                name: &name,
                is_program: false,
                what: UploadKind::Input,
            };
            sending::send(link, &parcel, cancel, told)?;
        }
        self.there.insert(file.to_owned(), PathBuf::from(&path));
        Ok(path)
    }
}

/// A file on another machine that was sent there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UploadedFile {
    /// Where it is over there.
    pub path: String,
    /// How large it is, in bytes on the disk.
    pub bytes: u64,
}

/// What lies in our folders over there, and, where that is wanted, removes it.
pub(crate) fn left(
    link: &Link,
    removes: bool,
    cancel: &CancelToken,
) -> Result<Vec<UploadedFile>, RemoteError> {
    let remove = if removes {
        " && rm -rf \"$d\" || exit 1"
    } else {
        ""
    };
    let line = format!(
        "echo asked; for d in \"${{XDG_CACHE_HOME:-$HOME/.cache}}/powerband-remote\" \"${{XDG_RUNTIME_DIR:-/nowhere}}/powerband-remote\" \"/tmp/powerband-remote-$(id -u)\"; do \
         if [ -d \"$d\" ] && [ -O \"$d\" ]; then du -sk \"$d\"/* \"$d\"/models/* 2>/dev/null; :{remove}; fi; done"
    );
    let finished = link.run(&line, cancel)?;
    if !finished.stdout.starts_with("asked") {
        return Err(link.lost(&finished.stderr));
    }
    if !finished.success {
        return Err(RemoteError::Unfit(format!(
            "what was sent could not be removed: {}",
            last_line(&finished.stderr)
        )));
    }
    let lines = finished.stdout.lines().filter_map(|line| {
        let (kib, path) = line.split_once(char::is_whitespace)?;
        let bytes = kib.parse::<u64>().ok()? << 10;
        // Models are listed one by one.
        (!path.ends_with("/models")).then(|| UploadedFile {
            path: path.trim().to_owned(),
            bytes,
        })
    });
    Ok(lines.collect())
}
