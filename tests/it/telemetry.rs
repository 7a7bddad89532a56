//! What the devices did while it was measured: the whole program, with the real ROCm SMI on simulated
//! cards, and with NVIDIA's interface on a library that is built here.

use std::fs;

use powerband_core::stats::integral;
use serde_json::Value;

use crate::cards::{FakeAmdCards, WAVE_S, WAVE_W};
use crate::support::{Home, ProgramRun};
use crate::{amd, fake_nvml};

/// What every simulated card says, but for its number, which is added to `busy_percent`.
const AT_REST: [(&str, f64); 9] = [
    ("busy_percent", 57.0),
    ("memory_busy_percent", 31.0),
    ("memory_used_bytes", 1_234_567_168.0),
    ("clock_mhz", 1700.0),
    ("memory_clock_mhz", 1600.0),
    ("power_w", 215.0),
    ("temperature_c", 45.0),
    ("hot_spot_c", 51.0),
    ("memory_temperature_c", 48.0),
];

fn cards_of(document: &Value) -> Vec<&Value> {
    let devices = document["devices"].as_array().expect("devices");
    devices
        .iter()
        .filter(|device| device["kind"] == "amd")
        .collect()
}

fn are_at_rest(cards: &[&Value], source: &str, count: usize) {
    assert_eq!(cards.len(), count);
    for (number, card) in cards.iter().enumerate() {
        assert_eq!(card["source"], source, "{card}");
        assert_eq!(card["id"], FakeAmdCards::address(number));
        assert_eq!(card["number"], number);
        assert_eq!(card["name"], "AMD INSTINCT MI250 (simulated)");
        assert_eq!(card["memory_bytes"], 68_702_699_520_u64);
        assert_eq!(card["max_clock_mhz"], 1700.0);
        assert_eq!(card["power_limit_w"], 500.0);
        let now = &card["now"];
        for (key, value) in AT_REST {
            let own = if key == "busy_percent" {
                number as f64
            } else {
                0.0
            };
            assert_eq!(now[key].as_f64(), Some(value + own), "{key} of {card}");
        }
        assert!(
            (now["voltage_v"].as_f64().unwrap_or_default() - 0.85).abs() < 1e-9,
            "{card}"
        );
    }
}

#[test]
fn amd_cards_say_the_same_through_rocm_smi_and_through_files() {
    for count in [1, 2, 4] {
        let (home, cards) = (Home::new(), FakeAmdCards::new(count));
        let from_files = home
            .command(&["devices", "--json"])
            .env("POWERBAND_ROOT", cards.root())
            .output()
            .expect("the program starts");
        let from_files = ProgramRun::from_output(&from_files).json();
        are_at_rest(&cards_of(&from_files), "amdgpu", count);

        let Some(mut command) = amd::command(&cards, &home, &["devices", "--json"]) else {
            return;
        };
        let from_library =
            ProgramRun::from_output(&command.output().expect("the program starts")).json();
        let missing = from_library["missing"].to_string();
        assert!(missing.contains("rocm-smi tells of the same"), "{missing}");
        are_at_rest(&cards_of(&from_library), "rocm-smi", count);
        let missing = from_library["missing"].to_string();
        assert!(
            missing.contains("rocm-smi tells of the same devices"),
            "{missing}"
        );
    }
}

#[test]
fn settings_come_with_the_commands_that_would_change_them() {
    let (home, cards) = (Home::new(), FakeAmdCards::new(1));
    let shown = home
        .command(&["devices"])
        .env("POWERBAND_ROOT", cards.root())
        .output()
        .expect("the program starts");
    let text = ProgramRun::from_output(&shown).out;
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in [
        "Power limit 500 W",
        "sudo rocm-smi --device 0 --setpoweroverdrive 500",
        "sudo rocm-smi --device 0 --setperfdeterminism 1700",
        "NVML not available:",
        "what helps:",
    ] {
        assert!(text.contains(words), "no \"{words}\" in\n{text}");
    }
}

