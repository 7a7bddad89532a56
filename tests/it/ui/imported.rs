//! Results of other programs on Curves: as their files state them, and with what is to be known of them.

use std::path::Path;

use powerband_app::action::{Action, Curves};
use powerband_app::screen::Screen;
use powerband_core::base::humanize::UNKNOWN;

use super::Desk;
use crate::support::Home;

/// The window on Curves with a file of another program.
fn opened(file: &str) -> Desk {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/import");
    let mut desk = Desk::awake(Home::new(), vec![root.join(file)]);
    desk.until("it is open", |app| app.shared.sessions.len() == 1);
    desk.act(Action::Go(Screen::Curves));
    desk.until("its cases are listed", |app| {
        !app.curves.drawn.cases.is_empty()
    });
    desk.steps(2);
    desk
}

/// What a column says of every case.
fn column(desk: &Desk, key: &str) -> Vec<String> {
    desk.column("cases", key)
}

#[test]
fn rates_are_those_of_the_file() {
    let desk = opened("triton-perf-analyzer/inception-concurrency.csv");
    assert_eq!(
        column(&desk, "throughput_per_s"),
        ["69.2 /s", "87.2 /s", "84.2 /s", "84.2 /s"]
    );
    assert_eq!(
        column(&desk, "min_ms"),
        [UNKNOWN; 4],
        "no shortest run is stated"
    );
    assert_eq!(column(&desk, "p99_ms")[0], "21.0 ms");
    assert_eq!(column(&desk, "flags_and_outcome"), ["finished"; 4]);
}

#[test]
fn an_invalid_result_says_so_and_draws_no_samples() {
    let mut desk = opened("mlperf-loadgen/local-singlestream-invalid.mlperf_log_summary.txt");
    assert_eq!(column(&desk, "min_ms"), ["3.25 ms"]);
    assert_eq!(column(&desk, "p99_ms"), ["13.0 ms"]);
    assert_eq!(column(&desk, "throughput_per_s"), ["160 /s"]);
    assert_eq!(column(&desk, "samples"), ["0"]);
    assert_eq!(
        column(&desk, "flags_and_outcome"),
        ["finished, not-accepted"]
    );
    desk.see("was not measured here");
    desk.see("the result is INVALID");
    let pin = desk.app().curves.drawn.cases[0].pin;
    desk.act(Action::Curves(Curves::Pin(Some(pin))));
    desk.until("the case is pinned", |app| app.curves.pinned.is_some());
    desk.see("LoadGen reported figures");
    assert!(!desk.sees("Latency over time"));
}

#[test]
fn loading_a_model_is_no_case() {
    let desk = opened("optimum-benchmark/tei_bert-benchmark.json");
    let names = column(&desk, "label");
    assert!(
        names.iter().any(|name| name.contains("forward")),
        "{names:?}"
    );
    assert!(names.iter().all(|name| !name.contains("load")), "{names:?}");
}
