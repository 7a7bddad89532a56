//! The output of three scripts of AMD's `HPCTrainingExamples`: steps of `train_cifar_100.py`, the summary of
//! `micro_benchmarking_pytorch.py`, and the `RESULT` line of `ddp_resnet_bench.py`.

use crate::benchmarks::common;
use crate::reading::head::FileHead;
use crate::reading::lines;
use crate::reading::read_progress::ReadProgress;
use crate::reading::source::ImportSource;
use crate::{Format, ImportError, Imported};
use powerband_core::domain::reported::Reported;

pub(crate) const FORMAT: Format = Format {
    id: "amd-hpctraining",
    title: "output of a script of HPCTrainingExamples",
    tool: "",
    name_ends: &[],
    recognises,
    read,
};

fn recognises(head: &FileHead) -> bool {
    head.any_text().is_some_and(|text| {
        text.lines().any(|line| {
            let line = line.trim();
            step(line).is_some()
                || line.starts_with("Microbenchmark for network :")
                || line.starts_with("RESULT world_size=")
        })
    })
}

fn read(
    source: &ImportSource,
    watch: &ReadProgress<'_>,
    into: &mut Imported,
) -> Result<(), ImportError> {
    let text = source.text(watch, into)?;
    let mut steps = TrainingSteps::default();
    let mut summary: Option<Reported> = None;
    for line in source.progress_reader(text.lines().map(str::trim), watch) {
        let line = line?;
        if let Some(step) = step(line) {
            steps.take(&step);
        } else if let Some(pairs) = line.strip_prefix("RESULT ") {
            into.name_tool("ddp_resnet_bench.py");
            into.reported.extend(result(pairs));
        } else if let Some(network) = line.strip_prefix("Microbenchmark for network :") {
            into.name_tool("micro_benchmarking_pytorch.py");
            into.reported
                .extend(summary.replace(Reported::named(network.trim())));
        } else if let Some(result) = &mut summary {
            micro(result, line, into);
        }
    }
    into.reported.extend(summary);
    if !steps.rates.is_empty() {
        into.name_tool("train_cifar_100.py");
        into.note("the first step of train_cifar_100.py warms up and is far slower than the rest; the script prints rates and no times");
        into.reported.push(steps.into_reported());
    }
    Ok(())
}

#[derive(Debug)]
struct TrainingStep {
    loss: f64,
    accuracy: f64,
    rate: f64,
}

/// `0 / 20: loss 4.85, acc 1.17%, images / second / gpu: 12677.30.`
fn step(line: &str) -> Option<TrainingStep> {
    let (place, rest) = line.trim().split_once(": loss ")?;
    let (epoch, step) = place.split_once(" / ")?;
    epoch.trim().parse::<u64>().ok()?;
    step.trim().parse::<u64>().ok()?;
    let (loss, rest) = rest.split_once(", acc ")?;
    let (accuracy, rate) = rest.split_once("%, images / second / gpu: ")?;
    Some(TrainingStep {
        loss: lines::number(loss)?,
        accuracy: lines::number(accuracy)?,
        rate: lines::number(rate.trim_end_matches('.'))?,
    })
}

#[derive(Debug, Default)]
struct TrainingSteps {
    rates: Vec<f64>,
    loss: f64,
    accuracy: f64,
}

impl TrainingSteps {
    fn take(&mut self, step: &TrainingStep) {
        self.rates.push(step.rate);
        (self.loss, self.accuracy) = (step.loss, step.accuracy);
    }

    fn into_reported(self) -> Reported {
        let mut result = Reported::named("train_cifar_100");
        let rates = &self.rates;
        let after = rates.get(1..).unwrap_or_default();
        let figures = [
            ("first step", rates.first().copied()),
            ("min", rates.iter().copied().reduce(f64::min)),
            ("max", rates.iter().copied().reduce(f64::max)),
            ("mean", common::mean(rates)),
            ("median", common::median(rates)),
            ("mean after the first step", common::mean(after)),
            ("median after the first step", common::median(after)),
        ];
        for (name, value) in figures {
            if let Some(value) = value {
                result.figure(name, value, "items/s");
            }
        }
        result.figure("steps", rates.len() as f64, "");
        result.figure("last loss", self.loss, "");
        result.figure("last accuracy", self.accuracy, "%");
        result
    }
}

