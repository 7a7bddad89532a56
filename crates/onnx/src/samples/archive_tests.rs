//! Tests of archives of arrays: batches for networks with several inputs, and what is said of bad files.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::*;
use powerband_core::base::cancel::CancelToken;
use powerband_core::domain::tensor::{ElementType, Tensor, TensorData, TensorSpec};

/// Token numbers, their mask, a state whose batch is in the middle, and a table without a batch.
fn specs(batch: usize) -> Vec<TensorSpec> {
    let spec = |name: &str, element, dims: &[usize], axes: &[usize]| TensorSpec {
        batch_axes: axes.to_vec(),
        ..TensorSpec::new(name, element, dims.to_vec())
    };
    vec![
        spec("ids", ElementType::I64, &[batch, 3], &[0]),
        spec("mask", ElementType::Bool, &[batch, 3], &[0]),
        spec("state", ElementType::F32, &[2, batch, 2], &[1]),
        spec("table", ElementType::F32, &[2], &[]),
    ]
}

fn ids(rows: usize, from: i64) -> Tensor {
    Tensor {
        spec: TensorSpec::new("ids", ElementType::I32, vec![rows, 3]),
        data: TensorData::I32((0..rows as i32 * 3).map(|i| i + from as i32).collect()),
    }
}

fn mask(rows: usize) -> Tensor {
    Tensor {
        spec: TensorSpec::new("mask", ElementType::Bool, vec![rows, 3]),
        data: TensorData::Bool(vec![true; rows * 3]),
    }
}

fn state(rows: usize) -> Tensor {
    Tensor {
        spec: TensorSpec::new("state", ElementType::F64, vec![2, rows, 2]),
        data: TensorData::F64((0..rows * 4).map(|i| i as f64).collect()),
    }
}

fn table(first: f32) -> Tensor {
    Tensor {
        spec: TensorSpec::new("table", ElementType::F32, vec![2]),
        data: TensorData::F32(vec![first, 0.0]),
    }
}

/// An archive of these arrays, each under the name of its tensor.
fn write(path: &Path, arrays: &[Tensor], method: CompressionMethod) {
    let mut archive = ZipWriter::new(File::create(path).unwrap());
    let options = SimpleFileOptions::default().compression_method(method);
    for array in arrays {
        let name = format!("{}.npy", array.spec.name);
        archive.start_file(name, options).unwrap();
        archive.write_all(&npy::write(array)).unwrap();
    }
    archive.finish().unwrap();
}

fn stored(path: &Path, arrays: &[Tensor]) {
    write(path, arrays, CompressionMethod::Stored);
}

fn in_folder() -> (tempfile::TempDir, PathBuf, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let (a, b) = (dir.path().join("a.npz"), dir.path().join("b.npz"));
    (dir, a, b)
}

fn refusal(path: &Path) -> String {
    let set = open(path).and_then(|set| set.for_inputs(&specs(1)));
    set.unwrap_err().to_string()
}

#[test]
fn rows_of_archives_make_batches_of_every_input() {
    let (dir, a, b) = in_folder();
    let other = Tensor {
        spec: TensorSpec::new("label", ElementType::I32, vec![1]),
        data: TensorData::I32(vec![7]),
    };
    stored(&a, &[ids(2, 0), mask(2), state(2), table(1.0), other]);
    let single = TensorSpec::new("ids", ElementType::I32, vec![3]);
    let single = Tensor {
        spec: single,
        ..ids(1, 50)
    };
    write(
        &b,
        &[single, mask(1), state(1), table(1.0)],
        CompressionMethod::Deflated,
    );
    let set = open(dir.path()).unwrap();
    assert_eq!(set.items.len(), 2);
    let set = set.for_inputs(&specs(1)).unwrap();
    assert_eq!(set.items.len(), 3);
    assert_eq!(
        set.notes,
        ["arrays that are no inputs of the network are passed over: label"]
    );
    let set = set.take_readable(9, &CancelToken::default()).unwrap();
    let specs = specs(2);
    // The second row of the first file, and the only one of the second.
    let tensors = set.reader().tensors(&[1, 2], &specs).unwrap();
    for (tensor, spec) in tensors.iter().zip(&specs) {
        assert_eq!(tensor.spec, *spec);
        assert_eq!(tensor.to_f64().len(), spec.len());
    }
    assert_eq!(tensors[0].data, TensorData::I64(vec![3, 4, 5, 50, 51, 52]));
    // Layer by layer, each with the values of both items.
    assert_eq!(
        tensors[2].data,
        TensorData::F32(vec![2.0, 3.0, 0.0, 1.0, 6.0, 7.0, 2.0, 3.0])
    );
    let wrong = set.reader().tensors(&[0], &specs).unwrap_err().to_string();
    assert!(
        wrong.contains("1 items were chosen for input \"ids\""),
        "{wrong}"
    );
}

