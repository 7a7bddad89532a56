//! The heat maps among the figures: one quantity of a session, and the ratios of a comparison.

use super::make::{DrawingResult, compared, not_measured};
use super::overlays::colour;
use super::{Drawing, FigureInputs};
use crate::analysis::dimensions;
use crate::chart::heat_map::HeatMap;
use crate::chart::heat_map::cases::{self, MapDimensions, MapQuantity, SetupCases};
use crate::chart::heat_map::ratios;
use powerband_core::base::humanize;
use powerband_core::domain::point::Point;

/// Why there is no map of a sweep.
fn too_few(name: &str, points: &[Point]) -> String {
    let varying = dimensions::varying_dimensions(points);
    let names: Vec<&str> = varying.iter().map(|one| one.name).collect();
    let found = match names.len() {
        0 => "no dimension of its sweep has more than one size".to_owned(),
        _ => format!(
            "its sweep varies {} alone; latency and throughput have curves over it",
            humanize::list(&names)
        ),
    };
    format!("a heat map needs two dimensions with several sizes each, and {name} has none: {found}")
}

fn map(material: &FigureInputs<'_>, quantity: MapQuantity) -> DrawingResult {
    let session = material.after.session;
    let rows = material.after.rows();
    let points: Vec<Point> = rows.iter().map(cases::point_of).collect();
    if points.is_empty() {
        return Err(not_measured(session));
    }
    let sides =
        MapDimensions::from_points(&points).ok_or_else(|| too_few(&session.name, &points))?;
    let setups = 0..session.plan.setups.len();
    let wanted = setups.filter(|setup| material.setup.is_none_or(|one| one == *setup));
    let mapped: Vec<SetupCases<'_>> = wanted
        .map(|setup| SetupCases {
            tag: setup as u64,
            name: session.setup_label(setup),
            colour: colour(session, setup),
            rows: rows.iter().filter(|row| row.setup == setup).collect(),
        })
        .collect();
    let map = cases::map(&mapped, &sides, quantity, &material.options);
    drawn(map, || {
        let is_measured = rows.iter().any(|row| row.latency_ns.is_some());
        if is_measured {
            format!("{quantity} is not known of any case of {}", session.name)
        } else {
            not_measured(session)
        }
    })
}

fn drawn(map: HeatMap, why_not: impl FnOnce() -> String) -> DrawingResult {
    if map.is_empty() {
        return Err(why_not());
    }
    let title = if map.fixed.is_empty() {
        map.title.clone()
    } else {
        format!("{}, {}", map.title, map.fixed)
    };
    Ok(Drawing::HeatMap(Box::new(HeatMap { title, ..map })))
}

/// The time of a batch.
pub(super) fn latency(material: &FigureInputs<'_>) -> DrawingResult {
    map(material, MapQuantity::Latency)
}

/// Items a second.
pub(super) fn throughput(material: &FigureInputs<'_>) -> DrawingResult {
    map(material, MapQuantity::Throughput)
}

/// Tokens a second.
pub(super) fn tokens(material: &FigureInputs<'_>) -> DrawingResult {
    map(material, MapQuantity::TokensPerS)
}

/// How well batches are used.
pub(super) fn efficiency(material: &FigureInputs<'_>) -> DrawingResult {
    map(material, MapQuantity::Efficiency)
}

/// Joules of an item.
pub(super) fn energy(material: &FigureInputs<'_>) -> DrawingResult {
    map(material, MapQuantity::Energy)
}

/// The speed-up of each case.
pub(super) fn comparison(material: &FigureInputs<'_>) -> DrawingResult {
    let (found, setup) = compared(material)?;
    let session = material.after.session;
    let Some(mut map) = ratios::map(&found.pairs) else {
        let points: Vec<Point> = found.pairs.iter().map(ratios::point_of).collect();
        return Err(found
            .nothing
            .unwrap_or_else(|| too_few("the comparison", &points)));
    };
    if material.before.is_none() {
        let (first, second) = (session.setup_label(0), session.setup_label(setup));
        map.title = format!("Speed-up, {first} → {second}");
    }
    drawn(map, || "no case was measured on both sides".to_owned())
}
