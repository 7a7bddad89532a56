//! The other dimensions of the sweep: a row of chips for each, and their text.

use eframe::egui::{Button, RichText, Ui, vec2};

use super::typed;
use crate::theme::{self, space};
use crate::widgets::{label, tip};
use powerband_app::App;
use powerband_app::plan::sweeps::SweptDim;
use powerband_app::plan::{PlanCheck, PlanEdit, PlanError, PlanField};
use powerband_core::base::humanize;
use powerband_core::domain::point::BATCH;

/// Shows them, where the model leaves dimensions open or the plan has some.
pub(super) fn show(ui: &mut Ui, app: &App, faults: &[PlanError], edits: &mut Vec<PlanEdit>) {
    let dimensions = app.bench.planner.swept_dimensions();
    let field = (PlanField::Sweeps, app.bench.planner.draft.sweeps.as_str());
    if !app.bench.planner.has_field(PlanField::Sweeps) {
        return;
    }
    let plan = app.bench.planned(&app.shared);
    let check = plan.as_ref().and_then(|plan| app.bench.plan_check(plan));
    for dimension in &dimensions {
        ui.add_space(space::SMALL);
        label::caption(ui, &dimension.title());
        chips(ui, dimension, check, edits);
    }
    ui.add_space(space::TINY);
    typed(ui, app, faults, field, edits);
}

/// The sizes of a dimension to add and to take out; what the network does not take cannot be added.
pub(super) fn chips(
    ui: &mut Ui,
    dimension: &SweptDim,
    check: Option<&PlanCheck>,
    edits: &mut Vec<PlanEdit>,
) {
    let name = &dimension.name;
    let title = match name.as_str() {
        BATCH => "Batch",
        name => name,
    };
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = space::TINY;
        for &size in dimension.offered {
            let is_on = dimension.measures(size);
            let roles = theme::roles(ui);
            let words = RichText::new(size.to_string()).font(theme::numbers(12.5));
            let words = words.color(if is_on { roles.accent } else { roles.quiet });
            let refused = check.and_then(|check| check.sizes.get(&(name.clone(), size)));
            let refused = refused.filter(|_| !is_on).map(String::as_str);
            let chip = Button::new(words).min_size(vec2(44.0, 28.0));
            let response = tip::why_not(ui.add_enabled(refused.is_none(), chip), refused);
            let is_in_plan = dimension.sizes.contains(&size);
            let doing = if is_in_plan { "take out" } else { "add" };
            let named = response.accessible_name(format!("{title} {size}, {doing}"));
            if named.clicked() {
                edits.push(PlanEdit::ToggleSize(name.clone(), size));
            }
        }
        let others = dimension.sizes.iter();
        let others = others.filter(|size| !dimension.offered.contains(size));
        let others: Vec<String> = others.map(|size| humanize::count(*size as u64)).collect();
        if !others.is_empty() {
            label::faint(ui, &format!("and {}", others.join(", ")));
        }
    });
}
