//! How an exported figure looks: its size, its colours, and for what it is made.

use std::fmt;
use std::str::FromStr;

use crate::chart::colours::{self, Colours};

/// Pixels in an inch, as SVG has them.
const INCH: f64 = 96.0;
/// Smallest and largest width and height; larger pictures do not open.
pub const SIDES: (f64, f64) = (120.0, 8_000.0);

/// The ground that a figure is drawn on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    /// Dark on light.
    #[default]
    Light,
    /// Light on dark.
    Dark,
}

/// For what a figure is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Preset {
    /// A screen: as in the window.
    #[default]
    Screen,
    /// One column of a paper, 3.5 inches.
    Column,
    /// Both columns of a paper, 7.16 inches.
    Page,
}

impl Preset {
    /// Every preset.
    pub const ALL: [Self; 3] = [Self::Screen, Self::Column, Self::Page];

    /// Whether it is for paper: black on white, a palette for colour-blind readers, and lines and columns that differ without any colour.
    pub fn is_print(self) -> bool {
        self != Self::Screen
    }
}

impl fmt::Display for Preset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Screen => "screen",
            Self::Column => "column",
            Self::Page => "page",
        })
    }
}

impl FromStr for Preset {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL
            .into_iter()
            .find(|preset| preset.to_string() == text);
        found.ok_or_else(|| format!("there is no preset {text}; there are screen, column and page"))
    }
}

impl FromStr for Theme {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "light" => Ok(Self::Light),
            "dark" => Ok(Self::Dark),
            _ => Err(format!(
                "there is no theme {text}; there are light and dark"
            )),
        }
    }
}

/// How a figure looks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Style {
    /// Width, in pixels of which an inch has 96.
    pub width: f64,
    /// Height; nothing for what suits the figure.
    pub height: Option<f64>,
    /// The ground; paper is light whatever is said here.
    pub theme: Theme,
    /// For what it is made.
    pub preset: Preset,
    /// Whether the title stands above. In a paper the caption says it.
    pub title: bool,
}

impl Default for Style {
    fn default() -> Self {
        Self::new(Preset::Screen, Theme::Light)
    }
}

impl Style {
    /// As a preset has it.
    pub fn new(preset: Preset, theme: Theme) -> Self {
        Self {
            width: match preset {
                Preset::Screen => 860.0,
                Preset::Column => 3.5 * INCH,
                Preset::Page => 7.16 * INCH,
            },
            height: None,
            theme,
            preset,
            title: !preset.is_print(),
        }
    }

    /// The same in another size, clamped to usable sizes.
    pub fn sized(mut self, width: f64, height: f64) -> Self {
        let side = |side: f64, usual: f64| {
            if side.is_finite() {
                side.clamp(SIDES.0, SIDES.1)
            } else {
                usual
            }
        };
        self.width = side(width, self.width);
        self.height = Some(side(height, self.width * 0.5));
        self
    }

    /// The colours.
    pub fn colours(&self) -> &'static Colours {
        match (self.preset.is_print(), self.theme) {
            (true, _) => &colours::PRINT,
            (false, Theme::Light) => &colours::LIGHT,
            (false, Theme::Dark) => &colours::DARK,
        }
    }

    pub(super) fn measures(&self) -> Measures {
        match self.preset {
            Preset::Screen => Measures {
                caption: 11.0,
                body: 12.5,
                title: 15.0,
                margin: 18.0,
                line: 2.0,
                hair: 1.0,
                marker: 3.6,
            },
            // 7 and 8 points: what journals ask for.
            Preset::Column | Preset::Page => Measures {
                caption: 7.0 * INCH / 72.0,
                body: 7.5 * INCH / 72.0,
                title: 9.0 * INCH / 72.0,
                margin: 3.0,
                line: 1.4,
                hair: 0.6,
                marker: 2.9,
            },
        }
    }
}

/// Sizes of type, lines and markers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Measures {
    /// Numbers and words at axes.
    pub(super) caption: f64,
    /// Words in the legend and in tables.
    pub(super) body: f64,
    /// The title.
    pub(super) title: f64,
    /// Around everything.
    pub(super) margin: f64,
    /// Lines of series.
    pub(super) line: f64,
    /// Hairlines.
    pub(super) hair: f64,
    /// Half the width of a marker.
    pub(super) marker: f64,
}
