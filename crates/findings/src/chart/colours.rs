//! What each colour is for, in the dark theme, the light theme and in print. The window and exported
//! figures read them here.

use super::palette;

/// A colour: red, green and blue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rgb(pub u8, pub u8, pub u8);

const fn rgb(hex: u32) -> Rgb {
    Rgb((hex >> 16) as u8, (hex >> 8) as u8, hex as u8)
}

impl Rgb {
    /// As it is written in a picture: `#56b4e9`.
    pub(crate) fn hex(self) -> String {
        format!("#{:02x}{:02x}{:02x}", self.0, self.1, self.2)
    }

    /// A share of the way to another colour.
    pub(crate) fn towards(self, other: Self, share: f64) -> Self {
        let share = share.clamp(0.0, 1.0);
        let mix = |from: u8, to: u8| {
            (f64::from(from) + (f64::from(to) - f64::from(from)) * share).round() as u8
        };
        Self(
            mix(self.0, other.0),
            mix(self.1, other.1),
            mix(self.2, other.2),
        )
    }
}

/// How far a soft fill is from its hue to the panel behind it.
pub const SOFT: f64 = 0.45;
/// How far a strong fill is from its hue to the colour of words.
pub const STRONG: f64 = 0.5;

/// How a hue is used for an area, where there are more areas than hues.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Depth {
    /// As it is.
    #[default]
    Plain,
    /// Nearer to what is behind it.
    Soft,
    /// Nearer to the colour of words.
    Strong,
}

/// The fill of an area.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fill {
    /// The palette index; nothing for grey.
    pub hue: Option<usize>,
    pub depth: Depth,
}

impl Fill {
    /// The fill of what has no colour of its own.
    pub(crate) const GREY: Self = Self {
        hue: None,
        depth: Depth::Plain,
    };

    /// The colour of a series.
    pub const fn from_hue(hue: usize) -> Self {
        Self::with_depth(hue, Depth::Plain)
    }

    /// A hue in one of its depths.
    pub const fn with_depth(hue: usize, depth: Depth) -> Self {
        Self {
            hue: Some(hue),
            depth,
        }
    }
}

/// The colours of a theme by their use.
#[derive(Clone, Copy, Debug)]
pub struct Colours {
    /// Behind everything.
    pub ground: Rgb,
    /// Behind the rail.
    pub rail: Rgb,
    /// Cards and panels.
    pub panel: Rgb,
    /// Controls and what is hovered.
    pub raised: Rgb,
    /// Lines between things.
    pub line: Rgb,
    /// Words.
    pub text: Rgb,
    /// Secondary text.
    pub quiet: Rgb,
    /// Words that only help.
    pub faint: Rgb,
    /// Selection, primary action, the hovered thing.
    pub accent: Rgb,
    /// The primary action's ground.
    pub accent_fill: Rgb,
    /// Text on the primary action.
    pub on_accent: Rgb,
    /// Better, done.
    pub good: Rgb,
    /// Worse, failed.
    pub bad: Rgb,
    /// Inconclusive.
    pub unsure: Rgb,
    /// Series, by their palette index.
    pub series: [Rgb; palette::COLOURS],
}

impl Colours {
    /// The colour of a series by its palette index.
    pub fn series(&self, index: usize) -> Rgb {
        self.series[palette::colour(index)]
    }

    /// The hue of a fill, whatever its depth.
    pub fn hue(&self, fill: Fill) -> Rgb {
        fill.hue.map_or(self.faint, |index| self.series(index))
    }

    /// The colour of a fill.
    pub fn fill(&self, fill: Fill) -> Rgb {
        let hue = self.hue(fill);
        match fill.depth {
            Depth::Plain => hue,
            Depth::Soft => hue.towards(self.panel, SOFT),
            Depth::Strong => hue.towards(self.text, STRONG),
        }
    }
}

/// The dark theme.
pub const DARK: Colours = Colours {
    ground: rgb(0x0e1014),
    rail: rgb(0x0a0c0f),
    panel: rgb(0x14171d),
    raised: rgb(0x1b1f27),
    line: rgb(0x262b35),
    text: rgb(0xe8ebf0),
    quiet: rgb(0xa3abb9),
    faint: rgb(0x757e8e),
    accent: rgb(0xffb020),
    accent_fill: rgb(0xffb020),
    on_accent: rgb(0x1a1200),
    good: rgb(0x2cc295),
    bad: rgb(0xf0705a),
    unsure: rgb(0xa89bff),
    series: [
        rgb(0x56b4e9),
        rgb(0xcc79a7),
        rgb(0x2cc295),
        rgb(0xf0e442),
        rgb(0xe8743b),
    ],
};

