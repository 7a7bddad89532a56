//! The colours of a heat map: a scale from small to large values that is even to the eye, one around a middle
//! for ratios, and the ink that can be read on each.
//!
//! Both are made in Oklab (Ottosson 2020), where equal distances look equally far apart. Lightness rises
//! evenly along the first, so that it survives every kind of colour blindness and a printer without colours.

use std::sync::LazyLock;

use super::{ColourScale, ScaleKind};
use crate::chart::colours::{Colours, Rgb};

/// Colours of a scale; neighbours are less apart than can be seen.
const STEPS: usize = 256;
/// The path of the scale from dark blue over green to pale yellow: lightness, then from green to red, then from
/// blue to yellow.
const PATH: [[f64; 3]; 5] = [
    [0.32, -0.005, -0.105],
    [0.47, -0.045, -0.075],
    [0.62, -0.085, 0.0],
    [0.77, -0.075, 0.09],
    [0.92, -0.03, 0.135],
];

/// What is written on cells: of black and white, one always has a contrast of at least 4.5 to 1.
const INKS: [Rgb; 2] = [Rgb(0, 0, 0), Rgb(255, 255, 255)];

type Oklab = [f64; 3];

static SCALE: LazyLock<[Rgb; STEPS]> = LazyLock::new(|| {
    let last = (STEPS - 1) as f64;
    std::array::from_fn(|step| rgb(along(step as f64 / last)))
});

/// A place on the path by its share of the whole length, so that steps are equally long.
fn along(share: f64) -> Oklab {
    let length = |(a, b): (&Oklab, &Oklab)| {
        let squares = a.iter().zip(b).map(|(a, b)| (a - b).powi(2));
        squares.sum::<f64>().sqrt()
    };
    let pieces: Vec<(&Oklab, &Oklab, f64)> = PATH
        .iter()
        .zip(&PATH[1..])
        .map(|(a, b)| (a, b, length((a, b))))
        .collect();
    let whole: f64 = pieces.iter().map(|piece| piece.2).sum();
    let mut rest = share.clamp(0.0, 1.0) * whole;
    for (a, b, length) in &pieces {
        if rest <= *length {
            return between(**a, **b, rest / length);
        }
        rest -= length;
    }
    PATH[PATH.len() - 1]
}

fn between(a: Oklab, b: Oklab, share: f64) -> Oklab {
    std::array::from_fn(|axis| a[axis] + (b[axis] - a[axis]) * share)
}

fn rgb([l, a, b]: Oklab) -> Rgb {
    let cones = [
        l + 0.396_337_78 * a + 0.215_803_76 * b,
        l - 0.105_561_35 * a - 0.063_854_17 * b,
        l - 0.089_484_18 * a - 1.291_485_5 * b,
    ]
    .map(|cone| cone.powi(3));
    let linear = [
        [4.076_741_7, -3.307_711_6, 0.230_969_94],
        [-1.268_438, 2.609_757_4, -0.341_319_4],
        [-0.004_196_09, -0.703_418_6, 1.707_614_7],
    ]
    .map(|row: [f64; 3]| row.iter().zip(cones).map(|(a, b)| a * b).sum::<f64>());
    let [r, g, b] = linear.map(|part| {
        let part = part.clamp(0.0, 1.0);
        let encoded = if part <= 0.003_130_8 {
            12.92 * part
        } else {
            1.055 * part.powf(1.0 / 2.4) - 0.055
        };
        (encoded * 255.0).round() as u8
    });
    Rgb(r, g, b)
}

fn linear(Rgb(r, g, b): Rgb) -> [f64; 3] {
    [r, g, b].map(|part| {
        let part = f64::from(part) / 255.0;
        if part <= 0.040_45 {
            part / 12.92
        } else {
            ((part + 0.055) / 1.055).powf(2.4)
        }
    })
}

fn oklab(colour: Rgb) -> Oklab {
    let times = |matrix: [[f64; 3]; 3], v: [f64; 3]| {
        matrix.map(|row| row.iter().zip(v).map(|(a, b)| a * b).sum::<f64>())
    };
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
    times(axes, times(cones, linear(colour)).map(f64::cbrt))
}

/// Relative luminance, as WCAG 2 defines it.
fn luminance(colour: Rgb) -> f64 {
    let [r, g, b] = linear(colour);
    0.2126 * r + 0.7152 * g + 0.0722 * b
}

fn is_dark(colours: &Colours) -> bool {
    luminance(colours.panel) < 0.2
}

/// The colour of a share of a scale. The larger value is the one further from the ground: bright in the dark
/// theme, dark in the light one and on paper.
pub fn share_colour(colours: &Colours, kind: ScaleKind, share: f64) -> Rgb {
    let share = share.clamp(0.0, 1.0);
    match kind {
        ScaleKind::Linear | ScaleKind::Logarithmic => {
            let share = if is_dark(colours) { share } else { 1.0 - share };
            SCALE[(share * (STEPS - 1) as f64).round() as usize]
        }
        ScaleKind::Ratio => {
            let (end, share) = if share < 0.5 {
                (colours.bad, 1.0 - 2.0 * share)
            } else {
                (colours.good, 2.0 * share - 1.0)
            };
            rgb(between(oklab(colours.line), oklab(end), share))
        }
        ScaleKind::Limit => {
            let end = if share < 0.5 {
                colours.good
            } else {
                colours.bad
            };
            colours.panel.towards(end, 0.5)
        }
    }
}

