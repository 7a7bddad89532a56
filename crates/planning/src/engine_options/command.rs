//! The engine `command`: any command that runs the network by itself, timed from outside, or believed
//! where it prints figures of its own.

use regex_lite::Regex;

use super::EngineOptions;
use super::key::{Key, Takes, always};
use powerband_core::domain::setup::{COMMAND, LOOP_KEY, Setup};

/// What a command has to speak to be a worker itself.
pub const PROTOCOL: &str = "protocol";

const KEYS: &[Key] = &[
    Key::new(
        "run",
        Takes::Text("a line for the shell, with {batch} and {model}", "true"),
        "what runs the network once, or many times where it prints its own figures; quote a line that has commas",
    )
    .running(always)
    .with_control(1, "Command"),
    Key::new(
        "figures",
        Takes::One(&TOOL_NAMES),
        "take the figures that this tool prints, in place of the time from outside",
    ),
    Key::new(
        "pattern",
        Takes::Text(
            "an expression with a group (?<ms>…), (?<us>…), (?<ns>…), (?<s>…) or (?<per_s>…)",
            "(?<ms>[0-9.]+) ms",
        ),
        "take the figures that it finds in what the command prints: the time of a batch, or items a second",
    ),
    Key::new(
        LOOP_KEY,
        Takes::Text("the name of a loop", "mine"),
        "in place of run=: a loop of a Python program, which starts the measurement itself with powerband.measure",
    ),
    Key::new(
        "speaks",
        Takes::One(&[PROTOCOL]),
        "the command is a worker: it speaks the worker protocol in lines of JSON",
    ),
];

/// The options of a command.
pub struct CommandEngine;

impl EngineOptions for CommandEngine {
    fn id(&self) -> &'static str {
        COMMAND
    }

    fn title(&self) -> &'static str {
        "Any command"
    }

    fn keys(&self) -> &'static [Key] {
        KEYS
    }

    fn stands_alone(&self) -> bool {
        false
    }

    fn check(&self, setup: &Setup) -> Result<(), String> {
        let option = |key: &str| setup.options.get(key).map(String::as_str);
        let line = option("run").filter(|line| !line.trim().is_empty());
        if setup.is_python_loop() {
            let other = setup.options.keys().find(|key| *key != LOOP_KEY);
            return other.map_or(Ok(()), |key| {
                Err(format!(
                    "{key}= has no effect on a loop of a Python program; leave it or {LOOP_KEY}= out"
                ))
            });
        }
        if line.is_none() {
            return Err(
                "run= is missing: say what to run, for example command,run=\"python bench.py --batch {batch}\""
                    .to_owned(),
            );
        }
        if let Some(what) = option("speaks").filter(|what| *what != PROTOCOL) {
            return Err(format!(
                "speaks={what} is not known; a command can speak {PROTOCOL}"
            ));
        }
        let ways = ["figures", "pattern", "speaks"]
            .iter()
            .filter(|key| option(key).is_some());
        if ways.count() > 1 {
            return Err(
                "figures, pattern and speaks exclude each other; give one of them".to_owned(),
            );
        }
        FigurePattern::from_setup(setup).map(drop)
    }
}

/// A tool whose output is known.
struct Tool {
    name: &'static str,
    pattern: &'static str,
}

/// What is found in the output of well-known tools. Each pattern is for one figure: the best one for
/// the time of a batch that the tool prints.
const TOOLS: [Tool; 4] = [
    Tool {
        name: "trtexec",
        pattern: r"GPU Compute Time: .*median = (?<ms>[0-9.]+) ms",
    },
    Tool {
        name: "migraphx",
        pattern: r"Total time: (?<ms>[0-9.]+)ms",
    },
    Tool {
        name: "aitemplate",
        pattern: r"batch_size: [0-9]+, (?:latency|time): (?<ms>[0-9.]+)",
    },
    Tool {
        name: "perf_test",
        pattern: r"Average inference time cost(?: total)?: (?<ms>[0-9.]+) ms",
    },
];

const TOOL_NAMES: [&str; TOOLS.len()] = {
    let mut names = [""; TOOLS.len()];
    let mut place = 0;
    while place < TOOLS.len() {
        names[place] = TOOLS[place].name;
        place += 1;
    }
    names
};