#[test]
fn an_archive_serves_a_network_with_one_input_too() {
    let (_dir, a, _) = in_folder();
    stored(&a, &[ids(4, 0)]);
    let spec = &specs(2)[..1];
    let set = open(&a).unwrap().for_inputs(spec).unwrap();
    assert_eq!(set.items.len(), 4);
    let tensors = set.reader().tensors(&[3, 0], spec).unwrap();
    assert_eq!(tensors[0].data, TensorData::I64(vec![9, 10, 11, 0, 1, 2]));
}

#[test]
fn archives_that_do_not_fit_are_sentences_with_names() {
    let (dir, a, b) = in_folder();
    stored(&a, &[ids(1, 0), mask(1)]);
    let missing = refusal(&a);
    assert!(
        missing.contains("a.npz has no array for input \"state\"; it has ids, mask"),
        "{missing}"
    );
    stored(&a, &[ids(2, 0), mask(1), state(2), table(1.0)]);
    let rows = refusal(&a);
    assert!(
        rows.contains("a.npz are not of equally many inputs: \"ids\" has 2, and \"mask\" has 1"),
        "{rows}"
    );
    let long = Tensor {
        spec: TensorSpec::new("ids", ElementType::I64, vec![2, 5]),
        data: TensorData::I64(vec![0; 10]),
    };
    stored(&a, &[long, mask(2), state(2), table(1.0)]);
    let shape = refusal(&a);
    assert!(
        shape.contains("array \"ids\" of")
            && shape.contains("it is 2×5, and the input takes N×3, where N"),
        "{shape}"
    );
    let float = Tensor {
        spec: TensorSpec::new("ids", ElementType::F32, vec![2, 3]),
        data: TensorData::F32(vec![0.0; 6]),
    };
    stored(&a, &[float, mask(2), state(2), table(1.0)]);
    let element = refusal(&a);
    assert!(
        element.contains("holds float32 elements, and the input takes int64")
            && element.contains("ids.astype(\"int64\")"),
        "{element}"
    );
    stored(&a, &[ids(1, 0), mask(1), state(1), table(1.0)]);
    stored(&b, &[ids(1, 0), mask(1), state(1), table(2.0)]);
    let set = open(dir.path()).unwrap().for_inputs(&specs(1)).unwrap();
    let differs = set
        .reader()
        .tensors(&[0, 1], &specs(2))
        .unwrap_err()
        .to_string();
    assert!(
        differs.contains("\"table\" has no batch") && differs.contains("b.npz differ"),
        "{differs}"
    );
    let mut square = specs(1);
    square[0].batch_axes = vec![0, 1];
    let axes = open(&a)
        .unwrap()
        .for_inputs(&square)
        .unwrap_err()
        .to_string();
    assert!(
        axes.contains("2 dimensions of input \"ids\" are the batch"),
        "{axes}"
    );
}

#[test]
fn files_for_one_input_are_refused_where_there_are_several() {
    let (dir, ..) = in_folder();
    fs::write(dir.path().join("x.npy"), npy::write(&ids(2, 0))).unwrap();
    let message = refusal(dir.path());
    assert!(
        message.contains("4 inputs (ids, mask, state, table)")
            && message.contains("numpy.savez(file, ids=…, mask=…, state=…, table=…)"),
        "{message}"
    );
    stored(&dir.path().join("a.npz"), &[ids(2, 0)]);
    let mixed = refusal(dir.path());
    assert!(mixed.contains("1 .npy files and 1 .npz files"), "{mixed}");
}

