//! From what changes cost to what limits the case: the rules, as a table.
//!
//! Pure arithmetic on intervals. A rule holds where the whole 95 % interval of what it asks about lies beyond
//! its threshold, and an effect is absent where its whole interval lies within 10 % of none; where no rule holds, that
//! is said with the number that stands in the way. From effects that cannot be nothing follows: they show that the
//! machine was restless.

use serde::Serialize;

use super::bound::Bound;
use powerband_core::base::humanize;

/// A memory-streaming load slows what waits for memory by so much more than one that computes.
const MEMORY: f64 = 1.15;
/// Work that is shared among threads takes so many times as long on half of them; perfectly shared, 2.
const SHARED: f64 = 1.5;
/// An effect is absent where its whole interval is within this.
const ABSENT: (f64, f64) = (0.9, 1.1);
/// Neither fewer threads nor a load beside it make a run so much faster.
const IMPLAUSIBLE: f64 = 2.0 / 3.0;
/// A case whose nodes take less than this each is limited by starting them, in nanoseconds: engines take a
/// few microseconds to start one.
const SHORT_NODE_NS: f64 = 20e3;
/// Replaying a captured graph takes less than this share of the time where starting kernels is the limit.
const CAPTURED: f64 = 0.85;

/// Time with a change over time without it, with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ChangeCost {
    /// The ratio.
    pub ratio: f64,
    /// The lower end of its interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl ChangeCost {
    /// Whether there is none: the whole interval is near no change.
    fn is_absent(self) -> bool {
        self.low >= ABSENT.0 && self.high <= ABSENT.1
    }

    /// Whether it is known as closely as an absent one has to be, whatever it costs.
    fn is_close(self) -> bool {
        self.high - self.low <= (ABSENT.1 - ABSENT.0) * self.ratio
    }

    /// What it costs in words: `38.2 % ± 3.0`.
    pub(super) fn cost_text(self) -> String {
        let half = (self.high - self.low) / 2.0;
        format!(
            "{} ± {}",
            humanize::percent(self.ratio - 1.0),
            humanize::significant(half * 100.0, 2)
        )
    }

    /// The ends of the interval of what it costs in words: `−2.00 % to 40.0 %`.
    fn range_words(self) -> String {
        let [low, high] = [self.low, self.high].map(|end| humanize::percent(end - 1.0));
        format!("{low} to {high}")
    }
}

/// What is known of a case.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Evidence {
    /// Half the threads, where they can be halved; one thread against two, where they cannot.
    pub fewer_threads: Option<ChangeCost>,
    /// A memory-streaming load.
    pub streaming: Option<ChangeCost>,
    /// A neighbour that computes.
    pub computing: Option<ChangeCost>,
    /// Beside the memory-streaming load against beside the computing one.
    pub beyond_computing: Option<ChangeCost>,
    /// A memory-streaming load beside a network that streams memory: whether it reaches what it is meant to.
    pub proof: Option<ChangeCost>,
    /// A captured graph.
    pub capture: Option<ChangeCost>,
    /// Time of a node, on average, in nanoseconds.
    pub node_ns: Option<f64>,
}

/// A rule: what has to hold, and what follows.
struct Rule {
    bound: Bound,
    /// What the conclusion is called.
    title: &'static str,
    /// The rule as a sentence.
    says: &'static str,
    holds: fn(&Evidence) -> bool,
}

