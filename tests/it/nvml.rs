//! NVIDIA's cards, as a library tells of them that is built here and has no card.

use std::fs;
use std::process::Stdio;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use powerband_core::domain::telemetry::{DeviceKind, MissingSource, Quantity, Throttle};
use powerband_core::domain::telemetry_paths::TelemetryPaths;
use powerband_devices::nvml::Nvml;
use powerband_devices::source::{DeviceReader, TelemetrySource as _};
use tempfile::TempDir;

use crate::fake_nvml;

const GIB: f64 = (1_u64 << 30) as f64;

/// A machine with the library on it.
struct NvmlMachine {
    folder: TempDir,
    places: TelemetryPaths,
}

impl NvmlMachine {
    fn new(settings: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let nvml = Some(fake_nvml::put(folder.path(), settings));
        let places = TelemetryPaths {
            root: folder.path().join("root"),
            nvml,
            ..TelemetryPaths::default()
        };
        Self { folder, places }
    }

    /// Lets the machine's processes be those of a namespace.
    fn in_namespace(self, name: &str) -> Self {
        let folder = self.places.root.join("proc/self/ns");
        fs::create_dir_all(&folder).expect("a folder");
        std::os::unix::fs::symlink(name, folder.join("pid")).expect("a link");
        self
    }

    fn watch(&self) -> Box<dyn DeviceReader> {
        let opened = Nvml.open(&self.places);
        opened.unwrap_or_else(|missing| panic!("{missing:?} in {:?}", self.folder))
    }

    fn missing(&self) -> MissingSource {
        Nvml.open(&self.places).err().expect("nothing to watch")
    }
}

fn read(watch: &mut dyn DeviceReader, device: usize, worker: Option<u32>) -> Vec<(Quantity, f64)> {
    watch
        .read(device, worker.as_slice())
        .expect("the card is there")
}

fn value(values: &[(Quantity, f64)], quantity: Quantity) -> Option<f64> {
    let mut found = values.iter().filter(|(known, _)| *known == quantity);
    let value = found.next().map(|(_, value)| *value);
    assert_eq!(found.next(), None, "twice in {values:?}");
    value
}

/// All that is read at once; what travels over the bus comes later.
const AT_ONCE: [(Quantity, f64); 12] = [
    (Quantity::Busy, 63.0),
    (Quantity::MemoryBusy, 17.0),
    (Quantity::MemoryUsed, 5_368_709_120.0),
    (Quantity::WorkerMemory, 3.0 * GIB),
    (Quantity::Clock, 1_755.0),
    (Quantity::MemoryClock, 2_619.0),
    (Quantity::Power, 312.5),
    (Quantity::Temperature, 61.0),
    (Quantity::MemoryTemperature, 72.0),
    (Quantity::Throttle, 0.0),
    (Quantity::MemoryErrors, 2.0),
    (Quantity::OtherProcesses, 1.0),
];

#[test]
fn a_card_is_described() {
    let machine = NvmlMachine::new("gpus=2");
    let watch = machine.watch();
    let [first, second] = watch.devices() else {
        panic!("{:?}", watch.devices());
    };
    assert_eq!(
        [&first.id, &second.id],
        ["0000:65:00.0", "0000:66:00.0"],
        "as the kernel writes them"
    );
    assert_eq!([first.number, second.number], [0, 1]);
    assert_eq!(
        (first.source.as_str(), first.kind),
        ("nvml", DeviceKind::Nvidia)
    );
    assert_eq!(first.name, "Fake NVIDIA Card 80GB");
    assert_eq!(first.driver.as_deref(), Some("570.00.42"));
    assert_eq!(first.memory_bytes, Some(85_899_345_920));
    assert_eq!(first.max_clock_mhz, Some(1_980.0));
    assert_eq!(first.max_memory_clock_mhz, Some(2_619.0));
    assert_eq!(first.power_limit_w, Some(700.0));
    let settings = second.settings.iter();
    let settings: Vec<(&str, &str, Option<&str>)> = settings
        .map(|s| (s.name.as_str(), s.value.as_str(), s.command.as_deref()))
        .collect();
    assert_eq!(
        settings,
        [
            (
                "Power limit",
                "700 W of at most 700 W",
                Some("sudo nvidia-smi -i 1 -pl WATTS")
            ),
            (
                "Clocks",
                "no lock seen, up to 1980 MHz",
                Some("sudo nvidia-smi -i 1 -lgc MHZ,MHZ")
            ),
            ("Persistence mode", "on", Some("sudo nvidia-smi -i 1 -pm 1")),
            ("ECC mode", "on", Some("sudo nvidia-smi -i 1 -e 0")),
            ("MIG mode", "off", None),
            ("Compute mode", "any process may compute", None),
        ]
    );
}

