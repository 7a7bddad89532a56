//! What differs between two pictures.

use std::collections::BTreeSet;

/// What the same letter at another place of the texture may differ by.
const ROUNDED: u8 = 2;
/// Drivers smooth edges a little differently: so much of a colour may be different.
const SEEN: u8 = 48;

/// Bytes that are compared at one go.
const STRETCH: usize = 4096;

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
    // Most of two pictures is the same to the byte, and stretches of that are passed over at once.
    let stretches = a.chunks(STRETCH).zip(b.chunks(STRETCH)).enumerate();
    let unequal = stretches.filter(|(_, (a, b))| a != b);
    let differs = |(a, b): (&u8, &u8)| a.abs_diff(*b) > ROUNDED;
    let mut ends = None;
    for (number, (a, b)) in unequal {
        let Some(first) = a.iter().zip(b).position(differs) else {
            continue;
        };
        let last = a.iter().zip(b).rposition(differs).unwrap_or(first);
        let at = |place: usize| (number * STRETCH + place) / 4;
        let begin = ends.map_or_else(|| at(first), |(begin, _)| begin);
        ends = Some((begin, at(last)));
    }
    ends
}

#[test]
fn the_ends_of_what_differs_are_found() {
    let a = vec![7; 3 * STRETCH];
    let mut b = a.clone();
    assert_eq!(differing(&a, &b), None);
    b[STRETCH + 5] += ROUNDED;
    assert_eq!(differing(&a, &b), None);
    b[STRETCH + 9] += ROUNDED + 1;
    let only = (STRETCH + 9) / 4;
    assert_eq!(differing(&a, &b), Some((only, only)));
    b[2 * STRETCH + 90] = 0;
    assert_eq!(differing(&a, &b), Some((only, (2 * STRETCH + 90) / 4)));
}
