//! `llama-bench` of llama.cpp: its table in Markdown, CSV, JSON, JSONL and SQL.
//!
//! A row is a test: so many tokens of a prompt, so many made after it, or both, with so many in the cache before.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::benchmarks::common;
use crate::benchmarks::token_stats::{self, NEW, PAST, PROMPT};
use crate::reading::head::FileHead;
use crate::reading::json;
use crate::reading::lines;
use crate::reading::read_progress::ReadProgress;
use crate::reading::source::ImportSource;
use crate::{Format, ImportError, Imported};
use powerband_core::domain::generation::StatedGeneration;
use powerband_core::domain::reported::Reported;

#[cfg(test)]
mod tests;

pub(crate) const FORMAT: Format = Format {
    id: "llama-bench",
    title: "results of llama-bench",
    tool: "llama-bench",
    name_ends: &[],
    recognises,
    read,
};

/// What a row says of the test and its outcome; everything else is of the model, the machine and the options.
const OF_THE_TEST: [&str; 13] = [
    "model_type",
    "n_prompt",
    "n_gen",
    "n_depth",
    "test_time",
    "avg_ns",
    "stddev_ns",
    "avg_ts",
    "stddev_ts",
    "samples_ns",
    "samples_ts",
    "test",
    "t/s",
];
/// Columns of the table in Markdown that have other names elsewhere.
const TITLES: [(&str, &str); 5] = [
    ("model", "model_type"),
    ("backend", "backends"),
    ("ngl", "n_gpu_layers"),
    ("threads", "n_threads"),
    ("fa", "flash_attn"),
];

/// A line of the file, parsed.
enum ParsedLine {
    Row(LlamaRow),
    Damaged,
    Other,
}

impl From<Option<LlamaRow>> for ParsedLine {
    fn from(row: Option<LlamaRow>) -> Self {
        row.map_or(Self::Damaged, Self::Row)
    }
}

/// The fields of a row by name, as text, and the time of each repetition.
#[derive(Debug, Default)]
struct LlamaRow {
    fields: BTreeMap<String, String>,
    samples_ns: Vec<u64>,
}

fn recognises(head: &FileHead) -> bool {
    let is_json = ["build_commit", "n_gen", "avg_ts"]
        .iter()
        .all(|key| head.has_key(key));
    let is_sql = head.plain_text().is_some_and(|text| {
        text.contains("INSERT INTO") && text.contains("build_commit") && text.contains("n_gen")
    });
    let is_csv = head.has_columns(',', &["build_commit", "n_gen", "avg_ns"]);
    let is_markdown = head
        .plain_text()
        .is_some_and(|text| text.lines().take(200).any(is_header));
    is_json || is_csv || is_sql || is_markdown
}

/// Whether a line is the head of the table in Markdown.
fn is_header(line: &str) -> bool {
    let cells = cells(line);
    ["model", "test", "t/s"]
        .iter()
        .all(|title| cells.contains(title))
}

fn cells(line: &str) -> Vec<&str> {
    let line = line.trim().trim_matches('|');
    line.split('|').map(str::trim).collect()
}

fn read(
    source: &ImportSource,
    watch: &ReadProgress<'_>,
    into: &mut Imported,
) -> Result<(), ImportError> {
    let text = source.text(watch, into)?;
    let mut unread = 0;
    let rows = match text.trim_start().chars().next() {
        Some('[') => {
            let list = source.json(&text, FORMAT.title, into)?;
            let objects = list.as_array().into_iter().flatten();
            objects.filter_map(of_json).collect()
        }
        Some('{') => by_line(&text, source, watch, &mut unread, |line| {
            json::object(line)
                .and_then(|object| of_json(&Value::Object(object)))
                .into()
        })?,
        _ if text.contains("INSERT INTO") => by_line(&text, source, watch, &mut unread, of_sql)?,
        _ if text.lines().any(is_header) => markdown(&text, source, watch, &mut unread, into)?,
        _ => {
            let mut columns = Vec::new();
            by_line(&text, source, watch, &mut unread, |line| {
                let cells = lines::fields(line, ',');
                if columns.is_empty() {
                    columns = cells;
                    return ParsedLine::Other;
                }
                (cells.len() == columns.len())
                    .then(|| row_of(&columns, cells))
                    .into()
            })?
        }
    };
    let differing = differing(&rows);
    for row in &rows {
        match reported(row, &differing) {
            Some(result) => into.reported.push(result),
            None => unread += 1,
        }
    }
    take_common_fields(&rows, &differing, into);
    into.note_unread(unread, "row", &source.name());
    Ok(())
}

