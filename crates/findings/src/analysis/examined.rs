//! What an engine made of a network, in words: nodes before and after, who ran them, and what fell back
//! to the processor.

use super::flag::{Flag, Weight};
use powerband_core::base::humanize;
use powerband_core::domain::case::Case;
use powerband_core::domain::examination::{Examination, Fallback};
use powerband_core::domain::session::Session;

/// Operators that are named; the others are counted.
const NAMED: usize = 4;

/// How many nodes there were and are, and who ran them: `175 nodes became 58, all on CPU`.
pub fn in_short(examination: &Examination) -> String {
    let before: u64 = examination.before.values().sum();
    let ran = examination.nodes.len() as u64;
    let nodes = if before == ran {
        format!("{}, none of them fused", humanize::of_many(ran, "node"))
    } else {
        format!(
            "{} became {}",
            humanize::of_many(before, "node"),
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
pub fn patterns(examination: &Examination, most: usize) -> Vec<String> {
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
pub fn fallback(session: &Session, case: &Case) -> Option<Flag> {
    let examination = session.examinations.get(&case.setup)?;
    let (fallback, is_all) = worth_telling(examination)?;
    Some(Flag {
        name: "fallback",
        weight: if is_all { Weight::Red } else { Weight::Amber },
        evidence: evidence(examination, &fallback, is_all),
        advice: "strict=true refuses this; another version of the provider or of the model may have these operators on the device".to_owned(),
        extent: None,
    })
}

/// The evidence of that flag, where it is raised.
pub(crate) fn fallback_sentence(examination: &Examination) -> Option<String> {
    let (fallback, is_all) = worth_telling(examination)?;
    Some(evidence(examination, &fallback, is_all))
}

/// What fell back, and whether that is everything.
fn worth_telling(examination: &Examination) -> Option<(Fallback, bool)> {
    let fallback = examination.fallback().filter(Fallback::is_worth_telling)?;
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
        humanize::of_many(examination.nodes.len() as u64, "node"),
        humanize::percent(fallback.share_of_time),
        named.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testing::session;
    use powerband_core::domain::examination::NodeRun;

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
            in_short(&mixed),
            "4 nodes became 2: 1 on CPU (10.0 % of the time), 1 on CUDA (90.0 % of the time)"
        );
        assert_eq!(
            in_short(&ran(&[("Conv", "CUDA", 1)])),
            "4 nodes became 1, all on CUDA"
        );
        let copying = ran(&[
            ("MemcpyFromHost", "CUDA", 1),
            ("Conv", "CUDA", 1),
            ("MemcpyToHost", "CUDA", 1),
        ]);
        assert_eq!(
            in_short(&copying),
            "4 nodes became 3, all on CUDA; 2 copies between devices"
        );
    }

    #[test]
    fn nodes_on_the_processor_are_a_flag_with_its_share() {
        let mut session = session(&["ort:cuda:0"], &[1]);
        let case = session.cases[0].clone();
        assert_eq!(fallback(&session, &case), None, "nothing was looked at");
        let mixed = ran(&[("Conv", "CUDA", 900), ("NonZero", "CPU", 100)]);
        session.examinations.insert(0, mixed);
        let flag = fallback(&session, &case).unwrap();
        assert_eq!(flag.weight, Weight::Amber);
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
        let flag = fallback(&session, &case).unwrap();
        assert_eq!(flag.weight, Weight::Red);
        assert!(flag.evidence.contains("CUDA ran nothing"));
    }
}
