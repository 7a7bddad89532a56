//! The card of speed and accuracy: which setups are in it, and what it says of each.

use std::collections::BTreeSet;

use super::LegendEntry;
use crate::sessions::{self, OpenSession, OpenSessions, Pin};
use powerband_core::base::humanize::{self, UNKNOWN};
use powerband_core::domain::accuracy::{Accuracy, Hits};
use powerband_core::domain::case::CaseKey;
use powerband_findings::analysis::accuracy;
use powerband_findings::analysis::trade_off::{self, At, Judged, Quality, Rank, Speed, Standing};
use powerband_findings::chart::spec::{ChartSpec, SeriesId};
use powerband_findings::chart::trade_off::{self as chart, Spot};

/// Columns of its table, in order.
pub const COLUMNS: [&str; 9] = [
    "Setup",
    "Batch",
    "Throughput",
    "Same choice",
    "Top-1",
    "Top-5",
    "Worst cosine",
    "Largest error",
    "Front",
];

/// What each column means, in a sentence.
pub const COLUMN_HELP: [&str; 9] = [
    "One way to run the model: engine, device and options",
    "The batch size at which the throughput counts",
    "Items done over time spent",
    "Inputs for which it chooses the class that the reference chooses; known where the output is one row of class scores for each input",
    "Samples whose label has the largest value; known for samples with labels",
    "Samples whose label is among the five largest values; known for samples with labels",
    "The lowest cosine between the output for an input and the reference's: 1 is the same",
    "The largest difference between a value and the reference's, in the values' own unit",
    "On it are those that nobody beats in both: whoever is as fast is less accurate, and whoever is as accurate is slower",
];

/// The card as it is drawn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TradeOff {
    /// Whether any open session has accuracies.
    pub is_known: bool,
    /// What was compared with what, and on what.
    pub compared: String,
    /// The quality that is drawn.
    pub quality: Quality,
    /// Those that could be.
    pub known: Vec<Quality>,
    /// At which batch size the speed counts.
    pub at: At,
    /// Batch sizes that could be asked for.
    pub batches: Vec<usize>,
    /// The chart.
    pub chart: ChartSpec,
    /// The table, the fastest first.
    pub rows: Vec<Row>,
}

/// One setup in the table.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Which.
    pub id: SeriesId,
    /// Its case, where one was measured.
    pub pin: Option<Pin>,
    /// Its palette index.
    pub colour: usize,
    /// What each column says.
    pub cells: [String; 9],
    /// More of the same: what the cell says in full, or why it says nothing.
    pub helps: [String; 9],
    /// Whether nobody beats it.
    pub is_front: bool,
    /// The name and the palette index of who beats it.
    pub behind: Option<(String, usize)>,
    /// Whether it could not be compared.
    pub is_trouble: bool,
}

/// A setup whose outputs were to be compared.
struct Setup<'a> {
    entry: &'a LegendEntry,
    open: &'a OpenSession,
    index: usize,
    judged: Judged<'a>,
}

/// Draws the card from the series that are shown. A quality and a batch size that cannot be asked for
/// give way to those that can.
pub fn draw(
    open: &OpenSessions,
    legend: &[LegendEntry],
    quality: Option<Quality>,
    at: At,
) -> TradeOff {
    let setups: Vec<Setup<'_>> = legend
        .iter()
        .filter(|entry| entry.shown)
        .filter_map(|entry| setup(open, entry))
        .collect();
    let judged: Vec<Judged<'_>> = setups.iter().map(|setup| setup.judged).collect();
    let known = trade_off::known(&judged);
    let batches = trade_off::batches(&judged);
    let first = known.first().copied().unwrap_or_default();
    let quality = quality
        .filter(|wanted| known.contains(wanted))
        .unwrap_or(first);
    let at = match at {
        At::Batch(batch) if !batches.contains(&batch) => At::Best,
        at => at,
    };
    let standings = trade_off::judged_standings(&judged, quality, at);
    let spots: Vec<Spot> = setups
        .iter()
        .zip(&standings)
        .filter_map(|(setup, standing)| spot(setup.entry, standing))
        .collect();
    let mut order: Vec<usize> = (0..setups.len()).collect();
    order.sort_by(|&a, &b| {
        let speed = |place: usize| standings[place].speed.map_or(-1.0, |speed| speed.per_s);
        speed(b).total_cmp(&speed(a))
    });
    TradeOff {
        is_known: open.iter().any(|open| !open.session.accuracies.is_empty()),
        compared: compared(&setups),
        quality,
        known,
        at,
        batches,
        chart: chart::scatter(&spots, quality),
        rows: order
            .into_iter()
            .map(|place| row(&setups, &standings[place], place))
            .collect(),
    }
}

