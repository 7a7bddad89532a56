//! The lines that work is measured against: published peaks, measured roofs, and what the engine reaches.

use powerband_core::base::humanize;
use powerband_core::domain::roofs::{Access, ComputeRoof, EngineRoof, Level, MemoryRoof, Roofs};
use powerband_core::domain::work::Numbers;

/// Roofs that spread over more than this share of their figure are no measure.
pub const MOST_SPREAD: f64 = 0.05;

/// Where a line comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LineKind {
    /// The maker's data sheet.
    Published,
    /// Measured on this device by code of our own.
    Measured,
    /// Reached by this engine.
    Engine,
}

impl LineKind {
    /// What it is called.
    pub fn title(self) -> &'static str {
        match self {
            Self::Published => "published",
            Self::Measured => "measured",
            Self::Engine => "the engine's best",
        }
    }
}

/// What a line counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LineUnit {
    /// Operations a second.
    OperationsPerS,
    /// Bytes a second.
    BytesPerS,
}

/// A line that work is measured against.
#[derive(Clone, Debug, PartialEq)]
pub struct RoofLine {
    /// Where it comes from.
    pub kind: LineKind,
    /// What it counts.
    pub unit: LineUnit,
    /// What it is, with what it was measured with: `f32 product of ONNX Runtime, 2 threads`.
    pub title: String,
    /// Its height.
    pub per_s: f64,
    /// How far the repetitions lie apart, as a share; nothing for what is published.
    pub spread: Option<f64>,
    /// What is computed with; nothing for bytes.
    pub numbers: Option<Numbers>,
}

impl RoofLine {
    /// Whether its repetitions lie too far apart for it to be a measure.
    pub fn is_noisy(&self) -> bool {
        self.spread.is_some_and(|spread| spread > MOST_SPREAD)
    }

    /// Its height with its unit.
    pub fn height(&self) -> String {
        match self.unit {
            LineUnit::OperationsPerS => operations_per_s(self.per_s),
            LineUnit::BytesPerS => bytes_per_s(self.per_s),
        }
    }

    fn of_compute(roof: &ComputeRoof) -> Self {
        Self {
            kind: LineKind::Measured,
            unit: LineUnit::OperationsPerS,
            title: format!("measured {} peak{}", roof.numbers, with(roof.threads)),
            per_s: roof.per_s.value,
            spread: Some(roof.per_s.spread()),
            numbers: Some(roof.numbers),
        }
    }

    fn of_memory(roof: &MemoryRoof) -> Self {
        Self {
            kind: LineKind::Measured,
            unit: LineUnit::BytesPerS,
            title: format!(
                "measured {} of {}{}",
                roof.access,
                roof.level,
                with(roof.threads)
            ),
            per_s: roof.per_s.value,
            spread: Some(roof.per_s.spread()),
            numbers: None,
        }
    }

    fn of_engine(roof: &EngineRoof) -> Option<Self> {
        let product = roof.product_per_s?;
        Some(Self {
            kind: LineKind::Engine,
            unit: LineUnit::OperationsPerS,
            title: format!(
                "best {} product of {}{}",
                roof.numbers,
                roof.version,
                with(roof.threads)
            ),
            per_s: product.value,
            spread: Some(product.spread()),
            numbers: Some(roof.numbers),
        })
    }
}

/// Threads in words; nothing for a card.
fn with(threads: usize) -> String {
    match threads {
        0 => String::new(),
        threads => format!(", {}", humanize::of_many(threads as u64, "thread")),
    }
}

/// Operations a second as they are shown.
pub fn operations_per_s(per_s: f64) -> String {
    let (value, unit) = scaled(per_s, ["OP/s", "kOP/s", "MOP/s", "GOP/s", "TOP/s"]);
    format!("{} {unit}", humanize::value(value))
}

/// Bytes a second as they are shown, in powers of ten as data sheets have them.
pub fn bytes_per_s(per_s: f64) -> String {
    let (value, unit) = scaled(per_s, ["B/s", "kB/s", "MB/s", "GB/s", "TB/s"]);
    format!("{} {unit}", humanize::value(value))
}

fn scaled(value: f64, units: [&'static str; 5]) -> (f64, &'static str) {
    let mut scaled = value;
    let mut found = units[0];
    for unit in units.into_iter().skip(1) {
        if scaled < 1000.0 {
            break;
        }
        scaled /= 1000.0;
        found = unit;
    }
    (scaled, found)
}

/// What a case's nodes are measured against: the roofs of its device, for its threads and its engine.
#[derive(Clone, Copy, Debug)]
pub struct References<'a> {
    roofs: &'a Roofs,
    engine: &'a str,
    /// 0 for a card.
    threads: usize,
}

impl<'a> References<'a> {
    /// The roofs of a device, for an engine with so many threads.
    pub fn new(roofs: &'a Roofs, engine: &'a str, threads: usize) -> Self {
        Self {
            roofs,
            engine,
            threads,
        }
    }

    /// The line that arithmetic is measured against: what the engine reaches, else what was measured.
    pub fn compute(&self, numbers: Numbers) -> Option<RoofLine> {
        let engine = self.roofs.engine_at(self.engine, numbers, self.threads);
        engine
            .and_then(RoofLine::of_engine)
            .or_else(|| self.peak(numbers))
    }

    /// The measured peak of the device.
    pub fn peak(&self, numbers: Numbers) -> Option<RoofLine> {
        let roof = self.roofs.compute_at(numbers, self.threads);
        roof.map(RoofLine::of_compute)
    }

    /// The line that bytes are measured against: the fastest of the smallest level that holds so many.
    pub fn memory(&self, footprint: u64) -> Option<RoofLine> {
        [Level::L2, Level::L3, Level::Memory]
            .into_iter()
            .find_map(|level| {
                let roof = self.fastest(level)?;
                let holds = level == Level::Memory || footprint <= roof.working_set_bytes;
                holds.then(|| RoofLine::of_memory(roof))
            })
    }

    /// The lines of each level that was measured.
    pub fn levels(&self) -> impl Iterator<Item = RoofLine> + '_ {
        [Level::Memory, Level::L3, Level::L2]
            .into_iter()
            .filter_map(|level| self.fastest(level).map(RoofLine::of_memory))
    }

    fn fastest(&self, level: Level) -> Option<&'a MemoryRoof> {
        [Access::Copy, Access::Read]
            .into_iter()
            .filter_map(|access| self.roofs.memory_at(level, access, self.threads))
            .max_by(|a, b| a.per_s.value.total_cmp(&b.per_s.value))
    }

    /// What one more node costs that does nothing, in nanoseconds.
    pub fn launch_ns(&self) -> Option<f64> {
        let own = self
            .roofs
            .engines
            .iter()
            .filter(|roof| roof.engine == self.engine);
        let at = own.min_by_key(|roof| roof.threads.abs_diff(self.threads))?;
        at.launch_ns.map(|launch| launch.value)
    }

    /// Every line that is known for some kinds of numbers.
    pub fn all(&self, numbers: &[Numbers]) -> Vec<RoofLine> {
        let of_numbers = numbers.iter().flat_map(|&numbers| {
            let engine = self.roofs.engine_at(self.engine, numbers, self.threads);
            [self.peak(numbers), engine.and_then(RoofLine::of_engine)]
        });
        of_numbers.flatten().chain(self.levels()).collect()
    }
}
