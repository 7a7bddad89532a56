//! Every output of llama-bench has the same tests with the same numbers.

use super::*;
use crate::testing;

const JSON: &str = "llama-bench/qwen2-rtx4080.json";
const CSV: &str = "llama-bench/qwen2-rtx4080.csv";
const DEPTH: &str = "llama-bench/qwen2-depth.md";
const THREADS: &str = "llama-bench/llama2-threads.md";

fn places(imported: &Imported) -> Vec<(String, String)> {
    let place = |one: &Reported| (one.name.clone(), one.point.unwrap().to_string());
    imported.reported.iter().map(place).collect()
}

fn stated(one: &Reported) -> StatedGeneration {
    one.generation.unwrap()
}

#[test]
fn repetitions_of_json_are_samples() {
    let imported = testing::fixture(JSON);
    assert_eq!(
        places(&imported),
        [
            (
                "qwen2 7B Q4_K - Medium, prefill".into(),
                "batch 1, past 0, prompt 512".into()
            ),
            (
                "qwen2 7B Q4_K - Medium, decode".into(),
                "batch 1, new 128, past 0".into()
            ),
        ]
    );
    let [prefill, decode] = imported.reported.as_slice() else {
        panic!("{:?}", imported.reported);
    };
    assert_eq!(prefill.samples_ns[0], 74_601_900);
    assert_eq!(decode.samples_ns.len(), 5);
    assert_eq!(stated(prefill).prefill_tokens_per_s, Some(7_100.002_165));
    assert_eq!(stated(decode).decode_tokens_per_s, Some(118.881_588));
    // The median repetition took 1 075 361 300 ns for 128 tokens.
    assert_eq!(stated(decode).per_token.median_ns, Some(8_401_260.156_250));
    assert_eq!(stated(prefill).per_token.typical_ns(), None);
    assert_eq!(imported.tool.version.as_deref(), Some("8cf427ff"));
    for fact in [("gpu_info", "NVIDIA GeForce RTX 4080"), ("n_ubatch", "512")] {
        assert!(
            imported.facts.contains(&(fact.0.into(), fact.1.into())),
            "{fact:?}"
        );
    }
}

#[test]
fn csv_has_the_mean_of_the_same_tests() {
    let imported = testing::fixture(CSV);
    assert_eq!(places(&imported), places(&testing::fixture(JSON)));
    let decode = &imported.reported[1];
    assert_eq!(
        (decode.typical_ns, decode.samples_ns.len()),
        (Some(1_067_431_600), 0)
    );
    assert_eq!(stated(decode).decode_tokens_per_s, Some(119.915_244));
}

#[test]
fn markdown_has_depths_and_options_that_were_swept() {
    let imported = testing::fixture(DEPTH);
    let [_, decode, deep, _] = imported.reported.as_slice() else {
        panic!("{:?}", imported.reported);
    };
    assert_eq!(
        deep.point.unwrap().to_string(),
        "batch 1, past 512, prompt 512"
    );
    assert_eq!(stated(deep).prefill_tokens_per_s, Some(6425.91));
    // 128 tokens at 120.60 a second.
    assert_eq!(decode.typical_ns, Some(1_061_359_867));
    assert!(imported.notes[0].contains("tokens over its rate"));
    let names: Vec<String> = places(&testing::fixture(THREADS))
        .into_iter()
        .map(|place| place.0)
        .collect();
    assert_eq!(names[0], "llama 7B mostly Q4_0, prefill, n_threads 1");
    assert_eq!(names[5], "llama 7B mostly Q4_0, decode, n_threads 4");
}

#[test]
fn lines_and_statements_are_rows() {
    let jsonl = r#"{"build_commit": "a", "model_type": "m", "n_prompt": 8, "n_gen": 4, "n_depth": 0, "avg_ns": 100, "avg_ts": 2.5, "samples_ns": [ 90, 110 ]}
{"build_commit": "a", "n_gen": 4, "avg_ts": 3"#;
    let imported = testing::imported(jsonl).unwrap();
    assert_eq!(
        places(&imported),
        [(
            "m, prefill and decode".into(),
            "batch 1, new 4, past 0, prompt 8".into()
        )]
    );
    assert_eq!(imported.reported[0].samples_ns, [90, 110]);
    assert!(
        imported.notes[0].starts_with("1 row of"),
        "{:?}",
        imported.notes
    );
    let sql = "CREATE TABLE IF NOT EXISTS llama_bench (\n  build_commit TEXT,\n  n_gen INTEGER\n);\n\n\
        INSERT INTO llama_bench (build_commit, model_type, n_prompt, n_gen, avg_ns, avg_ts) VALUES ('a', 'it''s, m', '0', '4', '100', '2.5');\n\
        INSERT INTO llama_bench (build_commit, n_gen) VALUES ('a');\n";
    let imported = testing::imported(sql).unwrap();
    assert_eq!(places(&imported)[0].0, "it's, m, decode");
    assert!(
        imported.notes[0].starts_with("1 row of"),
        "{:?}",
        imported.notes
    );
}

#[test]
fn rows_without_a_rate_or_a_test_are_counted() {
    let text = "| model | test | t/s |\n| --- | --- | --- |\n| m | pp4 | nan |\n| m | xx9 | 5 |\n| m | tg4 | 0.00 ± 0.00 |\n| m | tg4 | 8 |\n\nbuild: 8cf427ff (5163)\n";
    let imported = testing::imported(text).unwrap();
    assert_eq!(imported.reported.len(), 1);
    assert_eq!(imported.reported[0].typical_ns, Some(500_000_000));
    assert!(
        imported
            .notes
            .iter()
            .any(|note| note.starts_with("3 rows of")),
        "{:?}",
        imported.notes
    );
    assert_eq!(imported.tool.version.as_deref(), Some("8cf427ff (5163)"));
}

#[test]
fn no_damage_makes_it_panic() {
    for file in [JSON, CSV, DEPTH, THREADS] {
        testing::survives(&FORMAT, &testing::raw(file));
    }
    testing::survives(
        &FORMAT,
        b"INSERT INTO a (n_gen, build_commit) VALUES ('1', 'x''');\n",
    );
    let huge = r#"[{"build_commit": 1, "n_gen": 1e300, "n_prompt": -5, "avg_ts": 1e300, "avg_ns": 1e300, "samples_ns": [1e300]}]"#;
    testing::imported(huge).unwrap();
}
