//! What `perf script` prints: samples of a processor, each with the function that ran and those that called it.
//!
//! A sample shows the moment that it was taken and nothing of the time before it, so that there are sums by function
//! and no timeline. They are times where the event is a clock, whose periods are nanoseconds; of cycles and other
//! events they are counts.

use rustc_hash::FxHashMap;

use crate::reading::head::FileHead;
use crate::reading::read_progress::ReadProgress;
use crate::reading::source::ImportSource;
use crate::{Format, ImportError, Imported};
use powerband_core::base::humanize;
use powerband_core::domain::profile::{Counter, Total};
use powerband_core::domain::trace::SliceKind;

pub(crate) const FORMAT: Format = Format {
    id: "perf-script",
    title: "an output of perf script",
    tool: "perf",
    name_ends: &[],
    recognises: |head: &FileHead| {
        let mut lines = head.plain_text().unwrap_or_default().lines();
        lines
            .find(|line| !line.trim().is_empty() && !line.starts_with('#'))
            .is_some_and(|line| PerfSample::parse(line).is_some())
    },
    read,
};

/// Events of which a period is a time, in nanoseconds.
const CLOCKS: [&str; 2] = ["cpu-clock", "task-clock"];
const UNKNOWN: &str = "[unknown]";
/// Commands that are named.
const COMMANDS: usize = 6;

fn read(
    source: &ImportSource,
    watch: &ReadProgress<'_>,
    into: &mut Imported,
) -> Result<(), ImportError> {
    let text = source.text(watch, into)?;
    let mut output = PerfOutput::default();
    for line in source.progress_reader(text.lines(), watch) {
        output.line(line?, into);
    }
    output.add_waiting(UNKNOWN, "");
    let file = source.name();
    into.note_unread(output.unread, "line", &file);
    into.note_some(
        output.idle,
        "sample",
        &file,
        "found a processor idle; left out",
    );
    if output.events.is_empty() {
        into.note(format!("{file} has no sample of a program"));
    }
    output.finish(into);
    Ok(())
}

/// The first line of a sample: `python 123/124 [003] 5678.901234:  250000 cycles:u:`, with the function behind it or
/// in the lines below.
#[derive(Clone, Copy, Debug)]
struct PerfSample<'a> {
    command: &'a str,
    is_idle: bool,
    time_ns: u64,
    period: Option<u64>,
    event: &'a str,
    /// What follows in the line.
    rest: &'a str,
}

impl<'a> PerfSample<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let line = line.trim_start();
        let mut rest = line;
        let mut process = "";
        let mut command = "";
        let time_ns = loop {
            let before = line.get(..line.len() - rest.len())?;
            let (word, after) = next_word(rest)?;
            rest = after;
            if let Some(time_ns) = timestamp_ns(word) {
                break time_ns;
            }
            let number = word.split_once('/').map_or(word, |(process, _)| process);
            if is_digits(number) && !before.is_empty() {
                (process, command) = (number, before.trim());
            }
        };
        let (mut event, mut rest) = next_word(rest)?;
        let period = event.parse().ok().filter(|_| is_digits(event));
        if period.is_some() {
            (event, rest) = next_word(rest)?;
        }
        let event = event.strip_suffix(':')?;
        let is_sample = !process.is_empty() && !event.starts_with("PERF_RECORD");
        is_sample.then_some(Self {
            command,
            is_idle: process == "0",
            time_ns,
            period,
            event,
            rest,
        })
    }
}

/// The first word of a text, and what follows it.
fn next_word(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start();
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    (end > 0).then(|| text.split_at(end))
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// `5678.901234:`, seconds with six or nine decimals.
fn timestamp_ns(word: &str) -> Option<u64> {
    let (seconds, decimals) = word.strip_suffix(':')?.split_once('.')?;
    if !is_digits(seconds) || !is_digits(decimals) || !(6..=9).contains(&decimals.len()) {
        return None;
    }
    let fraction: u64 = format!("{decimals:0<9}").parse().ok()?;
    let seconds: u64 = seconds.parse().ok()?;
    seconds.checked_mul(1_000_000_000)?.checked_add(fraction)
}

/// A line of a stack: `7f51 f+0x1 (/usr/lib/libc.so.6)`, as a function and the file that it is of.
fn function_of(line: &str) -> Option<(&str, &str)> {
    let (address, rest) = next_word(line)?;
    if !address.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let rest = rest.trim();
    let inner = rest
        .strip_suffix(" (deleted))")
        .or_else(|| rest.strip_suffix(')'));
    // Names of functions hold brackets too.
    let (name, file) = inner
        .and_then(|inner| inner.rsplit_once(" ("))
        .unwrap_or((rest, ""));
    let name = match name.rsplit_once("+0x") {
        Some((name, offset)) if offset.bytes().all(|byte| byte.is_ascii_hexdigit()) => name,
        _ => name,
    };
    let file = file.rsplit('/').next().unwrap_or_default();
    let name = if name.is_empty() { UNKNOWN } else { name };
    Some((name, if file == UNKNOWN { "" } else { file }))
}

/// Samples of one event by function and file: their number, and their periods together.
#[derive(Debug, Default)]
struct EventSamples<'a> {
    name: &'a str,
    functions: FxHashMap<(&'a str, &'a str), (u64, u64)>,
    /// Whether any sample has no period.
    lacks_periods: bool,
}

