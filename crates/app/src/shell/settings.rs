//! The window's saved state: appearance, shortcuts, open files and screen.
//!
//! With a broken file the window starts with defaults. From a file of another version it uses what it can
//! read, and leaves the rest in the file.

use powerband_core::base::system::HAS_FILES;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize};

use crate::Installation;
use crate::keys::Shortcut;
use crate::plan::Draft;
use crate::screen::Screen;
use crate::tables::Arrangement;
use powerband_findings::analysis::batch_curve::{Efficiency, Statistic};
use powerband_store::own_file;
use powerband_store::ron_keys::{self, KeyText};

/// Light or dark.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Theme {
    /// As the system has it.
    #[default]
    System,
    /// Always light.
    Light,
    /// Always dark.
    Dark,
}

impl Theme {
    /// Every theme, in turn.
    pub const ALL: [Self; 3] = [Self::System, Self::Light, Self::Dark];

    /// Its title.
    pub fn title(self) -> &'static str {
        match self {
            Self::System => "System",
            Self::Light => "Light",
            Self::Dark => "Dark",
        }
    }

    /// The next in turn.
    pub fn next(self) -> Self {
        match self {
            Self::System => Self::Light,
            Self::Light => Self::Dark,
            Self::Dark => Self::System,
        }
    }
}

/// How often devices are read during a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ReadingRate {
    /// Never.
    Off,
    /// Once a second.
    Slow,
    /// Ten times a second.
    #[default]
    Usual,
    /// A hundred times a second.
    Fast,
}

impl ReadingRate {
    /// Every choice.
    pub const ALL: [Self; 4] = [Self::Off, Self::Slow, Self::Usual, Self::Fast];

    /// Its title.
    pub fn title(self) -> &'static str {
        match self {
            Self::Off => "Off",
            Self::Slow => "1 Hz",
            Self::Usual => "10 Hz",
            Self::Fast => "100 Hz",
        }
    }

    /// Readings a second; nothing for not at all.
    pub fn rate_hz(self) -> Option<f64> {
        match self {
            Self::Off => None,
            Self::Slow => Some(1.0),
            Self::Usual => Some(10.0),
            Self::Fast => Some(100.0),
        }
    }
}

/// Where the window was.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Placement {
    /// Left and top on the screen, where the system reports it.
    pub position: Option<(f32, f32)>,
    /// Width and height.
    pub size: (f32, f32),
    /// Whether it filled the screen.
    pub maximized: bool,
}

/// The saved state.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SavedState {
    /// Light or dark.
    pub theme: Theme,
    /// Zoom, in steps of ten percent from 100 %.
    pub zoom_steps: i8,
    /// Whether the desktop wanted a light theme when it was asked last.
    pub light_desktop: bool,
    /// How often devices are read during a run.
    pub watching: ReadingRate,
    /// Whether the library is folded away.
    pub library_folded: bool,
    /// Which hint for newcomers comes next.
    pub hint: usize,
    /// Whether the rail shows icons without the names of its doors.
    pub rail_icons_only: bool,
    /// The screen.
    pub screen: Screen,
    /// The screen at the right of it, where the window is divided.
    pub right_screen: Option<Screen>,
    /// The screen below both, where one is.
    pub below_screen: Option<Screen>,
    /// Sizes that the user chose, by part of the window.
    pub sizes: BTreeMap<String, f32>,
    /// Files of the open sessions.
    pub open: Vec<PathBuf>,
    /// Files of the built-in examples that are open.
    pub examples: Vec<String>,
    /// Open files of other tools that are not saved as a session.
    pub files: Vec<PathBuf>,
    /// The folder that the last picture or report went to.
    pub export_folder: Option<PathBuf>,
    /// Whether pages of results leave out paths and the names of users and machines.
    pub shares_without_names: bool,
    /// The latency limit of each model's curves, in nanoseconds.
    pub limits_ns: BTreeMap<String, f64>,
    /// Whether latency is drawn on a linear axis.
    pub linear_latency: bool,
    /// Whether a logarithmic axis was chosen for throughput.
    pub log_throughput: bool,
    /// Whether a linear one was.
    pub linear_throughput: bool,
    /// Whether the charts of *Curves* stand one below the other.
    pub stacked_charts: bool,
    /// Whether each model has charts of its own there.
    pub charts_by_model: bool,
    /// The number that stands for a case's latency.
    pub statistic: Statistic,
    /// Which efficiency is drawn.
    pub efficiency: Efficiency,
    /// The runs that the user typed for profiles, by the file and the place of the profile in it.
    pub profile_runs: BTreeMap<String, u64>,
    /// How tables are arranged, where the user did that.
    pub tables: BTreeMap<String, Arrangement>,
    /// The plan that was being written.
    pub draft: Draft,
    /// Shortcuts that differ from the defaults; `None` for no shortcut.
    #[serde(deserialize_with = "possible")]
    pub shortcuts: BTreeMap<String, Option<Shortcut>>,
    /// Where the window was.
    pub placement: Option<Placement>,
}

