//! Requests to a language model in numbers: time to first token, time per output token, tokens per second of
//! prefill and of decode, and the cache.
//!
//! Rates are tokens over the time that they took, all requests together. What is counted are real tokens:
//! nothing is padded, and no request ends before its last token.

use super::energy::Energy;
use super::reported_stats;
use powerband_core::base::humanize;
use powerband_core::domain::case::Case;
use powerband_core::domain::generation::{Generation, StatedGeneration};
use powerband_core::domain::plan::Load;
use powerband_core::domain::session::Session;
use powerband_core::stats::percentiles::ELIGIBLE;
use powerband_core::stats::summary::Summary;

/// Figures of the requests of a case.
#[derive(Clone, Debug, PartialEq)]
pub struct RequestFigures {
    /// How many there were; 0 where another program states their statistics alone.
    pub count: u64,
    /// Sequences of each.
    pub sequences: u64,
    /// Tokens of the prompts of each, all sequences together.
    pub prompt_tokens: u64,
    /// Tokens that each made, all sequences together.
    pub new_tokens: u64,
    /// From the start of a request to its first token, in nanoseconds; nothing where it is not known.
    pub first_token_ns: Option<Summary>,
    /// From each token to the next, in nanoseconds; nothing where requests make one token.
    pub later_token_ns: Option<Summary>,
    /// Tokens of prompts over the time to the first token, of the whole batch; nothing where requests waited for
    /// each other before it.
    pub prefill_per_s: Option<f64>,
    /// Tokens after the first over the time that they took, of the whole batch.
    pub decode_per_s: Option<f64>,
    /// Keys and values that are kept when the last token was made, in bytes, where the engine knows it.
    pub cache_bytes: Option<u64>,
    /// What the program that measured them states; nothing where they were measured here.
    pub stated: Option<StatedGeneration>,
}

impl RequestFigures {
    /// Requests of which another program states statistics alone.
    fn of_stated(stated: &StatedGeneration, sequences: u64) -> Self {
        let whole = |tokens: Option<f64>| {
            (tokens.unwrap_or_default().round() as u64).saturating_mul(sequences)
        };
        let per_token = reported_stats::summary_of_times(&stated.per_token);
        Self {
            count: 0,
            sequences,
            prompt_tokens: whole(stated.prompt_tokens),
            new_tokens: whole(stated.new_tokens),
            first_token_ns: reported_stats::summary_of_times(&stated.first_token),
            later_token_ns: per_token
                .or_else(|| reported_stats::summary_of_times(&stated.between_tokens)),
            prefill_per_s: stated.prefill_tokens_per_s,
            decode_per_s: stated.decode_tokens_per_s,
            cache_bytes: None,
            stated: Some(*stated),
        }
    }

    /// Tokens that all requests together made in a second of the run, where another program states it.
    pub fn output_per_s(&self) -> Option<f64> {
        self.stated?.output_tokens_per_s
    }

    /// Tokens of prefill in a second, of one sequence.
    pub fn prefill_of_one_per_s(&self) -> Option<f64> {
        Some(self.prefill_per_s? / self.sequences as f64)
    }

    /// Tokens of decode in a second, of one sequence.
    pub fn decode_of_one_per_s(&self) -> Option<f64> {
        Some(self.decode_per_s? / self.sequences as f64)
    }

    /// Tokens that were made in all requests together.
    pub fn all_new_tokens(&self) -> u64 {
        self.count * self.new_tokens
    }

    /// Tokens of all prompts together.
    pub fn all_prompt_tokens(&self) -> u64 {
        self.count * self.prompt_tokens
    }

    /// Bytes of the cache for each token that went through one sequence.
    pub fn cache_bytes_per_token(&self) -> Option<f64> {
        let tokens = (self.prompt_tokens + self.new_tokens).checked_sub(self.sequences)?;
        Some(self.cache_bytes? as f64 / tokens.max(1) as f64)
    }

    /// Joules of a new token, with its share of the prompt's.
    pub fn joules_per_token(&self, energy: &Energy) -> Option<f64> {
        let of_one = self.new_tokens as f64 / self.sequences as f64;
        (of_one > 0.0).then(|| energy.gross_j_per_item() / of_one)
    }

    /// How many tokens were real, in a sentence.
    pub fn tokens_sentence(&self) -> String {
        format!(
            "{} of {} prompt and {} new tokens: {} and {} in all, none of them padding.",
            humanize::pluralised(self.count, "request"),
            humanize::count(self.prompt_tokens),
            humanize::count(self.new_tokens),
            humanize::count(self.all_prompt_tokens()),
            humanize::count(self.all_new_tokens())
        )
    }

