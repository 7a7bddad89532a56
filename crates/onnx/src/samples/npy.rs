//! Arrays in `NumPy`'s own file format, to and from tensors.
//!
//! Files come from the user, so nothing in them is trusted: the size that the header promises is held
//! against the length of the file before anything is taken from memory. The format is `NumPy`'s NEP 1,
//! versions 1.0 to 3.0 in; 1.0 out, or 2.0 where the header is long. What the values mean is left to
//! the caller.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use half::f16;
use thiserror::Error;

use powerband_core::base::regular_file;
use powerband_core::domain::tensor::{ElementType, Tensor, TensorData, TensorSpec};

const MAGIC: &[u8; 6] = b"\x93NUMPY";
/// Where the array begins is a multiple of this, so that it can be mapped into memory.
pub(super) const ALIGNMENT: usize = 64;
/// A header says a type and a shape; one that is longer than this is none.
pub(super) const MOST_HEADER_BYTES: usize = 1 << 16;

/// Why an array cannot be read.
#[derive(Debug, Error)]
pub enum NpyError {
    /// The file could not be read.
    #[error("cannot read {}: {why}", path.display())]
    Read {
        path: PathBuf,
        /// What the system says.
        why: std::io::Error,
    },
    /// Not this format at all.
    #[error("{} is no NumPy file: it does not begin as one. Write it with numpy.save", path.display())]
    NotNpy { path: PathBuf },
    /// A header that makes no sense.
    #[error("{}: the header cannot be read: {why}. Write the file again with numpy.save", path.display())]
    Header {
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// Elements of a type that cannot be fed.
    #[error(
        "{}: elements of type {found:?} cannot be fed. Convert the array to float (16, 32, 64 bit), \
         signed integer, uint8 or bool, little-endian, before saving it", path.display()
    )]
    Element {
        path: PathBuf,
        /// The type as the file writes it.
        found: String,
    },
    /// The other order of bytes.
    #[error(
        "{}: the bytes of its numbers are in big-endian order. Save array.astype(array.dtype.newbyteorder('<'))",
        path.display()
    )]
    BigEndian { path: PathBuf },
    /// Columns before rows.
    #[error(
        "{}: the array is stored column by column. Save numpy.ascontiguousarray(array)",
        path.display()
    )]
    Fortran { path: PathBuf },
    /// More or fewer bytes than promised.
    #[error(
        "{}: the header promises {promised} bytes of values and the file holds {found}. It was cut off \
         or damaged: write it again", path.display()
    )]
    Length {
        path: PathBuf,
        /// Bytes by the header.
        promised: u64,
        /// Bytes in the file.
        found: u64,
    },
    /// Rows that the array does not have.
    #[error("{}: rows {start} to {end} were asked for, and it has {rows}", path.display())]
    Rows {
        path: PathBuf,
        /// First row asked for, from 0.
        start: usize,
        /// The row after the last.
        end: usize,
        /// How many there are.
        rows: usize,
    },
}

/// What a file says of its array, once it is known to hold all of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// Type of the elements.
    pub element: ElementType,
    /// The shape; empty for a single number.
    pub dims: Vec<usize>,
    /// Where the values begin, in bytes.
    start: u64,
}

/// Reads what a file says of its array, and makes sure that it holds as many values.
pub fn header(path: &Path) -> Result<Header, NpyError> {
    open(path).map(|(_, header)| header)
}

/// Reads a whole array. The tensor goes by the name given.
pub fn read(path: &Path, name: &str) -> Result<Tensor, NpyError> {
    let (mut file, header) = open(path)?;
    let dims = header.dims.clone();
    read_part(
        path,
        &mut file,
        &header,
        0,
        TensorSpec::new(name, header.element, dims),
    )
}