/// The valid shortcuts of a file; a command with an invalid one gets its default.
fn possible<'de, D: Deserializer<'de>>(
    file: D,
) -> Result<BTreeMap<String, Option<Shortcut>>, D::Error> {
    let written = BTreeMap::<String, Option<String>>::deserialize(file)?;
    let read = written.into_iter().filter_map(|(id, keys)| {
        let keys = keys.map(|keys| keys.parse::<Shortcut>()).transpose().ok()?;
        Some((id, keys))
    });
    Ok(read.collect())
}

/// Sizes that can be chosen, in steps.
pub(crate) const ZOOM_STEPS: std::ops::RangeInclusive<i8> = -4..=15;

impl SavedState {
    /// Whether the axis of throughput is logarithmic, where that was chosen.
    pub fn throughput_axis(&self) -> Option<bool> {
        (self.log_throughput || self.linear_throughput).then_some(self.log_throughput)
    }

    /// The zoom: 1 is 100 %.
    pub fn zoom(&self) -> f32 {
        1.0 + 0.1 * f32::from(self.zoom_steps)
    }
}

/// The saved state, and a warning about it.
pub fn read(path: &Path) -> (SavedState, Option<String>) {
    if !HAS_FILES {
        return (SavedState::default(), None);
    }
    let unreadable = |reason: &str| {
        let aside = own_file::aside(path);
        let then = aside.as_deref().and_then(Path::file_name).map_or_else(
            || "they are not saved while it is there".to_owned(),
            |name| {
                let name = name.to_string_lossy();
                format!("what is there is renamed to {name} when they are saved")
            },
        );
        let path = path.display();
        let said = format!(
            "Cannot read {path} ({reason}). The window starts with default settings; {then}."
        );
        (SavedState::default(), Some(said))
    };
    let text = match own_file::read(path) {
        Ok(Some(text)) => text,
        Ok(None) => return (SavedState::default(), None),
        Err(reason) => return unreadable(&reason),
    };
    match ron::from_str(&text) {
        Ok(remembered) => (remembered, None),
        Err(error) => read_in_part(&text).map_or_else(
            || unreadable(&error.to_string()),
            |(remembered, left)| {
                let (path, left) = (path.display(), left.join(", "));
                let said = format!(
                    "{path} is from another version of Powerband: {left} cannot be read and is left unchanged."
                );
                (remembered, Some(said))
            },
        ),
    }
}

/// The readable part of a file and the keys of the rest; `None` where it is not such a file.
fn read_in_part(text: &str) -> Option<(SavedState, Vec<String>)> {
    let entries = ron_keys::entries(text).ok()?;
    let (readable, rest): (Vec<KeyText>, Vec<KeyText>) = entries.into_iter().partition(is_readable);
    let remembered = ron::from_str(&ron_keys::file(&readable)).ok()?;
    Some((remembered, rest.into_iter().map(|(key, _)| key).collect()))
}

