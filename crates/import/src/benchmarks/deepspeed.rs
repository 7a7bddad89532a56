//! What `DeepSpeed`'s flops profiler prints: figures of a step, and the tree of modules with parameters, operations and
//! the latency of the forward pass.

use crate::benchmarks::common;
use crate::reading::head::FileHead;
use crate::reading::lines;
use crate::reading::read_progress::ReadProgress;
use crate::reading::source::ImportSource;
use crate::{Format, ImportError, Imported};
use powerband_core::domain::profile::Total;
use powerband_core::domain::reported::Reported;
use powerband_core::domain::trace::SliceKind;

/// Deeper than this no modules lie in each other.
const DEEPEST: usize = 256;

pub(crate) const FORMAT: Format = Format {
    id: "deepspeed-flops",
    title: "an output of DeepSpeed's flops profiler",
    tool: "DeepSpeed flops profiler",
    name_ends: &[],
    recognises: |head: &FileHead| {
        head.any_text().is_some_and(|text| {
            text.contains(" Flops Profiler ---") && text.contains("Profile Summary at step")
        })
    },
    read,
};

fn read(
    source: &ImportSource,
    watch: &ReadProgress<'_>,
    into: &mut Imported,
) -> Result<(), ImportError> {
    let text = source.text(watch, into)?;
    let mut profile = Profile::default();
    for line in source.progress_reader(text.lines(), watch) {
        profile.line(line?.trim(), into);
    }
    profile.finish(source, into);
    Ok(())
}

/// Section of the output.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum ProfileSection {
    #[default]
    Before,
    Summary,
    Other,
    Modules,
}

#[derive(Debug)]
struct Module {
    /// Its names from the network on: `bert.encoder.layer`.
    path: String,
    class: String,
    ns: Option<f64>,
    /// Time of the modules in it that have one.
    within_ns: f64,
}

/// Profile as far as it was read.
#[derive(Debug, Default)]
struct Profile {
    part: ProfileSection,
    profiles: u64,
    result: Reported,
    open: Vec<Module>,
    totals: Vec<Total>,
    forward_ns: Option<f64>,
    step_ns: Option<f64>,
}

impl Profile {
    fn line(&mut self, line: &str, into: &mut Imported) {
        if line.starts_with("---") {
            self.part = match line {
                _ if line.contains("Flops Profiler") => {
                    self.profiles += 1;
                    ProfileSection::Summary
                }
                _ if line.contains("Detailed Profile") => ProfileSection::Modules,
                _ => ProfileSection::Other,
            };
            return;
        }
        match self.part {
            ProfileSection::Summary => self.figure(line, into),
            ProfileSection::Modules => self.module(line),
            ProfileSection::Before | ProfileSection::Other => {}
        }
    }

    /// `fwd latency:       76.67 ms`; of what a name says after ` = `, the name is enough.
    fn figure(&mut self, line: &str, into: &mut Imported) {
        let Some((name, value)) = line.rsplit_once(':') else {
            return;
        };
        let name = name.split(" = ").next().unwrap_or(name).trim();
        let mut words = value.split_whitespace();
        let (Some(number), unit) = (words.next().and_then(lines::number), words.next()) else {
            return;
        };
        let unit = unit.unwrap_or("");
        if let Some(scale) = lines::unit_ns(unit) {
            match name {
                "fwd latency" => self.forward_ns = Some(number * scale),
                "iter latency" => self.step_ns = Some(number * scale),
                _ => {}
            }
        }
        if name.starts_with("batch size per ") {
            self.result.set_batch(common::batch(value));
        } else if name.ends_with("size") {
            into.fact(name, value.trim());
        } else {
            let (number, unit) = plain_unit(number, unit);
            self.result.figure(name, number, unit);
        }
    }

    /// A line of the tree: a module begins with its name and class, has its numbers behind that or in the next line,
    /// and ends with a bracket.
    fn module(&mut self, line: &str) {
        let mut line = line;
        if let Some((name, class, rest)) = heading(line) {
            if self.open.len() >= DEEPEST {
                return;
            }
            let parent = self.open.last().map_or("", |module| module.path.as_str());
            let path = match (parent, name) {
                ("", name) => name.to_owned(),
                (parent, name) => format!("{parent}.{name}"),
            };
            self.open.push(Module {
                path,
                class: class.to_owned(),
                ns: None,
                within_ns: 0.0,
            });
            line = rest;
        }
        if let (Some(ns), Some(module)) = (latency(line), self.open.last_mut())
            && module.ns.is_none()
        {
            module.ns = Some(ns);
        }
        let depth = line
            .matches(')')
            .count()
            .saturating_sub(line.matches('(').count());
        for _ in 0..depth {
            self.close();
        }
    }

