//! Arguments of `export` and `report`.

use super::PointArgs;
use std::path::{Path, PathBuf};

use clap::ArgGroup;

use powerband_core::base::humanize;
use powerband_findings::chart::figure;
use powerband_findings::export::style::{self, Preset, Theme};

/// Arguments of `export`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = export_help(),
    // What is required and conflicts with something that is there is not required any more, so that both are said.
    group = ArgGroup::new("of_chart")
        .args(["against", "size", "scale", "theme", "preset", "setup", "batch", "at", "between", "limit"])
        .multiple(true)
        .requires("chart")
        .conflicts_with_all(["samples", "timeline"]),
    group = ArgGroup::new("has_profile").args(["chart", "timeline"]),
)]
pub(crate) struct ExportArgs {
    /// The session; a page (.html) takes several.
    #[arg(required = true, value_name = "SESSION")]
    pub sessions: Vec<PathBuf>,
    /// Other sessions: the first is laid under curves and is what a comparison begins with; a history
    /// goes through all of them [default: of a history, the library].
    #[arg(long, value_name = "SESSION")]
    pub against: Vec<PathBuf>,
    /// Which figure; without it the session itself is written, as .json or .csv.
    #[arg(long, value_name = "NAME")]
    pub chart: Option<String>,
    /// Where to write it: FILE.svg, .png, .pdf, .csv or .json; FILE.html is a page that shows the sessions with their
    /// timelines in any browser. A file that is there is replaced.
    #[arg(long, value_name = "FILE")]
    pub to: PathBuf,
    /// Width and height in pixels, of which an inch has 96 [default: as the preset has it].
    #[arg(long, value_name = "WxH", value_parser = size)]
    pub size: Option<(f64, f64)>,
    /// Pixels of a PNG for each of these, from 1 to 4 [default: 2].
    #[arg(long, value_name = "N")]
    pub scale: Option<f64>,
    /// light or dark [default: light].
    #[arg(long, value_name = "NAME")]
    pub theme: Option<Theme>,
    /// screen, or for a paper: column (3.5 in wide) or page (7.16 in wide) [default: screen].
    #[arg(long, value_name = "NAME")]
    pub preset: Option<Preset>,
    /// This setup: its spelling, its label, or its number from 1.
    #[arg(long, value_name = "SETUP")]
    pub setup: Option<String>,
    #[command(flatten)]
    pub point: PointArgs,
    /// Which profile of the session, by its number from 1 [default: 1].
    #[arg(long, value_name = "N", requires = "has_profile")]
    pub profile: Option<usize>,
    /// The profile before, for changes, network and timeline, by its number from 1: of the session that --against names, else of
    /// this one [default: 1].
    #[arg(long, value_name = "N", requires = "chart")]
    pub against_profile: Option<usize>,
    /// Which part of a timeline is drawn, from its beginning on, as in 1.2ms..3ms [default: all; of two timelines, the steps that are compared].
    #[arg(long, value_name = "FROM..TO", value_parser = between)]
    pub between: Option<(f64, f64)>,
    /// Of two timelines, stretch the one before so that matched operators stand above each other; without it both
    /// keep their lengths, and only their steps begin together.
    #[arg(long, requires = "chart")]
    pub aligned: bool,
    /// The latency that is the limit, as in 20ms: a line on charts of latency and on heat maps.
    #[arg(long, value_name = "TIME", value_parser = limit)]
    pub limit: Option<f64>,
    /// A line in the table for each sample, and not for each case; as .npy, an array of case (counted from 0), round,
    /// sample and nanoseconds.
    #[arg(long, conflicts_with_all = ["chart", "profile"])]
    pub samples: bool,
    /// Write the timeline of a profile as a Chrome trace (.json or .json.gz), which Perfetto opens.
    #[arg(long, conflicts_with_all = ["chart", "samples"])]
    pub timeline: bool,
    /// Leave paths and the names of users and machines out of a page.
    #[arg(long, conflicts_with_all = ["chart", "samples", "timeline"])]
    pub anonymous: bool,
}

impl ExportArgs {
    /// The session; the first of several.
    pub(crate) fn session(&self) -> &Path {
        self.sessions
            .first()
            .map_or_else(|| Path::new(""), PathBuf::as_path)
    }
}

