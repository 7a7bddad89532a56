//! Setups in 16 bits on a processor that multiplies in 32 only, and so gain nothing or lose.

use super::flag::{Flag, FlagSeverity, RuleExcess};
use powerband_core::base::humanize;
use powerband_core::domain::case::Case;
use powerband_core::domain::roofs::numbers_of;
use powerband_core::domain::session::Session;
use powerband_core::domain::work::NumberFormat;
use powerband_core::stats::summary::{Summary, median};

/// A case that is faster than this share of its counterpart's time needs no explanation.
const SLOWER: f64 = 1.1;

/// The flag of a case whose products are computed in 32 bits for want of instructions, unless it is faster in spite
/// of that.
pub(super) fn conversion_flag(session: &Session, case: &Case, summary: &Summary) -> Option<Flag> {
    let setup = session.plan.setups.get(case.setup)?;
    let environment = session.environment_of(case.setup);
    let (name, what, instructions) = match numbers_of(setup) {
        NumberFormat::Bf16 => ("no-bf16", "bfloat16", ["avx512_bf16", "amx_bf16"]),
        NumberFormat::F16 => ("no-fp16", "16-bit float", ["avx512_fp16", "amx_fp16"]),
        _ => return None,
    };
    let features = &environment.cpu.features;
    let has = |wanted: &str| features.iter().any(|feature| feature == wanted);
    let is_known = setup.device == "cpu" && environment.arch == "x86_64" && !features.is_empty();
    // Sessions of earlier builds name AMX by its integers alone, and processors with it have instructions for both.
    if !is_known || has("amx_int8") || instructions.into_iter().any(has) {
        return None;
    }
    let times = fp32_counterpart(session, case).map(|(label, time)| (label, summary.median / time));
    if times.as_ref().is_some_and(|(_, times)| *times < SLOWER) {
        return None;
    }
    let extent = times.map(|(label, times)| RuleExcess {
        size: times,
        text: format!("{} the time of {label}", humanize::ratio(times)),
    });
    let evidence = extent.as_ref().map_or_else(
        || format!("it computes in {what} numbers on {}", environment.cpu.model),
        |extent| format!("it takes {}", extent.text),
    );
    Some(Flag {
        name,
        weight: FlagSeverity::Amber,
        evidence,
        advice: format!(
            "take 32 bits here: this processor has no {what} instructions ({}), so each product is computed in 32 bits after converting",
            instructions.join(", ")
        ),
        excess: extent,
    })
}

/// The first setup in 32 bits on the processor, of the same engine where there is one, with its median at this point.
fn fp32_counterpart(session: &Session, case: &Case) -> Option<(String, f64)> {
    let setups = &session.plan.setups;
    let own = setups.get(case.setup)?;
    let mut found: Vec<usize> = (0..setups.len())
        .filter(|&other| {
            setups[other].device == "cpu" && numbers_of(&setups[other]) == NumberFormat::F32
        })
        .collect();
    found.sort_by_key(|&other| setups[other].engine != own.engine);
    found.into_iter().find_map(|other| {
        let is_it = |one: &&Case| one.setup == other && one.point == case.point;
        let samples = session.cases.iter().find(is_it)?.samples_ns();
        let samples: Vec<f64> = samples.map(|ns| ns as f64).collect();
        Some((session.setup_label(other), median(&samples)?))
    })
}

#[cfg(test)]
mod tests {
    use crate::analysis::case_rows::case_rows;
    use crate::analysis::testing::{measure_near, session};

    /// What is said of the last setup, with the medians of all in microseconds.
    fn flag_text(setups: &[&str], micros: &[u64], arch: &str, features: &[&str]) -> Option<String> {
        let mut session = session(setups, &[1]);
        session.environment.arch = arch.to_owned();
        session.environment.cpu.features = features.iter().map(ToString::to_string).collect();
        for (setup, micros) in micros.iter().enumerate() {
            measure_near(&mut session, setup, 1, *micros);
        }
        let flags = case_rows(&session).pop()?.flags;
        let flag = flags.iter().find(|flag| flag.name.starts_with("no-"))?;
        Some(flag.full_text())
    }

    #[test]
    fn a_setup_in_sixteen_bits_says_why_it_is_slow() {
        let avx2 = ["avx2", "fma"];
        let pair = ["torch:cpu", "torch:cpu,mode=bf16"];
        let said = flag_text(&pair, &[1_000, 3_000], "x86_64", &avx2).unwrap();
        assert_eq!(
            said,
            "no-bf16: it takes 3.00 × the time of torch:cpu. What to do: take 32 bits here: this processor has no bfloat16 instructions (avx512_bf16, amx_bf16), so each product is computed in 32 bits after converting."
        );
        let half = ["ort:cpu", "rten:cpu", "ort:cpu,precision=fp16"];
        let said = flag_text(&half, &[1_000, 500, 1_500], "x86_64", &avx2).unwrap();
        assert!(said.contains("1.50 × the time of ort:cpu"), "{said}");
        assert!(said.contains("avx512_fp16"), "{said}");
        // A session of that setup alone, to be compared with another one.
        assert!(flag_text(&pair[1..], &[3_000], "x86_64", &avx2).is_some());
    }

    #[test]
    fn nothing_is_said_where_it_is_not_known_or_not_slow() {
        let pair = ["torch:cpu", "torch:cpu,mode=bf16"];
        let slow = [1_000, 3_000];
        assert_eq!(flag_text(&pair, &[1_000, 900], "x86_64", &["avx2"]), None);
        for features in [&["avx2", "avx512_bf16"][..], &["amx_int8"], &[]] {
            assert_eq!(flag_text(&pair, &slow, "x86_64", features), None);
        }
        assert_eq!(flag_text(&pair, &slow, "aarch64", &["asimd"]), None);
        let card = ["torch:cpu", "torch:cuda:0,mode=bf16"];
        assert_eq!(flag_text(&card, &slow, "x86_64", &["avx2"]), None);
        assert_eq!(flag_text(&pair[..1], &[3_000], "x86_64", &["avx2"]), None);
    }
}
