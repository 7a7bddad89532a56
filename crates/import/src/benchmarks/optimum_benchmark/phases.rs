//! The phases of a language model: what each says of its requests, put together.

use super::Sizes;
use crate::Imported;
use crate::benchmarks::token_stats::{self, NEW, PROMPT};
use crate::reading::lines;
use powerband_core::base::humanize;
use powerband_core::domain::generation::{Generation, StatedGeneration, StatedTimes};
use powerband_core::domain::reported::{Reported, ReportedFigure};

/// Joules of a kilowatt hour.
const KWH: f64 = 3.6e6;
/// The phases that make tokens.
const PHASES: [&str; 4] = ["generate", "prefill", "decode", "per_token"];

/// Puts the lengths among the dimensions of a phase that makes tokens.
pub(super) fn set_sizes(result: &mut Reported, sizes: Sizes) {
    if PHASES.contains(&result.name.as_str()) {
        token_stats::set_sizes(result, &[(PROMPT, sizes.prompt), (NEW, sizes.new)]);
    }
}

/// The same for a row of a table, which has a rate and a memory of each phase.
pub(super) fn set_of_table(result: &mut Reported, sizes: Sizes) {
    if !PHASES.contains(&result.name.as_str()) {
        return;
    }
    set_sizes(result, sizes);
    let rate = named(result, "throughput").filter(|rate| rate.unit == "tokens/s");
    let rate = rate.map(|rate| rate.value);
    let memory = named(result, "peak_memory").filter(|memory| memory.unit == "MB");
    let mut stated = StatedGeneration {
        prompt_tokens: sizes.prompt,
        new_tokens: sizes.new,
        memory_bytes: memory.map(|memory| memory.value * 1e6),
        ..StatedGeneration::default()
    };
    if result.name == "decode" {
        stated.decode_tokens_per_s = rate;
    } else {
        stated.output_tokens_per_s = rate;
    }
    token_stats::set_stated(result, &stated);
}

/// Puts together what the phases say: in each its own part, in `generate` all of it.
pub(super) fn put_together(results: &mut [Reported], sizes: Sizes, into: &mut Imported) {
    let of = |phase: &str| results.iter().find(|result| result.name == phase).cloned();
    let [generate, prefill, decode, per_token] = PHASES.map(of);
    let later = sizes.new.map(|new| new - 1.0).filter(|later| *later > 0.0);
    let runs = decode.as_ref().or(generate.as_ref());
    let runs = runs.map_or(0, |result| result.samples_ns.len());
    // Version 0.6 lists tokens of earlier runs again and again.
    let is_whole = |result: &&Reported| {
        result.samples_ns.is_empty()
            || later.is_none_or(|later| later * runs as f64 == result.samples_ns.len() as f64)
    };
    let each = per_token.as_ref().filter(is_whole);
    if let (Some(all), None) = (&per_token, each) {
        into.note(format!(
            "per_token has {} and not one for each token after the first of {}: the time per output token is that of decode over its tokens",
            humanize::pluralised(all.samples_ns.len() as u64, "time"),
            humanize::pluralised(runs as u64, "run"),
        ));
    }
    let of_prefill = prefill
        .as_ref()
        .map(|result| stated_of_prefill(result, sizes))
        .unwrap_or_default();
    let mut of_decode = decode
        .as_ref()
        .map(|result| stated_of_decode(result, sizes, later))
        .unwrap_or_default();
    if let Some(each) = each {
        of_decode.per_token = latency(each, 1.0);
    }
    for result in results.iter_mut() {
        let mut stated = match result.name.as_str() {
            "prefill" => of_prefill,
            "decode" => of_decode,
            "generate" => {
                let mut all = stated_of_generate(result, sizes, per_token.is_some());
                all.fill(of_prefill);
                all.fill(of_decode);
                result.tokens = tokens(result, prefill.as_ref(), each, sizes);
                all
            }
            _ => continue,
        };
        if stated.is_empty() {
            continue;
        }
        stated.prompt_tokens = sizes.prompt;
        stated.new_tokens = sizes.new;
        result.generation = Some(stated);
    }
}

fn stated_of_prefill(result: &Reported, sizes: Sizes) -> StatedGeneration {
    // Its rate is of samples, each of which is a prompt.
    let rate = named(result, "throughput").filter(|rate| rate.unit == "samples/s");
    StatedGeneration {
        first_token: latency(result, 1.0),
        prefill_tokens_per_s: rate.and_then(|rate| Some(rate.value * sizes.prompt?)),
        memory_bytes: memory(result),
        joules_per_token: joules(result, sizes, sizes.prompt),
        ..StatedGeneration::default()
    }
}

