//! The figures of a report, made from the list of all figures.

use std::sync::Arc;

use super::document::{Block, ReportFigure};
use super::material::{ReportInputs, ReportedSession};
use super::profiles;
use crate::analysis::batch_curve::{BatchCurve, CurvePoint};
use crate::analysis::case_rows::CaseRow;
use crate::chart::figure::{self, Drawing, SessionNumbers};

/// More series than these are indistinguishable.
const MOST_SERIES: usize = 10;

/// The figures that a report may show.
pub struct ReportFigures<'a> {
    material: figure::FigureInputs<'a>,
    note: String,
}

impl<'a> ReportFigures<'a> {
    /// From what the report is made of.
    pub fn new(material: &'a ReportInputs<'_>) -> Self {
        let last = material.last();
        let (rows, note) = drawn(last);
        let part = SessionNumbers::with_rows(&last.session, rows);
        let before = material
            .second
            .as_ref()
            .map(|_| SessionNumbers::with_rows(&material.first.session, drawn(&material.first).0));
        let place = |source: &ReportedSession<'_>| {
            profiles::report_profile(source).map_or(0, |(place, _)| place)
        };
        let material = figure::FigureInputs {
            profile: place(last),
            profile_before: place(&material.first),
            earlier: material.earlier.clone(),
            rules: Some(material.rules),
            before,
            after: part,
            ..figure::FigureInputs::new(&last.session)
        };
        Self { material, note }
    }

    /// Those of these names that can be made and have something to show.
    pub fn blocks(&self, names: &[&str]) -> Vec<Block> {
        let figures = names.iter().filter_map(|name| self.figure(name));
        figures.map(Block::Figure).collect()
    }

    fn figure(&self, name: &str) -> Option<ReportFigure> {
        let kind = figure::find(name).ok()?;
        let drawing = kind.make(&self.material).ok()?;
        if drawing.is_empty() {
            return None;
        }
        let is_of_series = matches!(drawing, Drawing::Chart(_));
        let note = if is_of_series { &self.note } else { "" };
        let caption = format!("{}: {}.{note}", kind.title, kind.shows);
        Some(ReportFigure {
            stem: name.to_owned(),
            alt: caption.clone(),
            caption: caption.into(),
            drawing: Arc::new(drawing),
        })
    }
}

/// The cases that are drawn: all, or those of the setups with the highest throughput where there are too
/// many; and what is said about that.
fn drawn(source: &ReportedSession<'_>) -> (Vec<CaseRow>, String) {
    let rate = |curve: &BatchCurve| {
        let rates = curve.points.iter().map(CurvePoint::rate_or_zero);
        rates.fold(0.0, f64::max)
    };
    let mut best: Vec<(usize, f64)> = source
        .curves
        .iter()
        .map(|curve| (curve.setup, rate(curve)))
        .collect();
    if best.len() <= MOST_SERIES {
        return (source.rows.clone(), String::new());
    }
    best.sort_by(|a, b| b.1.total_cmp(&a.1));
    let kept: Vec<usize> = best
        .iter()
        .take(MOST_SERIES)
        .map(|(setup, _)| *setup)
        .collect();
    let rows = source.rows.iter().filter(|row| kept.contains(&row.setup));
    let note = format!(
        " Of {} setups the {MOST_SERIES} with the highest throughput are drawn.",
        best.len()
    );
    (rows.cloned().collect(), note)
}
