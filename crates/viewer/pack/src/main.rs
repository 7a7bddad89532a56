//! Makes of the compiled viewer what goes into the program; `scripts/viewer` calls it.
//!
//! `bind COMPILED FOLDER` writes the viewer and the script around it, `pack FOLDER OUT` packs both.

use std::env;
use std::fs::{self, File};
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use wasm_bindgen_cli_support::Bindgen;
use zopfli::{Format, Options};

/// How often the packing is improved: five times took twice as long and gained 0.2 %.
const ITERATIONS: NonZeroU64 = NonZeroU64::new(1).expect("a number above zero");
/// What the viewer is called there.
const NAME: &str = "viewer";

fn main() -> Result<()> {
    let mut arguments = env::args_os().skip(1);
    let step = arguments.next().unwrap_or_default();
    let paths: Vec<PathBuf> = arguments.map(PathBuf::from).collect();
    match (step.to_str(), paths.as_slice()) {
        (Some("bind"), [compiled, folder]) => bind(compiled, folder),
        (Some("pack"), [folder, out]) => pack(folder, out),
        _ => bail!("bind COMPILED FOLDER, or pack FOLDER OUT"),
    }
}

/// The script is no module, because a page that is opened as a file may load none.
fn bind(compiled: &Path, folder: &Path) -> Result<()> {
    let mut bindgen = Bindgen::new();
    bindgen
        .input_path(compiled)
        .out_name(NAME)
        .no_modules(true)?
        .typescript(false)
        .remove_name_section(true)
        .remove_producers_section(true)
        .generate(folder)
        .with_context(|| format!("{} cannot be bound", compiled.display()))
}

fn pack(folder: &Path, out: &Path) -> Result<()> {
    fs::create_dir_all(out)?;
    for (from, to) in [
        ("viewer_bg.wasm", "viewer.wasm.gz"),
        ("viewer.js", "viewer.js.gz"),
    ] {
        let from = folder.join(from);
        let bytes = fs::read(&from).with_context(|| from.display().to_string())?;
        let to = out.join(to);
        let mut file = File::create(&to).with_context(|| to.display().to_string())?;
        let options = Options {
            iteration_count: ITERATIONS,
            ..Options::default()
        };
        zopfli::compress(options, Format::Gzip, bytes.as_slice(), &mut file)?;
    }
    Ok(())
}