    /// A module ends: its time without that of those in it is its own.
    fn close(&mut self) {
        let Some(module) = self.open.pop() else {
            return;
        };
        let Some(ns) = module.ns else {
            // What is cut short in the output has no time of its own.
            if let Some(parent) = self.open.last_mut() {
                parent.within_ns += module.within_ns;
            }
            return;
        };
        if let Some(parent) = self.open.last_mut() {
            parent.within_ns += ns;
        }
        self.totals.push(Total {
            work: None,
            kind: SliceKind::Operator,
            name: match module.path.as_str() {
                "" => module.class.clone(),
                path => path.to_owned(),
            },
            op: module.class,
            place: String::new(),
            calls: 1,
            total_ns: lines::ns(ns - module.within_ns, 1.0),
            min_ns: None,
            max_ns: None,
        });
    }

    fn finish(mut self, source: &ImportSource, into: &mut Imported) {
        while !self.open.is_empty() {
            self.close();
        }
        if !self.totals.is_empty() {
            into.note("modules have the time of the forward pass on the host, without that of the modules in them; modules that the output shortens to … are in the time of the one around them");
            into.runs = into.runs.or_else(|| Some(self.profiles.max(1)));
            into.totals.append(&mut self.totals);
        }
        if self.result.figures.is_empty() {
            into.note(format!("{} ends before the figures", source.name()));
            return;
        }
        let (name, ns) = match self.step_ns {
            Some(step) => ("training step", Some(step)),
            None => ("forward pass", self.forward_ns),
        };
        name.clone_into(&mut self.result.name);
        self.result.typical_ns = ns.map(|ns| lines::ns(ns, 1.0));
        into.reported.push(self.result);
    }
}

/// `6279.86 G` as a number of its own.
fn plain_unit(number: f64, unit: &str) -> (f64, &str) {
    let scaled = |scale: f64| number * scale;
    match unit {
        "K" => (scaled(1e3), ""),
        "M" => (scaled(1e6), ""),
        "G" => (scaled(1e9), ""),
        "T" => (scaled(1e12), ""),
        _ => (number, unit),
    }
}

/// `(query): Linear(1.05 M, …`, `BertForPreTraining(`: name, class, and what follows the bracket. The network itself
/// has no name.
fn heading(line: &str) -> Option<(&str, &str, &str)> {
    let (name, rest) = match line.strip_prefix('(') {
        Some(rest) => rest.split_once("): ")?,
        None => ("", line),
    };
    let (class, rest) = rest.split_once('(')?;
    // Modules that are alike may be one: `(0-11): 12 x Layer(`.
    let class = class.rsplit_once(" x ").map_or(class, |(_, class)| class);
    let is_class = !class.is_empty()
        && class.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && class.chars().all(|c| c.is_alphanumeric() || c == '_');
    is_class.then_some((name, class, rest))
}

/// `…, 182.39 us, 0.24% latency, …` in nanoseconds; older versions write `0.24% time`.
fn latency(line: &str) -> Option<f64> {
    let cells: Vec<&str> = line.split(',').map(str::trim).collect();
    let share = |cell: &str| cell.ends_with("% latency") || cell.ends_with("% time");
    let place = cells.iter().position(|cell| share(cell))?;
    lines::time_ns(cells.get(place.checked_sub(1)?)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    const FILE: &str = "deepspeed/bert-large-a100.txt";

    #[test]
    fn a_real_profile_has_its_step_and_modules() {
        let imported = testing::fixture(FILE);
        let one = &imported.reported[0];
        assert_eq!(
            (one.name.as_str(), one.typical_ns),
            ("training step", Some(184_730_000))
        );
        assert_eq!(one.batch(), Some(80));
        let figure = |name: &str| {
            let found = one.figures.iter().find(|figure| figure.name == name);
            found.map(|figure| (figure.value, figure.unit.as_str()))
        };
        assert_eq!(figure("fwd MACs per GPU"), Some((3_139_930_000_000.0, "")));
        assert_eq!(figure("fwd FLOPS per GPU"), Some((81.9, "TFLOPS")));
        assert_eq!(figure("samples/second"), Some((433.07, "")));
        // Own times of all modules are the time of the network.
        let sum: u64 = imported.totals.iter().map(|total| total.total_ns).sum();
        assert_eq!(sum, 76_390_000);
        let query = imported
            .totals
            .iter()
            .find(|total| total.name.ends_with("self.query"))
            .unwrap();
        assert_eq!(query.name, "bert.encoder.layer.0.attention.self.query");
        assert_eq!((query.op.as_str(), query.total_ns), ("Linear", 182_390));
        let own = imported
            .totals
            .iter()
            .find(|total| total.name.ends_with("0.attention.self"));
        assert_eq!(own.unwrap().total_ns, 699_040 - 182_390 - 57_220 - 53_170);
    }

    #[test]
    fn modules_one_in_the_other_have_no_end() {
        let text = format!(
            "--- Flops Profiler ---\nProfile Summary at step 1:\n--- Detailed Profile ---\n{}",
            "(a): B(\n".repeat(5000)
        );
        assert!(testing::imported(text).unwrap().totals.is_empty());
    }

    #[test]
    fn no_damage_makes_it_panic() {
        testing::survives(&FORMAT, &testing::raw(FILE));
    }
}