#[test]
fn every_value_is_what_the_library_says() {
    let machine = NvmlMachine::new("gpus=2\npid=777");
    let mut watch = machine.watch();
    for device in 0..2 {
        let values = read(&mut *watch, device, Some(777));
        for (quantity, expected) in AT_ONCE {
            let busier = f64::from(quantity == Quantity::Busy) * device as f64;
            let found = value(&values, quantity);
            assert_eq!(found, Some(expected + busier), "{quantity:?}");
        }
        assert!(value(&values, Quantity::Energy).unwrap() >= 5_000.0);
        let quantities = values.iter().map(|(quantity, _)| quantity);
        assert!(quantities.clone().all(|q| *q != Quantity::HotSpot));
    }
}

#[test]
fn energy_grows_with_power() {
    let machine = NvmlMachine::new("");
    let mut watch = machine.watch();
    let mut energy = || {
        let before = Instant::now();
        let energy = value(&read(&mut *watch, 0, None), Quantity::Energy).unwrap();
        (energy, before, Instant::now())
    };
    let (first, earliest, early) = energy();
    thread::sleep(Duration::from_millis(200));
    let (second, late, latest) = energy();
    let joules = second - first;
    // The counter counts in thousandths.
    assert!(joules >= 312.5 * (late - early).as_secs_f64() - 0.002);
    assert!(joules <= 312.5 * (latest - earliest).as_secs_f64() + 0.002);
}

#[test]
fn what_is_costly_is_asked_rarely() {
    let machine = NvmlMachine::new("gpus=2\npid=777");
    let mut watch = machine.watch();
    let mut seen = Vec::new();
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_millis(1_900) {
        for device in 0..2 {
            let values = read(&mut *watch, device, Some(777));
            assert!(value(&values, Quantity::Power).is_some());
            seen.extend(values.into_iter().map(|(q, v)| (device, q, v)));
        }
        thread::sleep(Duration::from_millis(5));
    }
    for device in 0..2 {
        let of = |quantity| {
            let those = seen
                .iter()
                .filter(|(d, q, _)| (*d, *q) == (device, quantity));
            those.map(|(_, _, value)| *value).collect::<Vec<f64>>()
        };
        let received = of(Quantity::BusReceived);
        assert!((1..=2).contains(&received.len()), "{received:?}");
        assert_eq!(received[0], 12_000_000.0);
        let sent = of(Quantity::BusSent);
        assert!((1..=2).contains(&sent.len()), "{sent:?}");
        assert_eq!(sent[0], 3_400_000.0);
        assert!((5..=8).contains(&of(Quantity::OtherProcesses).len()));
        assert!((5..=8).contains(&of(Quantity::WorkerMemory).len()));
        assert_eq!(of(Quantity::MemoryErrors).len(), 1);
        assert!(of(Quantity::Power).len() > 20);
    }
}

