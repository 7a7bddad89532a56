//! What was measured that a device and its engines reach, a row for each figure.

use super::cell::{Cell, Tone};
use super::{Column, Table};
use powerband_core::base::humanize;
pub use powerband_core::domain::roofs::NOISY;
use powerband_core::domain::roofs::{MeasuredValue, Roofs};
use powerband_core::domain::work::NumberFormat;

type RoofColumn = Column<RoofRow>;

/// What a figure counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Counts {
    /// Operations a second, of floats or of integers.
    Operations(NumberFormat),
    /// Bytes a second.
    Bytes,
    /// Nanoseconds.
    Time,
}

/// A row: one figure.
#[derive(Clone, Debug)]
pub struct RoofRow {
    kind: &'static str,
    /// Numbers or a level of memory.
    what: String,
    access: Option<String>,
    threads: usize,
    counts: Counts,
    figure: MeasuredValue,
    vector_bits: Option<u32>,
    code: String,
    bytes: Option<u64>,
}

impl RoofRow {
    /// Whether its repetitions lie too far apart.
    fn is_noisy(&self) -> bool {
        self.figure.is_noisy()
    }

    fn number(&self, value: f64) -> Cell {
        let text = match self.counts {
            Counts::Operations(numbers) => numbers.rate_text(value),
            Counts::Bytes => humanize::with_prefix(value, "B/s"),
            Counts::Time => humanize::duration_ns(value),
        };
        Cell::shown(text, value)
    }
}

/// What to do about roofs whose repetitions lie too far apart; nothing where none does.
pub fn noise_words(roofs: &Roofs) -> Option<String> {
    let rows = rows(roofs);
    let noisy = rows.iter().filter(|row| row.is_noisy()).count();
    (noisy > 0).then(|| {
        format!(
            "Noisy: the repetitions of {} of {} lie more than {} apart, or other programs used the processors meanwhile. Close other programs, let the device cool down, and measure again; nothing is explained by a noisy roof.",
            noisy,
            humanize::pluralised(rows.len() as u64, "figure"),
            humanize::percent(NOISY)
        )
    })
}

/// The roofs of a device.
pub fn of_roofs(roofs: &Roofs) -> Table {
    Table::new(COLUMNS, rows(roofs))
}

fn rows(roofs: &Roofs) -> Vec<RoofRow> {
    let compute = roofs.compute_roofs().into_iter().map(|roof| RoofRow {
        kind: "compute",
        what: roof.numbers.to_string(),
        access: None,
        threads: roof.threads,
        counts: Counts::Operations(roof.numbers),
        figure: roof.per_s,
        vector_bits: Some(roof.vector_bits).filter(|bits| *bits > 0),
        code: roof.code,
        bytes: None,
    });
    let memory = roofs.memory_roofs().into_iter().map(|roof| RoofRow {
        kind: "bandwidth",
        what: roof.level.to_string(),
        access: Some(roof.access.to_string()),
        threads: roof.threads,
        counts: Counts::Bytes,
        figure: roof.per_s,
        vector_bits: None,
        code: roof.code,
        bytes: Some(roof.working_set_bytes).filter(|bytes| *bytes > 0),
    });
    let engines = roofs.engines.iter().flat_map(|roof| {
        let row = |kind, counts, access: Option<&str>, figure: Option<MeasuredValue>| {
            Some(RoofRow {
                kind,
                what: roof.numbers.to_string(),
                access: access.map(ToOwned::to_owned),
                threads: roof.threads,
                counts,
                figure: figure?,
                vector_bits: None,
                code: format!("{}, {}", roof.setup, roof.version),
                bytes: None,
            })
        };
        let product = Counts::Operations(roof.numbers);
        [
            row("engine GEMM", product, None, roof.product_per_s),
            row("engine copy", Counts::Bytes, Some("copy"), roof.copy_per_s),
            row("engine node", Counts::Time, None, roof.launch_ns),
        ]
        .into_iter()
        .flatten()
    });
    compute.chain(memory).chain(engines).collect()
}

