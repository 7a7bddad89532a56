//! Requests to language models: the same tokens as a loop in Python, and a session that counts them.

use std::path::{Path, PathBuf};
use std::time::Duration;

use powerband_core::base::cancel::CancelToken;
use powerband_core::domain::case::CaseKey;
use powerband_core::domain::point::Point;
use powerband_core::domain::session::Session;
use powerband_onnx::decoder::Decoder;
use powerband_onnx::source;
use powerband_store::session_file;
use powerband_worker::engines::generate::Generate;
use powerband_worker::protocol::{Reply, Request};
use powerband_worker::supervisor::Worker;
use serde_json::Value;

use crate::support::{self, Home};

const SEED: u64 = 11;

/// A decoder with two layers; `crates/onnx/src/decoder/testing.rs` makes it.
fn decoder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/onnx/decoder.onnx")
}

/// What a loop of plain runs makes, each with the keys and values of the run before. Prompts are made here once
/// more, from what is written of them.
const ORACLE: &str = "
import sys, numpy as np, onnxruntime as ort
path, batch, prompt, new, seed = sys.argv[1], *map(int, sys.argv[2:])
def split_mix(place):
    whole = 2**64 - 1
    x = (place + 1) * 0x9E3779B97F4A7C15 & whole
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & whole
    x = (x ^ x >> 27) * 0x94D049BB133111EB & whole
    return x ^ x >> 31
session = ort.InferenceSession(path, providers=['CPUExecutionProvider'])
names = [port.name for port in session.get_outputs()]
words = session.get_outputs()[0].shape[-1]
tokens = np.array([split_mix(seed + at) % words for at in range(batch * prompt)]).reshape(batch, prompt)
cache = {port.name: np.zeros((batch, port.shape[1], 0, port.shape[3]), np.float32)
         for port in session.get_inputs() if port.name.startswith('past')}
made, past = [], 0
for _ in range(new):
    count = tokens.shape[1]
    feeds = {'input_ids': tokens, 'attention_mask': np.ones((batch, past + count), np.int64),
             'position_ids': np.tile(np.arange(past, past + count), (batch, 1)), **cache}
    logits, *present = session.run(names, feeds)
    cache = dict(zip(cache, present))
    past += count
    tokens = logits[:, -1].argmax(-1)[:, None]
    made.append(tokens[:, 0])
print(*np.stack(made, 1).ravel())
";

/// The tokens that a setup makes.
fn tokens(setup: &str, runtime: Option<PathBuf>, generate: &Generate) -> Vec<f64> {
    let cancel = CancelToken::default();
    let limit = Duration::from_mins(5);
    let setup = setup.parse().expect("a setup");
    let program = Path::new(env!("CARGO_BIN_EXE_powerband"));
    let mut worker = Worker::start(&setup, None, program, limit, &cancel).expect("a worker");
    let case = CaseKey {
        setup: 0,
        point: Point::of_batch(generate.batch),
    };
    let requests = [
        Request::Load {
            setup,
            model: decoder(),
            name: String::new(),
            runtime,
        },
        Request::Open {
            case: case.into(),
            inputs: Vec::new(),
            seed: SEED,
            feed: Vec::new(),
            generate: Some(generate.clone()),
        },
        Request::Outputs { case: case.into() },
    ];
    let mut last = None;
    for request in requests {
        last = Some(worker.ask(&request, limit, &cancel).expect("an answer"));
    }
    worker.end();
    match last {
        Some(Reply::Outputs(mut outputs)) => outputs.remove(0).values,
        other => panic!("{other:?}"),
    }
}