#[test]
fn what_a_card_does_not_support_is_a_gap_and_the_others_come() {
    use Quantity as Q;
    let entries: [(&str, &[Q]); 11] = [
        ("nvmlDeviceGetUtilizationRates", &[Q::Busy, Q::MemoryBusy]),
        ("nvmlDeviceGetMemoryInfo_v2", &[Q::MemoryUsed]),
        ("nvmlDeviceGetClockInfo", &[Q::Clock, Q::MemoryClock]),
        (
            "nvmlDeviceGetComputeRunningProcesses_v3",
            &[Q::WorkerMemory, Q::OtherProcesses],
        ),
        ("nvmlDeviceGetTotalEnergyConsumption", &[Q::Energy]),
        ("nvmlDeviceGetTemperature", &[Q::Temperature]),
        ("nvmlDeviceGetCurrentClocksThrottleReasons", &[Q::Throttle]),
        ("nvmlDeviceGetTotalEccErrors", &[Q::MemoryErrors]),
        ("field:82", &[Q::MemoryTemperature]),
        ("field:186, nvmlDeviceGetPowerUsage", &[Q::Power]),
        (
            "nvmlDeviceGetFieldValues, nvmlDeviceGetPowerUsage",
            &[Q::Power, Q::MemoryTemperature],
        ),
    ];
    for (entry, gaps) in entries {
        let machine = NvmlMachine::new(&format!("pid=777\nnot_supported={entry}"));
        let mut watch = machine.watch();
        // The second time, it is not even asked.
        let first = read(&mut *watch, 0, Some(777));
        let second = read(&mut *watch, 0, Some(777));
        for (quantity, _) in AT_ONCE.iter().chain(&[(Q::Energy, 0.0)]) {
            let is_gap = value(&first, *quantity).is_none();
            assert_eq!(is_gap, gaps.contains(quantity), "{entry}: {quantity:?}");
        }
        for quantity in gaps {
            assert_eq!(value(&second, *quantity), None, "{entry}: {quantity:?}");
        }
    }
}

#[test]
fn a_card_that_tells_nothing_is_still_a_card() {
    let machine = NvmlMachine::new("not_supported=all-readings");
    let mut watch = machine.watch();
    assert_eq!(watch.devices()[0].max_clock_mhz, Some(1_980.0));
    assert_eq!(watch.devices()[0].memory_bytes, None);
    assert_eq!(read(&mut *watch, 0, None), []);
}

#[test]
fn what_is_not_supported_is_not_asked_again() {
    let entry = "nvmlDeviceGetTemperature";
    let machine = NvmlMachine::new(&format!(
        "not_supported={entry}\ndelay_entry={entry}\ndelay_ms=300"
    ));
    let mut watch = machine.watch();
    let mut time = || {
        let begun = Instant::now();
        read(&mut *watch, 0, None);
        begun.elapsed()
    };
    assert!(time() >= Duration::from_millis(300));
    assert!(time() < Duration::from_millis(300));
}

#[test]
fn without_the_power_of_this_moment_there_is_its_mean() {
    let machine = NvmlMachine::new("not_supported=field:186");
    let mut watch = machine.watch();
    for _ in 0..2 {
        let values = read(&mut *watch, 0, None);
        assert_eq!(value(&values, Quantity::Power), Some(305.0));
    }
}

#[test]
fn odd_values_are_handed_on_and_are_not_plausible() {
    for (entry, quantity) in [
        ("nvmlDeviceGetTemperature", Quantity::Temperature),
        ("nvmlDeviceGetUtilizationRates", Quantity::Busy),
        ("nvmlDeviceGetClockInfo", Quantity::Clock),
        ("nvmlDeviceGetMemoryInfo_v2", Quantity::MemoryUsed),
        ("field:186", Quantity::Power),
    ] {
        let machine = NvmlMachine::new(&format!("odd={entry}"));
        let values = read(&mut *machine.watch(), 0, None);
        let odd = value(&values, quantity).unwrap();
        assert!(!quantity.plausible().contains(&odd), "{entry}: {odd}");
    }
}

#[test]
fn a_lost_card_is_gone_and_the_other_goes_on() {
    let moment = tempfile::tempdir().expect("a temporary folder");
    let moment = moment.path().join("lost");
    let machine = NvmlMachine::new(&format!(
        "gpus=2\nlost_once={}\nlost_gpu=0",
        moment.display()
    ));
    let mut watch = machine.watch();
    assert!(read(&mut *watch, 0, None).len() > 5);
    fs::write(&moment, "").expect("a file");
    let gone = watch.read(0, &[]).unwrap_err();
    let words = "the driver says that the card is lost: it fell off the bus or was reset";
    assert_eq!(gone.to_string(), words);
    assert!(read(&mut *watch, 1, None).len() > 5);
    assert!(watch.read(2, &[]).is_err(), "no such card");
}