impl TradeOff {
    /// The row of a series.
    pub fn row(&self, id: SeriesId) -> Option<&Row> {
        self.rows.iter().find(|row| row.id == id)
    }

    /// The quality after the one that is drawn.
    pub fn next(&self) -> Option<Quality> {
        let place = self.known.iter().position(|known| *known == self.quality)?;
        self.known.iter().cycle().nth(place + 1).copied()
    }
}

impl Row {
    /// What is known of it, name by name; what has no name is a sentence.
    pub fn words(&self) -> Vec<(String, String)> {
        let mut words = Vec::new();
        for ((column, cell), help) in COLUMNS.iter().zip(&self.cells).zip(&self.helps) {
            if *column == "Front" {
                words.push((String::new(), help.clone()));
            } else if cell != UNKNOWN {
                words.push(((*column).to_owned(), cell.clone()));
            }
        }
        words
    }
}

fn setup<'a>(open: &'a OpenSessions, entry: &'a LegendEntry) -> Option<Setup<'a>> {
    let (session, index) = sessions::of_series(entry.id);
    let open = open.get(session)?;
    let curves = open.findings.curves.iter();
    Some(Setup {
        entry,
        open,
        index,
        judged: Judged {
            accuracy: open.session.accuracies.get(&index)?,
            curve: curves.into_iter().find(|curve| curve.setup == index),
        },
    })
}

fn spot(entry: &LegendEntry, standing: &Standing) -> Option<Spot> {
    let (speed, level) = (standing.speed?, standing.level?);
    Some(Spot {
        id: entry.id,
        name: entry.name.clone(),
        colour: entry.colour,
        batch: speed.batch,
        per_s: speed.per_s,
        level,
        is_front: standing.rank == Rank::Front,
    })
}