/// Reads some rows, which are what the first axis counts; the tensor keeps that axis.
pub(crate) fn read_rows(
    path: &Path,
    name: &str,
    start: usize,
    count: usize,
) -> Result<Tensor, NpyError> {
    let (mut file, header) = open(path)?;
    let rows = header.dims.first().copied().unwrap_or_default();
    let end = start.saturating_add(count);
    if end > rows {
        let path = path.to_owned();
        return Err(NpyError::Rows {
            path,
            start,
            end,
            rows,
        });
    }
    let mut dims = header.dims.clone();
    if let Some(first) = dims.first_mut() {
        *first = count;
    }
    let row: usize = dims.iter().skip(1).product();
    let before = start * row * header.element.size() as usize;
    read_part(
        path,
        &mut file,
        &header,
        before as u64,
        TensorSpec::new(name, header.element, dims),
    )
}

/// The bytes of a file that `NumPy` reads back as this tensor.
pub fn write(tensor: &Tensor) -> Vec<u8> {
    let sizes: Vec<String> = tensor.spec.dims.iter().map(ToString::to_string).collect();
    // A tuple of one has a comma behind it.
    let comma = if sizes.len() == 1 { "," } else { "" };
    let mut text = format!(
        "{{'descr': '{}', 'fortran_order': False, 'shape': ({}{comma}), }}",
        descr(tensor.spec.element),
        sizes.join(", "),
    );
    let is_long = text.len() + ALIGNMENT > usize::from(u16::MAX);
    let before = MAGIC.len() + if is_long { 6 } else { 4 };
    let padding = ALIGNMENT - (before + text.len() + 1) % ALIGNMENT;
    text.push_str(&" ".repeat(padding % ALIGNMENT));
    text.push('\n');
    let mut bytes = MAGIC.to_vec();
    if is_long {
        bytes.extend([2, 0]);
        bytes.extend((text.len() as u32).to_le_bytes());
    } else {
        bytes.extend([1, 0]);
        bytes.extend((text.len() as u16).to_le_bytes());
    }
    bytes.extend(text.as_bytes());
    append_values(&tensor.data, &mut bytes);
    bytes
}

/// Reads an array whose file is in memory; `path` is what messages call it.
pub(super) fn read_bytes(path: &Path, name: &str, bytes: &[u8]) -> Result<Tensor, NpyError> {
    let header = parse(path, bytes, bytes.len() as u64)?;
    let raw = bytes.get(header.start as usize..).unwrap_or_default();
    Ok(Tensor {
        data: values(header.element, raw),
        spec: TensorSpec::new(name, header.element, header.dims),
    })
}

fn open(path: &Path) -> Result<(File, Header), NpyError> {
    let failed = |why| NpyError::Read {
        path: path.to_owned(),
        why,
    };
    let mut file = regular_file::open(path).map_err(failed)?;
    let length = file.metadata().map_err(failed)?.len();
    let mut head = Vec::new();
    let most = (MOST_HEADER_BYTES + ALIGNMENT) as u64;
    file.by_ref()
        .take(most)
        .read_to_end(&mut head)
        .map_err(failed)?;
    let header = parse(path, &head, length)?;
    Ok((file, header))
}

/// Reads a header from the first bytes of a file that is so long.
pub(super) fn parse(path: &Path, head: &[u8], length: u64) -> Result<Header, NpyError> {
    let wrong = |why: &str| NpyError::Header {
        path: path.to_owned(),
        why: why.to_owned(),
    };
    let Some(rest) = head.strip_prefix(MAGIC) else {
        let path = path.to_owned();
        return Err(NpyError::NotNpy { path });
    };
    let (size, before) = match rest {
        [1, _, a, b, ..] => (usize::from(u16::from_le_bytes([*a, *b])), 4),
        [2 | 3, _, a, b, c, d, ..] => (u32::from_le_bytes([*a, *b, *c, *d]) as usize, 6),
        [1..=3, ..] | [] => return Err(wrong("it is cut off")),
        [version, ..] => return Err(wrong(&format!("its version {version} is not known"))),
    };
    if size > MOST_HEADER_BYTES {
        return Err(wrong(&format!("it claims to be {size} bytes long")));
    }
    let text = rest
        .get(before..before + size)
        .ok_or_else(|| wrong("it is cut off"))?;
    let text = str::from_utf8(text).map_err(|why| wrong(&why.to_string()))?;
    let descr = entry(text, "descr").ok_or_else(|| wrong("it states no type"))?;
    let element = element(path, descr)?;
    let order = entry(text, "fortran_order").ok_or_else(|| wrong("it states no order"))?;
    let dims = entry(text, "shape")
        .and_then(shape)
        .ok_or_else(|| wrong("it states no shape"))?;
    // An array of one axis is the same in either order.
    if order.starts_with("True") && dims.len() > 1 {
        let path = path.to_owned();
        return Err(NpyError::Fortran { path });
    }
    let start = (MAGIC.len() + before + size) as u64;
    // With nothing taken for one, so that no product of some of the sizes is too large either.
    let bytes = dims
        .iter()
        .try_fold(element.size(), |bytes, &dim| {
            bytes.checked_mul(dim.max(1) as u64)
        })
        .filter(|&bytes| isize::try_from(bytes).is_ok())
        .ok_or_else(|| wrong("its shape is larger than any memory"))?;
    let promised = if dims.contains(&0) { 0 } else { bytes };
    let found = length.saturating_sub(start);
    if promised != found {
        return Err(NpyError::Length {
            path: path.to_owned(),
            promised,
            found,
        });
    }
    Ok(Header {
        element,
        dims,
        start,
    })
}

