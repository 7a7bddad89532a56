//! Cases that another program measured: what it states of them in place of samples.

use powerband_core::base::humanize;
use powerband_core::domain::case::Case;
use powerband_core::domain::generation::{StatedGeneration, StatedTimes};
use powerband_core::domain::reported::Stated;
use powerband_core::domain::session::Session;
use powerband_core::stats::summary::{Summary, median};

/// The stated numbers of a case as one, the median of several results; nothing where none is stated.
pub fn reported_by_case(case: &Case) -> Option<Stated> {
    if case.stated.is_empty() {
        return None;
    }
    let middle = |pick: fn(&Stated) -> Option<f64>| {
        let told: Vec<f64> = case.stated.iter().filter_map(pick).collect();
        median(&told)
    };
    let objections = case.stated.iter().flat_map(|one| &one.objections);
    Some(Stated {
        typical_ns: middle(|one| one.typical_ns),
        min_ns: middle(|one| one.min_ns),
        max_ns: middle(|one| one.max_ns),
        mean_ns: middle(|one| one.mean_ns),
        p90_ns: middle(|one| one.p90_ns),
        p95_ns: middle(|one| one.p95_ns),
        p99_ns: middle(|one| one.p99_ns),
        throughput_per_s: middle(|one| one.throughput_per_s),
        objections: objections.cloned().collect(),
        generation: stated_generation(case),
    })
}

/// What is stated of requests to a language model, by the first result that states it.
pub fn stated_generation(case: &Case) -> Option<StatedGeneration> {
    let all = case.stated.iter().filter_map(|one| one.generation);
    all.reduce(|mut known, more| {
        known.fill(more);
        known
    })
}

/// The same in words, a part for each time and each rate.
pub fn generation_texts(stated: &StatedGeneration) -> Vec<String> {
    let times = stated.times().into_iter().filter_map(|(title, times)| {
        let told = times
            .named()
            .map(|(name, ns)| format!("{name} {}", humanize::duration_ns(ns)));
        let told: Vec<String> = told.collect();
        (!told.is_empty()).then(|| format!("{title}: {}", told.join(", ")))
    });
    let rates = stated.rates().map(|(name, value, unit)| {
        // The unit of a rate is in its name.
        let unit = if name.ends_with(unit) { "" } else { unit };
        let value = if value.fract() == 0.0 && (0.0..1e15).contains(&value) {
            humanize::count(value as u64)
        } else {
            humanize::significant(value, 4)
        };
        format!("{name}: {value} {unit}").trim_end().to_owned()
    });
    times.chain(rates).collect()
}

/// A summary without samples. Required numbers that are not stated stand at the typical time; the case's
/// row knows which ones were stated.
pub fn summary(stated: &Stated) -> Option<Summary> {
    let typical = stated.typical_ns?;
    Some(Summary {
        n: 0,
        min: stated.min_ns.unwrap_or(typical),
        max: stated.max_ns.unwrap_or(typical),
        median: typical,
        mean: stated.mean_ns.unwrap_or(typical),
        mean_inner_half: typical,
        std: None,
        q1: typical,
        q3: typical,
        p90: stated.p90_ns,
        p95: stated.p95_ns,
        p99: stated.p99_ns,
        p99_9: None,
    })
}

/// The same of a time of requests to a language model.
pub fn summary_of_times(times: &StatedTimes) -> Option<Summary> {
    summary(&Stated {
        typical_ns: times.typical_ns(),
        min_ns: times.min_ns,
        max_ns: times.max_ns,
        mean_ns: times.mean_ns,
        p90_ns: times.p90_ns,
        p95_ns: times.p95_ns,
        p99_ns: times.p99_ns,
        ..Stated::default()
    })
}

/// The summary of samples, with the percentiles that the program states where there are too few to count them.
pub fn with_stated_percentiles(summary: Summary, stated: Option<&Stated>) -> Summary {
    let Some(stated) = stated else {
        return summary;
    };
    Summary {
        p90: summary.p90.or(stated.p90_ns),
        p95: summary.p95.or(stated.p95_ns),
        p99: summary.p99.or(stated.p99_ns),
        ..summary
    }
}

