//! The numbers are read back from the pictures, and nothing that a name holds can break them.

use super::*;
use crate::analysis::testing;
use crate::analysis::testing::{end_case, measure_near, out_of_memory, session};
use crate::analysis::timeline::Timeline;
use crate::chart::figure::{FigureInputs, find};
use crate::chart::spec::{Axis, ChartPoint, ChartSpec, Mark, Series, SeriesId, Stroke, Tick};
use crate::export::figure_file::{self, FileKind};
use crate::export::style::Theme;
use crate::export::{figure_data, tree};
use powerband_core::domain::case::CaseKey;
use powerband_core::domain::plan::SetupStyle;
use powerband_core::domain::profile::Profile;
use powerband_core::domain::session::Session;
use powerband_core::domain::telemetry::{DeviceKind, Quantity};
use powerband_core::domain::trace::{MemoryEvent, Slice, SliceKind, Trace, Track};

fn measured() -> Session {
    let mut session = session(&["ort:cpu", "tract:cpu"], &[1, 2, 4, 8]);
    for batch in [1, 2, 4, 8] {
        measure_near(&mut session, 0, batch, 1_000 + 700 * batch as u64);
    }
    for batch in [1, 2, 8] {
        measure_near(&mut session, 1, batch, 4_321 * batch as u64);
    }
    end_case(&mut session, 1, 4, out_of_memory());
    session
}

fn drawing(session: &Session, name: &str) -> Drawing {
    let made = find(name).unwrap().make(&FigureInputs::new(session));
    made.unwrap()
}

fn spec(drawing: &Drawing) -> &ChartSpec {
    match drawing {
        Drawing::Chart(spec) => spec,
        other => panic!("{} is no chart", other.title()),
    }
}

/// What an attribute of an element says.
fn attribute(element: &str, name: &str) -> f64 {
    let from = element.split_once(&format!(" {name}=\"")).unwrap().1;
    from.split('"').next().unwrap().parse().unwrap()
}

/// Elements of a class, from their tag to what follows it.
fn elements<'a>(svg: &'a str, tag: &str, class: &str) -> Vec<&'a str> {
    let class = format!(" class=\"{class}\"");
    let lines = svg.lines().filter(|line| line.starts_with(tag));
    lines.filter(|line| line.contains(&class)).collect()
}

/// The words of an element.
fn element_text(element: &str) -> &str {
    let inside = element.split_once('>').unwrap().1;
    inside.split('<').next().unwrap()
}

/// Two ticks of an axis as pixel and coordinate: enough for a straight line.
struct Ruler {
    pixels: (f64, f64),
    places: (f64, f64),
}

impl Ruler {
    fn from_ticks(ticks: &[(f64, f64)]) -> Self {
        let (first, last) = (ticks[0], *ticks.last().unwrap());
        Self {
            pixels: (first.0, last.0),
            places: (first.1, last.1),
        }
    }

    fn read(&self, pixel: f64) -> f64 {
        let share = (pixel - self.pixels.0) / (self.pixels.1 - self.pixels.0);
        self.places.0 + share * (self.places.1 - self.places.0)
    }
}

/// The points of a picture, by its ticks alone.
fn read_back(svg: &str, x: &Axis, y: &Axis) -> Vec<(f64, f64)> {
    let number = |text: &str| text.replace(',', "").parse::<f64>().unwrap();
    let mut across: Vec<(f64, f64)> = elements(svg, "<text", "x-tick")
        .iter()
        .map(|tick| {
            (
                attribute(tick, "x"),
                x.scale.to_coordinate(number(element_text(tick))),
            )
        })
        .collect();
    across.sort_by(|a, b| a.0.total_cmp(&b.0));
    let labels = elements(svg, "<text", "y-tick");
    let lines = elements(svg, "<line", "y-tick");
    assert_eq!(labels.len(), lines.len());
    let up: Vec<(f64, f64)> = lines
        .iter()
        .zip(&labels)
        .map(|(line, label)| {
            (
                attribute(line, "y1"),
                y.scale.to_coordinate(number(element_text(label))),
            )
        })
        .collect();
    let (across, up) = (Ruler::from_ticks(&across), Ruler::from_ticks(&up));
    let markers = svg.split("<g class=\"point\">").skip(1);
    markers
        .map(|marker| {
            let at = marker.split_once("translate(").unwrap().1;
            let (px, py) = at.split_once(')').unwrap().0.split_once(' ').unwrap();
            let value = |axis: &Axis, place: f64| axis.scale.to_number(place);
            (
                value(x, across.read(px.parse().unwrap())),
                value(y, up.read(py.parse().unwrap())),
            )
        })
        .collect()
}

