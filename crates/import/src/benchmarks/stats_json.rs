//! Benchmarks whose results are JSON with a name, samples and statistics for each: a format is a table that says where
//! these stand.

use serde_json::Value;

use crate::benchmarks::{common, hyperfine};
use crate::reading::read_progress::ReadProgress;
use crate::reading::source::ImportSource;
use crate::reading::{json, lines};
use crate::{ImportError, Imported};
use powerband_core::domain::reported::Reported;

/// Shorter samples would lose digits as whole nanoseconds.
const SHORTEST_SAMPLE_NS: f64 = 100.0;

/// Where a format has what, as pointers of JSON: from the document for entries, facts and version, from an entry for
/// everything else.
pub(crate) struct Layout {
    /// The list of entries, or the only one.
    pub entries: &'static str,
    /// The name of an entry; empty where the file has none.
    pub name: &'static str,
    /// An object of parameters; empty where there are none.
    pub params: &'static str,
    /// Whether entries that differ by their parameters alone have one name.
    pub names_lack_params: bool,
    /// The samples: numbers, or lists of them.
    pub samples: &'static str,
    /// The runs that each sample covers, in a list beside the samples; empty where a sample is a run.
    pub runs: &'static str,
    pub unit: Unit,
    /// Statistics in the unit of the samples, with the names of their figures.
    pub statistics: &'static [(&'static str, &'static str)],
    /// Names of those that stand for all, the best first.
    pub typical: &'static [&'static str],
    /// Other figures: pointer, name and unit.
    pub figures: &'static [(&'static str, &'static str, &'static str)],
    /// Particulars of the document, with their names.
    pub facts: &'static [(&'static str, &'static str)],
    /// The version of the tool.
    pub version: &'static str,
    /// Why a sample is not a single run; empty where it is.
    pub sample_note: &'static str,
}

/// A layout in which nothing stands.
pub(crate) const NOWHERE: Layout = Layout {
    entries: "",
    name: "",
    params: "",
    names_lack_params: false,
    samples: "",
    runs: "",
    unit: Unit::Is("s"),
    statistics: &[],
    typical: &["median", "mean"],
    figures: &[],
    facts: &[],
    version: "",
    sample_note: "",
};

/// The unit of samples and statistics.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Unit {
    Is(&'static str),
    /// The entry has it there.
    At(&'static str),
}

/// Reads a file of such a format.
pub(crate) fn read(
    layout: &Layout,
    title: &'static str,
    source: &ImportSource,
    watch: &ReadProgress<'_>,
    into: &mut Imported,
) -> Result<(), ImportError> {
    let text = source.text(watch, into)?;
    let document = source.json(&text, title, into)?;
    read_document(layout, &document, &source.name(), source, watch, into)
}

/// Takes the entries of a document; `unnamed` is what one without a name is called.
pub(crate) fn read_document(
    layout: &Layout,
    document: &Value,
    unnamed: &str,
    source: &ImportSource,
    watch: &ReadProgress<'_>,
    into: &mut Imported,
) -> Result<(), ImportError> {
    if let Some(version) = text_at(document, layout.version) {
        into.name_version(&version);
    }
    for (pointer, name) in layout.facts {
        into.fact(name, text_at(document, pointer).unwrap_or_default());
    }
    let entries = document.pointer(layout.entries);
    let entries: Vec<&Value> = match entries {
        Some(Value::Array(list)) => list.iter().collect(),
        other => other.into_iter().collect(),
    };
    let mut unread = 0;
    for entry in entries {
        watch.tick(source.bytes())?;
        let entry = BenchmarkEntry { layout, entry };
        match entry.reported(unnamed, into) {
            Some(reported) => add(reported, into),
            None => unread += 1,
        }
    }
    into.note_unread(unread, "benchmark", &source.name());
    Ok(())
}

/// Adds a result, to what another file of the same run has of it.
fn add(reported: Reported, into: &mut Imported) {
    let known = into.reported.iter_mut().find(|known| {
        known.name == reported.name
            && (known.samples_ns.is_empty() || reported.samples_ns.is_empty())
            && known.figures.is_empty() != reported.figures.is_empty()
    });
    match known {
        Some(known) => {
            known.figures.extend(reported.figures);
            known.samples_ns.extend(reported.samples_ns);
            known.typical_ns = known
                .typical_ns
                .or(reported.typical_ns)
                .filter(|_| known.samples_ns.is_empty());
        }
        None => into.reported.push(reported),
    }
}

/// What stands there, in a line; nothing where that is nothing.
fn text_at(value: &Value, pointer: &str) -> Option<String> {
    let found = value.pointer(pointer).filter(|_| !pointer.is_empty())?;
    Some(json::value_text(found)).filter(|text| !text.is_empty())
}

/// How numbers of a unit become nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Scale {
    /// So many nanoseconds each.
    Time(f64),
    /// Runs in so many nanoseconds.
    Rate(f64),
}

