//! What an engine made of a network, in words: nodes before and after, who ran them, and what fell back
//! to the processor.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::flag::{Flag, FlagSeverity};
use powerband_core::base::humanize;
use powerband_core::domain::case::Case;
use powerband_core::domain::examination::{Examination, Fallback};
use powerband_core::domain::profile::Profile;
use powerband_core::domain::session::Session;
use powerband_core::domain::trace::SliceKind;

/// Operators that are named; the others are counted.
const NAMED: usize = 4;

/// The optimised graph of a setup's network, with the times of its nodes.
#[derive(Clone, Debug)]
pub struct TimedExamination<'a> {
    /// The examination, with the times of the profile where there is one.
    pub examination: Cow<'a, Examination>,
    /// The profile that the times are from; nothing where they are those of the examination's own runs.
    pub profile: Option<&'a Profile>,
}

/// The examination of a setup. The setup's profile times the same nodes over more runs: where there is one, its times
/// stand here too, so that a node has one time on every screen.
pub fn timed_examination(session: &Session, setup: usize) -> Option<TimedExamination<'_>> {
    let examination = session.examinations.get(&setup)?;
    let mut profiles = session.profiles.iter();
    let profile = profiles.find(|profile| profile.case.is_some_and(|case| case.setup == setup));
    let timed = profile.and_then(|profile| Some((profile, with_times_of(examination, profile)?)));
    Some(match timed {
        Some((profile, examination)) => TimedExamination {
            examination: Cow::Owned(examination),
            profile: Some(profile),
        },
        None => TimedExamination {
            examination: Cow::Borrowed(examination),
            profile: None,
        },
    })
}

/// An examination with the times of a profile; nothing where the profile has other nodes, or its runs are not known.
fn with_times_of(examination: &Examination, profile: &Profile) -> Option<Examination> {
    let runs = profile.runs.filter(|runs| *runs > 0)?;
    let mut times: BTreeMap<&str, u64> = BTreeMap::new();
    for total in profile.of_kind(SliceKind::Kernel) {
        *times.entry(&total.name).or_default() += total.total_ns;
    }
    let mut timed = examination.clone();
    timed.runs = u32::try_from(runs).ok()?;
    for node in &mut timed.nodes {
        node.time_ns = times.remove(node.name.as_str())? / runs;
    }
    times.is_empty().then_some(timed)
}

/// How many nodes there were and are, and who ran them: `175 nodes became 58, all on CPU`.
pub fn examination_text(examination: &Examination) -> String {
    let before: u64 = examination.before.values().sum();
    let ran = examination.nodes.len() as u64;
    let nodes = if before == ran {
        format!("{}, none of them fused", humanize::pluralised(ran, "node"))
    } else {
        format!(
            "{} became {}",
            humanize::pluralised(before, "node"),
            humanize::count(ran)
        )
    };
    let shares = examination.providers();
    let who = match &shares[..] {
        [] => String::new(),
        [only] => format!(", all on {}", only.provider),
        several => {
            let told = several.iter().map(|share| {
                format!(
                    "{} on {} ({} of the time)",
                    humanize::count(share.nodes),
                    share.provider,
                    humanize::percent(share.share_of_time)
                )
            });
            format!(": {}", told.collect::<Vec<_>>().join(", "))
        }
    };
    let copies = examination.copies().len() as u64;
    let copies = match copies {
        0 => String::new(),
        1 => "; 1 copy between devices".to_owned(),
        several => format!("; {} copies between devices", humanize::count(several)),
    };
    format!("{nodes}{who}{copies}")
}

/// The most frequent rewrites of nodes: `53 × Conv + BatchNormalization → Conv`.
pub fn frequent_rewrites(examination: &Examination, most: usize) -> Vec<String> {
    let mut told: Vec<String> = examination
        .fusions
        .patterns()
        .iter()
        .map(ToString::to_string)
        .collect();
    let added = examination.fusions.added_by_op();
    told.extend(
        added
            .iter()
            .map(|(op, count)| format!("{count} × {op} added")),
    );
    let left = told.len().saturating_sub(most);
    told.truncate(most);
    if left > 0 {
        told.push(format!("{left} more"));
    }
    told
}

/// The flag of a case whose setup ran nodes on the fallback processor.
pub fn fallback_flag(session: &Session, case: &Case) -> Option<Flag> {
    let timed = timed_examination(session, case.setup)?;
    let examination = &*timed.examination;
    let (fallback, is_all) = relevant_fallback(examination)?;
    Some(Flag {
        name: "fallback",
        weight: if is_all { FlagSeverity::Red } else { FlagSeverity::Amber },
        evidence: evidence(examination, &fallback, is_all),
        advice: "strict=true refuses this; another version of the provider or of the model may have these operators on the device".to_owned(),
        excess: None,
    })
}

/// The evidence of that flag, where it is raised.
pub(crate) fn fallback_sentence(examination: &Examination) -> Option<String> {
    let (fallback, is_all) = relevant_fallback(examination)?;
    Some(evidence(examination, &fallback, is_all))
}