#[test]
fn a_card_that_was_lost_before_is_listed_and_gone() {
    let machine = NvmlMachine::new("gpus=2\nlost_once=/\nlost_gpu=1");
    let mut watch = machine.watch();
    let device = &watch.devices()[1];
    assert_eq!((device.number, device.id.as_str()), (1, "nvidia-1"));
    assert!(watch.read(1, &[]).is_err());
    assert!(read(&mut *watch, 0, None).len() > 5);
}

#[test]
fn reasons_for_throttling_are_named() {
    for (told, reasons) in [
        ("", &[][..]),
        ("idle, setting, display", &[]),
        ("power", &[Throttle::Power]),
        ("heat", &[Throttle::Heat]),
        ("hardware", &[Throttle::Hardware]),
        ("hot", &[Throttle::Hardware]),
        ("brake", &[Throttle::PowerBrake]),
        ("sync, idle", &[Throttle::Sync]),
        ("0x800", &[Throttle::Unnamed]),
        (
            "hardware, brake, power, 0x400",
            &[
                Throttle::Power,
                Throttle::Hardware,
                Throttle::PowerBrake,
                Throttle::Unnamed,
            ],
        ),
    ] {
        let machine = NvmlMachine::new(&format!("throttle={told}"));
        let values = read(&mut *machine.watch(), 0, None);
        let bits = value(&values, Quantity::Throttle).unwrap();
        let named: Vec<Throttle> = Throttle::reasons_in(bits).collect();
        assert_eq!(named, reasons, "{told}");
    }
}

#[test]
fn clocks_that_a_setting_holds_down_are_told() {
    let machine = NvmlMachine::new("throttle=setting");
    let watch = machine.watch();
    let settings = &watch.devices()[0].settings;
    let clocks = settings.iter().find(|s| s.name == "Clocks").unwrap();
    assert_eq!(clocks.value, "held down by a setting, of at most 1980 MHz");
}

#[test]
fn the_worker_is_found_among_the_processes() {
    let found = |settings: &str, namespace: &str, worker| {
        let machine = NvmlMachine::new(settings).in_namespace(namespace);
        let values = read(&mut *machine.watch(), 0, worker);
        let gib = value(&values, Quantity::WorkerMemory).map(|bytes| bytes / GIB);
        (gib, value(&values, Quantity::OtherProcesses))
    };
    let own = "pid:[4026531836]";
    assert_eq!(found("pid=777", own, Some(777)), (Some(3.0), Some(1.0)));
    assert_eq!(found("pid=777", own, Some(778)), (None, Some(2.0)));
    assert_eq!(found("pid=777", own, None), (None, Some(2.0)));
    assert_eq!(found("", own, None), (None, Some(1.0)));
    assert_eq!(found("drawing=778", own, Some(778)), (Some(2.0), Some(1.0)));
    let waits = "pid=777\nidle=4242";
    assert_eq!(found(waits, own, Some(777)), (Some(3.0), Some(0.0)));
    let unknown = "pid=777\nidle=4242\nnot_supported=nvmlDeviceGetProcessUtilization";
    assert_eq!(found(unknown, own, Some(777)), (Some(3.0), Some(1.0)));
    // In a container the driver's numbers may be other ones, and then nobody can be told apart.
    let other = "pid:[4026532999]";
    assert_eq!(found("pid=777", other, Some(777)), (Some(3.0), Some(1.0)));
    assert_eq!(found("pid=777", other, Some(778)), (None, None));
    assert_eq!(found("pid=777", other, None), (None, Some(2.0)));
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "the test is the user, who starts programs"
)]
fn processes_that_this_one_started_can_stand_for_workers() {
    let waiting = std::process::Command::new("cat")
        .stdin(Stdio::piped())
        .spawn();
    let mut child = waiting.unwrap();
    let machine = NvmlMachine::new("pid=children");
    let values = read(&mut *machine.watch(), 0, Some(child.id()));
    assert_eq!(value(&values, Quantity::WorkerMemory), Some(3.0 * GIB));
    drop(child.stdin.take());
    child.wait().unwrap();
}