fn stated_of_decode(result: &Reported, sizes: Sizes, later: Option<f64>) -> StatedGeneration {
    let rate = named(result, "throughput").filter(|rate| rate.unit == "tokens/s");
    StatedGeneration {
        // The whole batch makes a token at once.
        per_token: later
            .map(|later| latency(result, later))
            .unwrap_or_default(),
        decode_tokens_per_s: rate.map(|rate| rate.value),
        memory_bytes: memory(result),
        joules_per_token: joules(result, sizes, later),
        ..StatedGeneration::default()
    }
}

fn stated_of_generate(result: &mut Reported, sizes: Sizes, has_tokens: bool) -> StatedGeneration {
    // Where tokens are timed one by one, the file has their rate here and calls it a rate of samples.
    if let Some(rate) = result
        .figures
        .iter_mut()
        .find(|figure| figure.name == "throughput" && has_tokens)
    {
        "throughput of tokens after the first".clone_into(&mut rate.name);
        "tokens/s".clone_into(&mut rate.unit);
    }
    let rate = named(result, "throughput").filter(|rate| rate.unit == "tokens/s");
    StatedGeneration {
        output_tokens_per_s: rate.map(|rate| rate.value),
        memory_bytes: memory(result),
        joules_per_token: joules(result, sizes, sizes.new),
        ..StatedGeneration::default()
    }
}

/// Every token, where prefill and tokens were timed in the same runs.
fn tokens(
    generate: &Reported,
    prefill: Option<&Reported>,
    each: Option<&Reported>,
    sizes: Sizes,
) -> Option<Generation> {
    let (first, later) = (&prefill?.samples_ns, &each?.samples_ns);
    if later.is_empty() || first.len() != generate.samples_ns.len() {
        return None;
    }
    let batch = sizes.batch.unwrap_or(1);
    let count = |each: Option<f64>| each.and_then(token_stats::size).unwrap_or(0);
    let count = |each: Option<f64>| (count(each) as u64).saturating_mul(batch as u64);
    Some(Generation {
        prompt_tokens: count(sizes.prompt),
        new_tokens: count(sizes.new),
        sequences: batch as u64,
        first_token_ns: first.clone(),
        later_token_ns: later.clone(),
        cache_bytes: None,
    })
}

fn named<'a>(result: &'a Reported, name: &str) -> Option<&'a ReportedFigure> {
    result.figures.iter().find(|figure| figure.name == name)
}

/// The statistics of a phase's latency, each of so many equal parts.
fn latency(result: &Reported, parts: f64) -> StatedTimes {
    let unit = named(result, "latency mean").and_then(|figure| lines::unit_ns(&figure.unit));
    token_stats::times(unit.unwrap_or(1e9) / parts, |name| {
        named(result, &format!("latency {name}")).map(|figure| figure.value)
    })
}

/// Peak memory of a phase: of the device where the file has it, else of the process.
fn memory(result: &Reported) -> Option<f64> {
    let names = ["max_process_vram", "max_allocated", "max_vram", "max_ram"];
    let found = names
        .iter()
        .find_map(|name| named(result, &format!("memory {name}")))?;
    let unit = match found.unit.as_str() {
        "MB" => 1e6,
        "GB" => 1e9,
        _ => return None,
    };
    token_stats::plausible(found.value * unit)
}

