//! What each case took of the machine, as text.

use powerband_core::base::humanize::{self, UNKNOWN};
use powerband_core::domain::session::Session;
use powerband_core::domain::telemetry::Quantity;
use powerband_findings::analysis::case_rows::CaseRow;
use powerband_findings::analysis::device_readings::{self, Watched};
use powerband_findings::analysis::{batch_curve, energy, peak};

/// A table of busy share, power, clock, heat, memory and energy; nothing where nobody told any of it.
pub(super) fn table(session: &Session, rows: &[CaseRow]) -> String {
    let is_told = |row: &&CaseRow| row.memory.is_some() || !row.watched.is_empty();
    let lines: Vec<Vec<String>> = rows
        .iter()
        .filter(is_told)
        .map(|row| line(session, row))
        .collect();
    if lines.is_empty() {
        return String::new();
    }
    let header = [
        "Setup",
        "Batch",
        "Busy",
        "Power",
        "Clock",
        "Heat",
        "Memory",
        "Energy",
        "Net",
        "Per joule",
    ];
    humanize::table(&header, &lines, 1) + &remarks(rows)
}

/// How near each setup comes to what its devices can do at most, where that is known.
pub(super) fn peaks(session: &Session, rows: &[CaseRow]) -> String {
    let setups = 0..session.plan.setups.len();
    let lines = setups.filter_map(|setup| {
        let own = rows.iter().filter(|row| row.setup == setup);
        let best = own
            .filter(|row| !row.outcome.is_trouble())
            .filter_map(|row| Some((row, row.of_peak?)))
            .max_by(|a, b| a.1.total_cmp(&b.1));
        let (row, share) = best?;
        let peak = peak::peak_of_setup(session, setup).ok()?;
        Some(format!(
            "{}: {} of peak at batch {}; the peak is {}\n",
            row.setup_label,
            humanize::percent(share),
            row.batch,
            peak.told
        ))
    });
    lines.collect()
}

fn line(session: &Session, row: &CaseRow) -> Vec<String> {
    let own = device_readings::devices_of(session, row.setup);
    let mean = |quantity: Quantity| {
        let devices = row
            .watched
            .iter()
            .filter(|device| own.contains(&device.device));
        let extent = |device: &Watched| device.extent(quantity);
        devices.filter_map(extent).map(|extent| extent.mean).next()
    };
    let text = |quantity: Quantity, value: Option<f64>| {
        value.map_or_else(
            || UNKNOWN.to_owned(),
            |value| device_readings::text(quantity, value),
        )
    };
    let energy = row.energy.as_ref().ok();
    let joules = |value: Option<f64>| value.map_or_else(|| UNKNOWN.to_owned(), energy::joules);
    vec![
        row.setup_label.clone(),
        row.batch.to_string(),
        text(Quantity::Busy, mean(Quantity::Busy)),
        text(
            Quantity::Power,
            energy
                .map(energy::Energy::mean_w)
                .or_else(|| mean(Quantity::Power)),
        ),
        text(Quantity::Clock, mean(Quantity::Clock)),
        text(Quantity::Temperature, mean(Quantity::Temperature)),
        text(Quantity::MemoryUsed, row.memory.map(|need| need.bytes)),
        joules(energy.map(energy::Energy::gross_j_per_item)),
        joules(energy.and_then(energy::Energy::net_j_per_item)),
        energy.map_or_else(
            || UNKNOWN.to_owned(),
            |energy| humanize::significant(energy.items_per_j(), 3),
        ),
    ]
}

/// How energy was told or why it was not, and what fits into memory.
fn remarks(rows: &[CaseRow]) -> String {
    let mut lines = Vec::new();
    let measured = rows.iter().filter(|row| row.samples > 0);
    let mut energies = measured.map(|row| match &row.energy {
        Ok(energy) => format!("Energy of an item: {}", energy.sentence()),
        Err(why) => format!("Energy is not known: {why}"),
    });
    lines.extend(energies.next());
    for curve in batch_curve::batch_curves(rows) {
        if let Some(headroom) = curve.headroom {
            lines.push(format!(
                "Memory of {}: {}",
                curve.label,
                headroom.sentence()
            ));
        }
    }
    lines.iter().fold(String::new(), |text, line| {
        text + "· "
            + line
            + "
"
    })
}
