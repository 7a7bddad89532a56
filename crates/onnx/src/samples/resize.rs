//! Makes a picture smaller or larger, to the bit as Pillow does.
//!
//! Networks are trained on pictures that Pillow resized, and their published accuracy is measured so;
//! another filter moves it. This is Pillow's `BILINEAR`: a triangle as wide as the pixels it gathers,
//! rows first and columns second, in 22-bit fixed point with whole pixels in between
//! (`src/libImaging/Resample.c`). Only what the crop keeps is computed. `picture` reads
//! the pixels and makes inputs of them.

/// Bits behind the point of a weight: 32, less 8 for a pixel and 2 for sums that overshoot.
const PRECISION: u32 = 22;
/// Half a pixel, for rounding.
const HALF: i64 = 1 << (PRECISION - 1);
/// Red, green, blue.
const CHANNELS: usize = 3;

/// Pixels, row by row, three bytes each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pixels {
    /// Columns.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Red, green and blue of each.
    pub rgb: Vec<u8>,
}

/// Resizes the shorter side to `resize` and keeps the square of `side` in the middle, which is no
/// larger. Nothing for a picture without pixels, or one that does not hold as many as it says.
pub(super) fn square(pixels: &Pixels, resize: usize, side: usize) -> Option<Pixels> {
    let (width, height) = (pixels.width, pixels.height);
    let shorter = width.min(height);
    let is_whole = width
        .checked_mul(height)
        .and_then(|count| count.checked_mul(CHANNELS))
        == Some(pixels.rgb.len());
    if shorter == 0 || !is_whole || side > resize || side == 0 {
        return None;
    }
    let scaled = |length: usize| length.checked_mul(resize).map(|long| long / shorter);
    let columns = weights(width, scaled(width)?, side);
    let rows = weights(height, scaled(height)?, side);
    let first = rows.first()?.first;
    let last = rows
        .iter()
        .map(|taps| taps.first + taps.weights.len())
        .max()?;
    // Rows of the picture that the crop needs, as wide as the crop.
    let mut narrow = Vec::with_capacity((last - first) * side * CHANNELS);
    for row in pixels
        .rgb
        .chunks_exact(width * CHANNELS)
        .take(last)
        .skip(first)
    {
        for taps in &columns {
            let start = taps.first * CHANNELS;
            narrow.extend((start..start + CHANNELS).map(|start| taps.gather(row, start, CHANNELS)));
        }
    }
    let stride = side * CHANNELS;
    let mut rgb = Vec::with_capacity(side * stride);
    for taps in &rows {
        let start = (taps.first - first) * stride;
        rgb.extend((start..start + stride).map(|start| taps.gather(&narrow, start, stride)));
    }
    Some(Pixels {
        width: side,
        height: side,
        rgb,
    })
}

/// The pixels that one new pixel is gathered from.
#[derive(Clone, Debug)]
struct Taps {
    /// The first of them.
    first: usize,
    /// The weight of each, in fixed point.
    weights: Vec<i64>,
}

impl Taps {
    /// The weighted mean of values that are `stride` apart, from the place `start` on.
    fn gather(&self, values: &[u8], start: usize, stride: usize) -> u8 {
        let places = (start..).step_by(stride);
        let sum: i64 = places
            .zip(&self.weights)
            .map(|(place, weight)| i64::from(values[place]) * weight)
            .sum();
        ((sum + HALF) >> PRECISION).clamp(0, 255) as u8
    }
}

/// For each of the `side` places in the middle of `to`, what it is gathered from out of `from`.
fn weights(from: usize, to: usize, side: usize) -> Vec<Taps> {
    // As torchvision crops: Python rounds a half to the even number.
    let start = ((to - side) as f64 / 2.0).round_ties_even() as usize;
    let scale = from as f64 / to as f64;
    let width = scale.max(1.0);
    let taps = |place: usize| {
        let centre = (place as f64 + 0.5) * scale;
        let first = (centre - width + 0.5).max(0.0) as usize;
        let end = ((centre + width + 0.5) as usize).min(from);
        let raw: Vec<f64> = (first..end)
            .map(|pixel| {
                let distance = (pixel as f64 - centre + 0.5) / width;
                (1.0 - distance.abs()).max(0.0)
            })
            .collect();
        let total: f64 = raw.iter().sum();
        let fixed = |weight: f64| {
            let share = if total == 0.0 { weight } else { weight / total };
            (0.5 + share * f64::from(1_u32 << PRECISION)) as i64
        };
        Taps {
            first,
            weights: raw.into_iter().map(fixed).collect(),
        }
    };
    (start..start + side).map(taps).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The picture that the reference figures were made with, in Pillow and here.
    fn pattern(width: usize, height: usize) -> Pixels {
        let value =
            |place: usize| ((place * 7919 + place / 3 * 104_729 + place * place) % 256) as u8;
        Pixels {
            width,
            height,
            rgb: (0..width * height * CHANNELS).map(value).collect(),
        }
    }

    /// A sum that depends on the order of the pixels, and the first of them.
    fn digest(pixels: &Pixels) -> (u64, Vec<u8>) {
        let sum = pixels.rgb.iter().fold(0_u64, |sum, &value| {
            (sum * 31 + u64::from(value)) % 1_000_000_007
        });
        (sum, pixels.rgb[..6].to_vec())
    }

    #[test]
    fn pixels_equal_pillows() {
        // Pillow 13.0: picture.resize(size, BILINEAR), then torchvision's centre crop.
        for (size, (resize, side), sum, first) in [
            ((40, 30), (16, 14), 67100061, [84, 124, 148, 170, 177, 138]),
            ((30, 41), (37, 32), 110168564, [144, 134, 122, 109, 139, 97]),
            ((10, 12), (37, 32), 390577807, [88, 149, 200, 76, 138, 173]),
            (
                (7, 5),
                (256, 224),
                230827268,
                [196, 231, 222, 201, 231, 222],
            ),
            (
                (500, 375),
                (256, 224),
                399268697,
                [125, 140, 159, 103, 172, 72],
            ),
            ((33, 32), (32, 32), 40563759, [0, 240, 226, 239, 229, 221]),
            ((1, 50), (9, 8), 746056684, [197, 98, 201, 197, 98, 201]),
            (
                (300, 301),
                (301, 299),
                307038830,
                [111, 117, 125, 160, 172, 185],
            ),
        ] {
            let made = square(&pattern(size.0, size.1), resize, side).unwrap();
            assert_eq!(
                digest(&made),
                (sum, first.to_vec()),
                "{size:?} {resize} {side}"
            );
        }
    }

    #[test]
    fn one_colour_stays_one_colour() {
        let grey = Pixels {
            width: 50,
            height: 40,
            rgb: vec![131; 50 * 40 * 3],
        };
        let made = square(&grey, 37, 32).unwrap();
        assert_eq!(made.rgb, vec![131; 32 * 32 * 3]);
    }

    #[test]
    fn what_is_no_picture_gives_none() {
        let mut picture = pattern(4, 4);
        assert!(square(&picture, 3, 4).is_none());
        assert!(square(&picture, 4, 0).is_none());
        picture.rgb.pop();
        assert!(square(&picture, 4, 4).is_none());
        assert!(square(&pattern(0, 4), 4, 4).is_none());
        let thin = square(&pattern(1, 5000), 256, 224).unwrap();
        assert_eq!(thin.rgb.len(), 224 * 224 * 3);
    }
}