#[test]
fn tokens_equal_those_of_a_loop_in_python() {
    let (Some(python), Some(library)) = (support::torch_python(), support::onnxruntime()) else {
        return;
    };
    let home = Home::new();
    let cache = tempfile::tempdir().expect("a folder");
    let path = decoder();
    let model = source::open(path.to_str().expect("a path"), cache.path()).expect("a model");
    for (batch, prompt, new) in [(1, 7, 9), (3, 5, 4), (2, 6, 1)] {
        let sizes = [batch as u64, prompt as u64, new as u64, SEED].map(|size| size.to_string());
        let path = path.display().to_string();
        let mut args = vec!["-c", ORACLE, path.as_str()];
        args.extend(sizes.iter().map(String::as_str));
        let printed = home.command_of(&python, &args).output();
        let printed = printed.expect("Python starts");
        let printed = String::from_utf8_lossy(&printed.stdout).into_owned();
        let expected: Vec<f64> = printed
            .split_whitespace()
            .map(|token| token.parse().expect("a token"))
            .collect();
        assert_eq!(expected.len(), batch * new, "{printed}");
        let generate = Generate {
            batch,
            prompt,
            new,
            decoder: Some(Decoder::find(&model.proto).expect("a decoder")),
        };
        let with_ort = tokens("ort,task=generate", Some(library.clone()), &generate);
        assert_eq!(with_ort, expected, "ONNX Runtime, batch {batch}");
        let with_rten = tokens("rten,threads=1,task=generate", None, &generate);
        assert_eq!(with_rten, expected, "rten, batch {batch}");
    }
}

fn session(home: &Home, file: &str) -> Session {
    let read = session_file::read(&home.path(file));
    read.expect("a session").session
}

fn number(document: &Value, pointer: &str) -> f64 {
    let found = document.pointer(pointer).and_then(Value::as_f64);
    found.unwrap_or_else(|| panic!("no number at {pointer} in {document:#}"))
}

#[test]
fn a_session_has_the_requests_token_by_token() {
    let home = Home::new();
    let model = decoder().display().to_string();
    let args = [
        "bench",
        &model,
        "--preset",
        "quick",
        "--rounds",
        "1",
        "--setup",
        "rten,threads=1,task=generate",
        "--batch",
        "1,2",
        "--sweep",
        "prompt=6",
        "--sweep",
        "new=1,5",
        "--profile",
        "--out",
        "requests.ron",
        "--json",
    ];
    let run = home.run(&args);
    assert_eq!(run.status, Some(0), "{run:#?}");
    let document = run.json();
    let session = session(&home, "requests.ron");
    assert_eq!(session.cases.len(), 4);
    for (place, case) in session.cases.iter().enumerate() {
        let new = case.point.get("new").expect("a length") as u64;
        let batch = case.point.batch() as u64;
        let round = &case.rounds[0];
        let tokens = round.generation.as_ref().expect("requests");
        assert_eq!(
            (tokens.prompt_tokens, tokens.new_tokens, tokens.sequences),
            (6 * batch, new * batch, batch)
        );
        let n = round.samples_ns.len();
        assert_eq!(tokens.first_token_ns.len(), n);
        assert_eq!(tokens.later_token_ns.len() as u64, n as u64 * (new - 1));
        // Each sample is its tokens, one after the other.
        let each = (new - 1) as usize;
        for (at, sample) in round.samples_ns.iter().enumerate() {
            let later = tokens.later_token_ns.iter().skip(at * each).take(each);
            assert_eq!(tokens.first_token_ns[at] + later.sum::<u64>(), *sample);
        }
        // Keys and values of two layers, two heads with four numbers each.
        assert_eq!(
            tokens.cache_bytes,
            Some(2 * 2 * 2 * 4 * 4 * batch * (6 + new - 1))
        );
        let at = |name: &str| format!("/cases/{place}/requests/{name}");
        assert_eq!(number(&document, &at("count")), n as f64);
        assert_eq!(
            number(&document, &at("all_new_tokens")),
            (n as u64 * batch * new) as f64
        );
        let decode = document
            .pointer(&at("decode_tokens_per_s"))
            .and_then(Value::as_f64);
        assert_eq!(decode.is_some(), new > 1);
    }
    // A profile is one of single steps after the prompt.
    assert_eq!(session.profiles.len(), 4, "{:?}", session.warnings);
    is_written_everywhere(&home);
}

/// Text, table and reports have the requests.
fn is_written_everywhere(home: &Home) {
    let shown = home.run(&["show", "requests.ron"]);
    assert_eq!(shown.status, Some(0), "{shown:#?}");
    for words in [
        "First token",
        "Decode",
        "of 12 prompt and 10 new tokens",
        "none of them padding",
    ] {
        assert!(shown.out.contains(words), "{words}: {}", shown.out);
    }
    let exported = home.run(&["export", "requests.ron", "--to", "cases.csv"]);
    assert_eq!(exported.status, Some(0), "{exported:#?}");
    let exported = std::fs::read_to_string(home.path("cases.csv")).expect("a table");
    assert!(exported.contains("decode_tokens_per_s"), "{exported}");
    let report = home.run(&["report", "requests.ron", "--to", "requests.md"]);
    assert_eq!(report.status, Some(0), "{report:#?}");
    let report = std::fs::read_to_string(home.path("requests.md")).expect("a report");
    assert!(report.contains("## Requests"), "{report}");
    let compared = home.run(&["report", "requests.ron", "requests.ron", "--to", "both.md"]);
    assert_eq!(compared.status, Some(0), "{compared:#?}");
    let compared = std::fs::read_to_string(home.path("both.md")).expect("a report");
    assert!(compared.contains("Time per output token"), "{compared}");
}

