//! The curves that figures draw: those of the session, and those of the one that it is laid over.

use super::{FigureInputs, SessionNumbers};
use crate::chart::curves::Overlay;
use crate::chart::spec::SeriesId;
use powerband_core::domain::session::Session;

/// Bits of a series' number that say which curve; those before say which session.
pub(super) const SETUP_BITS: u32 = 20;

/// The palette index of a setup: what the user chose, else its place in the plan.
pub(super) fn colour(session: &Session, setup: usize) -> usize {
    let look = session.plan.looks.get(setup);
    look.and_then(|look| look.colour).unwrap_or(setup)
}

/// The curves of the session, and below them those of the session that it is laid over.
pub(super) fn overlays<'a>(material: &'a FigureInputs<'_>) -> Vec<Overlay<'a>> {
    let parts = [material.before.as_ref(), Some(&material.after)];
    let is_alone = material.before.is_none();
    let other = material.before.as_ref().map(|part| &part.session.name);
    let is_same = other == Some(&material.after.session.name);
    let mut before = 0;
    let mut all = Vec::new();
    for (place, part) in (0_u64..).zip(parts.into_iter().flatten()) {
        let session = part.session;
        let name = |label: &str| {
            let both = ["before", "after"];
            match (is_alone, is_same) {
                (true, _) => label.to_owned(),
                (_, true) => format!("{label} · {}", both[place as usize % 2]),
                (_, false) => format!("{label} · {}", session.name),
            }
        };
        let colours = colours(part);
        let has_own = part.curves().len() > session.plan.setups.len();
        let n_colours = colours.iter().map(|colour| colour + 1).max();
        let numbered = (0_u64..).zip(part.curves()).zip(colours);
        let is_wanted = |curve: &Overlay<'a>| {
            let setup = curve.curve.setup;
            material.setup.is_none_or(|wanted| wanted == setup)
        };
        let own = numbered.map(|((number, curve), colour)| Overlay {
            id: SeriesId((place << SETUP_BITS) | number),
            name: name(&curve.label),
            colour: before + colour,
            curve,
        });
        all.extend(own.filter(is_wanted));
        before += if has_own {
            n_colours.unwrap_or(0)
        } else {
            session.plan.setups.len()
        };
    }
    all
}

/// The palette index of each curve: that of its setup, or one of its own where setups have several curves.
fn colours(part: &SessionNumbers<'_>) -> Vec<usize> {
    let curves = part.curves();
    let own = |setup: usize| curves.iter().filter(move |curve| curve.setup == setup);
    if curves.iter().any(|curve| own(curve.setup).count() > 1) {
        return (0..curves.len()).collect();
    }
    let setups = curves.iter().map(|curve| curve.setup);
    setups.map(|setup| colour(part.session, setup)).collect()
}