/// The nodes on the fallback provider, and whether those are all nodes; `None` where too few to mention.
fn relevant_fallback(examination: &Examination) -> Option<(Fallback, bool)> {
    let fallback = examination.fallback().filter(Fallback::is_worth_showing)?;
    let is_all = fallback.nodes == examination.nodes.len() as u64;
    Some((fallback, is_all))
}

fn evidence(examination: &Examination, fallback: &Fallback, is_all: bool) -> String {
    let asked = &examination.asked;
    if is_all {
        return format!("{asked} ran nothing: every node ran on the CPU");
    }
    let mut ops: Vec<(&String, &u64)> = fallback.ops.iter().collect();
    ops.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    let mut named: Vec<String> = ops
        .iter()
        .take(NAMED)
        .map(|(op, count)| format!("{count} × {op}"))
        .collect();
    let left = ops.len().saturating_sub(NAMED);
    if left > 0 {
        named.push(format!("{left} other operators"));
    }
    format!(
        "{} of {} ran on the CPU and not on {asked}, {} of the time of all nodes: {}",
        humanize::count(fallback.nodes),
        humanize::pluralised(examination.nodes.len() as u64, "node"),
        humanize::percent(fallback.share_of_time),
        named.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testing::session;
    use powerband_core::domain::examination::NodeRun;
    use powerband_core::domain::profile::Total;

    fn ran(ops: &[(&str, &str, u64)]) -> Examination {
        let nodes = ops.iter().map(|(op, provider, time_ns)| NodeRun {
            name: (*op).to_owned(),
            op: (*op).to_owned(),
            provider: (*provider).to_owned(),
            time_ns: *time_ns,
        });
        Examination {
            asked: "CUDA".to_owned(),
            runs: 3,
            before: [("Conv".to_owned(), 4)].into(),
            nodes: nodes.collect(),
            ..Examination::default()
        }
    }

    #[test]
    fn nodes_and_who_ran_them_are_told_in_a_line() {
        let mixed = ran(&[("Conv", "CUDA", 900), ("NonZero", "CPU", 100)]);
        assert_eq!(
            examination_text(&mixed),
            "4 nodes became 2: 1 on CPU (10.0 % of the time), 1 on CUDA (90.0 % of the time)"
        );
        assert_eq!(
            examination_text(&ran(&[("Conv", "CUDA", 1)])),
            "4 nodes became 1, all on CUDA"
        );
        let copying = ran(&[
            ("MemcpyFromHost", "CUDA", 1),
            ("Conv", "CUDA", 1),
            ("MemcpyToHost", "CUDA", 1),
        ]);
        assert_eq!(
            examination_text(&copying),
            "4 nodes became 3, all on CUDA; 2 copies between devices"
        );
    }

    #[test]
    fn nodes_on_the_processor_are_a_flag_with_its_share() {
        let mut session = session(&["ort:cuda:0"], &[1]);
        let case = session.cases[0].clone();
        assert_eq!(
            fallback_flag(&session, &case),
            None,
            "nothing was looked at"
        );
        let mixed = ran(&[("Conv", "CUDA", 900), ("NonZero", "CPU", 100)]);
        session.examinations.insert(0, mixed);
        let flag = fallback_flag(&session, &case).unwrap();
        assert_eq!(flag.weight, FlagSeverity::Amber);
        assert!(
            flag.evidence.contains("1 of 2 nodes ran on the CPU"),
            "{}",
            flag.evidence
        );
        assert!(
            flag.evidence
                .contains("10.0 % of the time of all nodes: 1 × NonZero")
        );
        session.examinations.insert(0, ran(&[("Conv", "CPU", 900)]));
        let flag = fallback_flag(&session, &case).unwrap();
        assert_eq!(flag.weight, FlagSeverity::Red);
        assert!(flag.evidence.contains("CUDA ran nothing"));
    }

    #[test]
    fn a_node_has_the_time_of_the_profile_where_there_is_one() {
        let mut session = session(&["ort:cpu"], &[1]);
        assert!(timed_examination(&session, 0).is_none());
        session
            .examinations
            .insert(0, ran(&[("a", "CPU", 20), ("b", "CPU", 10)]));
        let slowest = |session: &Session| {
            let timed = timed_examination(session, 0).unwrap();
            let nodes = timed.examination.nodes.iter();
            nodes
                .max_by_key(|node| node.time_ns)
                .map(|node| (node.name.clone(), node.time_ns))
        };
        assert_eq!(slowest(&session), Some(("a".to_owned(), 20)));
        let total = |name: &str, total_ns| Total {
            kind: SliceKind::Kernel,
            name: name.to_owned(),
            op: String::new(),
            place: "CPUExecutionProvider".to_owned(),
            calls: 10,
            total_ns,
            min_ns: None,
            max_ns: None,
            work: None,
        };
        session.profiles.push(Profile {
            case: Some(session.cases[0].key()),
            runs: Some(10),
            totals: vec![total("a", 110), total("b", 190)],
            ..Profile::default()
        });
        assert_eq!(slowest(&session), Some(("b".to_owned(), 19)));
        // A profile of other nodes says nothing of these.
        session.profiles[0].totals.push(total("c", 1));
        assert_eq!(slowest(&session), Some(("a".to_owned(), 20)));
    }
}