#[test]
fn damaged_archives_are_named() {
    let (dir, a, b) = in_folder();
    let arrays = [ids(2, 0), mask(2), state(2), table(1.0)];
    stored(&a, &arrays);
    let whole = fs::read(&a).unwrap();
    let cut = |bytes: usize| {
        fs::write(&a, &whole[..bytes]).unwrap();
        open(&a).unwrap_err().to_string()
    };
    for bytes in [0, 3, 100, whole.len() / 2, whole.len() - 1] {
        let message = cut(bytes);
        assert!(
            message.contains("a.npz is no intact .npz archive") && message.contains("savez"),
            "{message}"
        );
    }
    let empty = ZipWriter::new(File::create(&a).unwrap()).finish();
    drop(empty);
    let message = refusal(&a);
    assert!(message.contains("holds no arrays"), "{message}");
    // A file that is no array in an archive that is intact.
    let mut archive = ZipWriter::new(File::create(&a).unwrap());
    archive
        .start_file("ids.npy", SimpleFileOptions::default())
        .unwrap();
    archive.write_all(b"text").unwrap();
    archive.finish().unwrap();
    let message = refusal(&a);
    assert!(
        message.contains("array \"ids\" of") && message.contains("is no NumPy file"),
        "{message}"
    );
    // Values that are not those that were written: another file takes its place.
    let at = whole.len() / 2;
    let place = (at..whole.len()).find(|&at| whole[at] == 1).unwrap();
    let mut changed = whole.clone();
    changed[place] ^= 0xff;
    fs::write(&a, &changed).unwrap();
    stored(&b, &arrays);
    let set = open(dir.path()).unwrap().for_inputs(&specs(1));
    let sound = set.and_then(|set| set.take_readable(4, &CancelToken::default()));
    let sound = sound.unwrap();
    assert!(sound.items.iter().all(|item| item.path == b), "{sound:?}");
    assert!(sound.notes[0].contains("a.npz"), "{:?}", sound.notes);
}

#[test]
fn other_ways_of_packing_are_named() {
    let (_dir, a, _) = in_folder();
    stored(&a, &[ids(1, 0)]);
    let mut bytes = fs::read(&a).unwrap();
    // The method stands 8 bytes into the entry and 10 bytes into its line of the directory.
    let directory = bytes
        .windows(4)
        .position(|four| four == b"PK\x01\x02")
        .unwrap();
    bytes[8] = 12;
    bytes[directory + 10] = 12;
    fs::write(&a, &bytes).unwrap();
    let message = refusal(&a);
    assert!(
        message.contains("array \"ids\" of") && message.contains("numpy.savez_compressed"),
        "{message}"
    );
}

#[test]
fn an_array_that_unpacks_to_more_than_allowed_is_refused() {
    let (_dir, a, _) = in_folder();
    // A million values of one kind are packed into a thousandth of their bytes.
    let zeros = Tensor {
        spec: TensorSpec::new("ids", ElementType::U8, vec![1_000_000]),
        data: TensorData::U8(vec![0; 1_000_000]),
    };
    write(&a, &[zeros], CompressionMethod::Deflated);
    assert!(fs::metadata(&a).unwrap().len() < 10_000);
    assert!(npz::read_at_most(&a, "ids", 2_000_000).is_ok());
    let refused = npz::read_at_most(&a, "ids", 500_000).unwrap_err();
    assert!(
        refused.to_string().contains("it has more than 0 MB"),
        "{refused}"
    );
    // An archive that promises less than comes out of it.
    let mut bytes = fs::read(&a).unwrap();
    let directory = bytes
        .windows(4)
        .position(|four| four == b"PK\x01\x02")
        .unwrap();
    for at in [22, directory + 24] {
        bytes[at..at + 4].copy_from_slice(&100_u32.to_le_bytes());
    }
    fs::write(&a, &bytes).unwrap();
    assert!(npz::read_at_most(&a, "ids", 500_000).is_err());
}

#[test]
fn names_in_an_archive_lead_nowhere() {
    let (dir, _, _) = in_folder();
    let inside = dir.path().join("inside");
    fs::create_dir(&inside).unwrap();
    let path = inside.join("a.npz");
    let mut archive = ZipWriter::new(File::create(&path).unwrap());
    let names = ["../owned.npy", "/tmp/owned-by-an-archive.npy", "ids.npy"];
    for name in names {
        archive
            .start_file(name, SimpleFileOptions::default())
            .unwrap();
        archive.write_all(&npy::write(&ids(1, 0))).unwrap();
    }
    archive.finish().unwrap();
    let set = open(&path).unwrap();
    drop(set.for_inputs(&specs(1)));
    assert!(npz::read_at_most(&path, "ids", 1_000).is_ok());
    assert!(!dir.path().join("owned.npy").exists());
    assert!(!Path::new("/tmp/owned-by-an-archive.npy").exists());
    assert_eq!(fs::read_dir(&inside).unwrap().count(), 1);
}