#[test]
fn the_area_under_the_power_of_a_card_is_its_energy() {
    let (home, mut cards) = (Home::new(), FakeAmdCards::new(1));
    cards.vary();
    let seconds = (6.0 * WAVE_S + 2.0).to_string();
    let watch = [
        "devices",
        "--watch",
        "--json",
        "--rate",
        "10",
        "--seconds",
        &seconds,
    ];
    let Some(mut command) = amd::command(&cards, &home, &watch) else {
        return;
    };
    let run = ProgramRun::from_output(&command.output().expect("the program starts"));
    let watts: Vec<(f64, f64)> = run
        .out
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("a document a line"))
        .filter_map(|line| Some((line["at_s"].as_f64()?, line["values"]["power_w"].as_f64()?)))
        .collect();
    assert!(watts.len() > 250, "{} readings: {}", watts.len(), run.err);
    let found = integral::area(&watts, 1.0, 1.0 + 6.0 * WAVE_S, (1.0, 0.2)).expect("no gap");
    let exact = 6.0 * WAVE_S * (WAVE_W.0 + WAVE_W.1) / 2.0;
    assert!(
        (found / exact - 1.0).abs() < 0.02,
        "{found} J, exactly {exact} J"
    );
}

/// Eight rounds of a made-up engine on a card, twelve seconds in all.
const LONG: [&str; 11] = [
    "bench",
    "resnet18@cifar",
    "--batch",
    "4",
    "--preset",
    "standard",
    "--rounds",
    "8",
    "--energy",
    "--out",
    "run.ron",
];

#[test]
fn a_card_that_falls_off_the_bus_leaves_a_gap_and_no_zeros() {
    let (home, cards) = (Home::new(), FakeAmdCards::new(2));
    let request = [&LONG[..], &["--setup", "fake:rocm:1,sleep=yes", "--json"]].concat();
    let Some(mut command) = amd::command(&cards, &home, &request) else {
        return;
    };
    let running = command
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("the program starts");
    home.until_measured(1);
    cards.vanish();
    let run = ProgramRun::from_output(&running.wait_with_output().expect("it ends"));
    assert_eq!(run.status, Some(0), "{run:#?}");
    let document = run.json();
    assert_eq!(document["cases"][0]["outcome"], "finished");
    let devices = document["telemetry"]["devices"].as_array().unwrap();
    assert_eq!(devices[0]["device"]["source"], "rocm-smi");
    let lost: Vec<f64> = devices
        .iter()
        .filter_map(|d| d["lost"]["at_s"].as_f64())
        .collect();
    assert_eq!(lost.len(), 2, "{devices:#?}");
    assert!(
        lost.iter().all(|at_s| (2.0..60.0).contains(at_s)),
        "{lost:?}"
    );
    let flags = document["cases"][0]["flags"].to_string();
    assert!(flags.contains("device-lost"), "{flags}");
    assert!(
        document["warnings"]
            .to_string()
            .contains("GPU 1 cannot be read any more")
    );
    let power = &document["cases"][0]["devices"][1]["quantities"]["power_w"];
    assert_eq!(
        (power["min"].as_f64(), power["max"].as_f64()),
        (Some(215.0), Some(215.0))
    );
}

/// Runs the program on a machine whose NVIDIA cards are like this.
fn with_nvidia(home: &Home, settings: &str, args: &[&str]) -> ProgramRun {
    let library = fake_nvml::put(home.path("").as_path(), settings);
    let mut command = home.command(args);
    let output = command.env("POWERBAND_NVML", library).output();
    ProgramRun::from_output(&output.expect("the program starts"))
}