/// Groups that a pattern may have, and what one is worth in nanoseconds.
const UNITS: [(&str, f64); 4] = [("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9)];
/// The group for items a second.
const RATE: &str = "per_s";

/// A pattern that finds times in the output of a command.
#[derive(Clone, Debug)]
pub struct FigurePattern {
    expression: Regex,
    /// The pattern as it was written.
    pub pattern: String,
}

impl FigurePattern {
    /// What a setup asks for; nothing for the time from outside.
    pub fn from_setup(setup: &Setup) -> Result<Option<Self>, String> {
        let option = |key: &str| setup.options.get(key).map(String::as_str);
        let pattern = match (option("figures"), option("pattern")) {
            (Some(name), _) => {
                let tool = TOOLS.iter().find(|tool| tool.name == name);
                tool.ok_or_else(|| {
                    format!(
                        "figures={name} is not known; there are {}",
                        TOOL_NAMES.join(", ")
                    )
                })?
                .pattern
            }
            (None, Some(pattern)) => pattern,
            (None, None) => return Ok(None),
        };
        Self::parse(pattern).map(Some)
    }

    /// An expression with one of the groups.
    pub fn parse(pattern: &str) -> Result<Self, String> {
        let expression = Regex::new(pattern)
            .map_err(|error| format!("pattern={pattern} is no expression: {error}"))?;
        let is_known = |name: &str| name == RATE || UNITS.iter().any(|(unit, _)| *unit == name);
        if !expression.capture_names().flatten().any(is_known) {
            return Err(format!(
                "pattern={pattern} names no figure; give it a group (?<ms>…), (?<us>…), (?<ns>…), (?<s>…) or (?<per_s>…)"
            ));
        }
        Ok(Self {
            expression,
            pattern: pattern.to_owned(),
        })
    }

    /// The times of a batch in a text, in nanoseconds.
    pub fn times_ns(&self, text: &str, batch: usize) -> Vec<u64> {
        let found = self.expression.captures_iter(text);
        let times = found.filter_map(|captures| {
            let number = |name: &str| captures.name(name)?.as_str().parse::<f64>().ok();
            let by_unit = UNITS.iter().find_map(|(unit, ns)| Some(number(unit)? * ns));
            let by_rate = || Some(batch as f64 * 1e9 / number(RATE)?);
            let ns = by_unit.or_else(by_rate)?;
            (ns.is_finite() && ns >= 1.0).then_some(ns.round() as u64)
        });
        times.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(spec: &str) -> String {
        let setup: Setup = spec.parse().unwrap();
        CommandEngine.check(&setup).err().unwrap_or_default()
    }

    #[test]
    fn what_makes_no_sense_is_named() {
        assert_eq!(fault("command,run=\"python b.py {batch}\""), "");
        assert!(fault("command").contains("run= is missing"));
        assert!(fault("command,run=x,figures=nsys").contains("trtexec, migraphx"));
        assert!(fault("command,run=x,pattern=[").contains("is no expression"));
        assert!(fault("command,run=x,pattern=ms").contains("names no figure"));
        assert!(fault("command,run=x,figures=trtexec,speaks=protocol").contains("exclude"));
        assert!(fault("command,run=x,speaks=french").contains("protocol"));
        assert_eq!(fault("command,loop=\"my loop\""), "");
        assert!(fault("command,loop=mine,run=x").contains("run= has no effect"));
        assert!(fault("command,loop=mine,copies=2").contains("copies= has no effect"));
    }

    #[test]
    fn figures_are_found_in_what_tools_print() {
        let of = |name: &str, text: &str, batch: usize| {
            let setup: Setup = format!("command,run=x,figures={name}").parse().unwrap();
            FigurePattern::from_setup(&setup)
                .unwrap()
                .unwrap()
                .times_ns(text, batch)
        };
        let trtexec = "[I] Latency: min = 1.9 ms, median = 2.0 ms\n[I] GPU Compute Time: min = 1.4 ms, max = 1.6 ms, mean = 1.5 ms, median = 1.52 ms, percentile(99%) = 1.5 ms\n[I] Total GPU Compute Time: 2.9 s\n";
        assert_eq!(of("trtexec", trtexec, 8), [1_520_000]);
        let migraphx =
            "Rate: 2866.1/sec\nTotal time: 0.348906ms\nTotal instructions time: 0.414369ms\n";
        assert_eq!(of("migraphx", migraphx, 1), [348_906]);
        let aitemplate = "batch_size: 16, latency: 3.41\nbatch_size: 16, latency: 3.39\n";
        assert_eq!(of("aitemplate", aitemplate, 16), [3_410_000, 3_390_000]);
        let perf_test = "Average inference time cost: 12.5 ms\n";
        assert_eq!(of("perf_test", perf_test, 1), [12_500_000]);
    }

    #[test]
    fn any_unit_becomes_the_time_of_a_batch() {
        let of =
            |pattern: &str, text: &str| FigurePattern::parse(pattern).unwrap().times_ns(text, 4);
        assert_eq!(of("(?<us>[0-9.]+) us", "took 2.5 us"), [2_500]);
        assert_eq!(of("qps (?<per_s>[0-9.]+)", "qps 200"), [20_000_000]);
        assert_eq!(
            of("(?<s>[0-9.]+)", "0 nan 0.5"),
            [500_000_000],
            "zero is no time"
        );
        assert!(of("(?<ms>[0-9.]+) ms", "nothing").is_empty());
    }
}
