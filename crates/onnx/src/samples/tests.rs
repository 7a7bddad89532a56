//! Tests of finding inputs and making batches, on folders made for each of them.

use std::fs;
use std::path::Path;

use image::{DynamicImage, ImageFormat, Rgb, RgbImage};

use super::picture::{self, Preprocess};
use super::*;
use powerband_core::base::cancel::CancelToken;
use powerband_core::domain::tensor::{ElementType, Tensor, TensorData, TensorSpec};

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

/// The bytes of a picture in one colour.
fn picture_bytes(width: u32, height: u32, format: ImageFormat) -> Vec<u8> {
    let picture = RgbImage::from_pixel(width, height, Rgb([200, 100, 50]));
    encoded(&DynamicImage::ImageRgb8(picture), format)
}

fn encoded(picture: &DynamicImage, format: ImageFormat) -> Vec<u8> {
    let mut bytes = std::io::Cursor::new(Vec::new());
    picture.write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

fn put(folder: &Path, name: &str, bytes: &[u8]) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

fn spec(element: ElementType, dims: &[usize]) -> TensorSpec {
    TensorSpec::new("x", element, dims.to_vec())
}

fn array(element: ElementType, dims: &[usize]) -> Vec<u8> {
    npy::write(&Tensor::seeded(&spec(element, dims), 5))
}

/// Name and label of each item.
fn listed(set: &SampleSet) -> Vec<(String, Option<usize>)> {
    let name = |item: &SampleItem| item.path.file_name().unwrap().to_str().unwrap().to_owned();
    set.items
        .iter()
        .map(|item| (name(item), item.label))
        .collect()
}

fn refusal(path: &Path) -> String {
    open(path).unwrap_err().to_string()
}

#[test]
fn sub_folders_are_classes() {
    let dir = folder();
    let png = picture_bytes(4, 4, ImageFormat::Png);
    for name in [
        "dog/2.png",
        "dog/1.PNG",
        "cat/3.png",
        "dog/.DS_Store",
        "cat/read.me",
    ] {
        put(dir.path(), name, &png);
    }
    put(dir.path(), "notes.txt", b"x");
    put(dir.path(), ".hidden/9.png", &png);
    let set = open(dir.path()).unwrap();
    let expect = [("3.png", 0), ("1.PNG", 1), ("2.png", 1)];
    assert_eq!(
        listed(&set),
        expect.map(|(name, label)| (name.to_owned(), Some(label)))
    );
    assert_eq!(set.classes, ["cat", "dog"]);
    assert!(set.notes[0].contains("alphabetical"), "{:?}", set.notes);
    put(dir.path(), "classes.txt", b"dog\ncow\ncat\n");
    put(dir.path(), "6.png", &png);
    fs::create_dir(dir.path().join("cow")).unwrap();
    let set = open(dir.path()).unwrap();
    assert_eq!(
        set.items.iter().map(|item| item.label).collect::<Vec<_>>(),
        [Some(2), Some(0), Some(0)]
    );
    assert_eq!(set.notes.len(), 2, "{:?}", set.notes);
    put(dir.path(), "classes.txt", b"dog\ncow\n");
    assert!(refusal(dir.path()).contains("class \"cat\" is not in"));
}

#[test]
fn folders_without_classes() {
    let dir = folder();
    let png = picture_bytes(4, 4, ImageFormat::Png);
    put(dir.path(), "b.png", &png);
    put(dir.path(), "a.jpg", &png);
    let set = open(dir.path()).unwrap();
    assert_eq!(
        listed(&set),
        [("a.jpg".to_owned(), None), ("b.png".to_owned(), None)]
    );
    assert!(set.classes.is_empty() && set.notes.is_empty());
    assert_eq!(open(&dir.path().join("b.png")).unwrap().items.len(), 1);
    let single = folder();
    put(single.path(), "images/b.png", &png);
    let set = open(single.path()).unwrap();
    assert_eq!((set.items[0].label, set.notes.len()), (None, 1));
}

#[test]
fn what_holds_no_inputs_is_refused() {
    let dir = folder();
    assert!(refusal(&dir.path().join("gone")).contains("cannot read"));
    assert!(refusal(dir.path()).contains("neither pictures nor .npy or .npz"));
    put(dir.path(), "x.txt", b"x");
    assert!(refusal(&dir.path().join("x.txt")).contains("holds no inputs"));
    let png = picture_bytes(4, 4, ImageFormat::Png);
    put(dir.path(), "val/n01/a.png", &png);
    let message = refusal(dir.path());
    assert!(
        message.contains("two folders deep") && message.contains("n01"),
        "{message}"
    );
    let mixed = folder();
    put(mixed.path(), "a.png", &png);
    put(mixed.path(), "b.npy", &array(ElementType::F32, &[2]));
    assert!(refusal(mixed.path()).contains("1 pictures, 1 .npy files and 0 .npz"));
    put(mixed.path(), "list.csv", b"file,label\n");
    assert!(refusal(&mixed.path().join("list.csv")).contains("neither"));
    put(mixed.path(), "0.npy", &array(ElementType::F32, &[0, 2]));
    assert!(refusal(&mixed.path().join("0.npy")).contains("neither"));
}

#[test]
fn broken_pictures_are_counted_and_named() {
    let dir = folder();
    put(dir.path(), "a.jpg", b"this is text");
    put(dir.path(), "b.png", b"");
    assert!(refusal(dir.path()).contains("none of 2 files can be used. The first is"));
    put(dir.path(), "c.png", &picture_bytes(4, 4, ImageFormat::Png));
    let set = open(dir.path()).unwrap();
    assert_eq!(set.items.len(), 1);
    assert!(
        set.notes[0].contains("2 of 3 files are left out"),
        "{:?}",
        set.notes
    );
    assert!(
        set.notes[0].contains("a.jpg: it is no JPEG"),
        "{:?}",
        set.notes
    );
    put(dir.path(), "list.csv", b"c.png,1\ngone.png,2\n");
    let set = open(&dir.path().join("list.csv")).unwrap();
    assert_eq!(listed(&set), [("c.png".to_owned(), Some(1))]);
    assert!(
        set.notes[0].contains("gone.png: it cannot be read"),
        "{:?}",
        set.notes
    );
}

#[test]
fn damage_further_on_is_found_by_reading() {
    let dir = folder();
    let cancel = CancelToken::default();
    for (name, format) in [
        ("a.jpg", ImageFormat::Jpeg),
        ("b.png", ImageFormat::Png),
        ("c.bmp", ImageFormat::Bmp),
    ] {
        let bytes = picture_bytes(64, 64, format);
        put(dir.path(), name, &bytes[..bytes.len() - 20]);
    }
    let set = open(dir.path()).unwrap();
    assert_eq!(set.items.len(), 3);
    let message = set.take_readable(3, &cancel).unwrap_err().to_string();
    assert!(message.contains("none of 3 files"), "{message}");
    for index in 0..3 {
        let input = spec(ElementType::F32, &[1, 3, 32, 32]);
        let message = set.tensor(&[index], &input).unwrap_err().to_string();
        assert!(message.contains(dir.path().to_str().unwrap()), "{message}");
    }
    put(
        dir.path(),
        "d.png",
        &picture_bytes(64, 64, ImageFormat::Png),
    );
    let sound = open(dir.path()).unwrap().take_readable(1, &cancel).unwrap();
    assert_eq!(listed(&sound), [("d.png".to_owned(), None)]);
    assert!(sound.notes[0].contains("3 of 4 files"), "{:?}", sound.notes);
}

#[test]
fn pictures_of_every_kind_become_rgb() {
    let dir = folder();
    let rgb = DynamicImage::ImageRgb8(RgbImage::from_pixel(40, 40, Rgb([120, 120, 120])));
    let kinds = [
        ("grey.png", DynamicImage::ImageLuma8(rgb.to_luma8())),
        (
            "grey_alpha.png",
            DynamicImage::ImageLumaA8(rgb.to_luma_alpha8()),
        ),
        ("alpha.png", DynamicImage::ImageRgba8(rgb.to_rgba8())),
        ("grey16.png", DynamicImage::ImageLuma16(rgb.to_luma16())),
        ("rgb16.png", DynamicImage::ImageRgb16(rgb.to_rgb16())),
        ("grey.jpg", DynamicImage::ImageLuma8(rgb.to_luma8())),
        ("rgb.bmp", rgb.clone()),
    ];
    for (name, picture) in kinds {
        let format = ImageFormat::from_path(name).unwrap();
        put(dir.path(), name, &encoded(&picture, format));
        let values = Preprocess::cifar().load(&dir.path().join(name)).unwrap();
        assert_eq!(values.len(), 3 * 32 * 32);
        let expect = (120.0 / 255.0 - 0.4914) / 0.2470;
        assert!((values[0] - expect).abs() < 1e-6, "{name} {}", values[0]);
    }
}

#[test]
fn pictures_are_turned_as_their_orientation_says() {
    let dir = folder();
    let mut picture = RgbImage::from_pixel(64, 32, Rgb([0, 0, 0]));
    for (x, _, pixel) in picture.enumerate_pixels_mut() {
        *pixel = if x < 32 { Rgb([255; 3]) } else { Rgb([0; 3]) };
    }
    let plain = encoded(&DynamicImage::ImageRgb8(picture), ImageFormat::Jpeg);
    // Orientation 6: turn clockwise by a quarter, so that the left side comes to the top.
    let exif = b"\xff\xe1\x00\x22Exif\0\0MM\0\x2a\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0";
    let turned = [&plain[..2], exif, &plain[2..]].concat();
    put(dir.path(), "plain.jpg", &plain);
    put(dir.path(), "turned.jpg", &turned);
    let load = |name: &str| Preprocess::cifar().load(&dir.path().join(name)).unwrap();
    let (plain, turned) = (load("plain.jpg"), load("turned.jpg"));
    let (bright, dark) = (1.5, -1.5);
    let row_5 = |column: usize| 5 * 32 + column;
    assert!(plain[row_5(3)] > bright && plain[row_5(28)] < dark);
    assert!(turned[row_5(3)] > bright && turned[row_5(28)] > bright);
}

#[test]
fn bombs_are_refused_before_they_go_off() {
    let dir = folder();
    // A PNG that claims 40,000 × 40,000 pixels, and one wider than any.
    for (side, expect) in [(40_000_u32, "larger than any picture"), (60_000, "")] {
        let mut png = picture_bytes(4, 4, ImageFormat::Png);
        png[16..20].copy_from_slice(&side.to_be_bytes());
        png[20..24].copy_from_slice(&side.to_be_bytes());
        let crc = crc32(&png[12..29]);
        png[29..33].copy_from_slice(&crc.to_be_bytes());
        put(dir.path(), "bomb.png", &png);
        let message = picture::check(&dir.path().join("bomb.png"))
            .unwrap_err()
            .to_string();
        assert!(message.contains(expect), "{message}");
    }
}

/// The check sum of a PNG's chunks.
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| {
            (crc >> 1) ^ (0xedb8_8320 * (crc & 1))
        })
    })
}

