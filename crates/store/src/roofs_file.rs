//! The roofs of this machine's devices: a RON file for each device, in a folder of their own.
//!
//! The name of a file has the machine's name, because a home folder may be shared by several machines.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use ron::ser::PrettyConfig;

use super::ron_keys::options;
use powerband_core::base::paths::Paths;
use powerband_core::base::system::HAS_FILES;
use powerband_core::base::{atomic_file, regular_file, system};
use powerband_core::domain::roofs::Roofs;
use powerband_core::domain::session::Session;

/// Saved roofs of some devices: valid and outdated ones.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KnownRoofs {
    /// Roofs that hold, with the numbers that their devices have now.
    pub fresh: Vec<Roofs>,
    /// Roofs that no longer hold, and why.
    pub stale: Vec<(Roofs, String)>,
    /// A sentence for each file that cannot be used.
    pub warnings: Vec<String>,
}

/// Roofs that were read, and warnings.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SavedRoofs {
    /// Roofs of this machine's devices, the processor's first.
    pub roofs: Vec<Roofs>,
    /// A sentence for each file that cannot be used.
    pub warnings: Vec<String>,
}

/// The roofs that are kept of this machine. A folder that is missing has none; a file that cannot be read is a
/// warning, and its device is measured again.
pub fn read(folder: &Path) -> SavedRoofs {
    let mut kept = SavedRoofs::default();
    if !HAS_FILES {
        return kept;
    }
    let ending = format!("@{}.ron", machine());
    let mut paths: Vec<PathBuf> = match fs::read_dir(folder) {
        Ok(entries) => entries.flatten().map(|entry| entry.path()).collect(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return kept,
        Err(error) => {
            let folder = folder.display();
            kept.warnings
                .push(format!("cannot read the roofs in {folder}: {error}"));
            return kept;
        }
    };
    paths.retain(|path| {
        let name = path.file_name().unwrap_or_default();
        name.to_string_lossy().ends_with(&ending)
    });
    paths.sort();
    for path in paths {
        match read_one(&path) {
            Ok(roofs) => kept.roofs.push(roofs),
            Err(reason) => kept.warnings.push(format!(
                "the roofs in {} cannot be used and are measured again: {reason}",
                path.display()
            )),
        }
    }
    kept
}

fn read_one(path: &Path) -> Result<Roofs, String> {
    let text = regular_file::read_to_string(path).map_err(|error| error.to_string())?;
    let roofs: Roofs = options()
        .from_str(&text)
        .map_err(|error| error.to_string())?;
    check(&roofs).map(|()| roofs)
}

/// Refuses figures that no device can have.
fn check(roofs: &Roofs) -> Result<(), String> {
    let compute = roofs.compute.iter().map(|roof| roof.per_s);
    let memory = roofs.memory.iter().map(|roof| roof.per_s);
    let engines = roofs
        .engines
        .iter()
        .flat_map(|roof| [roof.product_per_s, roof.copy_per_s, roof.launch_ns])
        .flatten();
    let mut all = compute.chain(memory).chain(engines);
    let is_odd = |figure: f64| !figure.is_finite() || figure < 0.0;
    match all.find(|figure| {
        [figure.value, figure.low, figure.high]
            .into_iter()
            .any(is_odd)
    }) {
        Some(figure) => Err(format!("{} is no figure of a device", figure.value)),
        None => Ok(()),
    }
}

/// Keeps the roofs of a device in place of those that were kept before.
pub fn write(folder: &Path, roofs: &Roofs) -> Result<PathBuf, String> {
    let path = folder.join(file_name(roofs));
    let cannot = |reason: String| format!("cannot keep the roofs in {}: {reason}", path.display());
    let config = PrettyConfig::new().indentor("  ").compact_arrays(true);
    let text = options().to_string_pretty(roofs, config);
    let text = text.map_err(|error| cannot(error.to_string()))?;
    let text = format!("// What Powerband measured that this device reaches.\n{text}\n");
    fs::create_dir_all(folder)
        .and_then(|()| atomic_file::write_bytes(&path, text.as_bytes()))
        .map_err(|error| cannot(error.to_string()))?;
    Ok(path)
}

/// `cpu-amd-ryzen-9-7950x@machine.ron`; a card has its serial number or its place on the bus before the `@`. The
/// number that a setup gives a card is no part of it: it depends on which cards are seen.
fn file_name(roofs: &Roofs) -> String {
    let kind = roofs.device.split(':').next().unwrap_or_default();
    let parts = [kind, &roofs.name, roofs.card.as_deref().unwrap_or_default()];
    let parts: Vec<String> = parts
        .map(tidy)
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect();
    format!("{}@{}.ron", parts.join("-"), machine())
}

/// Letters and digits, in small letters, with a hyphen for each run of anything else.
fn tidy(text: &str) -> String {
    let plain = text
        .to_lowercase()
        .replace(|c: char| !c.is_ascii_alphanumeric(), " ");
    plain.split_whitespace().collect::<Vec<_>>().join("-")
}

/// The name of this machine.
fn machine() -> String {
    tidy(&system::machine_name())
}

/// The roofs that a session's limits are found with: its own, else those that are kept of this machine. That
/// they are of the session's device is looked at where they are used.
pub fn for_session(session: &Session, paths: &Paths) -> Vec<Roofs> {
    if session.roofs.is_empty() {
        read(&paths.roofs).roofs
    } else {
        session.roofs.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use powerband_core::domain::roofs::{ComputeRoof, METHOD, MeasuredValue, RoofConditions};
    use powerband_core::domain::work::NumberFormat;

    fn roofs(device: &str, card: Option<&str>) -> Roofs {
        Roofs {
            device: device.to_owned(),
            name: "Example 9000 (TM)".to_owned(),
            card: card.map(ToOwned::to_owned),
            measured: "2026-01-01T00:00:00Z".to_owned(),
            conditions: RoofConditions {
                method: METHOD,
                threads: 2,
                ..RoofConditions::default()
            },
            clock_mhz: None,
            temperature_c: None,
            compute: vec![ComputeRoof {
                numbers: NumberFormat::F32,
                threads: 2,
                vector_bits: 256,
                code: "AVX2".to_owned(),
                per_s: MeasuredValue {
                    value: 1.23e11,
                    low: 1.2e11,
                    high: 1.23e11,
                    repetitions: 5,
                },
            }],
            memory: Vec::new(),
            engines: Vec::new(),
            notes: Vec::new(),
        }
    }

    #[test]
    fn each_card_has_a_file_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let all = [
            roofs("cpu", None),
            roofs("cuda:0", Some("GPU-1")),
            roofs("cuda:1", Some("GPU-2")),
        ];
        for one in &all {
            write(folder.path(), one).unwrap();
        }
        let kept = read(folder.path());
        assert_eq!((kept.roofs.as_slice(), kept.warnings.len()), (&all[..], 0));
        // The same card under another number replaces what was kept.
        write(folder.path(), &roofs("cuda:1", Some("GPU-1"))).unwrap();
        assert_eq!(read(folder.path()).roofs.len(), 3);
        assert_eq!(read(&folder.path().join("none")), SavedRoofs::default());
    }

    #[test]
    fn a_broken_file_is_a_sentence() {
        let folder = tempfile::tempdir().unwrap();
        let path = write(folder.path(), &roofs("cpu", None)).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        let damages = [
            text.replace("123000000000.0", "-1.0"),
            text.replace("123000000000.0", "NaN"),
            text.replace("123000000000.0", "inf"),
            text.split_at(text.len() / 2).0.to_owned(),
            String::new(),
        ];
        for damaged in damages {
            assert_ne!(damaged, text);
            fs::write(&path, damaged).unwrap();
            let kept = read(folder.path());
            assert!(kept.roofs.is_empty());
            assert!(kept.warnings[0].contains("measured again"), "{kept:?}");
        }
        // Another machine that shares the folder.
        fs::write(folder.path().join("cpu-x@another-machine.ron"), "broken").unwrap();
        fs::remove_file(path).unwrap();
        assert_eq!(read(folder.path()), SavedRoofs::default());
    }
}
