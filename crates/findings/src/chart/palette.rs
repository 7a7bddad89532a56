//! Which marker goes with which series colour. The colours themselves belong to the theme that
//! paints; what a series has is its place in a palette of five.

use super::spec::Marker;

/// Series colours that a theme has.
pub const COLOURS: usize = 5;

const MARKERS: [Marker; COLOURS] = [
    Marker::Circle,
    Marker::Square,
    Marker::Triangle,
    Marker::Diamond,
    Marker::Cross,
];

/// The marker of a series by its palette index. Beyond five the same colour comes back with another
/// marker, so that twenty-five series are all different.
pub fn marker(index: usize) -> Marker {
    MARKERS[(index + index / COLOURS) % COLOURS]
}

/// The theme's colour of a series by its palette index.
pub fn colour(index: usize) -> usize {
    index % COLOURS
}

/// Whether the line of a series is dashed: from the sixth on, every other five.
pub fn is_dashed(index: usize) -> bool {
    (index / COLOURS) % 2 == 1
}

/// The dashes of a series: from the sixth on, on paper of every one but the first.
pub(crate) fn dashes(index: usize, is_print: bool) -> &'static [f64] {
    const PRINT: [&[f64]; COLOURS] = [
        &[],
        &[5.0, 2.0],
        &[1.6, 1.8],
        &[6.0, 1.8, 1.4, 1.8],
        &[9.0, 3.0],
    ];
    match is_print {
        true => PRINT[(index + index / COLOURS) % COLOURS],
        false if is_dashed(index) => &[7.0, 5.0],
        false => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn twenty_five_series_look_different() {
        let looks: BTreeSet<(usize, String)> = (0..25)
            .map(|i| (colour(i), marker(i).to_string()))
            .collect();
        assert_eq!(looks.len(), 25);
    }
}