/// What stands behind a key of the header, which is a dictionary as Python writes it.
fn entry<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let quoted = [format!("'{key}'"), format!("\"{key}\"")];
    let at = quoted
        .iter()
        .find_map(|key| text.find(key.as_str()).map(|at| at + key.len()))?;
    text[at..]
        .trim_start()
        .strip_prefix(':')
        .map(str::trim_start)
}

fn shape(text: &str) -> Option<Vec<usize>> {
    let (inside, _) = text.strip_prefix('(')?.split_once(')')?;
    let mut sizes: Vec<&str> = inside.split(',').map(str::trim).collect();
    // The last one may have a comma behind it.
    if sizes.last().is_some_and(|last| last.is_empty()) {
        sizes.pop();
    }
    // Python 2 wrote long ones with an L.
    let size = |text: &str| text.trim_end_matches('L').parse().ok();
    sizes.into_iter().map(size).collect()
}

fn element(path: &Path, text: &str) -> Result<ElementType, NpyError> {
    let quote = text.chars().next().filter(|c| matches!(c, '\'' | '"'));
    let inside = quote.and_then(|quote| text[1..].split_once(quote));
    let unknown = |found: &str| NpyError::Element {
        path: path.to_owned(),
        found: found.to_owned(),
    };
    // Without quotes it is a list of fields.
    let Some((word, _)) = inside else {
        return Err(unknown("a structure"));
    };
    let (order, kind) = match word.split_at_checked(1) {
        Some((order @ ("<" | ">" | "|" | "="), kind)) => (order, kind),
        _ => ("|", word),
    };
    use ElementType::{Bool, F16, F32, F64, I8, I16, I32, I64, U8};
    let mut all = [F16, F32, F64, I8, I16, I32, I64, U8, Bool].into_iter();
    let element = all
        .find(|known| descr(*known)[1..] == *kind)
        .ok_or_else(|| unknown(word))?;
    if order == ">" && element.size() > 1 {
        let path = path.to_owned();
        return Err(NpyError::BigEndian { path });
    }
    Ok(element)
}

fn descr(element: ElementType) -> &'static str {
    match element {
        ElementType::F16 => "<f2",
        ElementType::F32 => "<f4",
        ElementType::F64 => "<f8",
        ElementType::I8 => "|i1",
        ElementType::I16 => "<i2",
        ElementType::I32 => "<i4",
        ElementType::I64 => "<i8",
        ElementType::U8 => "|u1",
        ElementType::Bool => "|b1",
    }
}

/// Reads the values of a tensor, so many bytes behind the beginning of the array.
fn read_part(
    path: &Path,
    file: &mut File,
    header: &Header,
    before: u64,
    spec: TensorSpec,
) -> Result<Tensor, NpyError> {
    let failed = |why| NpyError::Read {
        path: path.to_owned(),
        why,
    };
    let bytes = spec.len() * spec.element.size() as usize;
    file.seek(SeekFrom::Start(header.start + before))
        .map_err(failed)?;
    let mut raw = vec![0; bytes];
    file.read_exact(&mut raw).map_err(failed)?;
    Ok(Tensor {
        data: values(spec.element, &raw),
        spec,
    })
}

