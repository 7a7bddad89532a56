//! The file that a session measured, as long as it is the same.

use std::path::Path;

use crate::source::{self, ModelFile};
use crate::zoo::{self, ZooModel};
use powerband_core::domain::model::ModelRef;

/// The built-in network that a model is; a file of the user's may have its name.
pub(super) fn built_in(model: &ModelRef) -> Option<&'static ZooModel> {
    let built_in = zoo::find(&model.name);
    built_in.filter(|one| source::is_made(one, &model.file))
}

/// Opens the file of a model; it is refused where it is gone or another one now.
pub(super) fn open(model: &ModelRef, cache: &Path) -> Result<ModelFile, String> {
    let again = "put it back to see its graph";
    if !Path::new(&model.file).exists() {
        return Err(format!(
            "the file of {} is gone: {}; {again}",
            model.name, model.file
        ));
    }
    let file = source::open(&model.file, cache).map_err(|error| error.to_string())?;
    if file.sha256 != model.sha256 {
        return Err(format!(
            "{} is another file now than the one that was measured; {again}",
            model.file
        ));
    }
    Ok(file)
}