/// Width and height, as in `900x500`.
fn size(text: &str) -> Result<(f64, f64), String> {
    let sides = text.split_once(['x', 'X', '×']);
    let side = |text: &str| text.trim().parse::<f64>().ok();
    let sides = sides.and_then(|(width, height)| Some((side(width)?, side(height)?)));
    let (least, most) = style::SIDES;
    match sides {
        Some((width, height))
            if (least..=most).contains(&width) && (least..=most).contains(&height) =>
        {
            Ok((width, height))
        }
        _ => Err(format!(
            "write width and height in pixels, each from {least} to {most}, as in 900x500"
        )),
    }
}

/// Two times in nanoseconds, as in `1.2ms..3ms`.
fn between(text: &str) -> Result<(f64, f64), String> {
    let times = text.split_once("..");
    let time = |text: &str| humanize::parse_duration_ns(text);
    match times.and_then(|(from, to)| Some((time(from)?, time(to)?))) {
        Some((from, to)) if from < to => Ok((from, to)),
        _ => {
            Err("write two times with their units, the earlier first, as in 1.2ms..3ms".to_owned())
        }
    }
}

/// A latency above zero, as in `20ms`.
fn limit(text: &str) -> Result<f64, String> {
    let time = humanize::parse_duration_ns(text).filter(|ns| *ns > 0.0);
    time.ok_or_else(|| "write a time above zero with its unit, as in 20ms".to_owned())
}

/// Every figure by its name, and examples.
fn export_help() -> String {
    let mut text = "Figures:\n".to_owned();
    let names = figure::ALL.iter().map(|figure| figure.name.len());
    let width = names.max().unwrap_or_default() + 2;
    for figure in figure::ALL {
        text.push_str(&format!("  {:<width$}{}\n", figure.name, figure.shows));
    }
    text.push_str(
        "
Examples:
  powerband export r50.ron --chart latency --to latency.svg
  powerband export r50.ron --chart throughput --preset column --to throughput.pdf
  powerband export r50.ron --chart samples --setup ort:cpu --batch 8 --to samples.png --scale 3
  powerband export r50.ron --chart timeline --between 0ms..12ms --to first-runs.svg
  powerband export new.ron --chart timeline --against old.ron --against-profile 1 --aligned --to what-changed.svg
  powerband export bert.ron --chart heat-map --limit 20ms --to heat-map.svg
  powerband export r50.ron --to r50.csv
  powerband export r50.ron bert.ron --to result.html",
    );
    text
}

/// Arguments of `report`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  powerband report r50.ron --to r50.html                      everything, in one file
  powerband report before.ron after.ron --to change.md        two sessions, pictures beside it
  powerband report r50.ron --to r50.html --page result.html   with a link to an interactive page
  powerband report r50.ron --layout case-study --to study.md  step by step

Layouts:
  full         everything about one session [default for one]
  comparison   two sessions, case by case, with verdicts [default for two]
  summary      a page for each setup or imported profile: times, memory, top operations
  case-study   the optimisation steps from the first setup to the last

An HTML file is complete and loads nothing. The pictures of NAME.md are SVG
files in the folder NAME.files beside it.")]
pub(crate) struct ReportArgs {
    /// The session; of two, the baseline.
    pub session: PathBuf,
    /// The candidate session.
    pub after: Option<PathBuf>,
    /// Where to write it; the ending says in which format.
    #[arg(long, value_name = "FILE.{md,html}")]
    pub to: PathBuf,
    /// Which sections, in which order.
    #[arg(long, value_name = "NAME")]
    pub layout: Option<String>,
    /// Title of the report [default: the session's name].
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,
    /// Also write the page that `export --to FILE.html` writes, and link to it.
    #[arg(long, value_name = "FILE.html")]
    pub page: Option<PathBuf>,
}

impl ReportArgs {
    /// One session or two.
    pub(crate) fn sessions(&self) -> Vec<&Path> {
        let sessions = [Some(&self.session), self.after.as_ref()];
        sessions
            .into_iter()
            .flatten()
            .map(PathBuf::as_path)
            .collect()
    }
}