/// Energy of a token, of a phase with so many of them in each sequence.
fn joules(result: &Reported, sizes: Sizes, tokens: Option<f64>) -> Option<f64> {
    let total = named(result, "energy total").filter(|figure| figure.unit == "kWh")?;
    let tokens = tokens? * sizes.batch? as f64;
    token_stats::plausible(total.value * KWH / tokens).filter(|joules| *joules > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::benchmarks::optimum_benchmark::FORMAT;
    use crate::testing;

    const FILE: &str = "optimum-benchmark/gpt2-tiny-benchmark.json";

    fn result_named<'a>(imported: &'a Imported, name: &str) -> &'a Reported {
        let mut all = imported.reported.iter();
        all.find(|result| result.name == name).unwrap()
    }

    #[test]
    fn phases_of_a_real_file_say_each_their_part_and_generate_all_of_it() {
        let imported = testing::fixture(FILE);
        let stated = |name: &str| result_named(&imported, name).generation.unwrap();
        let (all, prefill, decode) = (stated("generate"), stated("prefill"), stated("decode"));
        assert_eq!(
            result_named(&imported, "generate")
                .point
                .unwrap()
                .to_string(),
            "batch 2, new 16, prompt 32"
        );
        assert_eq!(all.first_token, prefill.first_token);
        assert_eq!(
            prefill.first_token.median_ns.map(f64::round),
            Some(1_684_465.0)
        );
        // 518.69 prompts a second of 32 tokens each.
        assert_eq!(all.prefill_tokens_per_s.map(f64::round), Some(16_598.0));
        assert_eq!(all.decode_tokens_per_s.map(f64::round), Some(1306.0));
        // 20.655 ms for the 15 tokens after the first.
        assert_eq!(
            decode.per_token.median_ns.map(f64::round),
            Some(1_377_002.0)
        );
        assert_eq!(all.memory_bytes, Some(889_831_424.0));
        assert!(
            imported.notes[0].starts_with("per_token has 40 times"),
            "{:?}",
            imported.notes
        );
        assert!(result_named(&imported, "generate").tokens.is_none());
        let preparing: Vec<&str> = imported
            .reported
            .iter()
            .filter(|one| one.is_preparation)
            .map(|one| one.name.as_str())
            .collect();
        assert_eq!(preparing, ["first_generate", "load_model"]);
    }

    #[test]
    fn tokens_energy_and_memory_are_taken_over() {
        let text = r#"{"config": {"scenario": {"input_shapes": {"batch_size": 2, "sequence_length": 100}, "generate_kwargs": {"max_new_tokens": 3}}},
            "report": {"generate": {"latency": {"unit": "s", "values": [0.3, 0.4]}, "throughput": {"unit": "samples/s", "value": 9}},
                "prefill": {"latency": {"unit": "s", "values": [0.1, 0.2]}, "energy": {"unit": "kWh", "total": 0.0001}, "memory": {"unit": "MB", "max_ram": 900, "max_process_vram": 500}},
                "decode": {"latency": {"unit": "s", "values": [0.2, 0.2], "mean": 0.2}, "throughput": {"unit": "tokens/s", "value": 20}},
                "per_token": {"latency": {"unit": "s", "values": [0.1, 0.1, 0.05, 0.15], "p50": 0.1, "mean": 0.1}}}}"#;
        let imported = testing::imported(text).unwrap();
        let generate = result_named(&imported, "generate");
        let tokens = generate.tokens.as_ref().unwrap();
        assert_eq!(
            (tokens.prompt_tokens, tokens.new_tokens, tokens.sequences),
            (200, 6, 2)
        );
        assert_eq!(
            tokens.later_token_ns,
            [100_000_000, 100_000_000, 50_000_000, 150_000_000]
        );
        let stated = generate.generation.unwrap();
        // 360 J over 200 tokens.
        assert_eq!(stated.joules_per_token, Some(1.8));
        assert_eq!(
            (stated.memory_bytes, stated.decode_tokens_per_s),
            (Some(5e8), Some(20.0))
        );
        assert_eq!(stated.per_token.median_ns, Some(1e8));
        // The file calls tokens samples here.
        assert_eq!(generate.figures.last().unwrap().unit, "tokens/s");
    }

    #[test]
    fn tables_tell_experiments_apart() {
        let text = "experiment_name,benchmark.input_shapes.batch_size,benchmark.input_shapes.sequence_length,benchmark.generate_kwargs.max_new_tokens,forward.latency(s),generate.latency(s),generate.throughput(tokens/s),generate.peak_memory(MB)\n\
            llama_baseline,16,512,100,0.838,4.3,372.0,28107\n\
            llama_gptq,16,512,100,0.847,5.68,282.0,18938\n";
        let imported = testing::imported(text).unwrap();
        let names: Vec<&str> = imported
            .reported
            .iter()
            .map(|one| one.name.as_str())
            .collect();
        assert_eq!(
            names,
            [
                "llama_baseline, forward",
                "llama_baseline, generate",
                "llama_gptq, forward",
                "llama_gptq, generate"
            ]
        );
        let one = result_named(&imported, "llama_gptq, generate");
        assert_eq!(
            one.point.unwrap().to_string(),
            "batch 16, new 100, prompt 512"
        );
        let stated = one.generation.unwrap();
        assert_eq!(
            (stated.output_tokens_per_s, stated.memory_bytes),
            (Some(282.0), Some(18_938e6))
        );
        assert_eq!(
            result_named(&imported, "llama_gptq, forward").generation,
            None
        );
    }

    #[test]
    fn no_damage_makes_it_panic() {
        testing::survives(&FORMAT, &testing::raw(FILE));
        testing::survives(&FORMAT, br#"{"config": {"scenario": {"input_shapes": {"batch_size": 1e300, "sequence_length": 1e300}, "new_tokens": -1}}, "report": {"generate": {"latency": {"values": [1e300]}}, "prefill": {"latency": {"values": [1]}}, "per_token": {"latency": {"values": [1]}}}}"#);
    }
}
