//! The lines that work is measured against: published peaks, measured roofs, and what the engine reaches.

use powerband_core::base::humanize;
use powerband_core::domain::roofs::{Access, ComputeRoof, EngineRoof, Level, MemoryRoof, Roofs};
use powerband_core::domain::setup::Setup;
use powerband_core::domain::work::NumberFormat;
use serde::{Serialize, Serializer};

use crate::analysis::peak::PublishedPeaks;

/// Roofs that spread over more than this share of their figure are no measure.
pub const MOST_SPREAD: f64 = powerband_core::domain::roofs::NOISY;

/// Where a line comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LineKind {
    /// The maker's data sheet.
    Published,
    /// Measured on this device by code of our own.
    Measured,
    /// Reached by this engine.
    Engine,
}

impl LineKind {
    pub fn title(self) -> &'static str {
        match self {
            Self::Published => "published",
            Self::Measured => "measured",
            Self::Engine => "the engine's best",
        }
    }
}

/// What a line counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub enum LineUnit {
    /// Operations a second.
    #[serde(rename = "operations/s")]
    OperationsPerS,
    /// Bytes a second.
    #[serde(rename = "bytes/s")]
    BytesPerS,
}

/// A line that work is measured against.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RoofLine {
    /// Where it comes from.
    pub kind: LineKind,
    /// What it counts.
    pub unit: LineUnit,
    /// What it is, with what it was measured with: `fp32 GEMM of ONNX Runtime, 2 threads`.
    pub title: String,
    /// Height, in units a second.
    pub per_s: f64,
    /// How far the repetitions lie apart, as a share; nothing for what is published.
    pub spread: Option<f64>,
    /// What is computed with; nothing for bytes.
    #[serde(serialize_with = "numbers_name")]
    pub numbers: Option<NumberFormat>,
}

#[expect(clippy::ref_option, reason = "serde hands it over so")]
fn numbers_name<S: Serializer>(numbers: &Option<NumberFormat>, to: S) -> Result<S::Ok, S::Error> {
    numbers.map(NumberFormat::name).serialize(to)
}

impl RoofLine {
    /// How long so many operations or bytes take at its height, in nanoseconds.
    pub fn ns_of(&self, amount: u64) -> f64 {
        1e9 * amount as f64 / self.per_s
    }

    /// Whether its repetitions lie too far apart for it to be a measure.
    pub fn is_noisy(&self) -> bool {
        self.spread.is_some_and(|spread| spread > MOST_SPREAD)
    }

    /// Its height with its unit.
    pub fn height(&self) -> String {
        match self.unit {
            LineUnit::OperationsPerS => {
                let numbers = self.numbers.unwrap_or(NumberFormat::F32);
                numbers.rate_text(self.per_s)
            }
            LineUnit::BytesPerS => bytes_per_s(self.per_s),
        }
    }