/// The text in place of a case's samples, where another program reported figures alone.
pub fn stated_text(session: &Session, case: &Case) -> Option<String> {
    let tool = session.imported.as_ref()?;
    // Older sessions hold a single figure as a single sample.
    if case.n_samples() > 1 {
        return None;
    }
    let stated = reported_by_case(case).unwrap_or_default();
    let times = [
        ("min", stated.min_ns),
        ("mean", stated.mean_ns),
        ("p90", stated.p90_ns),
        ("p95", stated.p95_ns),
        ("p99", stated.p99_ns),
        ("max", stated.max_ns),
    ];
    let times = times
        .into_iter()
        .filter_map(|(name, ns)| Some(format!("{name} {}", humanize::duration_ns(ns?))));
    let times: Vec<String> = times.collect();
    let program: &str = if tool.name.is_empty() {
        "The program that measured this case"
    } else {
        &tool.name
    };
    let told = if times.is_empty() {
        String::new()
    } else {
        format!(" It states: {}.", times.join(", "))
    };
    let tokens = stated.generation.as_ref().map(generation_texts);
    let tokens = tokens.map_or_else(String::new, |words| format!(" {}.", words.join("; ")));
    Some(format!(
        "{program} reported figures and no series of runs, so there are no samples to draw.{told}{tokens}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::{batch_curve, case_rows, remarks, testing};
    use powerband_core::domain::profile::Tool;

    fn imported(stated: &[Stated]) -> Session {
        let mut session = testing::session(&["ort:cpu"], &[1]);
        testing::measure(&mut session, 0, 1, &[]);
        session.imported = Some(Tool {
            name: "LoadGen".to_owned(),
            ..Tool::default()
        });
        session.cases[0].stated = stated.to_vec();
        session
    }

    fn run() -> Stated {
        Stated {
            typical_ns: Some(6e6),
            min_ns: Some(3e6),
            p99_ns: Some(13e6),
            throughput_per_s: Some(900.0),
            ..Stated::default()
        }
    }

    #[test]
    fn a_row_shows_what_is_stated_and_nothing_else() {
        let session = imported(&[run()]);
        let row = &case_rows::case_rows(&session)[0];
        assert_eq!((row.rounds, row.samples), (1, 0));
        assert_eq!(row.throughput_per_s, Some(900.0));
        assert_eq!(row.throughput_by_median, None);
        let known = (row.min_ns(), row.mean_ns(), row.max_ns());
        assert_eq!(known, (Some(3e6), None, None));
        let times = row.latency_ns.as_ref().unwrap();
        assert_eq!((times.median, times.p99), (6e6, Some(13e6)));
        assert!(row.flags.is_empty(), "{:?}", row.flags);
    }

    #[test]
    fn a_rate_that_nobody_states_is_not_made_of_the_latency() {
        let session = imported(&[Stated {
            throughput_per_s: None,
            ..run()
        }]);
        let rows = case_rows::case_rows(&session);
        assert_eq!(rows[0].throughput_per_s, None);
        let curves = batch_curve::batch_curves(&rows);
        let point = &curves[0].points[0];
        assert_eq!((point.median_ns, point.mean_ns), (6e6, None));
        assert_eq!((point.throughput_per_s, point.of_best), (None, None));
    }

    #[test]
    fn several_results_of_a_case_are_its_rounds() {
        let other = Stated {
            typical_ns: Some(8e6),
            throughput_per_s: Some(700.0),
            ..Stated::default()
        };
        let row = &case_rows::case_rows(&imported(&[run(), other]))[0];
        assert_eq!(row.rounds, 2);
        assert_eq!(row.throughput_per_s, Some(800.0));
        assert_eq!(row.latency_ns.as_ref().unwrap().median, 7e6);
    }

    #[test]
    fn what_its_program_does_not_accept_is_flagged() {
        let session = imported(&[Stated {
            objections: vec!["the result is INVALID".to_owned()],
            ..run()
        }]);
        let rows = case_rows::case_rows(&session);
        let raised = remarks::flagged_cases(&rows);
        assert_eq!(raised.len(), 1);
        assert_eq!(raised[0].name, "not-accepted");
        assert!(raised[0].cases[0].1.contains("INVALID"));
    }

    #[test]
    fn figures_alone_are_told_in_place_of_samples() {
        let session = imported(&[run()]);
        let words = stated_text(&session, &session.cases[0]).unwrap();
        assert!(words.starts_with("LoadGen reported figures"), "{words}");
        assert!(
            words.ends_with("It states: min 3.00 ms, p99 13.0 ms."),
            "{words}"
        );
        let mut measured = testing::session(&["ort:cpu"], &[1]);
        testing::measure(&mut measured, 0, 1, &[&[1_000]]);
        assert_eq!(stated_text(&measured, &measured.cases[0]), None);
    }
}