#[test]
fn the_energy_of_an_nvidia_card_is_what_its_counter_says() {
    let home = Home::new();
    let request = [&LONG[..], &["--setup", "fake:cuda:0,sleep=yes", "--json"]].concat();
    let run = with_nvidia(&home, "throttle=heat", &request);
    assert_eq!(run.status, Some(0), "{run:#?}");
    let case = &run.json()["cases"][0];
    let energy = &case["energy"];
    assert_eq!(energy["method"], "energy counter", "{energy:#}");
    let mean_w = energy["mean_w"].as_f64().unwrap();
    assert!((mean_w / 312.5 - 1.0).abs() < 0.02, "{energy:#}");
    let net = energy["net_j_per_item"].as_f64().unwrap();
    let gross = energy["gross_j_per_item"].as_f64().unwrap();
    assert!(
        net.abs() < 0.05 * gross,
        "it draws as much when idle: {energy:#}"
    );
    assert!(case["flags"].to_string().contains("throttled"), "{case:#}");
    assert!(
        case["flag_evidence"]["throttled"]
            .to_string()
            .contains("slowed down by heat")
    );
    // Another program has some of the card.
    assert!(
        case["flag_evidence"]["contended"]
            .to_string()
            .contains("one process more")
    );
    assert_eq!(case["memory"]["of"], "everybody, on the card");

    let text = home.run(&["show", "run.ron"]).out;
    assert!(text.contains("energy counter of GPU 0"), "{text}");

    // The same once more from the recording, on a machine that has no card.
    let again = [
        "bench",
        "resnet18@cifar",
        "--batch",
        "4",
        "--preset",
        "quick",
        "--rounds",
        "2",
        "--setup",
        "fake:cuda:0,sleep=yes",
        "--replay",
        "run.ron",
        "--json",
    ];
    let replayed = home.run(&again).json();
    let device = &replayed["telemetry"]["devices"][0]["device"];
    assert_eq!(
        (device["kind"].as_str(), device["source"].as_str()),
        (Some("nvidia"), Some("replay"))
    );
    let power = &replayed["cases"][0]["devices"][0]["quantities"]["power_w"];
    assert_eq!(power["mean"].as_f64(), Some(312.5), "{power}");
}

#[test]
fn a_driver_that_hangs_does_not_hold_the_run_up() {
    let home = Home::new();
    let request = [
        "bench",
        "resnet18@cifar",
        "--batch",
        "1,4",
        "--preset",
        "quick",
        "--setup",
        "fake:cuda:0,sleep=yes",
        "--json",
    ];
    let run = with_nvidia(&home, "hang_after=3", &request);
    assert_eq!(run.status, Some(0), "{run:#?}");
    let document = run.json();
    let why = &document["telemetry"]["devices"][0]["lost"]["why"];
    assert!(why.to_string().contains("seems to hang"), "{why}");
    assert!(
        document["cases"]
            .as_array()
            .unwrap()
            .iter()
            .all(|case| case["outcome"] == "finished")
    );
}

#[test]
fn the_memory_of_each_batch_is_told_and_grows() {
    let home = Home::new();
    let request = [
        "bench",
        "resnet18@cifar",
        "--batch",
        "32,1,8",
        "--preset",
        "quick",
        "--rounds",
        "1",
        "--setup",
        "rten",
        "--json",
    ];
    let run = home.run(&request);
    let document = run.json();
    let peaks: Vec<f64> = document["cases"]
        .as_array()
        .unwrap()
        .iter()
        .map(|case| case["memory"]["peak_bytes"].as_f64().expect("a peak"))
        .collect();
    assert!(peaks.is_sorted() && peaks[2] > peaks[0] * 1.05, "{peaks:?}");
    // The weights alone are 45 MB.
    assert!(peaks[0] > 40e6, "{peaks:?}");
    let host = &document["telemetry"]["devices"][0];
    assert_eq!(host["device"]["kind"], "host", "{host:#}");
    let quantities = &document["cases"][0]["devices"][0]["quantities"];
    assert!(
        quantities["busy_percent"]["max"].as_f64().unwrap() > 0.0,
        "{quantities:#}"
    );
    assert!(
        quantities["worker_memory_bytes"]["min"].as_f64().unwrap() > 40e6,
        "{quantities:#}"
    );
}