fn values(element: ElementType, raw: &[u8]) -> TensorData {
    match element {
        ElementType::F16 => TensorData::F16(decode_values(raw, f16::from_le_bytes)),
        ElementType::F32 => TensorData::F32(decode_values(raw, f32::from_le_bytes)),
        ElementType::F64 => TensorData::F64(decode_values(raw, f64::from_le_bytes)),
        ElementType::I8 => TensorData::I8(decode_values(raw, i8::from_le_bytes)),
        ElementType::I16 => TensorData::I16(decode_values(raw, i16::from_le_bytes)),
        ElementType::I32 => TensorData::I32(decode_values(raw, i32::from_le_bytes)),
        ElementType::I64 => TensorData::I64(decode_values(raw, i64::from_le_bytes)),
        ElementType::U8 => TensorData::U8(raw.to_vec()),
        ElementType::Bool => TensorData::Bool(raw.iter().map(|&byte| byte != 0).collect()),
    }
}

fn decode_values<const N: usize, T>(raw: &[u8], read: impl Fn([u8; N]) -> T) -> Vec<T> {
    let (words, _) = raw.as_chunks::<N>();
    words.iter().map(|&word| read(word)).collect()
}

fn append_values(data: &TensorData, bytes: &mut Vec<u8>) {
    match data {
        TensorData::F16(v) => bytes.extend(v.iter().flat_map(|x| x.to_le_bytes())),
        TensorData::F32(v) => bytes.extend(v.iter().flat_map(|x| x.to_le_bytes())),
        TensorData::F64(v) => bytes.extend(v.iter().flat_map(|x| x.to_le_bytes())),
        TensorData::I8(v) => bytes.extend(v.iter().flat_map(|x| x.to_le_bytes())),
        TensorData::I16(v) => bytes.extend(v.iter().flat_map(|x| x.to_le_bytes())),
        TensorData::I32(v) => bytes.extend(v.iter().flat_map(|x| x.to_le_bytes())),
        TensorData::I64(v) => bytes.extend(v.iter().flat_map(|x| x.to_le_bytes())),
        TensorData::U8(v) => bytes.extend(v),
        TensorData::Bool(v) => bytes.extend(v.iter().map(|&x| u8::from(x))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `numpy.save` of `numpy.array([[1, -2, 300]], dtype="<i2")`, numpy 2.4.
    const FROM_NUMPY: &[u8] = b"\x93NUMPY\x01\x00v\x00{'descr': '<i2', 'fortran_order': False, \
        'shape': (1, 3), }                                                          \n\
        \x01\x00\xfe\xff\x2c\x01";

    fn file(bytes: &[u8]) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::with_suffix(".npy").unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        file
    }

    fn refusal(bytes: &[u8]) -> String {
        read(file(bytes).path(), "x").unwrap_err().to_string()
    }

    /// A file of version 1.0 with that header and so many bytes behind it.
    fn made(header: &str, bytes: usize) -> Vec<u8> {
        let mut made = MAGIC.to_vec();
        made.extend([1, 0]);
        made.extend((header.len() as u16).to_le_bytes());
        made.extend(header.as_bytes());
        made.resize(made.len() + bytes, 0);
        made
    }

    #[test]
    fn what_numpy_wrote_is_read_and_written_alike() {
        let tensor = read(file(FROM_NUMPY).path(), "x").unwrap();
        assert_eq!(tensor.data, TensorData::I16(vec![1, -2, 300]));
        assert_eq!(tensor.spec.dims, [1, 3]);
        assert_eq!(tensor.spec.name, "x");
        assert_eq!(write(&tensor), FROM_NUMPY);
    }

    #[test]
    fn what_is_written_is_read_back() {
        use ElementType::{Bool, F16, F32, F64, I8, I16, I32, I64, U8};
        for element in [F16, F32, F64, I8, I16, I32, I64, U8, Bool] {
            for dims in [vec![], vec![7], vec![0, 4], vec![2, 3, 4, 5], vec![1; 40]] {
                let spec = TensorSpec::new("values", element, dims);
                let tensor = Tensor::seeded(&spec, 3);
                let bytes = write(&tensor);
                let file = file(&bytes);
                assert_eq!(read(file.path(), "values").unwrap(), tensor);
                let header = header(file.path()).unwrap();
                assert_eq!((header.element, &header.dims), (element, &spec.dims));
                assert_eq!(header.start % 64, 0);
            }
        }
    }

    #[test]
    fn a_long_header_has_the_second_version() {
        let spec = TensorSpec::new("x", ElementType::U8, vec![1; 21_836]);
        let bytes = write(&Tensor::seeded(&spec, 1));
        assert_eq!(bytes[6], 2);
        let message = refusal(&bytes);
        assert!(message.contains("claims to be"), "{message}");
    }

    #[test]
    fn rows_are_read_alone() {
        let spec = TensorSpec::new("x", ElementType::F32, vec![5, 2]);
        let tensor = Tensor {
            spec,
            data: TensorData::F32((0..10_u8).map(f32::from).collect()),
        };
        let file = file(&write(&tensor));
        let part = read_rows(file.path(), "x", 3, 2).unwrap();
        assert_eq!(part.spec.dims, [2, 2]);
        assert_eq!(part.data, TensorData::F32(vec![6.0, 7.0, 8.0, 9.0]));
        let message = read_rows(file.path(), "x", 4, 2).unwrap_err().to_string();
        assert!(message.contains("rows 4 to 6"), "{message}");
        assert!(read_rows(file.path(), "x", usize::MAX, 2).is_err());
    }

    #[test]
    fn other_writers_are_understood() {
        let old = made(
            "{\"descr\": \"<f4\", \"fortran_order\": True, \"shape\": (2L,)}",
            8,
        );
        assert_eq!(read(file(&old).path(), "x").unwrap().spec.dims, [2]);
        let single = made("{'shape': (), 'fortran_order': False, 'descr': '|u1'}", 1);
        assert_eq!(read(file(&single).path(), "x").unwrap().spec.dims, [0; 0]);
    }

    #[test]
    fn what_cannot_be_read_is_said() {
        let with = |descr: &str, order: &str, shape: &str| {
            let text = format!("{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}}}");
            refusal(&made(&text, 8))
        };
        for (message, expect) in [
            (refusal(b""), "is no NumPy file"),
            (refusal(b"\x89PNG\r\n"), "is no NumPy file"),
            (refusal(&FROM_NUMPY[..7]), "cut off"),
            (refusal(&FROM_NUMPY[..60]), "cut off"),
            (refusal(b"\x93NUMPY\x09\x00"), "version 9"),
            (
                refusal(b"\x93NUMPY\x02\x00\xff\xff\xff\xff"),
                "claims to be 4294967295",
            ),
            (
                refusal(&FROM_NUMPY[..FROM_NUMPY.len() - 1]),
                "promises 6 bytes of values and the file holds 5",
            ),
            (with("'>f8'", "False", "(1,)"), "big-endian"),
            (with("'<f8'", "True", "(1, 1)"), "ascontiguousarray"),
            (with("'<U4'", "False", "(1,)"), "type \"<U4\""),
            (with("'<c8'", "False", "(1,)"), "type \"<c8\""),
            (with("[('a', '<f4')]", "False", "(1,)"), "a structure"),
            (with("'", "False", "(1,)"), "type"),
            (with("'<f8'", "False", "(-1,)"), "no shape"),
            (with("'<f8'", "False", "8"), "no shape"),
            (
                with("'<f8'", "False", "(4294967296, 4294967296)"),
                "larger than any memory",
            ),
            (
                with("'<f8'", "False", "(0, 4294967296, 4294967296)"),
                "larger than any memory",
            ),
            (
                with("'<f8'", "False", "(99999999999,)"),
                "promises 799999999992 bytes",
            ),
            (refusal(&made("{'descr': '<f8'}", 8)), "no order"),
            (refusal(&made("{}", 8)), "no type"),
        ] {
            assert!(message.contains(expect), "{message}");
        }
        let missing = read(Path::new("/nowhere/x.npy"), "x").unwrap_err();
        assert!(missing.to_string().contains("cannot read /nowhere/x.npy"));
    }
}