    /// Its name with its height, as nodes name the line that they are held against.
    pub fn name(&self) -> String {
        format!("{} ({})", self.title, self.height())
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

    fn of_published_compute(card: &PublishedPeaks, numbers: NumberFormat) -> Option<Self> {
        let per_s = match numbers {
            NumberFormat::F32 => Some(card.float32_per_s),
            NumberFormat::F16 | NumberFormat::Bf16 => card.float16_per_s,
            NumberFormat::Int8 => card.int8_per_s,
            NumberFormat::F64 => None,
        }?;
        Some(Self {
            kind: LineKind::Published,
            unit: LineUnit::OperationsPerS,
            title: format!(
                "published {numbers} peak of {} ({})",
                card.title, card.source
            ),
            per_s,
            spread: None,
            numbers: Some(numbers),
        })
    }

    fn of_published_memory(card: &PublishedPeaks) -> Self {
        // What follows the document is how its peaks are counted, which is no matter of bandwidth.
        let source = card.source.split(", halved").next().unwrap_or_default();
        Self {
            kind: LineKind::Published,
            unit: LineUnit::BytesPerS,
            title: format!("published bandwidth of {} ({source})", card.title),
            per_s: card.bytes_per_s,
            spread: None,
            numbers: None,
        }
    }

    fn of_engine_copy(roof: &EngineRoof) -> Option<Self> {
        let copy = roof.copy_per_s?;
        Some(Self {
            kind: LineKind::Engine,
            unit: LineUnit::BytesPerS,
            title: format!("best copy of {}{}", roof.version, with(roof.threads)),
            per_s: copy.value,
            spread: Some(copy.spread()),
            numbers: None,
        })
    }

    fn of_engine(roof: &EngineRoof) -> Option<Self> {
        let product = roof.product_per_s?;
        Some(Self {
            kind: LineKind::Engine,
            unit: LineUnit::OperationsPerS,
            title: format!(
                "best {} GEMM of {}{}",
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
        threads => format!(", {}", humanize::pluralised(threads as u64, "thread")),
    }
}

/// Bytes a second as they are shown, in powers of ten as data sheets have them.
pub fn bytes_per_s(per_s: f64) -> String {
    humanize::with_prefix(per_s, "B/s")
}

/// The name of a line without what raised it.
pub fn without_raise(line: &str) -> &str {
    line.split(", raised to").next().unwrap_or(line)
}

/// What one more node costs that does nothing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LaunchCost {
    /// In nanoseconds.
    pub ns: f64,
    /// How far the repetitions lie apart, as a share.
    pub spread: f64,
}

/// What a case's nodes are measured against: the roofs of its device, for its threads and its engine; where a
/// card was not measured, what is published of it.
#[derive(Clone, Copy, Debug)]
pub struct References<'a> {
    roofs: Option<&'a Roofs>,
    published: Option<PublishedPeaks>,
    setup: Option<&'a Setup>,
    /// 0 for a card.
    threads: usize,
}

impl<'a> References<'a> {
    /// The roofs of a device, for the engine of a setup with so many threads; 0 for a card.
    pub fn new(roofs: &'a Roofs, setup: Option<&'a Setup>, threads: usize) -> Self {
        Self {
            roofs: Some(roofs),
            published: None,
            setup,
            threads,
        }
    }

    /// What is published of a card.
    pub fn published(card: PublishedPeaks) -> Self {
        Self {
            roofs: None,
            published: Some(card),
            setup: None,
            threads: 0,
        }
    }

    /// The same, with what is published of the card where something was not measured.
    #[must_use]
    pub fn or_published(self, card: Option<PublishedPeaks>) -> Self {
        Self {
            published: card,
            ..self
        }
    }

    /// The threads that it is for; 0 for a card.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// The same for another setup, with so many threads.
    #[must_use]
    pub fn with_setup(self, setup: &'a Setup, threads: usize) -> Self {
        Self {
            setup: Some(setup),
            threads,
            ..self
        }
    }

    /// The line that arithmetic is measured against: what the engine reaches, else what was measured, else what
    /// is published. A line whose repetitions lie too far apart gives way to one below it that is quiet.
    pub fn compute(&self, numbers: NumberFormat) -> Option<RoofLine> {
        let engine = self.engine(numbers).and_then(RoofLine::of_engine);
        let found = [engine, self.peak(numbers), self.published_peak(numbers)];
        quietest_first(found.into_iter().flatten())
    }

    /// The measured peak of the device.
    pub fn peak(&self, numbers: NumberFormat) -> Option<RoofLine> {
        let roof = self.roofs?.compute_at(numbers, self.threads);
        roof.as_ref().map(RoofLine::of_compute)
    }

    /// What is published of the card.
    pub(super) fn published_peak(&self, numbers: NumberFormat) -> Option<RoofLine> {
        RoofLine::of_published_compute(self.published.as_ref()?, numbers)
    }

    /// What the setup's engine reaches with these numbers.
    fn engine(&self, numbers: NumberFormat) -> Option<&'a EngineRoof> {
        let (roofs, setup) = (self.roofs?, self.setup?);
        let own = roofs.engine_for(setup, Some(self.threads))?;
        if own.numbers == numbers {
            return Some(own);
        }
        roofs.engine_at(&setup.engine, numbers, own.threads)
    }

    /// The line that bytes are measured against: the fastest of the smallest level that holds so many.
    pub fn memory(&self, footprint: u64) -> Option<RoofLine> {
        let measured = [Level::L2, Level::L3, Level::Memory]
            .into_iter()
            .find_map(|level| {
                let holds = |roof: &MemoryRoof| {
                    level == Level::Memory || footprint <= roof.working_set_bytes
                };
                self.at_level(level, &holds)
            });
        measured.or_else(|| self.published.as_ref().map(RoofLine::of_published_memory))
    }

    /// Whether so many bytes fit into a cache that was measured.
    pub fn is_cached(&self, footprint: u64) -> bool {
        let caches = [Level::L2, Level::L3].into_iter();
        let holds = |roof: &MemoryRoof| footprint <= roof.working_set_bytes;
        caches
            .into_iter()
            .any(|level| self.at_level(level, &holds).is_some())
    }

    /// Bytes a second of memory with so many threads, read or copied, whichever is more.
    pub fn memory_per_s(&self, threads: usize) -> Option<f64> {
        let roofs = self.roofs?;
        let found = [Access::Copy, Access::Read]
            .into_iter()
            .filter_map(|access| roofs.memory_at(Level::Memory, access, threads));
        found.map(|roof| roof.per_s.value).reduce(f64::max)
    }

    /// Bytes a second that the engine copies with so many threads.
    pub fn engine_copy_per_s(&self, threads: usize) -> Option<f64> {
        let (roofs, setup) = (self.roofs?, self.setup?);
        let roof = roofs.engine_at(&setup.engine, NumberFormat::F32, threads)?;
        Some(roof.copy_per_s?.value)
    }

    /// The lines of each level that was measured.
    pub fn levels(&self) -> impl Iterator<Item = RoofLine> + '_ {
        [Level::Memory, Level::L3, Level::L2]
            .into_iter()
            .filter_map(|level| self.at_level(level, &|_| true))
    }

