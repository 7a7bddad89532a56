//! Weights beside a model: read where they are sound, refused where they are not.

use super::*;
use crate::source;
use testing::{changed, two_files};

/// What opening the model complains about; it is the same when its weights are read.
fn refusal(path: &Path) -> String {
    let opened = source::open(path.to_str().unwrap(), Path::new(""));
    let message = opened.unwrap_err().to_string();
    let mut model = crate::file::load(path).unwrap();
    assert_eq!(fill(&mut model, path).unwrap_err().to_string(), message);
    assert!(message.contains(&path.display().to_string()), "{message}");
    message
}

#[test]
fn weights_are_read_from_beside_the_model() {
    let folder = tempfile::tempdir().unwrap();
    let path = two_files(folder.path());
    let opened = source::open(path.to_str().unwrap(), Path::new("")).unwrap();
    assert_eq!(opened.data.len(), 1);
    let tensors = |model: &ModelProto| model.graph.as_ref().unwrap().initializer.clone();
    let [short, long] = &tensors(&opened.proto)[..] else {
        panic!();
    };
    assert_eq!(proto::int_values(short), Some(vec![1, 2, 3]));
    assert!(is_external(short) && is_external(long) && long.raw_data.is_empty());
    let whole = tensors(&opened.whole().unwrap());
    assert!(
        whole
            .iter()
            .all(|tensor| !is_external(tensor) && tensor.external_data.is_empty())
    );
    assert_eq!(whole[1].raw_data, vec![7; 20_000]);
    // The checksum is of both files.
    fs::write(folder.path().join("net.onnx.data"), vec![1; 24_096]).unwrap();
    let other = source::open(path.to_str().unwrap(), Path::new("")).unwrap();
    assert_ne!(other.sha256, opened.sha256);
    let copy = folder.path().join("copy.onnx");
    other.copy_to(&copy).unwrap();
    assert!(
        source::open(copy.to_str().unwrap(), Path::new(""))
            .unwrap()
            .data
            .is_empty()
    );
}

#[test]
fn other_folders_are_not_read_from() {
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join("inside");
    fs::create_dir_all(inside.join("sub")).unwrap();
    let path = two_files(&inside);
    let data = inside.join("net.onnx.data");
    let secret = folder.path().join("secret");
    fs::copy(&data, &secret).unwrap();
    for location in [
        secret.to_str().unwrap(),
        "../secret",
        "sub/../net.onnx.data",
        "",
        "sub",
    ] {
        changed(&path, "location", location);
        let message = refusal(&path);
        assert!(
            message.contains("not in the folder of the model"),
            "{message}"
        );
    }
    changed(&path, "location", "weights.bin");
    assert!(refusal(&path).contains("\"weights.bin\", which is not beside it"));
    fs::copy(&data, inside.join("sub/weights.bin")).unwrap();
    changed(&path, "location", "./sub/weights.bin");
    assert!(source::open(path.to_str().unwrap(), Path::new("")).is_ok());
}

#[cfg(unix)]
#[test]
fn links_stay_in_the_folder() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join("inside");
    fs::create_dir(&inside).unwrap();
    let path = two_files(&inside);
    let data = inside.join("net.onnx.data");
    symlink("net.onnx.data", inside.join("link")).unwrap();
    changed(&path, "location", "link");
    assert!(source::open(path.to_str().unwrap(), Path::new("")).is_ok());
    let out = folder.path().join("out");
    fs::copy(&data, &out).unwrap();
    symlink(&out, inside.join("out-link")).unwrap();
    symlink(folder.path(), inside.join("up")).unwrap();
    for location in ["out-link", "up/out"] {
        changed(&path, "location", location);
        assert!(refusal(&path).contains("not in the folder of the model"));
    }
    // Downloads are kept elsewhere, with links to the model and to its weights.
    changed(&path, "location", "net.onnx.data");
    let links = folder.path().join("links");
    fs::create_dir(&links).unwrap();
    for name in ["net.onnx", "net.onnx.data"] {
        symlink(inside.join(name), links.join(name)).unwrap();
    }
    let linked = links.join("net.onnx");
    assert!(source::open(linked.to_str().unwrap(), Path::new("")).is_ok());
}

#[test]
fn places_are_held_against_the_file_and_the_shape() {
    let folder = tempfile::tempdir().unwrap();
    let path = two_files(folder.path());
    for (key, value) in [
        ("offset", "4097"),
        ("offset", "-1"),
        ("offset", "18446744073709551615"),
        ("length", "20001"),
        ("length", "all"),
    ] {
        let before = fs::read(&path).unwrap();
        changed(&path, key, value);
        let message = refusal(&path);
        assert!(message.contains("which has 24096"), "{message}");
        fs::write(&path, before).unwrap();
    }
    changed(&path, "length", "19996");
    let message = refusal(&path);
    assert!(
        message.contains("has 19996 bytes") && message.contains("asks for 20000"),
        "{message}"
    );
}

#[test]
fn tensors_that_share_a_hole_do_not_fill_the_memory() {
    let folder = tempfile::tempdir().unwrap();
    let path = two_files(folder.path());
    // A thousand tensors of one gigabyte each, all of them one file that takes no room on the disk.
    let gigabyte = 1_i64 << 30;
    let data = File::options()
        .write(true)
        .open(folder.path().join("net.onnx.data"))
        .unwrap();
    data.set_len(gigabyte as u64).unwrap();
    changed(&path, "offset", "0");
    changed(&path, "length", &gigabyte.to_string());
    let mut model = crate::file::load(&path).unwrap();
    let graph = model.graph.as_mut().unwrap();
    let mut large = graph.initializer[1].clone();
    large.dims = vec![gigabyte / 4];
    graph.initializer = vec![large; 1000];
    let mut files = Files::of(&path);
    assert!(files.place(&graph.initializer[0]).is_ok(), "each is sound");
    let mut room = Room::of(64_000_000_000);
    let mut all = graph.initializer.iter();
    let error = all.find_map(|tensor| {
        let place = files.place(tensor).unwrap();
        room.take(place.length, &path).err()
    });
    let error = error.unwrap().to_string();
    assert!(
        error.contains("more than the 64000 MB of memory"),
        "{error}"
    );
}