fn is_readable(entry: &KeyText) -> bool {
    ron::from_str::<SavedState>(&ron_keys::file(std::slice::from_ref(entry))).is_ok()
}

fn entries(remembered: &SavedState) -> Result<Vec<KeyText>, String> {
    let text = ron::ser::to_string_pretty(remembered, ron::ser::PrettyConfig::default());
    text.map_err(|error| error.to_string())
        .and_then(|text| ron_keys::entries(&text))
        .map_err(|error| format!("cannot serialise the window's state: {error}"))
}

/// Saves it for the next start. A file that cannot be read is renamed first.
pub fn write(path: &Path, remembered: &SavedState) -> Result<(), String> {
    let cannot = |reason: String| format!("cannot write {}: {reason}", path.display());
    let usual = entries(&SavedState::default())?;
    let ours = entries(remembered)?;
    own_file::set_aside(path, |text| ron_keys::entries(text).is_ok())
        .map_err(|error| cannot(error.to_string()))?;
    let there = own_file::read(path).map_err(cannot)?.unwrap_or_default();
    let all = ron_keys::merge_keys(ours, &usual, &there, is_readable);
    own_file::write(path, &ron_keys::file(&all)).map_err(|error| cannot(error.to_string()))
}

/// The file of the window's state, beside the settings.
pub fn window_file(place: &Installation) -> PathBuf {
    place.paths.settings.with_file_name("window.ron")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn it_comes_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/window.ron");
        let mut remembered = SavedState {
            theme: Theme::Light,
            zoom_steps: 3,
            screen: Screen::Compare,
            ..SavedState::default()
        };
        remembered
            .shortcuts
            .insert("palette".to_owned(), Some("Ctrl+P".parse().unwrap()));
        write(&path, &remembered).unwrap();
        assert_eq!(read(&path), (remembered, None));
    }

    #[test]
    fn a_modifier_alone_is_no_shortcut_and_costs_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("window.ron");
        let shortcuts = r#"{"back": Some("ControlLeft"), "go-plan": Some("Ctrl+P"), "log": None}"#;
        fs::write(&path, format!("(theme: Light, shortcuts: {shortcuts})")).unwrap();
        let (remembered, said) = read(&path);
        assert_eq!((remembered.theme, said), (Theme::Light, None));
        let read: Vec<(String, Option<Shortcut>)> = remembered.shortcuts.into_iter().collect();
        let plan = Some("Ctrl+P".parse().unwrap());
        assert_eq!(
            read,
            [("go-plan".to_owned(), plan), ("log".to_owned(), None)]
        );
    }

    #[test]
    fn what_another_version_wrote_is_read_in_part_and_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("window.ron");
        let text = "(theme: Sepia(warmth: 3), zoom_steps: 2, dock: [Left, Right], screen: Compare)";
        fs::write(&path, text).unwrap();
        let (mut remembered, said) = read(&path);
        assert_eq!(
            (remembered.zoom_steps, remembered.screen),
            (2, Screen::Compare)
        );
        let said = said.unwrap();
        assert!(
            said.contains("another version") && said.contains("theme"),
            "{said}"
        );
        remembered.zoom_steps = 4;
        write(&path, &remembered).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        for kept in [
            "theme: Sepia(warmth: 3),",
            "dock: [Left, Right],",
            "zoom_steps: 4,",
        ] {
            assert!(text.contains(kept), "{text}");
        }
        remembered.theme = Theme::Dark;
        write(&path, &remembered).unwrap();
        assert_eq!(
            read(&path),
            (remembered, None),
            "what is chosen here counts"
        );
    }

    #[test]
    fn a_broken_file_is_said_and_survived() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("window.ron");
        fs::write(&path, "(theme: Purple)").unwrap();
        let (remembered, said) = read(&path);
        assert_eq!(remembered, SavedState::default());
        assert!(said.unwrap().contains("window.ron"));
    }
}
