//! A heat map as it is written.

use crate::analysis::verdict::Call;
use crate::chart::figure::Drawing;
use crate::chart::heat_map::{ColourScale, Content, HeatMap, MapAxis, MapCell, Panel};
use crate::export::style::{Preset, Style, Theme};
use crate::export::{figure_data, svg, tree};
use powerband_core::domain::point::Point;

/// Latency of two setups over batch and sequence, with a limit; the last point of the second does not fit.
fn latencies() -> HeatMap {
    let (batches, lengths) = ([1, 2, 4, 8, 16], [32, 128, 512, 2_048]);
    let limit = 40.0;
    let panel = |setup: usize| {
        let cell = |batch: usize, length: usize| {
            let ms = (0.8 + 0.004 * (batch * length) as f64) * (1.0 + setup as f64 * 0.6);
            if setup == 1 && batch * length > 20_000 {
                return MapCell::missing("out of memory", "out of memory: 9 GiB were wanted");
            }
            MapCell {
                content: Content::Value(ms),
                is_within: Some(ms <= limit),
                is_pinned: setup == 0 && batch == 2 && length == 128,
                ..MapCell::default()
            }
        };
        let rows = lengths.into_iter();
        Panel {
            name: ["ort:cpu", "tract:cpu, 4 threads"][setup].to_owned(),
            colour: Some(setup),
            tag: setup as u64,
            cells: rows
                .flat_map(|length| batches.map(|batch| cell(batch, length)))
                .collect(),
        }
    };
    let panels = vec![panel(0), panel(1)];
    let values = panels.iter().flat_map(|panel| &panel.cells);
    HeatMap {
        title: "Latency".to_owned(),
        x: MapAxis {
            name: "batch".to_owned(),
            sizes: batches.to_vec(),
        },
        y: MapAxis {
            name: "sequence".to_owned(),
            sizes: lengths.to_vec(),
        },
        fixed: "past 0".to_owned(),
        at: Some(Point::new([("batch", 1), ("past", 0), ("sequence", 32)])),
        scale: ColourScale::from_values("ms per batch", values.filter_map(MapCell::value)),
        limit: Some(format!("limit {limit:.1} ms")),
        panels,
    }
}

fn ratios() -> HeatMap {
    let mut map = latencies();
    map.title = "Speed-up".to_owned();
    map.limit = None;
    map.panels.truncate(1);
    let panel = &mut map.panels[0];
    (panel.name, panel.colour) = (String::new(), None);
    for (place, cell) in panel.cells.iter_mut().enumerate() {
        let (ratio, call) = match place % 4 {
            0 => (1.8 - 0.02 * place as f64, Call::Faster),
            1 => (1.002, Call::Same),
            2 => (0.7 - 0.01 * place as f64, Call::Slower),
            _ => (1.04, Call::Inconclusive),
        };
        *cell = MapCell {
            content: Content::Value(ratio),
            call: Some(call),
            ..MapCell::default()
        };
    }
    let values: Vec<f64> = map.panels[0]
        .cells
        .iter()
        .filter_map(MapCell::value)
        .collect();
    map.scale = ColourScale::of_ratios("times as fast", values);
    map
}

fn written(map: HeatMap, style: &Style) -> String {
    svg::write(&Drawing::HeatMap(Box::new(map)), style)
}

#[test]
fn every_cell_is_a_cell_with_its_words() {
    let svg = written(latencies(), &Style::default());
    assert_eq!(svg.matches("<g class=\"cell\">").count(), 40);
    assert!(svg.contains("tract:cpu, 4 threads, batch 16, sequence 2,048: out of memory: 9 GiB"));
    assert!(svg.contains("batch 1, sequence 32: 0.928 ms per batch, within the limit 40.0 ms"));
    assert!(svg.contains(">0.928</text>"));
    assert_eq!(svg.matches("class=\"scale\"").count(), 5);
    assert!(svg.contains("class=\"limit\"") && svg.contains(">no value</text>"));
    let print = written(ratios(), &Style::new(Preset::Column, Theme::Light));
    assert!(print.contains(">▲</text>") && print.contains(">1.00 ×</text>"));
}

#[test]
fn it_is_a_picture_in_every_look_and_size() {
    for map in [latencies(), ratios(), HeatMap::default()] {
        for preset in Preset::ALL {
            for style in [
                Style::new(preset, Theme::Dark),
                Style::new(preset, Theme::Light).sized(1.0, 1.0),
                Style::new(preset, Theme::Light).sized(300.0, 4_000.0),
            ] {
                let svg = written(map.clone(), &style);
                assert!(!svg.contains("NaN") && !svg.contains("inf"));
                tree::rgba(&svg, 1.0).unwrap();
            }
        }
    }
}

#[test]
fn its_numbers_are_a_table_with_a_column_for_each_dimension() {
    let drawing = Drawing::HeatMap(Box::new(latencies()));
    let table = figure_data::table(&drawing);
    let head = "setup,batch,sequence,past,ms per batch,verdict,within_limit,note";
    let csv = table.to_csv();
    assert_eq!(csv.lines().next(), Some(head));
    assert_eq!(csv.lines().nth(1), Some("ort:cpu,1,32,0,0.928,,yes,"));
    assert!(
        csv.ends_with("\"tract:cpu, 4 threads\",16,2048,0,,,,out of memory: 9 GiB were wanted\n")
    );
    let document = figure_data::document(&drawing, "");
    assert_eq!(
        document["rows"][39]["note"],
        "out of memory: 9 GiB were wanted"
    );
    assert_eq!(document["limit"], "limit 40.0 ms");
}
