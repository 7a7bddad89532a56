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
    let whole = tensors(&opened.with_weights().unwrap());
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
    let mut files = Files::for_model(&path);
    assert!(files.place(&graph.initializer[0]).is_ok(), "each is sound");
    let mut room = WeightBudget::new(64_000_000_000);
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

/// Turns the second node into a compiled one whose attributes name files.
fn compiled(path: &Path, embed: i64, attributes: &[(&str, &str)]) {
    let mut model = crate::file::load(path).unwrap();
    let node = &mut model.graph.as_mut().unwrap().node[1];
    "EPContext".clone_into(&mut node.op_type);
    node.attribute = vec![AttributeProto {
        name: "embed_mode".to_owned(),
        i: Some(embed),
        ..Default::default()
    }];
    let texts = attributes.iter().map(|(name, text)| AttributeProto {
        name: (*name).to_owned(),
        s: Some(text.as_bytes().to_vec()),
        ..Default::default()
    });
    node.attribute.extend(texts);
    crate::file::save(path, &model).unwrap();
}

#[test]
fn compiled_nodes_name_no_file_elsewhere() {
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join("inside");
    fs::create_dir(&inside).unwrap();
    let path = two_files(&inside);
    let secret = folder.path().join("secret");
    fs::write(&secret, "compiled").unwrap();
    let elsewhere = [secret.to_str().unwrap(), "../secret", "sub/../../secret"];
    for name in ["ep_cache_context", "onnx_model_filename"] {
        for location in elsewhere {
            compiled(&path, 0, &[(name, location)]);
            let message = refusal(&path);
            assert!(message.contains("has its compiled form in"), "{message}");
            assert!(message.contains("not in the folder"), "{message}");
        }
        compiled(&path, 0, &[(name, "there-is-none.bin")]);
        assert!(refusal(&path).contains("not beside it"));
        fs::write(inside.join("form.bin"), "compiled").unwrap();
        compiled(&path, 0, &[(name, "form.bin")]);
        let opened = source::open(path.to_str().unwrap(), Path::new("")).unwrap();
        assert_eq!(opened.data.len(), 2, "its form belongs to the model");
    }
    // The form itself, which may look like anything, and a node that leaves its form to another one.
    compiled(&path, 1, &[("ep_cache_context", "../secret")]);
    assert!(source::open(path.to_str().unwrap(), Path::new("")).is_ok());
    compiled(&path, 0, &[("ep_cache_context", "")]);
    assert!(source::open(path.to_str().unwrap(), Path::new("")).is_ok());
}