impl EventSamples<'_> {
    fn is_time(&self) -> bool {
        // Behind the name, letters say what was left out.
        let name = self
            .name
            .split_once(':')
            .map_or(self.name, |(name, _)| name);
        CLOCKS.contains(&name) && !self.lacks_periods
    }
}

/// The output as far as it was read.
#[derive(Debug, Default)]
struct PerfOutput<'a> {
    events: Vec<EventSamples<'a>>,
    commands: FxHashMap<&'a str, u64>,
    /// A sample whose function follows.
    waiting: Option<PerfSample<'a>>,
    span_ns: Option<(u64, u64)>,
    idle: u64,
    unread: u64,
}

impl<'a> PerfOutput<'a> {
    fn line(&mut self, line: &'a str, into: &mut Imported) {
        if let Some(comment) = line.strip_prefix('#') {
            header_fact(comment, into);
        } else if line.trim().is_empty() {
            self.add_waiting(UNKNOWN, "");
        } else if let Some(sample) = PerfSample::parse(line) {
            self.add_waiting(UNKNOWN, "");
            self.waiting = Some(sample);
            if let Some((name, file)) = function_of(sample.rest)
                && sample.rest.ends_with(')')
            {
                self.add_waiting(name, file);
            }
        } else if let Some((name, file)) = function_of(line) {
            self.add_waiting(name, file);
        } else {
            // Lines of source stand below their functions, further in.
            self.unread += u64::from(!line.starts_with(char::is_whitespace));
        }
    }

    /// Adds the sample that waits for its function, if there is one.
    fn add_waiting(&mut self, name: &'a str, file: &'a str) {
        let Some(sample) = self.waiting.take() else {
            return;
        };
        if sample.is_idle {
            self.idle += 1;
            return;
        }
        let span = self.span_ns.get_or_insert((sample.time_ns, sample.time_ns));
        *span = (span.0.min(sample.time_ns), span.1.max(sample.time_ns));
        *self.commands.entry(sample.command).or_default() += 1;
        let known = self
            .events
            .iter()
            .position(|event| event.name == sample.event);
        let place = known.unwrap_or_else(|| {
            self.events.push(EventSamples {
                name: sample.event,
                ..EventSamples::default()
            });
            self.events.len() - 1
        });
        if let Some(event) = self.events.get_mut(place) {
            event.lacks_periods |= sample.period.is_none();
            let sum = event.functions.entry((name, file)).or_default();
            sum.0 += 1;
            sum.1 = sum.1.saturating_add(sample.period.unwrap_or_default());
        }
    }

    fn finish(self, into: &mut Imported) {
        if let Some((first, last)) = self.span_ns {
            into.fact("recorded", humanize::duration_ns((last - first) as f64));
        }
        let mut commands: Vec<(&str, u64)> = self.commands.into_iter().collect();
        commands.sort_by_key(|(name, samples)| (std::cmp::Reverse(*samples), *name));
        for (name, samples) in commands.into_iter().take(COMMANDS) {
            let samples = humanize::pluralised(samples, "sample");
            into.fact("command", format!("{name}: {samples}"));
        }
        // Two clocks would count the same time twice.
        let timed = self.events.iter().position(EventSamples::is_time);
        for (place, event) in self.events.into_iter().enumerate() {
            if timed == Some(place) {
                into.note(format!(
                    "times are samples of {} with their periods: what has few samples is uncertain, by about the root of their number",
                    event.name
                ));
            }
            let mut functions: Vec<_> = event.functions.into_iter().collect();
            functions.sort_unstable();
            for ((name, file), (samples, periods)) in functions {
                let name = match (name, file) {
                    (UNKNOWN, file) if !file.is_empty() => format!("{file} {UNKNOWN}"),
                    _ => name.to_owned(),
                };
                if timed == Some(place) {
                    into.totals.push(Total {
                        work: None,
                        kind: SliceKind::Kernel,
                        name,
                        op: file.to_owned(),
                        place: "CPU".to_owned(),
                        calls: samples,
                        total_ns: periods,
                        min_ns: None,
                        max_ns: None,
                    });
                    continue;
                }
                let (counter, sum) = if event.lacks_periods {
                    (format!("samples of {}", event.name), samples)
                } else {
                    (event.name.to_owned(), periods)
                };
                into.counters.push(Counter {
                    kernel: name,
                    name: counter,
                    unit: String::new(),
                    launches: samples,
                    sum: sum as f64,
                });
            }
        }
    }
}