/// A row of each line; a line without one is skipped where it is none, and counted where it is damaged.
fn by_line(
    text: &str,
    source: &ImportSource,
    watch: &ReadProgress<'_>,
    unread: &mut u64,
    mut row: impl FnMut(&str) -> ParsedLine,
) -> Result<Vec<LlamaRow>, ImportError> {
    let mut rows = Vec::new();
    for line in source.progress_reader(text.lines(), watch) {
        let line = line?;
        if line.trim().is_empty() {
            continue;
        }
        match row(line) {
            ParsedLine::Row(found) => rows.push(found),
            ParsedLine::Damaged => *unread += 1,
            ParsedLine::Other => {}
        }
    }
    Ok(rows)
}

fn row_of<T: Into<String>>(columns: &[String], cells: Vec<T>) -> LlamaRow {
    let fields = columns
        .iter()
        .cloned()
        .zip(cells.into_iter().map(Into::into));
    LlamaRow {
        fields: fields.collect(),
        samples_ns: Vec::new(),
    }
}

fn of_json(value: &Value) -> Option<LlamaRow> {
    let object = value.as_object()?;
    let samples = object.get("samples_ns").and_then(Value::as_array);
    let samples = samples.into_iter().flatten().filter_map(json::number);
    let scalars = object
        .iter()
        .filter(|(_, value)| !value.is_array() && !value.is_object());
    Some(LlamaRow {
        fields: scalars
            .map(|(name, value)| (name.clone(), json::value_text(value)))
            .collect(),
        samples_ns: samples.map(|ns| lines::ns(ns, 1.0)).collect(),
    })
}

/// `INSERT INTO llama_bench (a, b) VALUES ('1', '2');`
fn of_sql(line: &str) -> ParsedLine {
    let Some(rest) = line.trim_start().strip_prefix("INSERT INTO") else {
        return ParsedLine::Other;
    };
    let row = || {
        let (names, values) = rest.split_once(" VALUES ")?;
        let names = names.split_once('(')?.1.trim().strip_suffix(')')?;
        let values = values.trim().trim_end_matches(';');
        let values = values.strip_prefix('(')?.strip_suffix(')')?;
        let names: Vec<String> = names
            .split(',')
            .map(|name| name.trim().to_owned())
            .collect();
        let values = quoted(values);
        (names.len() == values.len()).then(|| row_of(&names, values))
    };
    row().into()
}

/// Values of SQL, without their marks; doubled ones within are single ones.
fn quoted(list: &str) -> Vec<String> {
    let mut values = vec![String::new()];
    let mut is_within = false;
    let mut chars = list.chars().peekable();
    while let Some(c) = chars.next() {
        let last = values.len() - 1;
        match c {
            '\'' if is_within && chars.peek() == Some(&'\'') => {
                chars.next();
                values[last].push('\'');
            }
            '\'' => is_within = !is_within,
            ',' if !is_within => values.push(String::new()),
            ' ' if !is_within => {}
            c => values[last].push(c),
        }
    }
    values
}

/// The tables of Markdown in a text; several runs may stand in one file, each with a head of its own.
fn markdown(
    text: &str,
    source: &ImportSource,
    watch: &ReadProgress<'_>,
    unread: &mut u64,
    into: &mut Imported,
) -> Result<Vec<LlamaRow>, ImportError> {
    let mut columns: Vec<String> = Vec::new();
    let rows = by_line(text, source, watch, unread, |line| {
        if is_header(line) {
            let named = cells(line).into_iter().map(|title| {
                let other = TITLES.iter().find(|(short, _)| *short == title);
                other.map_or(title, |(_, long)| *long).to_owned()
            });
            columns = named.collect();
            return ParsedLine::Other;
        }
        let trimmed = line.trim();
        if let Some(build) = trimmed.strip_prefix("build:") {
            into.name_version(build);
        }
        if !trimmed.starts_with('|') {
            columns.clear();
        }
        let is_rule = trimmed.chars().all(|c| matches!(c, '|' | '-' | ':' | ' '));
        if columns.is_empty() || is_rule {
            return ParsedLine::Other;
        }
        let cells = cells(line);
        (cells.len() == columns.len())
            .then(|| row_of(&columns, cells))
            .into()
    })?;
    if !rows.is_empty() {
        into.note(
            "The table has tokens a second and no times: a test's time is its tokens over its rate",
        );
    }
    Ok(rows)
}

/// Names of what is not the same in all rows: options that were swept.
fn differing(rows: &[LlamaRow]) -> BTreeSet<String> {
    let mut seen: BTreeMap<&str, &str> = BTreeMap::new();
    let mut differing = BTreeSet::new();
    for (name, value) in rows.iter().flat_map(|row| &row.fields) {
        if OF_THE_TEST.contains(&name.as_str()) || is_of_model(name) {
            continue;
        }
        if *seen.entry(name).or_insert(value) != value {
            differing.insert(name.clone());
        }
    }
    differing
}

/// What differs with the model alone, which is named already.
fn is_of_model(name: &str) -> bool {
    matches!(
        name,
        "model_filename" | "model_size" | "model_n_params" | "size" | "params"
    )
}

