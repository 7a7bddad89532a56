//! Shared code of formats that measure language models: lengths of prompts and answers, statistics of times, and
//! requests with the time of each token.

use crate::reading::lines;
use powerband_core::domain::generation::{Generation, StatedGeneration, StatedTimes};
use powerband_core::domain::point::Point;
use powerband_core::domain::reported::Reported;

/// The dimension of a prompt's length.
pub(crate) const PROMPT: &str = "prompt";
/// The dimension of the tokens that a request makes.
pub(crate) const NEW: &str = "new";
/// The dimension of the tokens that are in the cache before a test begins.
pub(crate) const PAST: &str = "past";
/// The dimension of the requests that are under way at once.
pub(crate) const CONCURRENCY: &str = "concurrency";
/// No length or number of requests is larger than this.
const MOST: f64 = 1e9;

/// A number that a measurement can have: finite, and not below zero.
pub(crate) fn plausible(value: f64) -> Option<f64> {
    (value.is_finite() && value >= 0.0).then_some(value)
}

/// A size of a dimension: a whole number from 0 on, to which means are rounded.
pub(crate) fn size(value: f64) -> Option<usize> {
    (0.0..=MOST)
        .contains(&value)
        .then(|| value.round() as usize)
}

/// Adds sizes to a result's point, as far as they are known. A request is one sequence where nothing else was said.
pub(crate) fn set_sizes(reported: &mut Reported, sizes: &[(&str, Option<f64>)]) {
    let mut point = reported.point.unwrap_or(Point::of_batch(1));
    for (name, value) in sizes {
        if let Some(size) = value.and_then(size) {
            point = point.with(name, size);
        }
    }
    reported.point = Some(point);
}

/// Statistics of a time, each looked up by any of its usual names, in a unit of so many nanoseconds.
pub(crate) fn times(unit_ns: f64, get: impl Fn(&str) -> Option<f64>) -> StatedTimes {
    let any = |names: &[&str]| {
        let value = names.iter().find_map(|name| get(name))?;
        plausible(value * unit_ns)
    };
    StatedTimes {
        mean_ns: any(&["mean", "avg"]),
        median_ns: any(&["median", "p50"]),
        min_ns: any(&["min"]),
        max_ns: any(&["max"]),
        p90_ns: any(&["p90"]),
        p95_ns: any(&["p95"]),
        p99_ns: any(&["p99"]),
    }
}

/// Makes statistics of requests' times those of the result itself.
pub(crate) fn set_latency(reported: &mut Reported, latency: StatedTimes) {
    for (name, ns) in latency.named() {
        let name = if name == "median" { "p50" } else { name };
        reported.figure(format!("latency {name}"), ns / 1e6, "ms");
    }
    if reported.samples_ns.is_empty() {
        reported.typical_ns = latency.typical_ns().map(|ns| lines::ns(ns, 1.0));
    }
}

/// Keeps what is stated, where that is anything.
pub(crate) fn set_stated(reported: &mut Reported, stated: &StatedGeneration) {
    if let Some(rate) = stated.requests_per_s {
        reported.figure("request throughput", rate, "requests/s");
    }
    if !stated.is_empty() {
        reported.generation = Some(*stated);
    }
}

/// A request that ended as it should.
#[derive(Clone, Debug, Default)]
pub(crate) struct Request {
    /// From its start to its end, in nanoseconds.
    pub(crate) latency_ns: u64,
    /// From its start to its first token, where that is known.
    pub(crate) first_ns: Option<u64>,
    /// From each token to the next.
    pub(crate) later_ns: Vec<u64>,
    /// Tokens of its prompt.
    pub(crate) prompt: Option<f64>,
    /// Tokens that it made.
    pub(crate) new: Option<f64>,
}