#[test]
fn the_numbers_of_the_session_are_read_back_from_the_picture() {
    let session = measured();
    for (name, expected) in [
        ("latency", vec![1.7, 2.4, 3.8, 6.6, 4.321, 8.642, 34.568]),
        (
            "throughput",
            [1.7, 1.2, 0.95, 0.825, 4.321, 4.321, 4.321]
                .map(|ms| 1e3 / ms)
                .to_vec(),
        ),
    ] {
        for style in [
            Style::default(),
            Style::default().sized(400.0, 1_000.0),
            Style::new(Preset::Column, Theme::Light),
        ] {
            let drawing = drawing(&session, name);
            let spec = spec(&drawing);
            let found = read_back(&write(&drawing, &style), &spec.x, &spec.y);
            assert_eq!(found.len(), expected.len(), "{name}");
            let batches = [1.0, 2.0, 4.0, 8.0, 1.0, 2.0, 8.0];
            for ((x, y), (batch, value)) in found.iter().zip(batches.iter().zip(&expected)) {
                assert!((x / batch - 1.0).abs() < 0.01, "{name}: {x} for {batch}");
                assert!((y / value - 1.0).abs() < 0.02, "{name}: {y} for {value}");
            }
        }
    }
}

#[test]
fn tables_have_numbers_and_not_logarithms() {
    let session = measured();
    let drawing = drawing(&session, "latency");
    let table = figure_data::table(&drawing);
    assert_eq!(
        table.header,
        [
            "series",
            "batch size",
            "ms per batch",
            "low",
            "high",
            "note"
        ]
    );
    let csv = table.to_csv();
    let second = csv.lines().nth(1).unwrap();
    assert!(second.starts_with("ort:cpu,1,1.70000"), "{second}");
    let last = csv.lines().last().unwrap();
    assert!(last.starts_with("tract:cpu,4,,,,") && last.contains("no room"));
    let document = figure_data::document(&drawing, "");
    let point = &document["series"][1]["points"][2];
    assert_eq!(point["x"], 8);
    assert!((point["y"].as_f64().unwrap() - 34.568).abs() < 1e-3);
    assert_eq!(document["failed"][0]["x"], 4);
}

#[test]
fn tables_of_times_are_in_milliseconds_whatever_the_axis_has() {
    for (micros, unit, expected) in [(3_400_000, "s", 3_400.0), (340, "µs", 0.34)] {
        let mut session = session(&["ort:cpu"], &[1]);
        measure_near(&mut session, 0, 1, micros);
        for name in ["latency", "samples", "distribution"] {
            let drawing = drawing(&session, name);
            let axis = match name {
                "distribution" => &spec(&drawing).x,
                _ => &spec(&drawing).y,
            };
            assert!(axis.title.starts_with(&format!("{unit} per batch")));
            let table = figure_data::table(&drawing);
            let column = table
                .header
                .iter()
                .position(|one| one.contains("per batch"));
            let column = column.expect("a column of times");
            assert!(table.header[column].starts_with("ms per batch"), "{name}");
            let csv = table.to_csv();
            let cells: Vec<&str> = csv.lines().nth(1).unwrap().split(',').collect();
            let time: f64 = cells[column].parse().unwrap();
            assert!((time / expected - 1.0).abs() < 0.1, "{name}: {time}");
        }
        let document = figure_data::document(&drawing(&session, "latency"), "");
        assert_eq!(document["y"]["title"], "ms per batch");
    }
}

#[test]
fn a_line_is_broken_and_a_failure_is_told() {
    let session = measured();
    let svg = write(&drawing(&session, "latency"), &Style::default());
    let lines = elements(&svg, "<polyline", "series");
    let corners: Vec<usize> = lines.iter().map(|line| line.matches(',').count()).collect();
    // The curve with a gap after its second point has a line of two; its last point stands alone.
    assert_eq!(corners, [4, 2]);
    assert_eq!(svg.matches("<g class=\"failed\">").count(), 1);
    assert!(svg.contains("no room"));
    assert!(svg.contains("ort:cpu, batch size 8: 6.60 ms per batch ("));
}