#[test]
fn telemetry_can_be_turned_off_and_makes_no_odd_rates() {
    let home = Home::new();
    let request = [
        "bench",
        "resnet18@cifar",
        "--batch",
        "1",
        "--preset",
        "quick",
        "--setup",
        "fake",
        "--json",
    ];
    let quiet = home
        .run(&[&request[..], &["--telemetry", "0"]].concat())
        .json();
    assert_eq!(
        quiet["telemetry"]["devices"].as_array().map(Vec::len),
        Some(0)
    );
    assert_eq!(
        quiet["cases"][0]["energy"]["unknown"],
        "no device was watched"
    );
    let odd = home.run(&[&request[..], &["--telemetry", "1000"]].concat());
    odd.fails_saying(&["--telemetry", "from 1 to 100"]);
    home.write("bare.ron", "no session");
    let replayed = home.run(&[&request[..], &["--replay", "bare.ron"]].concat());
    replayed.fails_saying(&["bare.ron"]);
}

#[test]
fn watching_prints_a_line_for_each_reading_or_a_table_of_them() {
    let home = Home::new();
    let watch = ["devices", "--watch", "--seconds", "1.2", "--rate", "20"];
    let table = home.run(&watch);
    assert_eq!(table.status, Some(0), "{table:#?}");
    let lines: Vec<&str> = table.out.lines().collect();
    assert!(
        lines[0].contains("Device") && lines[0].contains("Power"),
        "{table:#?}"
    );
    assert!(
        lines[1].contains("Host") && lines[1].contains('%'),
        "{table:#?}"
    );
    let documents = home.run(&[&watch[..], &["--json"]].concat()).out;
    let host = documents
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("a document a line"))
        .filter(|line| line["device"] == "host")
        .filter(|line| line["values"]["memory_used_bytes"].as_f64().is_some());
    assert!(host.count() >= 5, "{documents}");
}

#[test]
fn the_program_needs_no_library_of_a_vendor() {
    let program = fs::read(env!("CARGO_BIN_EXE_powerband")).expect("the program");
    let needed = needed_libraries(&program);
    assert!(
        needed.iter().any(|name| name.starts_with("libc.so")),
        "{needed:?}"
    );
    for vendor in ["rocm", "nvidia", "cuda", "hip", "hsa", "onnxruntime"] {
        assert!(
            !needed.iter().any(|name| name.contains(vendor)),
            "{needed:?}"
        );
    }
}

/// The libraries that the system loads before the program begins: `DT_NEEDED` of an ELF file of 64 bits.
fn needed_libraries(file: &[u8]) -> Vec<String> {
    const DYNAMIC: u32 = 6;
    const NEEDED: u64 = 1;
    let word = |at: usize| u64::from_le_bytes(file[at..at + 8].try_into().expect("eight bytes"));
    let half = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().expect("four bytes"));
    let short = |at: usize| u16::from_le_bytes(file[at..at + 2].try_into().expect("two bytes"));
    let (sections, size, count) = (word(0x28) as usize, short(0x3a) as usize, short(0x3c));
    let section = |index: usize| sections + index * size;
    let dynamic = (0..count as usize)
        .map(section)
        .find(|at| half(at + 4) == DYNAMIC)
        .expect("a dynamic section");
    let strings = word(section(half(dynamic + 0x28) as usize) + 0x18) as usize;
    let (start, length) = (word(dynamic + 0x18) as usize, word(dynamic + 0x20) as usize);
    (start..start + length)
        .step_by(16)
        .filter(|at| word(*at) == NEEDED)
        .map(|at| {
            let name = &file[strings + word(at + 8) as usize..];
            let end = name.iter().position(|byte| *byte == 0).expect("an end");
            String::from_utf8_lossy(&name[..end]).into_owned()
        })
        .collect()
}

#[test]
fn a_card_that_computes_is_waited_for() {
    let cards = FakeAmdCards::new(1);
    let home = Home::new();
    let words = ["bench", "resnet18@cifar", "--setup", "fake", "--batch", "1"];
    let wait = ["--wait-idle", "1s", "--spacing", "0s", "--rounds", "2"];
    let Some(mut command) = amd::command(&cards, &home, &[&words[..], &wait].concat()) else {
        return;
    };
    let run = ProgramRun::from_output(&command.output().expect("a program"));
    assert_eq!(run.status, Some(0), "{run:#?}");
    let said = run.err.lines().find(|line| line.contains("still use"));
    assert!(
        said.is_some_and(|line| line.contains("of GPU 0")),
        "{run:#?}"
    );
}