/// Makes requests samples of a result, and their tokens its tokens. Gives their mean lengths: of prompts, and of what
/// they made.
pub(crate) fn set_requests(
    reported: &mut Reported,
    requests: &[Request],
) -> (Option<f64>, Option<f64>) {
    reported.samples_ns = requests.iter().map(|one| one.latency_ns).collect();
    let mean = |pick: fn(&Request) -> Option<f64>| {
        let known: Vec<f64> = requests.iter().filter_map(pick).collect();
        super::common::mean(&known).filter(|_| known.len() == requests.len())
    };
    let (prompt, new) = (mean(|one| one.prompt), mean(|one| one.new));
    let first: Vec<u64> = requests.iter().filter_map(|one| one.first_ns).collect();
    let later: Vec<u64> = requests
        .iter()
        .flat_map(|one| one.later_ns.iter().copied())
        .collect();
    let tokens = |length: Option<f64>| length.and_then(size).unwrap_or(0) as u64;
    // One that ends with its first token has no later ones.
    if first.len() == requests.len() && !first.is_empty() {
        let counted = later.len() as f64 / first.len() as f64 + 1.0;
        reported.tokens = Some(Generation {
            prompt_tokens: tokens(prompt),
            new_tokens: tokens(new.or(Some(counted))),
            sequences: 1,
            first_token_ns: first,
            later_token_ns: later,
            cache_bytes: None,
        });
    }
    (prompt, new)
}

/// What is said where lengths differ, so that a result stands at their means.
pub(crate) fn note_of_lengths(requests: &[Request]) -> Option<&'static str> {
    let differs = |pick: fn(&Request) -> Option<f64>| {
        let mut known = requests.iter().filter_map(pick);
        let first = known.next();
        known.any(|one| Some(one) != first)
    };
    (differs(|one| one.prompt) || differs(|one| one.new)).then_some(
        "Prompts and answers differ in length; the dimensions prompt and new have their means",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(latency_ns: u64, first_ns: Option<u64>, later_ns: &[u64]) -> Request {
        Request {
            latency_ns,
            first_ns,
            later_ns: later_ns.to_vec(),
            prompt: Some(10.0),
            new: Some(later_ns.len() as f64 + 1.0),
        }
    }

    #[test]
    fn impossible_sizes_are_none() {
        for value in [f64::NAN, f64::INFINITY, -1.0, 1e300] {
            assert_eq!(size(value), None);
        }
        assert_eq!((size(269.6), size(0.0)), (Some(270), Some(0)));
        let mut result = Reported::named("a");
        set_sizes(
            &mut result,
            &[(PROMPT, Some(512.0)), (NEW, Some(f64::NAN)), (PAST, None)],
        );
        assert_eq!(result.point.unwrap().to_string(), "batch 1, prompt 512");
    }

    #[test]
    fn requests_are_samples_with_their_tokens() {
        let mut result = Reported::named("a");
        let requests = [request(30, Some(10), &[9, 11]), request(25, Some(25), &[])];
        assert_eq!(
            set_requests(&mut result, &requests),
            (Some(10.0), Some(2.0))
        );
        assert_eq!(result.samples_ns, [30, 25]);
        let tokens = result.tokens.unwrap();
        assert_eq!(
            (tokens.first_token_ns, tokens.later_token_ns),
            (vec![10, 25], vec![9, 11])
        );
        assert!(note_of_lengths(&requests).is_some());
    }

    #[test]
    fn tokens_of_some_requests_alone_are_left_out() {
        let mut result = Reported::named("a");
        set_requests(
            &mut result,
            &[request(30, Some(10), &[20]), request(25, None, &[])],
        );
        assert_eq!((result.samples_ns.len(), &result.tokens), (2, &None));
        set_requests(&mut result, &[]);
        assert_eq!((result.samples_ns.len(), &result.tokens), (0, &None));
    }

    #[test]
    fn statistics_are_found_by_their_usual_names() {
        let found = times(1e6, |name| match name {
            "avg" => Some(2.0),
            "p50" => Some(1.5),
            "max" => Some(f64::NAN),
            "p99" => Some(-1.0),
            _ => None,
        });
        assert_eq!((found.mean_ns, found.median_ns), (Some(2e6), Some(1.5e6)));
        assert_eq!(
            (found.max_ns, found.p99_ns, found.min_ns),
            (None, None, None)
        );
        let mut result = Reported::named("a");
        set_latency(&mut result, found);
        assert_eq!(result.typical_ns, Some(1_500_000));
    }
}