#[test]
fn names_cannot_break_a_picture() {
    let mut session = measured();
    let names = [
        "<script>alert(\"x\")</script> & 'more'\nlines\u{0}\u{202e}".to_owned(),
        format!("שם {}", "very long ".repeat(500)),
    ];
    session.name.clone_from(&names[0]);
    session.plan.looks = names
        .iter()
        .map(|name| SetupStyle {
            label: Some(name.clone()),
            colour: None,
        })
        .collect();
    for name in ["latency", "samples", "journey-start", "comparison"] {
        let drawing = drawing(&session, name);
        let svg = write(&drawing, &Style::default());
        assert!(!svg.contains("<script") && !svg.contains('\u{202e}') && !svg.contains('\0'));
        assert!(svg.len() < 200_000, "{name}: {}", svg.len());
        let (width, _, _) = tree::rgba(&svg, 1.0).unwrap();
        assert_eq!(width, 860);
        let csv = figure_data::table(&drawing).to_csv();
        assert_eq!(csv.lines().count(), csv.matches('\n').count());
    }
    let svg = write(&drawing(&session, "latency"), &Style::default());
    assert!(svg.contains("&lt;script&gt;alert(&quot;x&quot;)"));
    assert!(svg.contains("\u{2068}שם"), "kept to itself");
}

#[test]
fn a_thousand_setups_are_a_picture() {
    let specs: Vec<String> = (1..=1_000).map(|n| format!("fake,threads={n}")).collect();
    let specs: Vec<&str> = specs.iter().map(String::as_str).collect();
    let mut session = session(&specs, &[1, 2]);
    for setup in 0..1_000 {
        for batch in [1, 2] {
            measure_near(&mut session, setup, batch, 1_000 + setup as u64);
        }
    }
    let svg = write(&drawing(&session, "latency"), &Style::default());
    let more = svg.split(" more</text>").next().unwrap();
    let more = more.rsplit("and ").next().unwrap();
    assert!(
        (900..1_000).contains(&more.parse::<i32>().unwrap()),
        "{more}"
    );
    assert!(svg.len() < 2_000_000, "{}", svg.len());
    tree::rgba(&svg, 1.0).unwrap();
}

#[test]
fn little_and_nothing_are_pictures_too() {
    let mut one = session(&["ort:cpu"], &[1]);
    measure_near(&mut one, 0, 1, 5_000);
    let empty = Drawing::Chart(Box::default());
    for drawing in [drawing(&one, "latency"), drawing(&one, "throughput"), empty] {
        for preset in Preset::ALL {
            for style in [
                Style::new(preset, Theme::Dark),
                Style::new(preset, Theme::Light).sized(1.0, f64::NAN),
            ] {
                let svg = write(&drawing, &style);
                assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
                tree::rgba(&svg, 1.0).unwrap();
            }
        }
    }
}

#[test]
fn what_is_no_number_is_left_out() {
    let point = |y: f64| ChartPoint::new(1.0, y, 0).with_band(Some((f64::NEG_INFINITY, f64::NAN)));
    let axis = |title: &str| Axis {
        title: title.to_owned(),
        low: 0.0,
        high: 2.0,
        ticks: vec![Tick {
            at: 1.0,
            text: "1".to_owned(),
        }],
        ..Axis::default()
    };
    for stroke in [
        Stroke::Curve,
        Stroke::Bars,
        Stroke::Dots,
        Stroke::Thin,
        Stroke::Published,
    ] {
        let spec = ChartSpec {
            x: axis("x"),
            y: axis("y"),
            series: vec![Series {
                id: SeriesId::ONLY,
                name: "s".to_owned(),
                colour: 7,
                points: vec![point(f64::NAN), point(f64::INFINITY), point(1.0)],
                gap_after: vec![9, 0],
                stroke,
            }],
            marks: vec![
                Mark::Ring {
                    at: (f64::NAN, 1.0),
                    series: SeriesId::ONLY,
                },
                Mark::Pin {
                    at: (1.0, f64::NAN),
                    series: SeriesId::ONLY,
                },
                Mark::Level {
                    y: f64::NAN,
                    text: "level".to_owned(),
                },
            ],
            bar_width: 0.5,
            ..ChartSpec::default()
        };
        let svg = write(&Drawing::Chart(Box::new(spec)), &Style::default());
        let shapes = svg.lines().filter(|line| !line.starts_with("<title"));
        let shapes: Vec<&str> = shapes.collect();
        assert!(!shapes.join("\n").contains("NaN"), "{stroke:?}");
        tree::rgba(&svg, 1.0).unwrap();
    }
}