/// What was compared with what; where that is not the same for all, that it is not.
fn compared(setups: &[Setup<'_>]) -> String {
    let kinds: BTreeSet<(&str, &str, &str)> = setups
        .iter()
        .map(|setup| {
            let accuracy = setup.judged.accuracy;
            let model = setup.open.session.model.sha256.as_str();
            (model, accuracy.reference.as_str(), accuracy.inputs.as_str())
        })
        .collect();
    let models: BTreeSet<&str> = kinds.iter().map(|(model, ..)| *model).collect();
    match (kinds.len(), kinds.first()) {
        (1, Some((_, reference, inputs))) => format!("Compared with {reference}, on {inputs}"),
        (0, _) | (_, None) => String::new(),
        _ if models.len() > 1 => {
            "Different networks, each compared with its own reference; the pointer on a setup tells which"
                .to_owned()
        }
        _ => "Not all were compared on the same inputs, with the same reference; the pointer on a setup tells which"
            .to_owned(),
    }
}

fn row(setups: &[Setup<'_>], standing: &Standing, place: usize) -> Row {
    let setup = &setups[place];
    let accuracy = setup.judged.accuracy;
    let speed = standing.speed;
    let (front, front_help) = verdict(setups, standing);
    let batch = speed.map_or_else(
        || (UNKNOWN.to_owned(), String::new()),
        |speed| (humanize::count(speed.batch as u64), String::new()),
    );
    let about = format!(
        "{}\nCompared with {}, on {}",
        setup.entry.name, accuracy.reference, accuracy.inputs
    );
    let pairs = [
        (setup.entry.name.clone(), about),
        batch,
        throughput(speed),
        hits(
            accuracy,
            accuracy.same_choice,
            "the outputs are no choice between classes",
        ),
        hits(accuracy, accuracy.top1, "it takes samples with labels"),
        hits(
            accuracy,
            accuracy.top5,
            "it takes samples with labels and more than five classes",
        ),
        cosine(accuracy),
        error(accuracy),
        (front, front_help),
    ];
    let (session, case) = (setup.open.id, setup.index);
    Row {
        id: setup.entry.id,
        pin: speed.map(|speed| Pin {
            session,
            case: CaseKey {
                setup: case,
                batch: speed.batch,
            },
        }),
        colour: setup.entry.colour,
        cells: pairs.clone().map(|(cell, _)| cell),
        helps: pairs.map(|(_, help)| help),
        is_front: standing.rank == Rank::Front,
        behind: match standing.rank {
            Rank::Beaten(by) => setups
                .get(by)
                .map(|other| (other.entry.name.clone(), other.entry.colour)),
            Rank::Front | Rank::Unknown(_) => None,
        },
        is_trouble: accuracy.trouble.is_some(),
    }
}

/// What the last column says, and that in full.
fn verdict(setups: &[Setup<'_>], standing: &Standing) -> (String, String) {
    match &standing.rank {
        Rank::Front => (
            "on the front".to_owned(),
            "On the front: nobody is as fast and as accurate, and better in one.".to_owned(),
        ),
        Rank::Beaten(by) => {
            let name = setups.get(*by).map_or(UNKNOWN, |setup| &setup.entry.name);
            (
                format!("behind {name}"),
                format!("Beaten by {name}, which is as fast and as accurate, and better in one."),
            )
        }
        Rank::Unknown(why) => (why.clone(), format!("Not compared: {why}.")),
    }
}

fn throughput(speed: Option<Speed>) -> (String, String) {
    let Some(speed) = speed else {
        return (UNKNOWN.to_owned(), String::new());
    };
    let rate = |value: f64| humanize::significant(value, 3);
    let interval = speed.ci95.map_or_else(String::new, |ci95| {
        format!("95 % interval {} to {} /s", rate(ci95.low), rate(ci95.high))
    });
    (format!("{} /s", rate(speed.per_s)), interval)
}

/// A share, and how many it is of, with its interval.
fn hits(accuracy: &Accuracy, hits: Option<Hits>, missing: &str) -> (String, String) {
    let found =
        hits.and_then(|hits| Some((hits, accuracy::percent(hits)?, trade_off::share(hits)?)));
    let Some((hits, cell, share)) = found else {
        return unknown(accuracy.why_no_hits(), missing);
    };
    let help = format!(
        "{} of {}; 95 % interval {:.1} to {:.1} %",
        humanize::count(hits.hits),
        humanize::count(hits.of),
        share.low * 100.0,
        share.high * 100.0
    );
    (cell, help)
}

fn cosine(accuracy: &Accuracy) -> (String, String) {
    let Some(distance) = accuracy.distance else {
        return unknown(accuracy.trouble.as_deref(), "the outputs were not compared");
    };
    let help = format!("{} on average", accuracy::cosine(distance.mean_cosine));
    (accuracy::cosine(distance.worst_cosine), help)
}

fn error(accuracy: &Accuracy) -> (String, String) {
    let Some(distance) = accuracy.distance else {
        return unknown(accuracy.trouble.as_deref(), "the outputs were not compared");
    };
    let mean = humanize::value(distance.mean_error);
    let help = match distance.relative_error {
        Some(relative) => format!(
            "{mean} on average; the largest is {} of the reference's largest value",
            humanize::percent(relative)
        ),
        None => format!("{mean} on average"),
    };
    (humanize::value(distance.max_error), help)
}

fn unknown(why: Option<&str>, missing: &str) -> (String, String) {
    let why = why.unwrap_or(missing);
    (UNKNOWN.to_owned(), format!("Not known: {why}."))
}