/// A line of the header: `# cmdline : perf record -g ./a.out`.
fn header_fact(comment: &str, into: &mut Imported) {
    let Some((name, value)) = comment.split_once(':') else {
        return;
    };
    match name.trim() {
        "cmdline" => into.keep_command(value),
        "perf version" => into.name_version(value),
        "cpudesc" => into.fact("processor", value.trim()),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    /// Stacks of a clock, with mangled names as C++ and Rust have them.
    const STACKS: &str = "\
# perf version : 6.1.0
# cmdline : /usr/bin/perf record -F 1000 -g ./mixer
# cpudesc : a processor
#
mixer  4001   100.000100:    1000000 cpu-clock:u: 
\t    55d0c0de1130 _ZN5mixer4pourEv+0x10 (/opt/made-up/mixer)
\t    55d0c0de2200 main+0x20 (/opt/made-up/mixer)

mixer  4001/4002 [001]   100.001100:    1000000 cpu-clock:u: 
\t    55d0c0de1150 _ZN5mixer4pourEv+0x30 (/opt/made-up/mixer)
\t    55d0c0de2200 main+0x20 (/opt/made-up/mixer)

mixer  4001   100.002100:    1000000 cpu-clock:u: 
\t    55d0c0de3044 _ZN4core3ops8function6FnOnce9call_once17h0123456789abcdefE.llvm.77+0x4 (/opt/made-up/mixer)
\t         7f00beef [unknown] ([unknown])

stirrer  4003   100.002600:     500000 cpu-clock:u: 
\t    7fa0000a1234 __memcpy_made_up+0x54 (/usr/lib/libc.so.6)

";
    const PYTHON: &str = "perf/python-task-clock.txt";

    #[test]
    fn samples_of_a_clock_are_times_of_the_functions_that_ran() {
        let imported = testing::imported(STACKS).unwrap();
        let mut totals = testing::totals(&imported);
        totals.sort_by_key(|total| std::cmp::Reverse(total.2));
        let closure = "_ZN4core3ops8function6FnOnce9call_once17h0123456789abcdefE.llvm.77";
        let expected = [
            ("_ZN5mixer4pourEv", 2, 2_000_000),
            (closure, 1, 1_000_000),
            ("__memcpy_made_up", 1, 500_000),
        ];
        assert_eq!(totals, expected);
        assert_eq!(imported.totals[0].place, "CPU");
        let mut files: Vec<&str> = imported.totals.iter().map(|one| one.op.as_str()).collect();
        files.sort_unstable();
        assert_eq!(files, ["libc.so.6", "mixer", "mixer"]);
        assert_eq!(imported.tool.version.as_deref(), Some("6.1.0"));
        let command = imported.tool.command.as_ref().unwrap();
        assert!(command.ends_with("-F 1000 -g ./mixer"), "{command}");
        let facts = [
            ("processor", "a processor"),
            ("recorded", "2.50 ms"),
            ("command", "mixer: 3 samples"),
            ("command", "stirrer: 1 sample"),
        ];
        let facts = facts.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(imported.facts, facts);
        assert_eq!(imported.notes.len(), 1, "{:?}", imported.notes);
    }

    #[test]
    fn a_function_may_stand_in_the_line_of_its_sample() {
        let imported = testing::fixture(PYTHON);
        let samples: u64 = imported.totals.iter().map(|total| total.calls).sum();
        assert_eq!(samples, 29);
        let libz = "libz.so.1.2.13 [unknown]";
        assert!(testing::totals(&imported).contains(&(libz, 12, 12 * 10_101_010)));
        assert!(testing::totals(&imported).contains(&("gc_collect_main", 1, 10_101_010)));
    }

    #[test]
    fn counts_of_other_events_are_no_times() {
        let text = "\
swapper     0 [001] 7.000001:   9 cycles: \n\tffff8104f45a idle ([kernel.kallsyms])\n
my prog 12/13 [003] 7.000002:   30 cycles:u: \n\t4f45a void f<int>(char, int)+0x1f (/a b/libc.so.6 (deleted))\n  f.c:12\n\tdd main (/a)\n
my prog 12/13 [003] 7.000003:   31 cycles:u: \n\t4f45b void f<int>(char, int)+0x2f (/a b/libc.so.6 (deleted))\n
my prog 12/13 7.000004: sched:sched_switch: prev_comm=a\n
my prog 12/13 7.000005: cpu-clock: \n\t4 g (/a)\n
broken\n";
        let imported = testing::imported(text).unwrap();
        assert!(imported.totals.is_empty());
        let counters = imported.counters.iter();
        let counters: Vec<(&str, &str, u64, f64)> = counters
            .map(|one| {
                (
                    one.kernel.as_str(),
                    one.name.as_str(),
                    one.launches,
                    one.sum,
                )
            })
            .collect();
        let expected = [
            ("void f<int>(char, int)", "cycles:u", 2, 61.0),
            (UNKNOWN, "samples of sched:sched_switch", 1, 1.0),
            ("g", "samples of cpu-clock", 1, 1.0),
        ];
        assert_eq!(counters, expected);
        let notes = [
            "1 line of file could not be read: cut off or damaged",
            "1 sample of file found a processor idle; left out",
        ];
        assert_eq!(imported.notes, notes);
    }

    #[test]
    fn no_damage_makes_it_panic() {
        testing::survives(&FORMAT, STACKS.as_bytes());
        testing::survives(&FORMAT, &testing::raw(PYTHON));
    }
}