#[test]
fn pixels_and_pages_show_something() {
    let session = measured();
    let drawing = drawing(&session, "latency");
    let style = Style::default().sized(500.0, 300.0);
    for (scale, theme) in [(1.0, Theme::Light), (2.5, Theme::Dark)] {
        let style = Style { theme, ..style };
        let png = figure_file::bytes(&drawing, "", &style, scale, FileKind::Png).unwrap();
        let side = |from: usize| u32::from_be_bytes(png[from..from + 4].try_into().unwrap());
        let expected = (500.0 * scale, 300.0 * scale);
        assert_eq!((f64::from(side(16)), f64::from(side(20))), expected);
        let (_, _, pixels) = tree::rgba(&write(&drawing, &style), scale).unwrap();
        let panel = style.colours().panel;
        assert_eq!(&pixels[..3], [panel.0, panel.1, panel.2]);
        let first = style.colours().series(0);
        let is_first = |pixel: &&[u8]| pixel[..3] == [first.0, first.1, first.2];
        assert!(pixels.chunks(4).filter(is_first).count() > 100, "the curve");
    }
    let pdf = figure_file::bytes(&drawing, "", &style, 1.0, FileKind::Pdf).unwrap();
    assert!(pdf.starts_with(b"%PDF-"));
    let has = |words: &str| {
        pdf.windows(words.len())
            .any(|part| part == words.as_bytes())
    };
    assert!(has("/ToUnicode") && has("PowerbandText"), "text is text");
    assert!(!has("/Subtype/Image") && !has("/Subtype /Image"));
    let huge = Style::default().sized(8_000.0, 8_000.0);
    let error = figure_file::bytes(&drawing, "", &huge, 4.0, FileKind::Png).unwrap_err();
    assert!(error.contains("too large"), "{error}");
}

/// A trace with a device, a thread and memory, and a session with telemetry.
fn traced() -> Drawing {
    let mut trace = Trace::default();
    let names = ["void conv<3>(float*)", "a <b> & \"c\""].map(|name| trace.names.number(name));
    for (device, group) in [(Some(0), "GPU 0"), (None, "python")] {
        let track = trace.track(Track {
            device,
            group: group.to_owned(),
            name: "stream <7>".to_owned(),
        });
        for n in 0..8 {
            let name = names[n as usize % 2];
            let slice = Slice::new(SliceKind::Kernel, name, track, n * 1_000_000, 900_000);
            trace.push(slice);
        }
    }
    trace.memory.push(MemoryEvent {
        at_ns: 2_000_000,
        device: Some(0),
        change: 1 << 20,
        total: None,
        track: None,
        op: 0,
    });
    let mut session = session(&["ort:rocm:0"], &[1]);
    testing::add_telemetry(&mut session, DeviceKind::Amd, 100.0, 1.0, |at_s| {
        vec![(Quantity::Power, 100.0 + at_s)]
    });
    session.profiles.push(Profile {
        name: "p <1>".to_owned(),
        case: Some(CaseKey {
            setup: 0,
            point: powerband_core::domain::point::Point::of_batch(1),
        }),
        began_ns: Some(500_000_000),
        ..Profile::default()
    });
    let timeline = Timeline::from_trace(&trace);
    let mut material = FigureInputs::new(&session);
    material.trace = Some((&trace, &timeline));
    find("timeline").unwrap().make(&material).unwrap()
}

