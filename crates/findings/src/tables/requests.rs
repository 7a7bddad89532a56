//! Requests to a language model: times to tokens, tokens per second and the cache of each case.

use super::cell::Cell;
use super::{Column, Table};
use crate::analysis::case_rows::CaseRow;
use crate::analysis::generation::{RequestFigures, why_no_percentile};
use powerband_core::stats::summary::Summary;

type RequestColumn = Column<RequestLine>;

/// The columns that cases have too, where one of them has requests.
pub(crate) const OF_CASES: [&str; 8] = [
    "first_token_ms",
    "token_ms",
    "token_p99_ms",
    "prefill_tokens_per_s",
    "decode_tokens_per_s",
    "decode_of_one_tokens_per_s",
    "cache_bytes",
    "j_per_token",
];

/// A row: a case whose runs are requests.
#[derive(Clone, Debug)]
pub struct RequestLine {
    row: CaseRow,
    requests: RequestFigures,
}

/// The cases of a session whose runs are requests.
pub fn of_session(rows: &[CaseRow]) -> Table {
    let lines = rows.iter().filter_map(|row| {
        Some(RequestLine {
            requests: row.requests.clone()?,
            row: row.clone(),
        })
    });
    let lines: Vec<RequestLine> = lines.collect();
    let states = |line: &RequestLine| line.requests.output_per_s().is_some();
    let is_stated = lines.iter().any(states);
    let table = Table::new(COLUMNS, lines);
    if is_stated {
        table
    } else {
        table.hiding(&["output_tokens_per_s"])
    }
}

/// The columns of requests.
pub const COLUMNS: &[RequestColumn] = &[
    RequestColumn::text("label", "Setup", |line| Some(Cell::text(&line.row.setup_label))),
    RequestColumn::number("batch", "Batch", "", |line| Some(Cell::count(line.requests.sequences)))
        .help("Sequences of a request"),
    RequestColumn::number("prompt", "Prompt", "tokens", |line| {
        Some(Cell::count(line.requests.prompt_tokens / line.requests.sequences.max(1)))
    })
    .help("Tokens of each prompt; none of them is padding"),
    RequestColumn::number("new", "New", "tokens", |line| {
        Some(Cell::count(line.requests.new_tokens / line.requests.sequences.max(1)))
    })
    .help("New tokens of each sequence, the first included"),
    RequestColumn::number("first_token_ms", "First token", "ms", |line| {
        Some(Cell::time(line.requests.first_token_ns.as_ref()?.median))
    })
    .help("Time to first token: from the start of a request, in an open loop from its arrival; the median")
    .why(|line| line.not_stated().unwrap_or_default()),
    RequestColumn::number("first_token_p90_ms", "First token p90", "ms", |line| {
        line.requests.first_token_ns.as_ref()?.p90.map(Cell::time)
    })
    .why(|line| line.not_stated().unwrap_or_else(|| why_no_percentile(90.0, line.requests.count, "request")))
    .hidden(),
    RequestColumn::number("token_ms", "Per token", "ms", |line| {
        Some(Cell::time(line.later()?.median))
    })
    .help("Time per output token, from each token to the next; the median over all tokens")
    .why(why_no_later),
    RequestColumn::number("token_p90_ms", "p90", "ms", |line| line.later()?.p90.map(Cell::time))
        .help("90 of 100 tokens after the first came faster")
        .why(|line| line.why_no(90.0)),
    RequestColumn::number("token_p95_ms", "p95", "ms", |line| line.later()?.p95.map(Cell::time))
        .why(|line| line.why_no(95.0))
        .hidden(),
    RequestColumn::number("token_p99_ms", "p99", "ms", |line| line.later()?.p99.map(Cell::time))
        .help("99 of 100 tokens after the first came faster")
        .why(|line| line.why_no(99.0)),
    RequestColumn::number("prefill_tokens_per_s", "Prefill", "tokens/s", |line| {
        line.requests.prefill_per_s.map(Cell::rate)
    })
    .help("Tokens of the prompts ÷ time to first token, of the whole batch")
    .why(why_no_prefill),
    RequestColumn::number("decode_tokens_per_s", "Decode", "tokens/s", |line| {
        line.requests.decode_per_s.map(Cell::rate)
    })
    .help("Tokens after the first ÷ the time that they took, of the whole batch")
    .why(why_no_later),
    RequestColumn::number("decode_of_one_tokens_per_s", "Decode of one", "tokens/s", |line| {
        line.requests.decode_of_one_per_s().map(Cell::rate)
    })
    .help("The same of one sequence")
    .why(why_no_later),
    RequestColumn::number("output_tokens_per_s", "All requests", "tokens/s", |line| {
        line.requests.output_per_s().map(Cell::rate)
    })
    .help("Tokens that all requests together made in a second of the run, as another program states it")
    .why(|line| line.not_stated().unwrap_or_default()),
    RequestColumn::number("cache_bytes", "Cache", "bytes", |line| {
        Some(Cell::bytes(line.requests.cache_bytes? as f64))
    })
    .help("Keys and values that are kept when the last token is made")
    .why(why_no_cache),
    RequestColumn::number("cache_bytes_per_token", "Cache per token", "bytes", |line| {
        line.requests.cache_bytes_per_token().map(Cell::bytes)
    })
    .why(why_no_cache)
    .hidden(),
    RequestColumn::number("j_per_token", "Energy per token", "J", |line| {
        let stated = line.requests.stated.and_then(|stated| stated.joules_per_token);
        let energy = line.row.energy.as_ref().ok();
        let measured = energy.and_then(|energy| line.requests.joules_per_token(energy));
        measured.or(stated).map(Cell::joules)
    })
    .help("Energy of a request ÷ its new tokens; the prompt's share is in it")
    .why(|line| line.row.energy.as_ref().err().cloned().unwrap_or_default()),
    RequestColumn::number("requests", "Requests", "", |line| (line.requests.count > 0).then(|| Cell::count(line.requests.count)))
        .help("Requests that were timed, over all rounds")
    .why(|line| line.not_stated().unwrap_or_default()),
    RequestColumn::number("all_new_tokens", "New tokens in all", "", |line| {
        Some(Cell::count(line.requests.all_new_tokens()))
    })
    .hidden(),
    RequestColumn::number("all_prompt_tokens", "Prompt tokens in all", "", |line| {
        Some(Cell::count(line.requests.all_prompt_tokens()))
    })
    .hidden(),
];

impl RequestLine {
    fn later(&self) -> Option<&Summary> {
        self.requests.later_token_ns.as_ref()
    }

    /// Why a number is missing where another program states the others.
    fn not_stated(&self) -> Option<String> {
        (self.requests.count == 0)
            .then(|| "the program that measured it does not state it".to_owned())
    }

    fn why_no(&self, percent: f64) -> String {
        if let Some(why) = self.not_stated() {
            return why;
        }
        match self.later() {
            Some(later) => why_no_percentile(percent, later.n, "token"),
            None => why_no_later(self),
        }
    }
}

fn why_no_later(line: &RequestLine) -> String {
    if let Some(why) = line.not_stated() {
        return why;
    }
    "a request with one new token has none after the first".to_owned()
}

fn why_no_prefill(line: &RequestLine) -> String {
    if let Some(why) = line.not_stated() {
        return why;
    }
    if line.requests.stated.is_some() {
        return "in requests that another program timed there may be waiting before the first token".to_owned();
    }
    "in an open loop the time to the first token has waiting in it".to_owned()
}

fn why_no_cache(line: &RequestLine) -> String {
    if let Some(why) = line.not_stated() {
        return why;
    }
    "the engine does not report it".to_owned()
}
