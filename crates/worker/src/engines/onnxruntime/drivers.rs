//! Which kinds of cards the system has a driver for. A library of ONNX Runtime that was built for a card can be
//! on a machine that has none.

use std::collections::BTreeMap;
use std::path::Path;

use powerband_planning::engine_options::onnxruntime::providers::Provider;

/// A kind of device, whose driver it needs, and the files by which any such driver is known: on a machine of its
/// own, in WSL, on a Jetson.
const DRIVERS: [(&str, &str, &[&str]); 2] = [
    ("cuda", "NVIDIA", &["nvidiactl", "dxg", "nvmap"]),
    ("rocm", "AMD", &["kfd", "dxg"]),
];

/// Why devices of some kinds cannot be had, though the library was built for them.
pub(super) fn missing<'a>(
    built_in: impl Iterator<Item = &'a Provider>,
) -> BTreeMap<String, String> {
    if cfg!(target_os = "linux") {
        missing_below(Path::new("/dev"), built_in)
    } else {
        BTreeMap::new()
    }
}

fn missing_below<'a>(
    folder: &Path,
    built_in: impl Iterator<Item = &'a Provider>,
) -> BTreeMap<String, String> {
    let kinds: Vec<&str> = built_in
        .flat_map(|provider| provider.devices)
        .copied()
        .collect();
    let wanted = DRIVERS.iter().filter(|(kind, ..)| kinds.contains(kind));
    let missing = wanted.filter(|(.., files)| !files.iter().any(|file| folder.join(file).exists()));
    let why = |(kind, maker, files): &(&str, &str, &[&str])| {
        let first = folder.join(files.first().unwrap_or(kind));
        let reason = format!(
            "no {maker} driver is loaded here: there is no {}",
            first.display()
        );
        (format!("device={kind}"), reason)
    };
    missing.map(why).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use powerband_planning::engine_options::onnxruntime::providers;

    #[test]
    fn a_library_for_cards_lacks_them_where_no_driver_is() {
        let folder = tempfile::tempdir().unwrap();
        let missing = |words: &[&str]| {
            let all = providers::ALL.iter();
            missing_below(folder.path(), all.filter(|one| words.contains(&one.word)))
        };
        assert_eq!(missing(&["cpu", "openvino"]), BTreeMap::new());
        let both = missing(&["cpu", "cuda", "tensorrt", "migraphx"]);
        assert_eq!(
            both.keys().collect::<Vec<_>>(),
            ["device=cuda", "device=rocm"]
        );
        let nvidiactl = folder.path().join("nvidiactl");
        assert!(
            both["device=cuda"].contains(nvidiactl.to_str().unwrap()),
            "{both:?}"
        );
        std::fs::write(nvidiactl, "").unwrap();
        assert_eq!(missing(&["cuda"]), BTreeMap::new());
        assert_eq!(missing(&["migraphx"]).len(), 1);
    }
}