#[test]
fn what_makes_no_tokens_is_refused_in_a_sentence() {
    let home = Home::new();
    let model = decoder().display().to_string();
    let refusal = |model: &str, setup: &str, sweep: &str| {
        let run = home.run(&[
            "bench", model, "--preset", "quick", "--setup", setup, "--batch", "1", "--sweep", sweep,
        ]);
        assert_ne!(run.status, Some(0), "{run:#?}");
        run.err
    };
    let pictures = refusal("resnet18@cifar", "rten,task=generate", "new=2");
    assert!(
        pictures.contains("the network has no inputs called past_key_values"),
        "{pictures}"
    );
    let long = refusal(&model, "rten,task=generate", "prompt=64");
    assert!(
        long.contains("prompt 64 and new 32 take 95 positions, and the network has 64"),
        "{long}"
    );
    let shared = refusal(&model, "rten,task=generate,copies=2", "new=2");
    assert!(shared.contains("copies= shares a batch"), "{shared}");
}

/// A decoder of the user's own, called as those of transformers are.
const MODULE: &str = "
import torch

class Small(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.words = torch.nn.Embedding(53, 16)
        self.pairs = torch.nn.Linear(16, 32)
        self.out = torch.nn.Linear(16, 53)

    def forward(self, input_ids, past_key_values=None, use_cache=True):
        x = self.words(input_ids)
        k, v = self.pairs(x).split(16, -1)
        past = 0
        if past_key_values is not None:
            past = past_key_values[0].shape[1]
            k, v = (torch.cat([old, new], 1) for old, new in zip(past_key_values, (k, v)))
        seen = torch.ones(x.shape[1], k.shape[1]).tril(past).bool()
        y = torch.nn.functional.scaled_dot_product_attention(x, k, v, attn_mask=seen)
        return self.out(x + y), (k, v)

def small():
    return Small()

def blind():
    return torch.nn.Linear(3, 4)
";

#[test]
fn pytorch_generates_with_a_module_of_ones_own() {
    let Some(python) = support::torch_python() else {
        return;
    };
    let home = Home::new();
    std::fs::write(home.path("nets.py"), MODULE).expect("a file");
    let model = decoder().display().to_string();
    let setup = |rest: &str| {
        let python = python.display();
        format!("torch,threads=1,python={python},task=generate,module=nets:{rest}")
    };
    let bench = |setup: &str| {
        home.run(&[
            "bench",
            &model,
            "--preset",
            "quick",
            "--rounds",
            "1",
            "--setup",
            setup,
            "--batch",
            "2",
            "--sweep",
            "prompt=6",
            "--sweep",
            "new=4",
            "--out",
            "torch.ron",
            "--force",
            "--json",
        ])
    };
    let run = bench(&setup("small"));
    assert_eq!(run.status, Some(0), "{run:#?}");
    let found = session(&home, "torch.ron");
    let round = &found.cases[0].rounds[0];
    let tokens = round.generation.as_ref().expect("requests");
    assert_eq!((tokens.prompt_tokens, tokens.new_tokens), (12, 8));
    assert_eq!(tokens.later_token_ns.len(), 3 * round.samples_ns.len());
    // Nine tokens of two sequences, sixteen keys and sixteen values each.
    assert_eq!(tokens.cache_bytes, Some(9 * 2 * 32 * 4));
    let run = bench(&setup("blind"));
    let reason = run.json()["cases"][0]["reason"].to_string();
    assert!(
        reason.contains("takes no past_key_values, only input"),
        "{reason}"
    );
    let run = bench(&setup("small,loop=generate"));
    let reason = run.json()["cases"][0]["reason"].to_string();
    assert!(reason.contains("take loop=plain"), "{reason}");
}