#[test]
fn workers_that_wait_for_their_turn_are_no_others() {
    let machine = NvmlMachine::new("pid=777");
    let others = |workers: &[u32]| {
        let values = machine.watch().read(0, workers).expect("the card is there");
        value(&values, Quantity::OtherProcesses)
    };
    assert_eq!(others(&[777]), Some(1.0));
    assert_eq!(others(&[777, 4_242]), Some(0.0));
    assert_eq!(others(&[4_242, 777]), Some(0.0));
    // A program that a worker started.
    let folder = machine.places.root.join("proc/4242");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("status"), "Name:\tx\nPPid:\t777\n").unwrap();
    assert_eq!(others(&[777]), Some(0.0));
}

#[test]
fn a_library_can_keep_its_caller_waiting() {
    let machine = NvmlMachine::new("hang_after=0.5");
    let mut watch = machine.watch();
    thread::sleep(Duration::from_millis(600));
    let (answer, answers) = sync_channel(1);
    let reader = thread::Builder::new().name("reader".to_owned());
    let asks = move || {
        read(&mut *watch, 0, None);
        answer.send(()).expect("somebody listens");
    };
    reader.spawn(asks).unwrap();
    let waited = answers.recv_timeout(Duration::from_millis(300));
    assert_eq!(waited, Err(RecvTimeoutError::Timeout));
}

#[test]
fn without_a_library_it_is_said_what_would_help() {
    let mut machine = NvmlMachine::new("");
    let path = machine.folder.path().join("nowhere/libnvidia-ml.so.1");
    machine.places.nvml = Some(path.clone());
    let missing = machine.missing();
    assert_eq!(missing.source, "NVML");
    let path = path.display().to_string();
    assert_eq!(missing.why.matches(&path).count(), 1, "{missing:?}");
    assert!(missing.why.contains("No such file"), "{missing:?}");
    assert!(missing.remedy.contains("POWERBAND_NVML"), "{missing:?}");
}

#[test]
fn a_library_that_is_another_one_is_not_taken() {
    let mut machine = NvmlMachine::new("");
    let text = machine.folder.path().join("text");
    fs::write(&text, "no library").unwrap();
    machine.places.nvml = Some(text);
    assert!(machine.missing().why.contains("cannot be loaded"));
    machine.places.nvml = Some("libc.so.6".into());
    assert!(machine.missing().why.contains("not NVIDIA's library"));
}

#[test]
fn a_library_that_does_not_start_says_why() {
    for (settings, why, remedy) in [
        ("init=9", "driver is not loaded", "modprobe"),
        ("init=4", "may not talk", "/dev/nvidia"),
        ("init=18", "different versions", "Restart"),
        ("init=999", "does not start", "nvidia-smi"),
        ("gpus=0", "knows of no card", "nvidia-smi -L"),
        ("lost_once=/", "fell off the bus", "nvidia-smi"),
    ] {
        let missing = NvmlMachine::new(settings).missing();
        assert!(missing.why.contains(why), "{settings}: {missing:?}");
        assert!(missing.remedy.contains(remedy), "{settings}: {missing:?}");
    }
}

#[test]
fn a_reading_takes_little_time() {
    let machine = NvmlMachine::new("gpus=2\npid=777");
    let mut watch = machine.watch();
    let mut times: Vec<Duration> = (0..2_000)
        .map(|turn| {
            let begun = Instant::now();
            read(&mut *watch, turn % 2, Some(777));
            begun.elapsed()
        })
        .collect();
    times.sort_unstable();
    let median = times[times.len() / 2];
    // What the fake takes is next to nothing, so that this is what our side takes.
    assert!(median < Duration::from_millis(1), "{median:?}");
}