/// Tokens of a test: of the prompt, made, and in the cache before.
fn lengths(row: &LlamaRow) -> Option<[f64; 3]> {
    let number = |name: &str| row.fields.get(name).and_then(|text| lines::number(text));
    if let Some(test) = row.fields.get("test") {
        return of_title(test);
    }
    Some([
        number("n_prompt")?,
        number("n_gen")?,
        number("n_depth").unwrap_or(0.0),
    ])
}

/// `pp512`, `tg 128`, `pp512+tg128 @ d1024`.
fn of_title(test: &str) -> Option<[f64; 3]> {
    let (test, depth) = test.split_once('@').unwrap_or((test, "d0"));
    let depth = lines::number(depth.trim().strip_prefix('d')?)?;
    let mut lengths = [0.0, 0.0, depth];
    for part in test.split('+') {
        let part = part.trim();
        let (place, number) = match part.strip_prefix("pp") {
            Some(number) => (0, number),
            None => (1, part.strip_prefix("tg")?),
        };
        lengths[place] = lines::number(number)?;
    }
    Some(lengths)
}

/// A row as a result; nothing where it has no rate.
fn reported(row: &LlamaRow, differing: &BTreeSet<String>) -> Option<Reported> {
    let field = |name: &str| row.fields.get(name).map(String::as_str);
    let number = |name: &str| {
        field(name)
            .and_then(lines::number)
            .and_then(token_stats::plausible)
    };
    let [prompt, new, past] = lengths(row)?;
    let (rate, deviation) = match field("t/s") {
        Some(cell) => {
            let (rate, deviation) = cell.split_once('±').unwrap_or((cell, ""));
            (lines::number(rate)?, lines::number(deviation))
        }
        None => (number("avg_ts")?, number("stddev_ts")),
    };
    let rate = token_stats::plausible(rate).filter(|rate| *rate > 0.0)?;
    let phase = match (prompt > 0.0, new > 0.0) {
        (true, true) => "prefill and decode",
        (true, false) => "prefill",
        (false, true) => "decode",
        (false, false) => return None,
    };
    let mut result = Reported::named(format!(
        "{}, {phase}",
        field("model_type").unwrap_or("model")
    ));
    for name in differing {
        if let Some(value) = row.fields.get(name) {
            result.name.push_str(&format!(", {name} {value}"));
        }
    }
    let known = |length: f64| (length > 0.0).then_some(length);
    token_stats::set_sizes(
        &mut result,
        &[
            (PROMPT, known(prompt)),
            (NEW, known(new)),
            (PAST, Some(past)),
        ],
    );
    let mean_ns = number("avg_ns").unwrap_or((prompt + new) / rate * 1e9);
    result.samples_ns.clone_from(&row.samples_ns);
    if result.samples_ns.is_empty() {
        result.typical_ns = Some(lines::ns(mean_ns, 1.0));
    }
    if let Some(deviation) = deviation {
        result.figure("tokens/s, standard deviation", deviation, "tokens/s");
    }
    if let Some(ns) = number("avg_ns") {
        result.figure("latency mean", ns / 1e6, "ms");
    }
    if let Some(ns) = number("stddev_ns") {
        result.figure("latency standard deviation", ns / 1e6, "ms");
    }
    let mut stated = StatedGeneration {
        prompt_tokens: known(prompt),
        new_tokens: known(new),
        ..StatedGeneration::default()
    };
    match phase {
        "prefill" => stated.prefill_tokens_per_s = Some(rate),
        "decode" => {
            stated.decode_tokens_per_s = Some(rate);
            stated.per_token = per_token(&row.samples_ns, mean_ns, new);
        }
        _ => stated.total_tokens_per_s = Some(rate),
    }
    token_stats::set_stated(&mut result, &stated);
    Some(result)
}

/// The time of a token in a test that makes nothing else.
fn per_token(
    samples_ns: &[u64],
    mean_ns: f64,
    new: f64,
) -> powerband_core::domain::generation::StatedTimes {
    let each: Vec<f64> = samples_ns.iter().map(|ns| *ns as f64 / new).collect();
    let median = common::median(&each);
    token_stats::times(1.0, |name| match name {
        "mean" => Some(mean_ns / new),
        "median" => median,
        _ => None,
    })
}

/// Adds the fields that are equal in all rows as facts.
fn take_common_fields(rows: &[LlamaRow], differing: &BTreeSet<String>, into: &mut Imported) {
    for (name, value) in rows.iter().flat_map(|row| &row.fields) {
        if OF_THE_TEST.contains(&name.as_str()) || differing.contains(name) {
            continue;
        }
        if name == "build_commit" {
            into.name_version(value);
        } else {
            into.fact(name, value.as_str());
        }
    }
}