/// The rules. No two of them can hold at once.
const RULES: &[Rule] = &[
    Rule {
        bound: Bound::Memory,
        title: "memory-bound",
        says: "memory-bound where a memory-streaming load costs at least 15 % more than one that computes",
        holds: |seen| {
            seen.beyond_computing
                .is_some_and(|effect| effect.low >= MEMORY)
        },
    },
    Rule {
        bound: Bound::Launch,
        title: "launch-bound",
        says: "launch-bound where replaying a captured graph takes at most 85 % of the time",
        holds: |seen| seen.capture.is_some_and(|effect| effect.high <= CAPTURED),
    },
    Rule {
        bound: Bound::Compute,
        title: "compute-bound",
        says: "compute-bound where half the threads take at least 1.5 × as long, and a memory-streaming load costs as much as a computing one, within 10 %, while it costs a network that streams memory at least 15 %",
        holds: |seen| {
            spares_memory(seen)
                && is_proven(seen)
                && seen
                    .fewer_threads
                    .is_some_and(|effect| effect.low >= SHARED)
        },
    },
    Rule {
        bound: Bound::Launch,
        title: "launch-bound",
        says: "launch-bound where half the threads take as long and a memory-streaming load costs as much as a computing one, both within 10 %, and nodes take less than 20 µs each",
        holds: |seen| spares_both(seen) && seen.node_ns.is_some_and(|ns| ns <= SHORT_NODE_NS),
    },
    Rule {
        bound: Bound::Neither,
        title: "serial: limited by neither memory nor arithmetic",
        says: "serial where half the threads take as long and a memory-streaming load costs as much as a computing one, both within 10 %, and nodes take longer than 20 µs each",
        holds: |seen| spares_both(seen) && seen.node_ns.is_some_and(|ns| ns > SHORT_NODE_NS),
    },
];

fn spares_memory(seen: &Evidence) -> bool {
    seen.beyond_computing.is_some_and(ChangeCost::is_absent)
        && seen.streaming.is_none_or(ChangeCost::is_close)
}

/// Whether the memory-streaming load was seen to slow what streams memory. What half the threads do not slow and
/// memory limits would fill the way to memory with few cores, so only computing needs this.
fn is_proven(seen: &Evidence) -> bool {
    seen.proof.is_some_and(|effect| effect.low >= MEMORY)
}

fn spares_both(seen: &Evidence) -> bool {
    spares_memory(seen) && seen.fewer_threads.is_some_and(ChangeCost::is_absent)
}

/// An effect that cannot be, in words; nothing where there is none.
fn implausible(seen: &Evidence) -> Option<String> {
    let all = [
        ("half the threads cost", seen.fewer_threads),
        ("a memory-streaming load costs", seen.streaming),
        ("a computing load costs", seen.computing),
    ];
    let (what, effect) = all
        .into_iter()
        .filter_map(|(what, effect)| Some((what, effect?)))
        .find(|(_, effect)| effect.ratio < IMPLAUSIBLE)?;
    Some(format!(
        "{what} {}, and neither fewer threads nor a load beside it speed a run up by a third: the machine was restless, so nothing follows; measure again on a quieter one",
        effect.cost_text()
    ))
}

/// What limits a case, by experiment.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Conclusion {
    /// What limits it.
    pub bound: Bound,
    /// The conclusion with its numbers.
    pub sentence: String,
    /// The rule by which it follows.
    pub rule: String,
}

/// What follows, or why nothing does.
pub(super) fn conclude(seen: &Evidence) -> Result<Conclusion, String> {
    if let Some(reason) = implausible(seen) {
        return Err(reason);
    }
    let rule = RULES.iter().find(|rule| (rule.holds)(seen));
    let Some(rule) = rule else {
        return Err(why_none(seen));
    };
    Ok(Conclusion {
        bound: rule.bound,
        sentence: humanize::capitalised(&format!("{}: {}.", rule.title, costs(seen))),
        rule: rule.says.to_owned(),
    })
}

/// What the changes cost, in words.
fn costs(seen: &Evidence) -> String {
    let all = [
        ("half the threads cost", seen.fewer_threads),
        ("a memory-streaming load costs", seen.streaming),
        ("a computing load costs", seen.computing),
        (
            "a network that streams memory pays the memory-streaming load",
            seen.proof,
        ),
        ("graph capture costs", seen.capture),
    ];
    let known = all
        .into_iter()
        .filter_map(|(what, effect)| Some(format!("{what} {}", effect?.cost_text())));
    let node = seen.node_ns.filter(|_| seen.capture.is_none());
    let node = node.map(|ns| format!("a node takes {} on average", humanize::duration_ns(ns)));
    known.chain(node).collect::<Vec<_>>().join("; ")
}