/// A line of the micro benchmark's summary.
fn micro(result: &mut Reported, line: &str, into: &mut Imported) {
    let Some((name, value)) = line.split_once(':') else {
        return;
    };
    let (name, value) = (name.trim(), value.trim());
    let (bare, unit) = common::unit_of(name);
    match bare {
        "Num devices" | "Dtype" => into.fact(name, value),
        "Mini batch size" => result.set_batch(common::batch(value)),
        _ if bare.starts_with("Time per mini-batch") => {
            let mut words = value.split_whitespace();
            let number = words.next().and_then(lines::number);
            result.typical_ns = number.and_then(common::seconds);
            if let Some(number) = number {
                result.figure(bare, number, "s");
            }
        }
        _ if bare.starts_with("Throughput") => {
            if let Some(number) = value.split_whitespace().next().and_then(lines::number) {
                let unit = if unit == "img/sec" { "items/s" } else { unit };
                result.figure(bare, number, unit);
            }
        }
        _ => {}
    }
}

/// `world_size=1 step_sync_s=0.1 img_per_s=640 peak_mem_mb=812`.
fn result(pairs: &str) -> Option<Reported> {
    let pairs: Vec<(&str, &str)> = pairs
        .split_whitespace()
        .filter_map(|pair| pair.split_once('='))
        .collect();
    let world = pairs.iter().find(|pair| pair.0 == "world_size")?.1;
    let mut result = Reported::named(format!("world_size={world}"));
    for (name, value) in pairs {
        let Some(number) = lines::number(value) else {
            continue;
        };
        let (name, unit) = match name {
            "img_per_s" => (name, "items/s"),
            _ if name.ends_with("_per_s") => (name, "/s"),
            _ if name.ends_with("_pct") => (name.trim_end_matches("_pct"), "%"),
            _ if name.ends_with("_mb") => (name.trim_end_matches("_mb"), "MB"),
            _ if name.ends_with("_s") => (name.trim_end_matches("_s"), "s"),
            _ => (name, ""),
        };
        match name {
            "step_sync" => result.typical_ns = common::seconds(number),
            "batch" | "batch_size" => result.set_batch(common::batch(value)),
            _ => {}
        }
        result.figure(name, number, unit);
    }
    Some(result)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    const FILE: &str = "amd-hpctraining/train_cifar_100-mi300x.stdout.txt";

    fn figure(reported: &Reported, name: &str) -> Option<f64> {
        let found = reported.figures.iter().find(|figure| figure.name == name);
        found.map(|figure| figure.value)
    }

    #[test]
    fn steps_of_training_have_their_rates() {
        let imported = testing::fixture(FILE);
        let result = &imported.reported[0];
        let expected = [
            ("steps", 21.0),
            ("first step", 564.89),
            ("min", 564.89),
            ("max", 13489.73),
            ("median", 12716.79),
            ("last loss", 4.85),
            ("last accuracy", 1.56),
        ];
        for (name, value) in expected {
            assert_eq!(figure(result, name), Some(value), "{name}");
        }
        assert!((figure(result, "mean").unwrap() - 11690.3790).abs() < 5e-5);
        assert!(figure(result, "mean after the first step").unwrap() > 12_000.0);
        assert_eq!(imported.tool.name, "train_cifar_100.py");
    }

    #[test]
    fn summaries_and_result_lines_are_read() {
        let text = "--------------------SUMMARY--------------------------
Microbenchmark for network : resnet50
Num devices: 1
Dtype: FP32
Mini batch size [img] : 64
Time per mini-batch : 0.0625
Throughput [img/sec] : 1024.0
RESULT world_size=2 step_sync_s=0.125 comm_pct=12.5 img_per_s=640 peak_mem_mb=812 rccl_s=nan
";
        let imported = testing::imported(text).unwrap();
        let [world, micro] = imported.reported.as_slice() else {
            panic!("{:?}", imported.reported);
        };
        assert_eq!((micro.name.as_str(), micro.batch()), ("resnet50", Some(64)));
        assert_eq!(micro.typical_ns, Some(62_500_000));
        assert_eq!(figure(micro, "Throughput"), Some(1024.0));
        assert_eq!(
            (world.name.as_str(), world.typical_ns),
            ("world_size=2", Some(125_000_000))
        );
        assert_eq!(
            (figure(world, "comm"), figure(world, "rccl")),
            (Some(12.5), None)
        );
        assert!(imported.facts.contains(&("Dtype".into(), "FP32".into())));
    }

    #[test]
    fn no_damage_makes_it_panic() {
        testing::survives(&FORMAT, &testing::raw(FILE));
        let text = "Microbenchmark for network : x\nRESULT world_size=1 step_sync_s=2\nRESULT\n";
        testing::survives(&FORMAT, text.as_bytes());
    }
}
