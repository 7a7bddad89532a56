//! The published peak of a setup's devices, and the share of it that a case reached.

use std::sync::LazyLock;

use super::device_readings;
use powerband_core::domain::session::Session;
use powerband_core::domain::setup::Setup;

/// Cards with what is published of them.
const BUILT_IN: &str = include_str!("../../../../assets/devices.txt");

static DEVICES: LazyLock<Vec<CardPeaks>> = LazyLock::new(|| {
    let lines = BUILT_IN.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(CardPeaks::of_line).collect()
});

/// A multiplication and an addition.
const OPERATIONS_A_MAC: f64 = 2.0;
const TERA: f64 = 1e12;
const GIGA: f64 = 1e9;

/// A card, in units of 10^12 operations a second.
#[derive(Debug)]
struct CardPeaks {
    /// All of them occur in its driver's name for it.
    words: Vec<&'static str>,
    float32: f64,
    float16: Option<f64>,
    int8: Option<f64>,
    /// In units of 10^9 bytes a second.
    memory: f64,
    title: &'static str,
    source: &'static str,
}

impl CardPeaks {
    /// `words | float32 | float16 | int8 | memory | card | source`.
    fn of_line(line: &'static str) -> Option<Self> {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let [words, float32, float16, int8, memory, title, source] = cells[..] else {
            return None;
        };
        Some(Self {
            words: words.split_whitespace().collect(),
            float32: float32.parse().ok()?,
            float16: float16.parse().ok(),
            int8: int8.parse().ok(),
            memory: memory.parse().ok()?,
            title,
            source,
        })
    }
}

/// Numbers that a network computes with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PeakPrecision {
    Float32,
    Float16,
    Int8,
}

impl PeakPrecision {
    /// Those of a setup. A file whose own weights are smaller than 32 bits is not recognised.
    fn from_setup(setup: &Setup) -> Self {
        let option = |key: &str| setup.options.get(key).map_or("", String::as_str);
        let mode = option("mode");
        match option("precision") {
            "int8" => Self::Int8,
            "fp16" => Self::Float16,
            _ if mode.contains("fp16") || mode.contains("bf16") => Self::Float16,
            _ => Self::Float32,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Float32 => "32-bit floats",
            Self::Float16 => "16-bit floats",
            Self::Int8 => "bytes",
        }
    }
}

/// The most that a setup's devices can do together.
#[derive(Clone, Debug, PartialEq)]
pub struct Peak {
    /// Operations a second.
    pub per_s: f64,
    /// The devices, the precision and the source.
    pub description: String,
}

/// The peak of a setup, or why none is known.
pub fn peak_of_setup(session: &Session, setup: usize) -> Result<Peak, String> {
    let spec = session.plan.setups.get(setup);
    let spec = spec.ok_or("there is no such setup")?;
    if spec.options.get("task").is_some_and(|task| task == "train") {
        return Err("the operations of a training step are not counted".to_owned());
    }
    let tracks = device_readings::devices_of_setup(session, setup).into_iter();
    let names: Vec<&str> = tracks
        .filter_map(|track| session.telemetry.tracks.get(track))
        .filter(|track| track.device.kind.is_gpu())
        .map(|track| track.device.name.as_str())
        .collect();
    let Some(first) = names.first() else {
        return Err("it ran on no card that was read, and no peaks of processors are known".into());
    };
    if names.iter().any(|name| name != first) {
        return Err("it ran on cards of different kinds".to_owned());
    }
    let device = find(first).ok_or_else(|| format!("no peak is known of {first}"))?;
    let numbers = PeakPrecision::from_setup(spec);
    let one = match numbers {
        PeakPrecision::Float32 => Some(device.float32),
        PeakPrecision::Float16 => device.float16,
        PeakPrecision::Int8 => device.int8,
    };
    let (name, title) = (numbers.name(), device.title);
    let one = one.ok_or_else(|| format!("no peak of {title} for {name} is published"))?;
    let cards = match names.len() {
        1 => title.to_owned(),
        more => format!("{more} × {title}"),
    };
    let per_s = one * TERA * names.len() as f64;
    Ok(Peak {
        per_s,
        description: format!(
            "{}/s of {cards} for {name} ({})",
            operations(per_s),
            device.source
        ),
    })
}

/// What a card's maker publishes of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PublishedPeaks {
    pub title: &'static str,
    /// Where it is published.
    pub source: &'static str,
    /// Operations a second for 32-bit floats.
    pub float32_per_s: f64,
    /// The same for 16-bit floats of either kind.
    pub float16_per_s: Option<f64>,
    /// The same for bytes.
    pub int8_per_s: Option<f64>,
    /// Bytes a second of its memory.
    pub bytes_per_s: f64,
}

/// What is published of the card that a driver or a profiler calls so.
pub fn published_peaks(name: &str) -> Option<PublishedPeaks> {
    let device = find(name)?;
    let tera = |number: f64| number * TERA;
    Some(PublishedPeaks {
        title: device.title,
        source: device.source,
        float32_per_s: device.float32 * TERA,
        float16_per_s: device.float16.map(tera),
        int8_per_s: device.int8.map(tera),
        bytes_per_s: device.memory * GIGA,
    })
}