#[test]
fn a_batch_is_made_of_pictures() {
    let dir = folder();
    put(
        dir.path(),
        "a.png",
        &picture_bytes(300, 260, ImageFormat::Png),
    );
    put(
        dir.path(),
        "b.png",
        &picture_bytes(20, 30, ImageFormat::Png),
    );
    let set = open(dir.path()).unwrap();
    let input = spec(ElementType::F32, &[3, 3, 224, 224]);
    let batch = set.tensor(&[0, 1, 0], &input).unwrap();
    assert_eq!(batch.spec, input);
    let TensorData::F32(values) = &batch.data else {
        panic!("not floats");
    };
    assert_eq!(values.len(), input.len());
    let plane = 224 * 224;
    // (200, 100, 50) by torchvision: ToTensor, then Normalize.
    for (at, expect) in [
        (0, 1.307_047),
        (plane, -0.285_014),
        (3 * plane - 1, -0.932_985),
    ] {
        assert!((values[at] - expect).abs() < 1e-5, "{at} {}", values[at]);
    }
    let half = set
        .tensor(&[0], &spec(ElementType::F16, &[1, 3, 32, 32]))
        .unwrap();
    assert!(matches!(half.data, TensorData::F16(_)));
    let refuse = |items: &[usize], element, dims: &[usize], expect: &str| {
        let error = set.tensor(items, &spec(element, dims)).unwrap_err();
        assert!(error.to_string().contains(expect), "{error}");
    };
    refuse(
        &[0],
        ElementType::F32,
        &[2, 3, 8, 8],
        "1 items were chosen for input \"x\", whose batch is 2",
    );
    refuse(&[0], ElementType::F32, &[1, 8, 8, 3], "float32 1×8×8×3");
    refuse(&[0], ElementType::U8, &[1, 3, 8, 8], "uint8 1×3×8×8");
    refuse(
        &[7],
        ElementType::F32,
        &[1, 3, 8, 8],
        "item 7 was chosen, and there are 2",
    );
    refuse(
        &[0],
        ElementType::F32,
        &[1, 3, 99_999, 99_999],
        "99999 pixels wide",
    );
}

