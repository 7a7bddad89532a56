//! All words on a chart: those of the limit, of knees and levels, numbers, and the names of points and curves.
//!
//! No two of them overlap and none leaves the chart. What finds no room is left out, and what the chart alone
//! would have said is handed to the legend.

use super::room::LabelSpace;
pub use super::words::OmittedLabel;
use super::words::PlacedLabel;
use super::{PlotSurface, names, notes};
/// The labels of a chart, placed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChartLabels {
    /// All but those of the limit.
    pub words: Vec<PlacedLabel>,
    /// Those of the limit, where there is one and they have room.
    pub limit: Option<PlacedLabel>,
    /// The labels without room.
    pub left_out: Vec<OmittedLabel>,
}

/// Finds a place for the words of a chart: the limit's first, then those of marks, then names.
pub fn labels(plot: &dyn PlotSurface) -> ChartLabels {
    let mut room = LabelSpace::new(plot);
    let mut left_out = Vec::new();
    let limit = plot.spec().limit.as_ref().and_then(|limit| {
        let text = plot.limit_text(&limit.text);
        let words = notes::limit(plot, limit, &text);
        let has_room = room.try_place(words.clone());
        if !has_room {
            left_out.push(OmittedLabel {
                series: None,
                text: limit.text.clone(),
            });
        }
        has_room.then_some(words)
    });
    notes::place_mark_labels(plot, &mut room, &mut left_out);
    names::place_point_names(plot, &mut room);
    names::place_curve_names(plot, &mut room);
    let mut words = room.into_words();
    if limit.is_some() {
        words.remove(0);
    }
    ChartLabels {
        words,
        limit,
        left_out,
    }
}

/// The height of the limit's line.
pub fn limit_line(plot: &dyn PlotSurface) -> Option<f64> {
    let limit = plot.spec().limit.as_ref()?;
    Some(notes::line_of_limit(plot, limit))
}

#[cfg(test)]
mod tests {
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

    use super::*;
    use crate::chart::layout::testing::TestPlot;
    use crate::chart::layout::words::{LabelKind, OVER_SIDE};
    use crate::chart::spec::{
        Axis, AxisScale, ChartPoint, ChartSpec, Limit, Mark, Series, SeriesId, Stroke,
    };

    struct Chance(Xoshiro256PlusPlus);

    impl Chance {
        fn share(&mut self) -> f64 {
            f64::from(self.0.next_u32()) / f64::from(u32::MAX)
        }

        fn up_to(&mut self, most: u64) -> u64 {
            self.0.next_u64() % (most + 1)
        }

        fn place(&mut self) -> (f64, f64) {
            // Some marks are beyond the edge, as after a zoom.
            (self.share() * 1.2 - 0.1, self.share() * 1.4 - 0.2)
        }

        fn random_text(&mut self) -> String {
            let letters = self.up_to(70) as usize;
            "knee, batch 16 of ort:cpu,threads=4"
                .chars()
                .cycle()
                .take(letters)
                .collect()
        }
    }

    fn series(chance: &mut Chance, place: u64) -> Series {
        let stroke =
            [Stroke::Curve, Stroke::Curve, Stroke::Dots, Stroke::Bars][chance.up_to(3) as usize];
        let count = chance.up_to(9);
        let mut points: Vec<ChartPoint> = (0..count)
            .map(|tag| {
                let (x, y) = chance.place();
                let band =
                    (chance.up_to(2) > 0).then(|| (y - chance.share(), y + chance.share() * 3.0));
                ChartPoint { x, y, band, tag }
            })
            .collect();
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
        Series {
            id: SeriesId(place),
            name: format!("{} {place}", chance.random_text()),
            colour: place as usize,
            points,
            gap_after: Vec::new(),
            stroke,
        }
    }

    fn mark(chance: &mut Chance) -> Mark {
        let (at, text) = (chance.place(), chance.random_text());
        let series = SeriesId(chance.up_to(5));
        match chance.up_to(4) {
            0 => Mark::Level { y: at.1, text },
            1 => Mark::Value { at, text },
            2 => Mark::Name { at, series, text },
            _ => Mark::Drop {
                at,
                series,
                name: (chance.up_to(1) == 0).then(|| chance.random_text()),
                legend: Some(format!("knee {text}")),
                text,
            },
        }
    }

    /// A chart with whatever it may have, at places that no eye chose.
    fn chart(seed: u64) -> ChartSpec {
        let mut chance = Chance(Xoshiro256PlusPlus::seed_from_u64(seed));
        let (n_series, n_marks) = (chance.up_to(7), chance.up_to(9));
        let axis = |scale| Axis {
            scale,
            low: 0.0,
            high: 1.0,
            ..Axis::default()
        };
        let scale = [AxisScale::Log2, AxisScale::Linear][chance.up_to(1) as usize];
        ChartSpec {
            x: axis(scale),
            y: axis(AxisScale::Linear),
            series: (0..n_series)
                .map(|place| series(&mut chance, place))
                .collect(),
            marks: (0..n_marks).map(|_| mark(&mut chance)).collect(),
            limit: (chance.up_to(1) == 0).then(|| Limit {
                y: chance.place().1,
                text: chance.random_text(),
            }),
            bar_width: 0.05,
            ..ChartSpec::default()
        }
    }

    #[test]
    fn no_two_labels_overlap_and_none_leaves_the_chart() {
        let mut placed = 0;
        for seed in 0..3_000 {
            let sheet = TestPlot(chart(seed));
            let found = labels(&sheet);
            let frame = sheet.inner().expanded(OVER_SIDE);
            let all: Vec<&PlacedLabel> = found.words.iter().chain(&found.limit).collect();
            placed += all.len();
            for (place, words) in all.iter().enumerate() {
                assert!(frame.contains_area(words.area), "{seed}: {words:?}");
                for other in &all[..place] {
                    assert!(
                        !other.area.overlaps(words.area),
                        "{seed}: {words:?} over {other:?}"
                    );
                }
            }
            let seeks = |mark: &&Mark| match mark {
                Mark::Drop { .. } => true,
                Mark::Level { y, .. } => (-0.0025..=1.0025).contains(y),
                _ => false,
            };
            let sought = sheet.0.marks.iter().filter(seeks).count();
            let sought = sought + usize::from(sheet.0.limit.is_some());
            let is_note =
                |words: &&&PlacedLabel| matches!(words.what, LabelKind::Note | LabelKind::Limit);
            let found_room = all.iter().filter(is_note).count();
            let said = found_room + found.left_out.len();
            assert_eq!(said, sought, "{seed}: on the chart or in the legend");
        }
        assert!(placed > 3_000, "charts have words: {placed}");
    }

    #[test]
    fn a_knee_without_room_is_said_by_the_legend() {
        let knee = |text: &str| Mark::Drop {
            at: (0.5, 0.9),
            series: SeriesId(0),
            text: text.to_owned(),
            name: None,
            legend: Some("knee 16".to_owned()),
        };
        let left_out = |marks: Vec<Mark>| {
            labels(&TestPlot(ChartSpec {
                marks,
                ..ChartSpec::default()
            }))
            .left_out
        };
        let said = OmittedLabel {
            series: Some(SeriesId(0)),
            text: "knee 16".to_owned(),
        };
        assert_eq!(left_out(vec![knee("knee, batch 16")]), []);
        for text in [&"far too long ".repeat(5), ""] {
            assert_eq!(left_out(vec![knee(text)]), std::slice::from_ref(&said));
        }
    }
}
