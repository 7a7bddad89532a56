//! `trtexec --exportTimes`: when each iteration was queued, copied and computed, in milliseconds.

use crate::benchmarks::common;
use crate::nvidia::trtexec_summary;
use crate::reading::json;
use crate::reading::json::Object;
use crate::reading::read_progress::ReadProgress;
use crate::reading::source::ImportSource;
use crate::{Format, ImportError, Imported};
use powerband_core::domain::reported::Reported;

/// Parts of an iteration that are figures of its latency: what they are called, and their keys in new
/// files and in old ones.
const PARTS: [(&str, [&str; 2]); 3] = [
    ("H2D Latency", ["h2dMs", "inMs"]),
    ("D2H Latency", ["d2hMs", "outMs"]),
    ("End-to-End Host Latency", ["endToEndMs", "endToEndMs"]),
];

pub(crate) const FORMAT: Format = Format {
    id: "trtexec-times",
    title: "times of trtexec",
    tool: "trtexec",
    name_ends: &[".timing.json"],
    recognises: |head| {
        head.is_list() && head.has_key("startComputeMs") && head.has_key("endComputeMs")
    },
    read,
};

fn read(
    source: &ImportSource,
    watch: &ReadProgress<'_>,
    into: &mut Imported,
) -> Result<(), ImportError> {
    let text = source.text(watch, into)?;
    let mut times = Times::default();
    let mut list = json::elements(&text);
    let mut unread = 0;
    for element in source.progress_reader(list.by_ref(), watch) {
        let element = element?;
        match json::object(element) {
            Some(row) => unread += u64::from(!times.take(&row)),
            None => unread += 1,
        }
    }
    if list.is_cut() {
        into.note_cut(&source.name());
    }
    into.note_unread(unread, "iteration", &source.name());
    if times.compute.is_empty() {
        into.note(format!("{} has no iterations", source.name()));
        return Ok(());
    }
    if times.is_negative {
        into.note("some times lie below zero and count as zero");
    }
    into.note("iterations of trtexec overlap, so runs a second are not one divided by the latency");
    trtexec_summary::take(into, times.into_reported());
    Ok(())
}

/// What was measured, iteration by iteration.
#[derive(Debug, Default)]
struct Times {
    latency: Vec<u64>,
    compute: Vec<u64>,
    enqueue: Vec<f64>,
    parts: [Vec<f64>; 3],
    /// The first start and the last end, in milliseconds.
    span: Option<(f64, f64)>,
    is_negative: bool,
}

impl Times {
    /// Takes an iteration in, where it has a time.
    fn take(&mut self, row: &Object) -> bool {
        let Some(compute) = json::number_of(row, "computeMs") else {
            return false;
        };
        let latency = json::number_of(row, "latencyMs").unwrap_or(compute);
        let (Some(compute_ns), Some(latency_ns)) = (common::ms(compute), common::ms(latency))
        else {
            return false;
        };
        self.is_negative |= compute < 0.0 || latency < 0.0;
        self.compute.push(compute_ns);
        self.latency.push(latency_ns);
        let between = |from: &str, to: &str| {
            Some(json::number_of(row, to)? - json::number_of(row, from)?).filter(|ms| *ms >= 0.0)
        };
        self.enqueue.extend(between("startEnqMs", "endEnqMs"));
        for (part, (_, keys)) in self.parts.iter_mut().zip(PARTS) {
            part.extend(keys.iter().find_map(|key| json::number_of(row, key)));
        }
        let first = |keys: [&str; 3]| keys.iter().find_map(|key| json::number_of(row, key));
        let start = first(["startH2dMs", "startInMs", "startComputeMs"]);
        let end = first(["endD2hMs", "endOutMs", "endComputeMs"]);
        if let (Some(start), Some(end)) = (start, end) {
            let (from, to) = self.span.unwrap_or((start, end));
            self.span = Some((from.min(start), to.max(end)));
        }
        true
    }

    fn into_reported(self) -> [Reported; 2] {
        let mut latency = Reported::named("Latency");
        let mut compute = Reported::named("GPU Compute Time");
        if let Some((from, to)) = self.span.filter(|(from, to)| to > from) {
            let rate = self.latency.len() as f64 / ((to - from) / 1e3);
            for result in [&mut latency, &mut compute] {
                result.figure("Iterations a second, from first to last", rate, "qps");
            }
        }
        let named = PARTS.map(|(name, _)| name).into_iter().zip(&self.parts);
        for (name, values) in named.chain([("Enqueue Time", &self.enqueue)]) {
            if let Some(mean) = common::mean(values) {
                latency.figure(format!("{name} mean"), mean, "ms");
            }
            if let Some(median) = common::median(values) {
                latency.figure(format!("{name} median"), median, "ms");
            }
        }
        latency.samples_ns = self.latency;
        compute.samples_ns = self.compute;
        [latency, compute]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    const FILE: &str = "tensorrt/resnet-a100-fp16.timing.json";

    #[test]
    fn every_iteration_of_a_real_file_comes_in() {
        let imported = testing::fixture(FILE);
        assert_eq!(imported.format, "trtexec-times");
        let [latency, compute] = imported.reported.as_slice() else {
            panic!("{:?}", imported.reported.len());
        };
        assert_eq!(
            (latency.name.as_str(), latency.samples_ns.len()),
            ("Latency", 3698)
        );
        let mut sorted = compute.samples_ns.clone();
        sorted.sort_unstable();
        assert_eq!(
            (sorted.first(), sorted.last()),
            (Some(&842_751), Some(&873_472))
        );
        assert_eq!(u64::midpoint(sorted[1848], sorted[1849]), 862_183);
        let mean = |samples: &[u64]| samples.iter().sum::<u64>() as f64 / samples.len() as f64;
        assert_eq!(mean(&compute.samples_ns).round(), 862_354.0);
        assert_eq!(mean(&latency.samples_ns).round(), 862_354.0);
    }

    #[test]
    fn old_keys_and_odd_values_are_read() {
        let text = r#"[{"startInMs": 0, "endInMs": 1, "startComputeMs": 1, "endComputeMs": 3,
            "startOutMs": 3, "endOutMs": 4, "inMs": 1, "computeMs": 2, "outMs": 1, "latencyMs": 4,
            "endToEndMs": 5}, {"startComputeMs": 3, "endComputeMs": 4, "computeMs": -1},
            {"computeMs": NaN}, {"computeMs": 1.5, "latencyMs"#;
        let imported = testing::imported(text).unwrap();
        assert_eq!(imported.reported[0].samples_ns, [4_000_000, 0]);
        let figures = &imported.reported[0].figures;
        assert!(
            figures
                .iter()
                .any(|f| f.name == "End-to-End Host Latency mean" && f.value == 5.0)
        );
        let notes = imported.notes.join("\n");
        assert!(
            notes.contains("1 iteration of") && notes.contains("is cut off"),
            "{notes}"
        );
        assert!(notes.contains("below zero"), "{notes}");
    }

    #[test]
    fn no_damage_makes_it_panic() {
        testing::survives(&FORMAT, &testing::raw(FILE)[..3000]);
        testing::survives(&FORMAT, b"[]");
    }
}
