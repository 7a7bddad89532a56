//! The results of a run of `trtexec`, from either file: the log, or what the engine explorer took
//! from it.

use powerband_core::domain::reported::Reported;

use crate::Imported;
use crate::benchmarks::common;

/// A time that it measured, with its statistics in milliseconds.
#[derive(Clone, Debug, Default)]
pub struct TimeStatistics {
    /// What was measured: `Latency`, `GPU Compute Time`.
    pub name: String,
    /// What a number is, and the number: `mean`, `percentile(99%)`.
    pub values: Vec<(String, f64)>,
}

impl TimeStatistics {
    /// The median, else the mean.
    fn typical(&self) -> Option<f64> {
        let of = |name: &str| self.values.iter().find(|value| value.0 == name);
        of("median").or_else(|| of("mean")).map(|value| value.1)
    }

    /// Whether it is measured for its own sake. The others are parts of these.
    fn is_main(&self) -> bool {
        self.name.ends_with("Latency") && !self.name.contains('2') || self.name.contains("Compute")
    }
}

/// All that is reported of a run.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// Items in a run.
    pub batch: Option<usize>,
    /// Runs a second.
    pub throughput: Option<f64>,
    pub metrics: Vec<TimeStatistics>,
    /// Times of the whole: a name and seconds.
    pub walls: Vec<(String, f64)>,
    /// Why the run failed.
    pub objections: Vec<String>,
}

impl Summary {
    /// As results: one for the latency, one for the work on the device, both with the rate of the run;
    /// what else there is are figures of the first.
    pub(crate) fn into_reported(self) -> Vec<Reported> {
        let mut results: Vec<Reported> = Vec::new();
        for metric in self.metrics.iter().filter(|metric| metric.is_main()) {
            let mut result = Reported::named(&metric.name);
            result.set_batch(self.batch);
            result.typical_ns = metric.typical().and_then(common::ms);
            result.objections.clone_from(&self.objections);
            for (name, value) in &metric.values {
                result.figure(name, *value, "ms");
            }
            results.push(result);
        }
        let is_bare = self.throughput.is_some() || !self.walls.is_empty();
        if results.is_empty() && (is_bare || !self.metrics.is_empty()) {
            let mut result = Reported::named("trtexec");
            result.set_batch(self.batch);
            result.objections.clone_from(&self.objections);
            results.push(result);
        }
        if let Some(rate) = self.throughput {
            for result in &mut results {
                result.figure("Throughput", rate, "qps");
                if let Some(batch) = self.batch {
                    result.figure("Throughput of items", rate * batch as f64, "items/s");
                }
            }
        }
        let Some(first) = results.first_mut() else {
            return results;
        };
        for metric in self.metrics.iter().filter(|metric| !metric.is_main()) {
            for (name, value) in &metric.values {
                first.figure(format!("{} {name}", metric.name), *value, "ms");
            }
        }
        for (name, value) in &self.walls {
            first.figure(name, *value, "s");
        }
        results
    }
}

/// Takes results in. Files of one run have the same times, one run by run and one in statistics:
/// those of one name become one result.
pub fn take(into: &mut Imported, results: impl IntoIterator<Item = Reported>) {
    for result in results {
        let known = into.reported.iter_mut().find(|known| {
            known.name == result.name
                && known.samples_ns.is_empty() != result.samples_ns.is_empty()
                && (known.batch().is_none()
                    || result.batch().is_none()
                    || known.batch() == result.batch())
        });
        let Some(known) = known else {
            into.reported.push(result);
            continue;
        };
        known.set_batch(known.batch().or_else(|| result.batch()));
        if known.samples_ns.is_empty() {
            known.samples_ns = result.samples_ns;
        }
        known.typical_ns = None;
        for figure in result.figures {
            if known.figures.iter().all(|told| told.name != figure.name) {
                known.figures.push(figure);
            }
        }
        known.objections.extend(result.objections);
    }
}

/// Items in a run by the shape of its input: `input.1=32x3x224x224`, or `32x3x224x224` alone.
pub(crate) fn batch_of_shape(shape: &str) -> Option<usize> {
    let dims = shape.rsplit_once('=').map_or(shape, |parts| parts.1);
    let (first, rest) = dims.trim().split_once('x')?;
    rest.starts_with(|c: char| c.is_ascii_digit() || c == '-')
        .then(|| common::batch(first))?
}