    /// The fastest of a level, a quiet one before a noisy one.
    fn at_level(&self, level: Level, holds: &dyn Fn(&MemoryRoof) -> bool) -> Option<RoofLine> {
        let roofs = self.roofs?;
        let measured = [Access::Copy, Access::Read]
            .into_iter()
            .filter_map(|access| roofs.memory_at(level, access, self.threads))
            .filter(|roof| holds(roof))
            .map(|roof| RoofLine::of_memory(&roof));
        let copy = || {
            let own = roofs.engine_for(self.setup?, Some(self.threads))?;
            RoofLine::of_engine_copy(own)
        };
        let copy = (level == Level::Memory).then(copy).flatten();
        let mut found: Vec<RoofLine> = measured.chain(copy).collect();
        found.sort_by(|a, b| b.per_s.total_cmp(&a.per_s));
        quietest_first(found.into_iter())
    }

    /// What one more node costs that does nothing: by the engine with the number of threads closest to its own.
    pub fn launch(&self) -> Option<LaunchCost> {
        let (roofs, setup) = (self.roofs?, self.setup?);
        let own = roofs.engine_for(setup, Some(self.threads));
        let own = own.filter(|roof| roof.launch_ns.is_some()).or_else(|| {
            let same = roofs
                .engines
                .iter()
                .filter(|roof| roof.engine == setup.engine && roof.launch_ns.is_some());
            same.min_by_key(|roof| roof.threads.abs_diff(self.threads))
        });
        let cost = own?.launch_ns?;
        Some(LaunchCost {
            ns: cost.value,
            spread: cost.spread(),
        })
    }

    /// Every line that is known for some kinds of numbers.
    pub fn all(&self, numbers: &[NumberFormat]) -> Vec<RoofLine> {
        let of_numbers = numbers.iter().flat_map(|&numbers| {
            [
                self.published_peak(numbers),
                self.peak(numbers),
                self.engine(numbers).and_then(RoofLine::of_engine),
            ]
        });
        let published = self.published.as_ref().map(RoofLine::of_published_memory);
        let lines = of_numbers.flatten().chain(published);
        lines.chain(self.levels()).collect()
    }
}

/// The first that is quiet, else the first.
fn quietest_first(lines: impl Iterator<Item = RoofLine>) -> Option<RoofLine> {
    let mut first = None;
    for line in lines {
        if !line.is_noisy() {
            return Some(line);
        }
        first.get_or_insert(line);
    }
    first
}