#[test]
fn a_batch_is_made_of_arrays() {
    let dir = folder();
    put(dir.path(), "a.npy", &array(ElementType::F32, &[2, 4]));
    put(dir.path(), "b.npy", &array(ElementType::F64, &[1, 2, 4]));
    put(dir.path(), "c.npy", &array(ElementType::F32, &[3, 2, 4]));
    let input = |batch| spec(ElementType::F32, &[batch, 2, 4]);
    let set = open(dir.path()).unwrap();
    assert_eq!(set.items.len(), 3);
    assert!(set.tensor(&[0, 1], &input(2)).is_ok());
    let whole = set.tensor(&[2], &input(1)).unwrap_err().to_string();
    assert!(
        whole.contains("it is 3×2×4, and an item for input \"x\" is 2×4"),
        "{whole}"
    );
    let set = set.for_input(&input(1)).unwrap();
    assert_eq!(set.items.len(), 5);
    let batch = set.tensor(&[4, 0], &input(2)).unwrap();
    let all = npy::read(&dir.path().join("c.npy"), "x").unwrap().to_f64();
    let first = npy::read(&dir.path().join("a.npy"), "x").unwrap().to_f64();
    assert_eq!(batch.to_f64(), [&all[16..], first.as_slice()].concat());
    let wrong = set
        .for_input(&spec(ElementType::F32, &[1, 4, 2]))
        .unwrap_err();
    assert!(
        wrong
            .to_string()
            .contains("a.npy has the wrong shape: it is 2×4"),
        "{wrong}"
    );
}

