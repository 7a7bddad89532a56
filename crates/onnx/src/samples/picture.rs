//! A picture file into the floats that a network for pictures takes.
//!
//! JPEG, PNG and BMP, recognised by their content and not by their names. A picture is turned as its
//! EXIF orientation says, which torchvision does not do; grey becomes RGB, alpha is dropped and 16 bits
//! become 8. The size follows torchvision's evaluation transforms, through `resize`. Which pictures
//! there are is the work of the rest of this folder.

use std::io::{Cursor, Read as _};
use std::path::Path;

use image::{DynamicImage, ImageDecoder as _, ImageFormat, ImageReader, Limits};
use thiserror::Error;

use super::resize::{self, Pixels};
use powerband_core::base::{humanize, regular_file};

/// Longer sides than any camera's; a file that claims more was made to exhaust the memory.
const LONGEST_SIDE: u32 = 50_000;
/// Memory that decoding one picture may take, in bytes.
const MOST_MEMORY: u64 = 1 << 30;
/// Bytes that the file of one picture may have.
const MOST_BYTES: u64 = 1 << 28;
/// Beyond this a network for pictures would need more memory than there is.
const LARGEST_INPUT: usize = 1 << 14;

/// The formats that can be read.
const FORMATS: &[ImageFormat] = &[ImageFormat::Jpeg, ImageFormat::Png, ImageFormat::Bmp];

/// Names of picture files end so, whether or not the format can be read.
const EXTENSIONS: &[&str] = &[
    "jpg", "jpeg", "jpe", "jfif", "png", "bmp", "dib", "webp", "gif", "tif", "tiff", "avif",
    "heic", "ppm", "pgm", "pnm", "jp2",
];

/// Why a picture cannot be used. The sentence goes on from the name of the file.
#[derive(Debug, Error)]
pub enum PictureError {
    /// The file could not be read.
    #[error("it cannot be read: {0}")]
    Read(#[from] std::io::Error),
    /// Empty, cut off or damaged.
    #[error("it is no picture that can be read: {0}")]
    Damaged(image::ImageError),
    /// Ends too early.
    #[error("it is cut off: the end of the picture is missing")]
    CutOff,
    /// A format that is not known here.
    #[error("it is no JPEG, PNG or BMP file")]
    Format,
    /// Larger than a picture is.
    #[error("it is larger than any picture ({0})")]
    TooLarge(String),
    /// A network that takes no such square.
    #[error("no picture can be made {0} pixels wide")]
    Side(usize),
}

/// How a picture becomes floats.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Preprocess {
    /// Width and height of what the network takes, in pixels.
    pub side: usize,
    /// Length of the shorter side before the square in the middle is cut out, in pixels.
    pub resize: usize,
    /// Mean of red, green and blue in the pictures that the network learned from, from 0 to 1.
    pub mean: [f32; 3],
    /// Their standard deviation.
    pub std: [f32; 3],
}

impl Preprocess {
    /// As torchvision's networks for `ImageNet` want it: with a margin of an eighth that is cut off.
    pub(crate) fn imagenet(side: usize) -> Self {
        Self {
            side,
            resize: (side as f64 * 256.0 / 224.0).round() as usize,
            mean: [0.485, 0.456, 0.406],
            std: [0.229, 0.224, 0.225],
        }
    }

    /// As networks for CIFAR-10 want it: 32 × 32 pixels, without a margin.
    pub(crate) fn cifar() -> Self {
        Self {
            side: 32,
            resize: 32,
            mean: [0.4914, 0.4822, 0.4465],
            std: [0.2470, 0.2435, 0.2616],
        }
    }

    /// What a network of that input size was trained with, most likely.
    pub(crate) fn for_side(side: usize) -> Self {
        if side == Self::cifar().side {
            Self::cifar()
        } else {
            Self::imagenet(side)
        }
    }

