//! What thousands of cases leave behind in one window: memory, descriptors, threads, child processes.
//!
//! `scripts/soak` runs it, with 10,000 cases or as many as are asked for. Exit status 1 where something is left.

#[path = "../tests/it/abuse/soak/window.rs"]
mod window;

use std::env;
use std::process::ExitCode;

use anyhow::Result;
use prost::Message as _;
use tempfile::TempDir;

use powerband_core::base::humanize;
use powerband_onnx::zoo::builder::{Conv, GraphBuilder};
use window::Held;

const CASES: usize = 10_000;
/// By how much memory may grow after warm-up.
const MOST_GROWTH: f64 = 0.05;
/// Lines of the table.
const LINES: usize = 20;

fn main() -> Result<ExitCode> {
    powerband_window::desktop::heap::limit();
    let asked = env::args().skip(1).find_map(|word| word.parse().ok());
    let n_cases = asked.unwrap_or(CASES);
    let folder = TempDir::new()?;
    let model = folder.path().join("tiny.onnx");
    std::fs::write(&model, tiny_model())?;
    say(&format!(
        "{:>9}{:>12}{:>13}{:>9}{:>10}",
        "cases", "memory, MB", "descriptors", "threads", "children"
    ));
    let mut shown = 0;
    let all = window::soak((folder.path(), &model), n_cases, |held| {
        let part = held.cases * LINES / n_cases.max(1);
        if part > shown {
            shown = part;
            say(&line(held));
        }
    });
    let mut leaks = window::leaks(&all);
    match window::growth(&all, n_cases) {
        Some(growth) => {
            let percent = 100.0 * growth;
            say(&format!("memory after warm-up: {percent:+.2} %"));
            if growth > MOST_GROWTH {
                leaks.push(format!("memory grew by {percent:.2} %"));
            }
        }
        None => say("memory was not compared: that takes some hundred cases"),
    }
    for leak in &leaks {
        say(&format!("not kept: {leak}"));
    }
    if !leaks.is_empty() {
        return Ok(ExitCode::FAILURE);
    }
    say("kept: memory within 5 %, no descriptor, thread or process left");
    Ok(ExitCode::SUCCESS)
}

#[expect(
    clippy::print_stdout,
    reason = "the figures are what this program is for"
)]
fn say(line: &str) {
    println!("{line}");
}

fn line(held: &Held) -> String {
    format!(
        "{:>9}{:>12.1}{:>13}{:>9}{:>10}",
        humanize::count(held.cases as u64),
        held.memory_mb,
        held.descriptors,
        held.threads,
        held.children
    )
}

/// A network that runs in microseconds.
fn tiny_model() -> Vec<u8> {
    let mut graph = GraphBuilder::default();
    let conv = Conv {
        channels: 2,
        kernel: 3,
        stride: 8,
    };
    let x = graph.conv("stem", &GraphBuilder::image(), conv);
    let pooled = graph.average_pool("pool", &x);
    let logits = graph.classify("fc", &pooled, 10);
    graph.finish("tiny", 32, &logits).encode_to_vec()
}