#[test]
fn one_array_is_a_batch_or_an_item() {
    let dir = folder();
    let path = dir.path().join("x.npy");
    put(dir.path(), "x.npy", &array(ElementType::I32, &[3, 2]));
    let set = open(&path).unwrap();
    let parts: Vec<SamplePart> = set.items.iter().map(|item| item.part).collect();
    assert_eq!(
        parts,
        [SamplePart::Row(0), SamplePart::Row(1), SamplePart::Row(2)]
    );
    let batch = set
        .tensor(&[2, 1], &spec(ElementType::I64, &[2, 2]))
        .unwrap();
    assert!(matches!(batch.data, TensorData::I64(values) if values.len() == 4));
    let single = set.for_input(&spec(ElementType::I32, &[1, 3, 2])).unwrap();
    assert_eq!(single.items.len(), 1);
    assert!(
        single
            .tensor(&[0], &spec(ElementType::I32, &[1, 3, 2]))
            .is_ok()
    );
    let float = set
        .tensor(&[0], &spec(ElementType::F32, &[1, 2]))
        .unwrap_err();
    assert!(
        float.to_string().contains("holds int32 elements"),
        "{float}"
    );
    put(
        dir.path(),
        "big.npy",
        &npy::write(&Tensor {
            spec: spec(ElementType::I32, &[1]),
            data: TensorData::I32(vec![300]),
        }),
    );
    let big = open(&dir.path().join("big.npy")).unwrap();
    assert!(big.tensor(&[0], &spec(ElementType::U8, &[1])).is_err());
    assert!(big.tensor(&[0], &spec(ElementType::I16, &[1])).is_ok());
}