/// The colour of a value.
pub fn value_colour(colours: &Colours, scale: &ColourScale, value: f64) -> Rgb {
    share_colour(colours, scale.kind, scale.share(value))
}

/// The ink that can be read on a colour.
pub fn ink(ground: Rgb) -> Rgb {
    let own = luminance(ground);
    let contrast = |ink: Rgb| {
        let ink = luminance(ink);
        (own.max(ink) + 0.05) / (own.min(ink) + 0.05)
    };
    let [black, white] = INKS;
    if contrast(black) > contrast(white) {
        black
    } else {
        white
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::colours::{COLOUR_BLIND_MATRICES, DARK, LIGHT, PRINT};

    fn apart(a: Oklab, b: Oklab) -> f64 {
        let squares = a.iter().zip(b).map(|(a, b)| (a - b).powi(2));
        squares.sum::<f64>().sqrt()
    }

    #[test]
    fn equal_steps_look_equally_far_apart() {
        let places: Vec<Oklab> = (0..=16)
            .map(|step| {
                oklab(share_colour(
                    &DARK,
                    ScaleKind::Linear,
                    f64::from(step) / 16.0,
                ))
            })
            .collect();
        let steps: Vec<f64> = places
            .windows(2)
            .map(|pair| apart(pair[0], pair[1]))
            .collect();
        let mean = steps.iter().sum::<f64>() / steps.len() as f64;
        for step in &steps {
            assert!((step / mean - 1.0).abs() < 0.12, "{steps:.4?}");
        }
    }

    #[test]
    fn larger_values_are_further_from_the_ground() {
        let lightness = |colours: &Colours, share: f64| {
            oklab(share_colour(colours, ScaleKind::Logarithmic, share))[0]
        };
        for step in 1..=20 {
            let (before, after) = (f64::from(step - 1) / 20.0, f64::from(step) / 20.0);
            assert!(lightness(&DARK, after) > lightness(&DARK, before) + 0.02);
            assert!(lightness(&LIGHT, after) < lightness(&LIGHT, before) - 0.02);
        }
        // The cell with the smallest value is still seen on its card.
        for colours in [&DARK, &LIGHT, &PRINT] {
            let least = oklab(share_colour(colours, ScaleKind::Linear, 0.0));
            assert!(apart(least, oklab(colours.panel)) > 0.1);
        }
    }

    #[test]
    fn words_can_be_read_on_every_cell() {
        let contrast = |a: Rgb, b: Rgb| {
            let (a, b) = (luminance(a), luminance(b));
            (a.max(b) + 0.05) / (a.min(b) + 0.05)
        };
        for colours in [&DARK, &LIGHT, &PRINT] {
            for kind in [
                ScaleKind::Linear,
                ScaleKind::Logarithmic,
                ScaleKind::Ratio,
                ScaleKind::Limit,
            ] {
                for step in 0..=100 {
                    let ground = share_colour(colours, kind, f64::from(step) / 100.0);
                    let found = contrast(ground, ink(ground));
                    assert!(found >= 4.5, "{kind:?} {step}: {found:.2}");
                }
            }
        }
    }

    #[test]
    fn faster_and_slower_look_different_to_who_sees_few_colours() {
        let encoded = |part: f64| {
            let part = part.clamp(0.0, 1.0);
            let part = if part <= 0.003_130_8 {
                12.92 * part
            } else {
                1.055 * part.powf(1.0 / 2.4) - 0.055
            };
            (part * 255.0).round() as u8
        };
        for eyes in COLOUR_BLIND_MATRICES {
            let seen = |colour: Rgb| {
                let light = linear(colour);
                let [r, g, b] = eyes
                    .map(|row: [f64; 3]| encoded(row.iter().zip(light).map(|(a, b)| a * b).sum()));
                oklab(Rgb(r, g, b))
            };
            for colours in [&DARK, &LIGHT, &PRINT] {
                let at = |share| seen(share_colour(colours, ScaleKind::Ratio, share));
                let (slower, same, faster) = (at(0.0), at(0.5), at(1.0));
                for (a, b) in [(slower, same), (same, faster), (slower, faster)] {
                    assert!(apart(a, b) > 0.06, "{:.3}", apart(a, b));
                }
            }
        }
    }

    #[test]
    fn colours_go_to_oklab_and_back() {
        for colour in [DARK.good, LIGHT.bad, PRINT.accent, Rgb(255, 255, 255)] {
            assert_eq!(rgb(oklab(colour)), colour);
        }
    }
}
