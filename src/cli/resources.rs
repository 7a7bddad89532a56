//! Telemetry, energy and memory of each case, as text.

use powerband_core::base::humanize;
use powerband_core::domain::session::Session;
use powerband_findings::analysis::case_rows::CaseRow;
use powerband_findings::analysis::{batch_curve, peak};
use powerband_findings::tables::{self, view::TableView};

/// A table of utilisation, power, clock, temperature, memory and energy; nothing where none was reported.
pub(super) fn table(session: &Session, rows: &[CaseRow]) -> String {
    let is_told = |row: &&CaseRow| row.memory.is_some() || !row.device_readings.is_empty();
    let told: Vec<CaseRow> = rows.iter().filter(is_told).cloned().collect();
    if told.is_empty() {
        return String::new();
    }
    let table = tables::cases::of_session(session, &told, &[]);
    let view = TableView::new(table).columns(&tables::cases::DEVICES);
    view.to_text() + &remarks(rows)
}

/// The share of peak that each setup reaches, where that is known.
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
            "{}: {} of peak at {}; the peak is {}\n",
            row.setup_label,
            humanize::percent(share),
            row.point,
            peak.description
        ))
    });
    lines.collect()
}

/// How energy was measured or why it was not, and what fits into memory.
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
