//! What differs between two pictures.

use std::collections::BTreeSet;

/// What the same letter at another place of the texture may differ by.
const ROUNDED: u8 = 2;
/// Drivers smooth edges a little differently: so much of a colour may be different.
const SEEN: u8 = 48;

/// How many colours there are; not counted beyond what a screen has at least.
pub(super) fn colours(pixels: &[u8]) -> usize {
    let mut colours = BTreeSet::new();
    for pixel in pixels.chunks_exact(4) {
        colours.insert(pixel);
        if colours.len() > 64 {
            break;
        }
    }
    colours.len()
}

/// The share of pixels that look different; all of them where the pictures are of different sizes.
pub(super) fn share_apart(a: &[u8], b: &[u8]) -> f64 {
    if a == b {
        return 0.0;
    }
    if a.len() != b.len() {
        return 1.0;
    }
    let pixels = a.chunks_exact(4).zip(b.chunks_exact(4));
    let differ = |(a, b): &(&[u8], &[u8])| a.iter().zip(*b).any(|(a, b)| a.abs_diff(*b) > SEEN);
    pixels.filter(differ).count() as f64 / (a.len() / 4).max(1) as f64
}

/// The first and the last pixel at which two pictures of the same thing differ by more than was rounded: as
/// fonts' texture grows, letters in it stand at other fractions of it.
pub(super) fn differing(a: &[u8], b: &[u8]) -> Option<(usize, usize)> {
    if a == b {
        return None;
    }
    let differs = |(a, b): (&u8, &u8)| a.abs_diff(*b) > ROUNDED;
    let first = a.iter().zip(b).position(differs)?;
    let last = a.iter().zip(b).rposition(differs)?;
    Some((first / 4, last / 4))
}