/// What share of the peak so many items a second are; nothing where the peak or the work is not known.
pub fn share_of_peak(session: &Session, setup: usize, items_per_s: f64) -> Option<f64> {
    let macs = session.model_of(setup).macs?;
    let peak = peak_of_setup(session, setup).ok()?;
    Some(macs as f64 * OPERATIONS_A_MAC * items_per_s / peak.per_s)
}

fn operations(number: f64) -> String {
    format!("{:.1} TFLOP", number / TERA)
}

/// The first card whose words all occur in a name, each as a word of its own.
fn find(name: &str) -> Option<&'static CardPeaks> {
    let words: Vec<String> = name
        .split(|letter: char| !letter.is_ascii_alphanumeric())
        .map(str::to_uppercase)
        .collect();
    DEVICES.iter().find(|device| {
        let wanted = device.words.iter();
        wanted
            .map(|word| word.to_uppercase())
            .all(|word| words.contains(&word))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::case_rows;
    use crate::analysis::testing::{measure_near, session};
    use powerband_core::domain::telemetry::{DeviceKind, DeviceTelemetry, WatchedDevice};

    fn on(names: &[(DeviceKind, &str)], setup: &str) -> Session {
        let mut session = session(&[setup], &[8]);
        session.model.macs = Some(4_000_000_000);
        session.telemetry.tracks = names
            .iter()
            .enumerate()
            .map(|(number, (kind, name))| {
                let address = number.to_string();
                DeviceTelemetry::new(WatchedDevice::new("nvml", *kind, number, &address, name))
            })
            .collect();
        session
    }

    fn peak(name: &str, setup: &str) -> Result<f64, String> {
        let kind = if setup.contains("rocm") {
            DeviceKind::Amd
        } else {
            DeviceKind::Nvidia
        };
        peak_of_setup(&on(&[(kind, name)], setup), 0).map(|peak| peak.per_s / TERA)
    }

    #[test]
    fn names_of_drivers_find_their_cards() {
        let lines = BUILT_IN.lines().filter(|line| !line.starts_with('#'));
        assert_eq!(DEVICES.len(), lines.count(), "every line is understood");
        for (name, float32) in [
            ("NVIDIA A100-SXM4-80GB", 156.0),
            ("NVIDIA A10", 62.5),
            ("Tesla V100-SXM2-16GB", 15.7),
            ("Tesla V100-PCIE-32GB", 14.0),
            ("NVIDIA H100 80GB HBM3", 494.5),
            ("NVIDIA H100 PCIe", 378.0),
            ("NVIDIA H200", 494.5),
            ("NVIDIA H200 NVL", 417.5),
        ] {
            assert_eq!(peak(name, "ort:cuda:0"), Ok(float32), "{name}");
        }
        let unknown = peak("NVIDIA A1000", "ort:cuda:0").unwrap_err();
        assert!(unknown.contains("A1000"), "{unknown}");
        assert_eq!(peak("AMD Instinct MI250X / MI250", "ort:rocm:0"), Ok(47.9));
        let card = published_peaks("NVIDIA A100-SXM4-80GB").unwrap();
        assert_eq!((card.title, card.bytes_per_s), ("A100", 2039.0 * GIGA));
        assert_eq!(published_peaks("GeForce"), None);
    }

    #[test]
    fn smaller_numbers_have_peaks_of_their_own() {
        let on = |setup| peak("AMD INSTINCT MI250 (simulated)", setup);
        assert_eq!(on("ort:rocm:0"), Ok(45.3));
        assert_eq!(on("ort:rocm:0,precision=fp16"), Ok(181.0));
        assert_eq!(on("torch:rocm:0,mode=amp-bf16+channels-last"), Ok(181.0));
        assert_eq!(on("ort:rocm:0,precision=int8"), Ok(181.0));
        assert!(
            on("torch:rocm:0,task=train")
                .unwrap_err()
                .contains("training")
        );
        assert!(on("ort:cpu").unwrap_err().contains("no card"));
        let none = peak("Tesla V100-SXM2-16GB", "ort:cuda:0,precision=int8");
        assert!(none.unwrap_err().contains("bytes"));
    }

    #[test]
    fn a_case_is_a_share_of_it() {
        let cards = [(DeviceKind::Nvidia, "Tesla T4"); 2];
        let mut session = on(&cards, "ort:cuda:0");
        // 8 items in 16 ms are 500 a second; of 8 GFLOP each they are 4 of 8.1 TFLOP/s.
        measure_near(&mut session, 0, 8, 16_000);
        let share = case_rows::case_rows(&session)[0].of_peak.unwrap();
        assert!((share - 4.0 / 8.1).abs() < 1e-4, "{share}");
        session.plan.setups[0] = "ort:cuda:0,copies=2,devices=0+1".parse().unwrap();
        let both = peak_of_setup(&session, 0).unwrap();
        assert_eq!(both.per_s, 16.2 * TERA);
        assert_eq!(
            both.description,
            "16.2 TFLOP/s of 2 × Tesla T4 for 32-bit floats (NVIDIA, T4 data sheet)"
        );
        session.model.macs = None;
        assert_eq!(case_rows::case_rows(&session)[0].of_peak, None);
    }
}