    /// Reads a picture: all of red, then green, then blue, row by row.
    pub(crate) fn load(&self, path: &Path) -> Result<Vec<f32>, PictureError> {
        if self.side == 0 || self.resize < self.side || self.resize > LARGEST_INPUT {
            return Err(PictureError::Side(self.side));
        }
        let pixels = decode(path)?;
        let square =
            resize::square(&pixels, self.resize, self.side).ok_or(PictureError::Side(self.side))?;
        let plane = |channel: usize| {
            let (mean, std) = (self.mean[channel], self.std[channel]);
            let values = square.rgb.iter().skip(channel).step_by(3);
            values.map(move |&value| (f32::from(value) / 255.0 - mean) / std)
        };
        Ok((0..3).flat_map(plane).collect())
    }
}

/// Whether the name of a file says that it is a picture.
pub(crate) fn is_picture(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    extension.is_some_and(|extension| {
        let extension = extension.to_lowercase();
        EXTENSIONS.contains(&extension.as_str())
    })
}

/// Looks at the beginning of a file only: whether it is there and begins as a picture that can be
/// read. It may turn out to be damaged further on.
pub(crate) fn check_start(path: &Path) -> Result<(), PictureError> {
    let mut head = [0; 32];
    let mut read = 0;
    let mut file = regular_file::open(path)?;
    while read < head.len() {
        match file.read(&mut head[read..])? {
            0 => break,
            more => read += more,
        }
    }
    format_of(&head[..read]).map(|_| ())
}

/// Reads all of a picture and throws it away: whether it can be used.
pub fn check(path: &Path) -> Result<(), PictureError> {
    decode(path).map(|_| ())
}

fn format_of(head: &[u8]) -> Result<ImageFormat, PictureError> {
    let guess = image::guess_format(head).ok();
    guess
        .filter(|format| FORMATS.contains(format))
        .ok_or(PictureError::Format)
}

fn decode(path: &Path) -> Result<Pixels, PictureError> {
    let file = regular_file::open(path)?;
    let length = file.metadata()?.len();
    if length > MOST_BYTES {
        return Err(PictureError::TooLarge(humanize::bytes(length)));
    }
    let mut bytes = Vec::new();
    file.take(MOST_BYTES).read_to_end(&mut bytes)?;
    let format = format_of(&bytes)?;
    if format == ImageFormat::Jpeg && !has_jpeg_end(&bytes) {
        return Err(PictureError::CutOff);
    }
    let mut limits = Limits::default();
    limits.max_image_width = Some(LONGEST_SIDE);
    limits.max_image_height = Some(LONGEST_SIDE);
    limits.max_alloc = Some(MOST_MEMORY);
    let mut reader = ImageReader::with_format(Cursor::new(bytes.as_slice()), format);
    reader.limits(limits);
    let mut decoder = reader.into_decoder().map_err(damaged)?;
    // Turning and converting each hold a second copy of it.
    let needed = decoder.total_bytes();
    if needed > MOST_MEMORY / 2 {
        return Err(PictureError::TooLarge(humanize::bytes(needed)));
    }
    let orientation = decoder.orientation().map_err(damaged)?;
    let mut picture = DynamicImage::from_decoder(decoder).map_err(damaged)?;
    picture.apply_orientation(orientation);
    let rgb = picture.into_rgb8();
    Ok(Pixels {
        width: rgb.width() as usize,
        height: rgb.height() as usize,
        rgb: rgb.into_raw(),
    })
}

fn damaged(why: image::ImageError) -> PictureError {
    match why {
        image::ImageError::Limits(limit) => PictureError::TooLarge(limit.to_string()),
        other => PictureError::Damaged(other),
    }
}

/// Whether an end comes after the last scan. The decoder paints what is missing grey and says nothing.
fn has_jpeg_end(bytes: &[u8]) -> bool {
    let last = |marker: u8| bytes.windows(2).rposition(|pair| *pair == [0xff, marker]);
    let (scan, end) = (0xda, 0xd9);
    last(end) > last(scan)
}