/// The first number that keeps every rule from holding.
fn why_none(seen: &Evidence) -> String {
    let more = "more rounds would narrow it, as would a quieter machine";
    let Some(beyond) = seen.beyond_computing else {
        return match seen.capture {
            Some(capture) => format!(
                "graph capture costs {}, so starting kernels is not what takes the time; nothing tried here tells computing from memory",
                capture.cost_text()
            ),
            None => "no load ran beside the case, so nothing tells memory from the rest".to_owned(),
        };
    };
    if !beyond.is_absent() {
        return format!(
            "a memory-streaming load costs {} more than a computing one, with 95 % confidence, which is neither at least 15 % nor within 10 % of nothing; {more}",
            beyond.range_words()
        );
    }
    if let Some(streaming) = seen.streaming.filter(|effect| !effect.is_close()) {
        return format!(
            "a memory-streaming load costs {}, with 95 % confidence, which is too wide for any conclusion; {more}",
            streaming.range_words()
        );
    }
    let Some(fewer) = seen.fewer_threads else {
        return "a memory-streaming load costs little, so memory is not the limit; without another number of threads nothing tells computing from waiting".to_owned();
    };
    if fewer.low >= SHARED {
        return match seen.proof {
            Some(proof) => format!(
                "half the threads cost {}, so the work is shared among them; the memory-streaming load costs a network that streams memory {}, which is not clear of 15 %, so it tells nothing of memory here",
                fewer.cost_text(),
                proof.cost_text()
            ),
            None => format!(
                "half the threads cost {}, so the work is shared among them; no network that streams memory was measured beside that load, so computing cannot be told from memory that a core does not fill",
                fewer.cost_text()
            ),
        };
    }
    if fewer.low > ABSENT.1 && fewer.high < SHARED {
        return format!(
            "no single cause: half the threads cost {}, so part of the work is shared among threads and part is not",
            fewer.cost_text()
        );
    }
    if !fewer.is_absent() {
        return format!(
            "half the threads cost {}, with 95 % confidence, which is neither at least 50 % nor within 10 % of nothing; {more}",
            fewer.range_words()
        );
    }
    "neither threads nor memory matter; how many nodes a run has is unknown, so nothing tells starting them from waiting".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn effect(ratio: f64, half: f64) -> ChangeCost {
        ChangeCost {
            ratio,
            low: ratio - half,
            high: ratio + half,
        }
    }

    fn seen(threads: f64, streaming: f64, computing: f64, node_us: f64) -> Evidence {
        Evidence {
            fewer_threads: Some(effect(threads, 0.01)),
            streaming: Some(effect(streaming, 0.03)),
            computing: Some(effect(computing, 0.01)),
            beyond_computing: Some(effect(streaming / computing, 0.03)),
            proof: Some(effect(1.5, 0.05)),
            capture: None,
            node_ns: Some(node_us * 1e3),
        }
    }

    #[test]
    fn each_cause_has_its_rule() {
        let bound = |seen: Evidence| conclude(&seen).map(|found| found.bound);
        assert_eq!(bound(seen(1.04, 1.38, 1.02, 900.0)), Ok(Bound::Memory));
        assert_eq!(bound(seen(1.9, 1.5, 1.02, 900.0)), Ok(Bound::Memory));
        assert_eq!(bound(seen(1.93, 1.06, 1.02, 900.0)), Ok(Bound::Compute));
        assert_eq!(bound(seen(1.01, 1.02, 1.0, 2.0)), Ok(Bound::Launch));
        assert_eq!(bound(seen(0.95, 1.02, 1.0, 2.0)), Ok(Bound::Launch));
        assert_eq!(bound(seen(1.01, 1.02, 1.0, 9_000.0)), Ok(Bound::Neither));
        let captured = Evidence {
            capture: Some(effect(0.6, 0.02)),
            ..Evidence::default()
        };
        assert_eq!(bound(captured), Ok(Bound::Launch));
    }

    #[test]
    fn no_two_rules_hold_at_once() {
        let grid = [0.8, 1.0, 1.1, 1.2, 1.3, 1.6, 2.0];
        for threads in grid {
            for streaming in grid {
                for node_us in [1.0, 100.0] {
                    let seen = seen(threads, streaming, 1.0, node_us);
                    let holding = RULES.iter().filter(|rule| (rule.holds)(&seen)).count();
                    assert!(holding <= 1, "{seen:?}");
                    assert_eq!(holding == 0, conclude(&seen).is_err());
                }
            }
        }
    }

    #[test]
    fn an_effect_is_absent_only_where_it_is_known_to_be() {
        // Half the threads cost −34.0 % ± 36; a memory-streaming load costs 36.1 % ± 130.
        let restless = Evidence {
            fewer_threads: Some(effect(0.66, 0.36)),
            streaming: Some(effect(1.361, 1.3)),
            computing: Some(effect(1.3, 1.2)),
            beyond_computing: Some(effect(1.05, 0.04)),
            ..seen(1.0, 1.0, 1.0, 9_000.0)
        };
        let said = conclude(&restless).unwrap_err();
        assert!(
            said.contains("half the threads cost −34.0 % ± 36"),
            "{said}"
        );
        assert!(said.contains("restless, so nothing follows"), "{said}");
        // The same with plausible threads: each effect by itself is too wide.
        let wide = Evidence {
            fewer_threads: Some(effect(1.0, 0.02)),
            ..restless
        };
        let said = conclude(&wide).unwrap_err();
        assert!(
            said.starts_with("a memory-streaming load costs −93.9 % to 166 %"),
            "{said}"
        );
        let threads = Evidence {
            fewer_threads: Some(effect(0.9, 0.3)),
            ..seen(1.0, 1.0, 1.0, 9_000.0)
        };
        let said = conclude(&threads).unwrap_err();
        assert!(
            said.starts_with("half the threads cost −40.0 % to 20.0 %"),
            "{said}"
        );
        let absent = seen(1.01, 1.02, 1.0, 9_000.0);
        assert_eq!(
            conclude(&absent).map(|found| found.bound),
            Ok(Bound::Neither)
        );
    }

    #[test]
    fn the_sentence_has_every_number() {
        let found = conclude(&seen(1.04, 1.38, 1.02, 900.0)).unwrap();
        assert_eq!(
            found.sentence,
            "Memory-bound: half the threads cost 4.00 % ± 1.0; a memory-streaming load costs 38.0 % ± 3.0; a computing load costs 2.00 % ± 1.0; a network that streams memory pays the memory-streaming load 50.0 % ± 5.0; a node takes 900 µs on average."
        );
        assert!(found.rule.contains("15 %"));
    }

    #[test]
    fn what_is_open_is_not_decided() {
        let why = |seen: &Evidence| conclude(seen).unwrap_err();
        let wide = Evidence {
            beyond_computing: Some(effect(1.2, 0.2)),
            ..seen(1.0, 1.2, 1.0, 1.0)
        };
        assert!(why(&wide).contains("0 % to 40.0 %"), "{}", why(&wide));
        assert!(why(&seen(1.35, 1.0, 1.0, 1.0)).contains("no single cause"));
        let weak = Evidence {
            proof: Some(effect(1.05, 0.05)),
            ..seen(1.9, 1.0, 1.0, 1.0)
        };
        assert!(why(&weak).contains("tells nothing of memory"));
        let unproven = Evidence {
            proof: None,
            ..seen(1.9, 1.0, 1.0, 1.0)
        };
        assert!(why(&unproven).contains("no network that streams memory"));
        let alone = Evidence {
            fewer_threads: Some(effect(1.9, 0.01)),
            ..Evidence::default()
        };
        assert!(why(&alone).contains("no load"));
        let uncounted = Evidence {
            node_ns: None,
            ..seen(1.0, 1.0, 1.0, 1.0)
        };
        assert!(why(&uncounted).contains("how many nodes"));
        let one_thread = Evidence {
            fewer_threads: None,
            ..seen(1.0, 1.0, 1.0, 1.0)
        };
        assert!(why(&one_thread).contains("memory is not the limit"));
    }
}
