//! What the devices of a machine that nobody has say while the made sessions are measured.

use powerband_core::domain::case::Case;
use powerband_core::domain::telemetry::{
    DeviceKind, DeviceReading, MissingSource, Quantity, Setting, Telemetry, TimeSpan, WatchedDevice,
};

use super::data::DataRng;

/// Readings of a session at most.
const MOST: f64 = 3_000.0;

/// The machine, its energy meter, and a card that idles.
fn devices() -> Vec<WatchedDevice> {
    let cpu = "AMD Ryzen 7 7840U w/ Radeon 780M Graphics";
    let mut host = WatchedDevice::new("host", DeviceKind::Host, 0, "host", cpu);
    host.memory_bytes = Some(33_500_000_000);
    host.max_clock_mhz = Some(5_132.0);
    host.settings.push(Setting {
        name: "Clock governor".to_owned(),
        value: "performance".to_owned(),
        command: Some("sudo cpupower frequency-set --governor performance".to_owned()),
    });
    let package = WatchedDevice::new(
        "rapl",
        DeviceKind::Package,
        0,
        "intel-rapl:0",
        "CPU package 0",
    );
    let name = "AMD Radeon 780M Graphics";
    let mut card = WatchedDevice::new("amdgpu", DeviceKind::Amd, 0, "0000:c1:00.0", name);
    card.memory_bytes = Some(4 << 30);
    card.max_clock_mhz = Some(2_700.0);
    vec![host, package, card]
}

/// The devices, and who tells of none.
pub(super) fn found() -> (Vec<WatchedDevice>, Vec<MissingSource>) {
    (devices(), vec![missing()])
}

fn missing() -> MissingSource {
    MissingSource {
        source: "NVML".to_owned(),
        why: "libnvidia-ml.so.1 was not found".to_owned(),
        remedy: "install the NVIDIA driver, which brings it".to_owned(),
    }
}

/// What they say of these cases until a moment.
pub(super) fn watched(cases: &[Case], end_ns: u64) -> Telemetry {
    let mut telemetry = Telemetry::default();
    let seconds = end_ns as f64 / 1e9;
    let rate_hz = (MOST / seconds).min(10.0);
    telemetry.watch(0, rate_hz, devices(), vec![missing()]);
    telemetry.idle.push(TimeSpan {
        from_ns: 100_000_000,
        to_ns: 2_100_000_000,
    });
    let rounds = cases.iter().flat_map(|case| case.rounds.iter());
    let spans: Vec<(u64, u64)> = rounds
        .map(|round| (round.started_ns, round.started_ns + round.spent_ns))
        .collect();
    let mut dice = DataRng(7);
    let mut heat = 41.0;
    let mut readings = Vec::new();
    for index in 0..(seconds * rate_hz) as u64 {
        let at_ns = (index as f64 / rate_hz * 1e9) as u64;
        let is_busy = spans.iter().any(|(from, to)| (*from..*to).contains(&at_ns));
        let load = if is_busy { 52.0 } else { 6.0 } + 3.0 * dice.normal();
        heat += 0.02 * (38.0 + 0.8 * load - heat);
        let busy = (Quantity::Busy, load.clamp(0.0, 100.0));
        let mut host = vec![
            busy,
            (Quantity::MemoryUsed, 9.4e9),
            (Quantity::WorkerMemory, 6.2e8 + 1e6 * (index % 40) as f64),
            (Quantity::Temperature, heat),
            (Quantity::Clock, 3_900.0 + 60.0 * dice.normal()),
        ];
        host.extend((0..16).map(|core| {
            let of_core = if core % 2 == 0 {
                1.7 * load
            } else {
                0.3 * load
            };
            (Quantity::Core(core), of_core.clamp(0.0, 100.0).round())
        }));
        let package = vec![(Quantity::Power, 7.0 + 0.62 * load)];
        let card = vec![
            (
                Quantity::Busy,
                (2.0 + dice.normal()).clamp(0.0, 100.0).round(),
            ),
            (Quantity::MemoryUsed, 6.3e8),
            (Quantity::Power, 4.0 + 0.3 * dice.unit()),
            (Quantity::Clock, 800.0),
            (Quantity::Temperature, heat - 4.0),
        ];
        for (device, values) in [host, package, card].into_iter().enumerate() {
            readings.push(DeviceReading {
                device,
                at_ns,
                values,
            });
        }
    }
    telemetry.take(&readings);
    telemetry
}