/// The light theme.
pub const LIGHT: Colours = Colours {
    ground: rgb(0xf6f7f9),
    rail: rgb(0xeceef2),
    panel: rgb(0xffffff),
    raised: rgb(0xf1f3f6),
    line: rgb(0xdde1e8),
    text: rgb(0x171a20),
    quiet: rgb(0x525b69),
    faint: rgb(0x7a8391),
    // Amber as it is in the dark would have a contrast of 2 to 1 as words on white.
    accent: rgb(0x945c00),
    accent_fill: rgb(0xe6981a),
    on_accent: rgb(0x1a1200),
    good: rgb(0x07704d),
    bad: rgb(0xb03321),
    unsure: rgb(0x5f4bd0),
    series: [
        rgb(0x0b7ab8),
        rgb(0xa84a80),
        rgb(0x0b8f63),
        rgb(0x9a8a00),
        rgb(0xc04f16),
    ],
};

/// Ink on white paper.
///
/// The series are from the palette of Okabe and Ito, which colour-blind readers can distinguish, in an order in which neighbours also differ in lightness on a printer without colours.
pub(crate) const PRINT: Colours = Colours {
    ground: rgb(0xffffff),
    rail: rgb(0xffffff),
    panel: rgb(0xffffff),
    raised: rgb(0xf4f4f4),
    line: rgb(0xd5d5d5),
    text: rgb(0x000000),
    quiet: rgb(0x333333),
    faint: rgb(0x666666),
    accent: rgb(0x000000),
    accent_fill: rgb(0x000000),
    on_accent: rgb(0xffffff),
    good: rgb(0x009e73),
    bad: rgb(0xd55e00),
    unsure: rgb(0x666666),
    series: [
        rgb(0x0072b2),
        rgb(0xd55e00),
        rgb(0x009e73),
        rgb(0xcc79a7),
        rgb(0x000000),
    ],
};

/// What eyes without red and without green see of red, green and blue light: Machado, Oliveira and Fernandes 2009,
/// at their full strength.
#[cfg(test)]
pub(super) const COLOUR_BLIND_MATRICES: [[[f64; 3]; 3]; 2] = [
    [
        [0.152_286, 1.052_583, -0.204_868],
        [0.114_503, 0.786_281, 0.099_216],
        [-0.003_882, -0.048_116, 1.051_998],
    ],
    [
        [0.367_322, 0.860_646, -0.227_968],
        [0.280_085, 0.672_501, 0.047_413],
        [-0.011_820, 0.042_940, 0.968_881],
    ],
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_written_and_mixed() {
        assert_eq!(DARK.series(5).hex(), "#56b4e9");
        assert_eq!(rgb(0x000000).towards(rgb(0x64c8ff), 0.5), Rgb(50, 100, 128));
    }

    type Matrix = [[f64; 3]; 3];

    fn times(matrix: &Matrix, v: [f64; 3]) -> [f64; 3] {
        matrix.map(|row| row.iter().zip(v).map(|(a, b)| a * b).sum())
    }

    fn linear(Rgb(r, g, b): Rgb) -> [f64; 3] {
        [r, g, b].map(|part| match f64::from(part) / 255.0 {
            low if low <= 0.040_45 => low / 12.92,
            high => ((high + 0.055) / 1.055).powf(2.4),
        })
    }

    /// Where a colour is seen, in Oklab (Ottosson 2020): 0.02 apart is just noticed.
    fn seen(linear: [f64; 3]) -> [f64; 3] {
        let cones = [
            [0.412_221_47, 0.536_332_54, 0.051_445_99],
            [0.211_903_5, 0.680_699_55, 0.107_396_96],
            [0.088_302_46, 0.281_718_84, 0.629_978_7],
        ];
        let axes = [
            [0.210_454_26, 0.793_617_79, -0.004_072_05],
            [1.977_998_5, -2.428_592_21, 0.450_593_71],
            [0.025_904_04, 0.782_771_77, -0.808_675_77],
        ];
        let clamped = linear.map(|part| part.clamp(0.0, 1.0));
        times(&axes, times(&cones, clamped).map(f64::cbrt))
    }

    #[test]
    fn series_look_different_to_who_sees_few_colours() {
        for eyes in COLOUR_BLIND_MATRICES {
            for colours in [&LIGHT, &DARK, &PRINT] {
                let places = colours.series.map(|one| seen(times(&eyes, linear(one))));
                for (index, a) in places.iter().enumerate() {
                    for (earlier, b) in places[..index].iter().enumerate() {
                        let squares = a.iter().zip(b).map(|(a, b)| (a - b).powi(2));
                        let apart = squares.sum::<f64>().sqrt();
                        assert!(apart > 0.05, "{earlier} and {index}: {apart:.3}");
                    }
                }
            }
        }
    }
}