/// The columns of roofs.
pub const COLUMNS: &[RoofColumn] = &[
    RoofColumn::text("kind", "Roof", |row| Some(Cell::text(row.kind))).help(
        "compute: multiplications and additions in registers; bandwidth: bytes moved; engine: the same through the engine itself, and what one more node costs",
    ),
    RoofColumn::text("what", "Numbers, level", |row| Some(Cell::text(&row.what))),
    RoofColumn::text("access", "Access", |row| row.access.as_ref().map(Cell::text)),
    RoofColumn::number("threads", "Threads", "", |row| {
        (row.threads > 0).then(|| Cell::count(row.threads as u64))
    })
    .why(|_| "a card has no threads to choose".to_owned()),
    RoofColumn::number("figure", "Figure", "", |row| {
        let cell = row.number(row.figure.value);
        let tone = if row.is_noisy() { Tone::Bad } else { Tone::Plain };
        Some(Cell { tone, ..cell })
    })
    .help("The median of the faster half of the repetitions, in the fastest of several stretches. Where an engine's GEMM or copy was faster with as many threads, that."),
    RoofColumn::number("spread_percent", "Spread", "%", |row| {
        let spread = row.figure.spread();
        // What was measured once has a spread where others may have lowered it.
        if row.figure.repetitions < 2 && spread == 0.0 {
            return None;
        }
        let cell = Cell::shown(humanize::uncertainty(spread), spread * 100.0);
        if row.is_noisy() {
            let text = format!("{}, noisy", cell.shown_text());
            return Some(Cell {
                text: Some(text),
                tone: Tone::Bad,
                ..cell
            });
        }
        Some(cell)
    })
    .help("From the lowest to the highest of these repetitions, as a share of the figure; where other programs used the processors meanwhile, to what it may reach without them.")
    .why(|_| "measured once".to_owned()),
    RoofColumn::number("vector_bits", "Vectors", "bit", |row| {
        let bits = row.vector_bits?;
        Some(Cell::shown(format!("{bits} bit"), f64::from(bits)))
    }),
    RoofColumn::text("code", "Code", |row| Some(Cell::text(&row.code))),
    RoofColumn::number("working_set_bytes", "Working set", "B", |row| {
        row.bytes.map(|bytes| Cell::bytes(bytes as f64))
    })
    .hidden(),
    RoofColumn::text("unit", "Unit", |row| {
        Some(Cell::text(match row.counts {
            Counts::Operations(_) => "operations/s",
            Counts::Bytes => "bytes/s",
            Counts::Time => "ns",
        }))
    })
    .hidden(),
    RoofColumn::number("low", "Lowest", "", |row| Some(row.number(row.figure.low))).hidden(),
    RoofColumn::number("high", "Highest", "", |row| Some(row.number(row.figure.high))).hidden(),
    RoofColumn::number("repetitions", "Repetitions", "", |row| {
        Some(Cell::count(u64::from(row.figure.repetitions)))
    })
    .hidden(),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::view::TableView;
    use powerband_core::domain::roofs::{
        Access, ComputeRoof, EngineRoof, Level, MemoryRoof, RoofConditions,
    };

    fn measured(value: f64, low: f64) -> MeasuredValue {
        MeasuredValue {
            value,
            low,
            high: value,
            repetitions: 5,
        }
    }

    fn roofs() -> Roofs {
        Roofs {
            device: "cpu".to_owned(),
            name: "Example 9000".to_owned(),
            card: None,
            measured: "2026-01-01T00:00:00Z".to_owned(),
            conditions: RoofConditions::default(),
            clock_mhz: None,
            temperature_c: None,
            compute: vec![ComputeRoof {
                numbers: NumberFormat::Int8,
                threads: 2,
                vector_bits: 512,
                code: "AVX-512 VNNI".to_owned(),
                per_s: measured(1.5e12, 1.49e12),
            }],
            memory: vec![MemoryRoof {
                level: Level::Memory,
                access: Access::Copy,
                threads: 2,
                code: "AVX-512".to_owned(),
                working_set_bytes: 1 << 30,
                per_s: measured(20e9, 15e9),
            }],
            engines: vec![EngineRoof {
                engine: "ort".to_owned(),
                version: "ONNX Runtime 1.31.0".to_owned(),
                setup: "ort:cpu".to_owned(),
                threads: 2,
                numbers: NumberFormat::F32,
                product_per_s: Some(measured(150e9, 149e9)),
                copy_per_s: None,
                launch_ns: Some(measured(812.0, 800.0)),
            }],
            notes: Vec::new(),
        }
    }

    #[test]
    fn each_figure_has_its_unit() {
        let view = TableView::new(of_roofs(&roofs()));
        let texts = |key: &str| -> Vec<String> {
            let cells = (0..view.len()).map(|row| view.value(row, key));
            cells.map(|cell| cell.shown_text().to_owned()).collect()
        };
        let figures = texts("figure");
        assert_eq!(
            figures,
            ["1.50 TOP/s", "20.0 GB/s", "150 GFLOP/s", "812 ns"]
        );
        let spreads = texts("spread_percent");
        assert_eq!(spreads, ["0.67 %", "25 %, noisy", "0.67 %", "1.5 %"]);
        assert_eq!(view.value(1, "figure").tone, Tone::Bad);
    }

    #[test]
    fn noise_says_what_to_do() {
        let words = noise_words(&roofs()).unwrap();
        assert!(
            words.contains("1 of 4 figures") && words.contains("measure again"),
            "{words}"
        );
        // Beside other programs a figure that was measured once is noisy as well.
        let mut once = roofs();
        once.memory[0].per_s = MeasuredValue {
            repetitions: 1,
            ..measured(20e9, 20e9).widened_for_load(0.5)
        };
        assert!(noise_words(&once).is_some());
        let spread = TableView::new(of_roofs(&once)).value(1, "spread_percent");
        assert_eq!(spread.shown_text(), "100 %, noisy");
        let mut calm = roofs();
        calm.memory.clear();
        assert_eq!(noise_words(&calm), None);
    }
}