#[test]
fn slices_are_where_their_times_are() {
    let drawing = traced();
    let svg = write(&drawing, &Style::default());
    let ticks = elements(&svg, "<text", "x-tick");
    let at = |tick: &&str| {
        let ms: f64 = element_text(tick).trim_end_matches(" ms").parse().unwrap();
        (attribute(tick, "x"), ms * 1e6)
    };
    let ruler = Ruler::from_ticks(&ticks.iter().map(at).collect::<Vec<_>>());
    let runs: Vec<&str> = svg.split("<g class=\"run\">").skip(1).collect();
    assert_eq!(runs.len(), 16);
    let shift = runs[0].split_once("<rect").unwrap().1;
    let shift = attribute(shift, "x") - ruler.pixels.0;
    for (n, run) in runs.iter().enumerate() {
        let rect = run.split_once("<rect").unwrap().1;
        let from = ruler.read(attribute(rect, "x") - shift);
        let to = ruler.read(attribute(rect, "x") + attribute(rect, "width") + 0.6 - shift);
        let wanted = (n % 8) as f64 * 1e6;
        assert!((from - wanted).abs() < 2e4, "{n}: {from}");
        assert!((to - from - 9e5).abs() < 3e4, "{n}: {from} to {to}");
    }
    assert!(runs[0].contains(">conv</text>"), "{}", runs[0]);
    assert!(svg.contains("GPU 0 power") && svg.contains("class=\"readings\""));
    assert!(!svg.contains("<b>") && !svg.contains("<7>") && !svg.contains("p <1>"));
    let (pixels, _) = tree::rgba(&svg, 1.0)
        .map(|(width, height, _)| (width, height))
        .unwrap();
    assert!(pixels > 100);
}

#[test]
fn the_table_of_a_timeline_has_its_times() {
    let table = figure_data::table(&traced()).to_csv();
    let slices = table.lines().filter(|line| line.contains(",kernel,"));
    assert_eq!(slices.count(), 16, "{table}");
    assert!(
        table.contains("GPU 0,stream <7>,0,kernel,void conv<3>(float*),2000000,900000,"),
        "{table}"
    );
    assert!(
        table.contains("memory in use") && table.contains("power"),
        "{table}"
    );
}

#[test]
fn what_a_figure_is_about_stands_below_its_title() {
    let figure = drawing(&measured(), "latency");
    let about = "resnet50 · a & b · 2026-10-03 21:05 UTC";
    let told = write_about(&figure, about, &Style::default());
    assert!(told.contains("resnet50 · a &amp; b · 2026-10-03 21:05 UTC"));
    assert!(!write(&figure, &Style::default()).contains("\"about"));
    // What stands in a paper has its words there.
    let print = write_about(&figure, about, &Style::new(Preset::Column, Theme::Light));
    assert!(!print.contains("resnet50"));
    assert_eq!(figure_data::document(&figure, about)["about"], about);
}

#[test]
fn knees_at_one_batch_are_both_named() {
    let batches = [1, 2, 4, 8];
    let mut session = session(&["ort:cpu", "tract:cpu"], &batches);
    for batch in batches {
        measure_near(&mut session, 0, batch, 1_000 * batch as u64);
        measure_near(&mut session, 1, batch, 2_000 * batch as u64);
    }
    let svg = write(&drawing(&session, "throughput"), &Style::default());
    for name in ["ort:cpu: knee, batch 1", "tract:cpu: knee, batch 1"] {
        assert!(svg.contains(name), "{name}");
    }
}

#[test]
fn long_names_of_a_legend_read_differently_where_they_differ() {
    let mut session = session(&["ort:cpu", "tract:cpu"], &[1, 2]);
    for batch in [1, 2] {
        measure_near(&mut session, 0, batch, 1_000 * batch as u64);
        measure_near(&mut session, 1, batch, 2_000 * batch as u64);
    }
    let alike = "measured after the upgrade of the driver and with ".repeat(2);
    session.plan.looks = ["one thread", "two threads"]
        .map(|end| SetupStyle {
            label: Some(format!(
                "{alike}{end}, all of the rest as before it, nothing else"
            )),
            colour: None,
        })
        .to_vec();
    for style in [Style::default(), Style::new(Preset::Column, Theme::Light)] {
        let svg = write(&drawing(&session, "latency"), &style);
        let legend = svg.split("class=\"legend\"").skip(1);
        let names: Vec<&str> = legend
            .filter_map(|rest| rest.split_once('>')?.1.split('<').next())
            .collect();
        assert_eq!(names.len(), 2, "{names:?}");
        assert!(names.iter().all(|name| name.contains('…')), "{names:?}");
        assert_ne!(names[0], names[1]);
    }
}
