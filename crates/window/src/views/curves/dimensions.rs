//! The choices of a sweep over several dimensions: what stands along x, which sizes of the others are drawn, and
//! whether curves or the heat map show them.

use eframe::egui::{ComboBox, Ui};

use crate::icon;
use crate::theme::space;
use crate::widgets::{button, label, segmented};
use powerband_app::App;
use powerband_app::action::Curves;
use powerband_app::curves::axes::OtherDimension;
use powerband_app::curves::heat::SweepView;
use powerband_core::base::humanize;

/// With more sizes they are chosen from a list, and stepped through.
const MOST_CHIPS: usize = 8;
/// Height of the row: that of a segmented control with its frame.
const ROW: f32 = 36.0;

/// Shows them, where more than one dimension varies.
pub(super) fn show(ui: &mut Ui, app: &App, changes: &mut Vec<Curves>) {
    let axes = &app.curves.drawn.axes;
    if axes.varying.len() < 2 {
        return;
    }
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = space::SMALL;
        // As high as the choices, so that the words before them stand in their middle.
        ui.set_row_height(ROW);
        label::quiet_line(ui, "Over");
        let help = "The dimension of the sweep along x";
        let names = axes.varying.iter().map(|one| one.name);
        let choices: Vec<(&str, String, &str)> =
            names.map(|name| (name, name.to_owned(), help)).collect();
        let taken = segmented::exact(ui, "Over", axes.x, &choices);
        changes.extend(taken.map(Curves::Over));
        for other in &axes.others {
            ui.add_space(space::SMALL);
            size(ui, other, changes);
        }
        if app.curves.drawn.map.is_some() {
            ui.add_space(space::SMALL);
            label::quiet_line(ui, "Show");
            let choices = SweepView::ALL.map(|(shown, name)| (shown, name.to_owned(), ""));
            let taken = segmented::show(ui, "Show", app.curves.map.shown, &choices);
            changes.extend(taken.map(Curves::Show));
        }
    });
    ui.add_space(space::SMALL);
}

/// Which size of another dimension the curves have, or each.
fn size(ui: &mut Ui, other: &OtherDimension, changes: &mut Vec<Curves>) {
    let name = other.dimension.name;
    let sizes = &other.dimension.sizes;
    label::quiet_line(ui, name);
    let title = |size: Option<usize>| {
        size.map_or_else(|| "each".to_owned(), |size| humanize::count(size as u64))
    };
    if sizes.len() <= MOST_CHIPS {
        let all = std::iter::once(None).chain(sizes.iter().copied().map(Some));
        let choices: Vec<(Option<usize>, String, &str)> = all
            .map(|size| {
                let help = if size.is_some() {
                    "The curves at this size"
                } else {
                    "A series for each size"
                };
                (size, title(size), help)
            })
            .collect();
        let taken = segmented::show(ui, name, other.size, &choices);
        changes.extend(taken.map(|size| Curves::Fix(name, size)));
        return;
    }
    let place = other
        .size
        .and_then(|size| sizes.iter().position(|one| *one == size));
    let before = place.and_then(|place| place.checked_sub(1));
    let after = match place {
        Some(place) => Some(place + 1).filter(|next| *next < sizes.len()),
        None => Some(0),
    };
    let step = |ui: &mut Ui, to: Option<usize>, glyph, words: &str| {
        let named = format!("{words} {name}");
        let response = ui.add_enabled_ui(to.is_some(), |ui| button::small_icon(ui, glyph, &named));
        to.filter(|_| response.inner.clicked()).map(|to| sizes[to])
    };
    let taken = step(ui, before, icon::LEFT, "Smaller");
    changes.extend(taken.map(|size| Curves::Fix(name, Some(size))));
    let combo = ComboBox::from_id_salt(("size of", name))
        .width(76.0)
        .selected_text(title(other.size));
    let response = combo.show_ui(ui, |ui| {
        for size in std::iter::once(None).chain(sizes.iter().copied().map(Some)) {
            let is_it = size == other.size;
            if ui.selectable_label(is_it, title(size)).clicked() && !is_it {
                changes.push(Curves::Fix(name, size));
            }
        }
    });
    response.response.accessible_name(format!("Size of {name}"));
    let taken = step(ui, after, icon::RIGHT, "Larger");
    changes.extend(taken.map(|size| Curves::Fix(name, Some(size))));
}