    /// Rows of the card of a pinned case: names, and values as text.
    pub fn facts(&self, energy: Option<&Energy>) -> Vec<(&'static str, String)> {
        let rate = |per_s: f64| format!("{} tokens/s", humanize::significant(per_s, 3));
        let both = |whole: Option<f64>, one: Option<f64>| {
            let whole = whole.map(rate)?;
            let one = one.filter(|_| self.sequences > 1);
            let one = one.map(|one| format!(" ({} a sequence)", humanize::significant(one, 3)));
            Some(whole + &one.unwrap_or_default())
        };
        let time = |summary: &Summary| {
            let tail = [
                ("p99", summary.p99),
                ("p95", summary.p95),
                ("p90", summary.p90),
            ];
            let tail = tail.into_iter().find_map(|(name, ns)| Some((name, ns?)));
            let tail = tail.map(|(name, ns)| format!(", {name} {}", humanize::duration_ns(ns)));
            humanize::duration_ns(summary.median) + &tail.unwrap_or_default()
        };
        let measured = energy.and_then(|energy| self.joules_per_token(energy));
        let joules = measured.or_else(|| self.stated?.joules_per_token);
        let facts = [
            (
                "Time to first token",
                self.first_token_ns.as_ref().map(time),
            ),
            (
                "Time per output token",
                self.later_token_ns.as_ref().map(time),
            ),
            (
                "Prefill",
                both(self.prefill_per_s, self.prefill_of_one_per_s()),
            ),
            (
                "Decode",
                both(self.decode_per_s, self.decode_of_one_per_s()),
            ),
            ("All requests", self.output_per_s().map(rate)),
            (
                "Cache",
                self.cache_bytes.map(|bytes| self.cache_text(bytes)),
            ),
            (
                "Energy per token",
                joules.map(|joules| format!("{} J", humanize::significant(joules, 3))),
            ),
        ];
        let known = facts
            .into_iter()
            .filter_map(|(name, text)| Some((name, text?)));
        known.collect()
    }

    fn cache_text(&self, bytes: u64) -> String {
        let each = self.cache_bytes_per_token().unwrap_or_default();
        format!(
            "{}, {} a token",
            humanize::bytes(bytes),
            humanize::bytes(each as u64)
        )
    }
}

/// The requests of a case; nothing where its runs are none.
pub fn case_requests(session: &Session, case: &Case) -> Option<RequestFigures> {
    let rounds = || {
        case.rounds
            .iter()
            .filter_map(|round| round.generation.as_ref())
    };
    let stated = reported_stats::stated_generation(case);
    let Some(first): Option<&Generation> = rounds().next() else {
        let sequences = case.point.batch().max(1) as u64;
        return stated.map(|stated| RequestFigures::of_stated(&stated, sequences));
    };
    let all = |pick: fn(&Generation) -> &Vec<u64>| {
        rounds()
            .flat_map(pick)
            .map(|&ns| ns as f64)
            .collect::<Vec<f64>>()
    };
    let first_ns = all(|tokens| &tokens.first_token_ns);
    let later_ns = all(|tokens| &tokens.later_token_ns);
    let per_s = |tokens: f64, times: &[f64]| {
        let spent_ns: f64 = times.iter().sum();
        (spent_ns > 0.0).then(|| tokens * 1e9 / spent_ns)
    };
    // Another program's requests may wait for each other as well.
    let waits = session.plan.load != Load::Closed || session.imported.is_some();
    Some(RequestFigures {
        count: first_ns.len() as u64,
        sequences: first.sequences,
        prompt_tokens: first.prompt_tokens,
        new_tokens: first.new_tokens,
        prefill_per_s: per_s(
            (first.prompt_tokens * first_ns.len() as u64) as f64,
            &first_ns,
        )
        .filter(|_| !waits)
        .or_else(|| stated?.prefill_tokens_per_s),
        decode_per_s: per_s((first.sequences * later_ns.len() as u64) as f64, &later_ns),
        cache_bytes: rounds().filter_map(|tokens| tokens.cache_bytes).max(),
        first_token_ns: Some(Summary::from_values(first_ns)?),
        later_token_ns: Summary::from_values(later_ns),
        stated,
    })
}