impl Scale {
    /// `ns`, `ms/op` or `ops/s`.
    fn parse(unit: &str) -> Option<Self> {
        match unit.split_once('/') {
            Some(("ops", time)) => lines::unit_ns(time).map(Self::Rate),
            Some((time, "op")) => lines::unit_ns(time).map(Self::Time),
            Some(_) => None,
            None => lines::unit_ns(unit).map(Self::Time),
        }
    }

    fn ns(self, value: f64) -> Option<f64> {
        let ns = match self {
            Self::Time(unit) => value * unit,
            Self::Rate(unit) => unit / value,
        };
        (ns.is_finite() && ns >= 0.0).then_some(ns)
    }
}

struct BenchmarkEntry<'a> {
    layout: &'a Layout,
    entry: &'a Value,
}

impl BenchmarkEntry<'_> {
    fn reported(&self, unnamed: &str, into: &mut Imported) -> Option<Reported> {
        let layout = self.layout;
        self.entry.as_object()?;
        let name = text_at(self.entry, layout.name);
        if name.is_none() && !layout.name.is_empty() {
            return None;
        }
        let mut reported = Reported::named(name.unwrap_or_else(|| unnamed.to_owned()));
        self.set_params(&mut reported, into);
        if reported.batch().is_none() {
            reported.set_batch(common::batch_in(&reported.name));
        }
        let unit = match layout.unit {
            Unit::Is(unit) => unit.to_owned(),
            Unit::At(pointer) => text_at(self.entry, pointer).unwrap_or_default(),
        };
        let scale = Scale::parse(&unit);
        let number = |pointer: &str| json::number(self.entry.pointer(pointer)?);
        for (pointer, name) in layout.statistics {
            if let Some(value) = number(pointer) {
                reported.figure(*name, value, &unit);
            }
        }
        self.set_times(&mut reported, scale, into);
        for (pointer, name, unit) in layout.figures {
            if let Some(value) = number(pointer) {
                reported.figure(*name, value, unit);
            }
        }
        Some(reported)
    }

    fn set_params(&self, reported: &mut Reported, into: &mut Imported) {
        let params = self.entry.pointer(self.layout.params);
        let params = params.filter(|_| !self.layout.params.is_empty());
        let params = params.and_then(Value::as_object);
        let params: Vec<(&String, String)> = params
            .into_iter()
            .flatten()
            .map(|(name, value)| (name, json::value_text(value)))
            .collect();
        if self.layout.names_lack_params && !params.is_empty() {
            let list = params.iter().map(|(name, value)| format!("{name}={value}"));
            let list: Vec<String> = list.collect();
            reported.name = format!("{}: {}", reported.name, list.join(", "));
        }
        for (name, value) in &params {
            hyperfine::parameter(reported, name, value, into);
        }
    }

    /// Samples, or the time that stands for all.
    fn set_times(&self, reported: &mut Reported, scale: Option<Scale>, into: &mut Imported) {
        let Some(scale) = scale else {
            return;
        };
        let samples = self.samples(scale);
        let is_kept = samples.len() > 1
            && common::median(&samples).is_some_and(|median| median >= SHORTEST_SAMPLE_NS);
        if is_kept {
            reported.samples_ns = samples.iter().map(|ns| lines::ns(*ns, 1.0)).collect();
            if !self.layout.sample_note.is_empty() {
                into.note(self.layout.sample_note);
            }
            return;
        }
        let stated = self.layout.typical.iter().find_map(|name| {
            let figure = reported.figures.iter().find(|figure| figure.name == *name);
            scale.ns(figure?.value)
        });
        let typical = stated.or_else(|| common::median(&samples));
        reported.typical_ns = typical
            .map(|ns| lines::ns(ns, 1.0))
            .filter(|whole| *whole > 0);
        if samples.len() > 1 {
            into.note("samples below 100 ns are left out, since whole nanoseconds would cut their digits: the statistics of the file have all of them");
        }
    }

    fn samples(&self, scale: Scale) -> Vec<f64> {
        let list = |pointer: &str| {
            let mut numbers = Vec::new();
            if let Some(found) = self.entry.pointer(pointer).filter(|_| !pointer.is_empty()) {
                flatten(found, &mut numbers);
            }
            numbers
        };
        let (samples, runs) = (list(self.layout.samples), list(self.layout.runs));
        let whole = samples.into_iter().enumerate();
        let each = whole.map(|(place, value)| match self.layout.runs {
            "" => Some(value),
            _ => runs.get(place).map(|runs| value / runs),
        });
        each.filter_map(|value| scale.ns(value?)).collect()
    }
}

/// Numbers of lists within lists.
fn flatten(value: &Value, numbers: &mut Vec<f64>) {
    match value {
        Value::Array(list) => list.iter().for_each(|one| flatten(one, numbers)),
        one => numbers.extend(json::number(one)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_become_times() {
        assert_eq!(Scale::parse("ops/ms"), Some(Scale::Rate(1e6)));
        assert_eq!(Scale::parse("us/op"), Some(Scale::Time(1e3)));
        assert_eq!(Scale::parse("B/op"), None);
        let rate = Scale::parse("ops/s").unwrap();
        assert_eq!((rate.ns(4.0), rate.ns(0.0)), (Some(2.5e8), None));
    }
}