/// Why a percentile over so many values is not shown.
pub fn why_no_percentile(percent: f64, values: u64, what: &str) -> String {
    let needed = ELIGIBLE.iter().find(|(known, _)| *known == percent);
    needed.map_or_else(String::new, |(_, needed)| {
        format!(
            "{}; p{percent} needs {}",
            humanize::pluralised(values, what),
            humanize::count(*needed)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testing::{add_round, session};
    use powerband_core::domain::reported::Stated;

    fn generated(first_ns: &[u64], later_ns: &[u64], sequences: u64) -> Session {
        let mut session = session(&["ort:cpu,task=generate"], &[sequences as usize]);
        let later = later_ns.len() / first_ns.len();
        for round in 0..2 {
            let samples: Vec<u64> = (0..first_ns.len())
                .map(|at| first_ns[at] + later_ns[at * later..(at + 1) * later].iter().sum::<u64>())
                .collect();
            add_round(&mut session, 0, sequences as usize, round, &samples);
            let case = session.cases.first_mut().unwrap();
            case.rounds.last_mut().unwrap().generation = Some(Generation {
                prompt_tokens: 100 * sequences,
                new_tokens: (later as u64 + 1) * sequences,
                sequences,
                first_token_ns: first_ns.to_vec(),
                later_token_ns: later_ns.to_vec(),
                cache_bytes: Some(101 * sequences * 64),
            });
        }
        session
    }

    fn requests(session: &Session) -> RequestFigures {
        case_requests(session, &session.cases[0]).unwrap()
    }

    #[test]
    fn prefill_and_decode_are_told_apart() {
        let ms = 1_000_000;
        // Two requests a round: prompts in 100 and 300 ms, then two tokens in 20 ms each.
        let of = generated(&[100 * ms, 300 * ms], &[20 * ms; 4], 4);
        let found = requests(&of);
        assert_eq!((found.count, found.sequences), (4, 4));
        assert_eq!((found.prompt_tokens, found.new_tokens), (400, 12));
        assert_eq!(found.first_token_ns.as_ref().unwrap().median, 200e6);
        assert_eq!(found.later_token_ns.as_ref().unwrap().median, 20e6);
        // 1,600 tokens in 0.8 s; 4 sequences make one each 20 ms.
        assert_eq!(found.prefill_per_s, Some(2_000.0));
        assert_eq!(found.decode_per_s, Some(200.0));
        assert_eq!(found.decode_of_one_per_s(), Some(50.0));
        // Of the three new tokens the last one has not been through the network.
        assert_eq!(
            found.cache_bytes_per_token(),
            Some(101.0 * 4.0 * 64.0 / 408.0)
        );
        assert_eq!(
            found.tokens_sentence(),
            "4 requests of 400 prompt and 12 new tokens: 1,600 and 48 in all, none of them padding."
        );
        let facts = found.facts(None);
        let decode = facts.iter().find(|(name, _)| *name == "Decode").unwrap();
        assert_eq!(decode.1, "200 tokens/s (50.0 a sequence)");
    }

    #[test]
    fn one_new_token_has_no_decode() {
        let found = requests(&generated(&[5_000], &[], 1));
        assert_eq!(
            (found.later_token_ns.as_ref(), found.decode_per_s),
            (None, None)
        );
        assert!(found.facts(None).iter().all(|(name, _)| *name != "Decode"));
    }

    #[test]
    fn waiting_is_no_work() {
        let mut open = generated(&[5_000], &[1_000], 1);
        open.plan.load = Load::Constant { per_s: 2.0 };
        let found = requests(&open);
        assert_eq!(found.prefill_per_s, None);
        assert!(found.decode_per_s.is_some());
    }

    #[test]
    fn percentiles_are_those_of_tokens() {
        let found = requests(&generated(&[9_000], &[1_000; 70], 1));
        let later = found.later_token_ns.unwrap();
        // 140 tokens over both rounds: enough for p90 and p95, not for p99.
        assert_eq!(
            (later.p90, later.p95, later.p99),
            (Some(1_000.0), Some(1_000.0), None)
        );
        assert_eq!(
            found.first_token_ns.unwrap().p90,
            None,
            "two requests are few"
        );
        assert_eq!(
            why_no_percentile(99.0, later.n, "token"),
            "140 tokens; p99 needs 662"
        );
    }

    #[test]
    fn what_another_program_states_stands_in_the_same_places() {
        let mut stated = StatedGeneration {
            prompt_tokens: Some(511.6),
            decode_tokens_per_s: Some(120.0),
            output_tokens_per_s: Some(900.0),
            joules_per_token: Some(0.5),
            ..StatedGeneration::default()
        };
        stated.per_token.mean_ns = Some(8e6);
        let mut of = session(&["ort:cpu"], &[1]);
        of.cases[0].stated.push(Stated {
            generation: Some(stated),
            ..Stated::default()
        });
        let found = requests(&of);
        assert_eq!((found.count, found.prompt_tokens), (0, 512));
        assert!(found.first_token_ns.is_none());
        assert_eq!(found.later_token_ns.as_ref().unwrap().median, 8e6);
        let facts = found.facts(None);
        assert!(
            facts.contains(&("All requests", "900 tokens/s".to_owned())),
            "{facts:?}"
        );
        assert!(facts.contains(&("Energy per token", "0.500 J".to_owned())));
    }

    #[test]
    fn waiting_in_the_requests_of_another_program_is_no_prefill() {
        let mut of = generated(&[5_000], &[1_000], 1);
        of.imported = Some(powerband_core::domain::profile::Tool::default());
        assert_eq!(requests(&of).prefill_per_s, None);
    }

    #[test]
    fn a_run_that_is_no_request_has_no_tokens() {
        let mut plain = session(&["ort:cpu"], &[1]);
        add_round(&mut plain, 0, 1, 0, &[1_000]);
        assert_eq!(case_requests(&plain, &plain.cases[0]), None);
    }
}
