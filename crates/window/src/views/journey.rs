//! Optimisation steps: the gain and cost of each step of a session.

use eframe::egui::{Label, RichText, Ui};

use super::answer;
use crate::icon;
use crate::theme::{self, space, text};
use crate::widgets::chart::{self, ChartOptions};
use crate::widgets::choice::{Choice, ChoiceRow};
use crate::widgets::data_table::{self, DataTable};
use crate::widgets::{button, label, marker, tip, waiting};
use powerband_app::App;
use powerband_app::action::{Action, Journey, Sessions};
use powerband_app::journey::{self, ComparedSteps, StepsSubject};
use powerband_app::plan::{self, PlanEdit};
use powerband_app::screen::Screen;
use powerband_app::sessions::{LIVE, OpenSession};
use powerband_core::base::humanize;
use powerband_findings::analysis::journey::Journey as Steps;
use powerband_findings::chart::spec::ChartSpec;
use powerband_findings::tables::steps;

pub(super) fn show(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let Some(looking) = app.compare.journey.looking else {
        return empty(ui, app, actions);
    };
    answer::header(ui, app, Screen::Journey, actions);
    ui.add_space(space::MEDIUM);
    choices(ui, app, looking, actions);
    ui.add_space(space::MEDIUM);
    super::scrolled(ui, |ui| match &app.compare.journey.found.result {
        Some(found) => body(ui, app, found, actions),
        None => waiting::show(ui, "Comparing the steps…"),
    });
}

fn empty(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    super::tabs::leave_room(ui);
    ui.add_space(ui.available_height() * 0.2);
    ui.vertical_centered(|ui| {
        let sentence = journey::empty_help(&app.shared.sessions);
        label::empty(ui, icon::JOURNEY, "No steps yet", sentence);
        if !app.shared.has_machine() {
            return;
        }
        for ladder in plan::ladders() {
            let name = format!("Plan: {}", ladder.title);
            let button = button::labelled(ui, None, &name).on_hover_text(ladder.about);
            if button.clicked() {
                actions.push(Action::Plan(PlanEdit::Ladder(ladder.id)));
            }
            ui.add_space(space::TINY);
        }
        ui.add_space(space::SMALL);
        if app.shared.has_machine()
            && button::primary(ui, Some(icon::OPEN), "Open files…").clicked()
        {
            actions.push(Action::Sessions(Sessions::Choose));
        }
    });
}

fn choices(ui: &mut Ui, app: &App, looking: StepsSubject, actions: &mut Vec<Action>) {
    let Some(open) = app.shared.sessions.get(looking.session) else {
        return;
    };
    let mut look = |looking| actions.push(Action::Journey(Journey::Look(looking)));
    ui.horizontal(|ui| {
        let sessions = &app.shared.sessions;
        let having_steps = sessions.iter().filter(|open| journey::has_steps(open));
        let choices: Vec<&OpenSession> = having_steps.collect();
        let choice = Choice {
            name: "Session",
            shown: &sessions.name(open),
            width: (ui.available_width() - 180.0).clamp(80.0, 460.0),
        };
        let rows = || {
            let rows = choices.iter().map(|other| ChoiceRow {
                name: sessions.name(other),
                colour: None,
                is_chosen: other.id == looking.session,
            });
            rows.collect()
        };
        if let (_, Some(taken)) = choice.show(ui, rows)
            && let Some(taken) = choices.get(taken)
        {
            look(StepsSubject::at_first_point(taken));
        }
        if journey::has_ladder(open) {
            let steps = open.comparable_session().plan.ladder.len() as u64;
            label::quiet_line(ui, &humanize::pluralised(steps, "step"));
            return;
        }
        if open.id == LIVE {
            label::quiet_line(ui, &humanize::capitalised(&looking.point.to_string()))
                .on_hover_text("Other batch sizes are available when the run ends");
            return;
        }
        let name = "Batch size of the steps";
        if let Some(point) = answer::point_choice(ui, name, looking.point, &open.session) {
            look(StepsSubject { point, ..looking });
        }
    });
}

fn body(ui: &mut Ui, app: &App, found: &ComparedSteps, actions: &mut Vec<Action>) {
    let steps = &found.journey;
    ui.spacing_mut().item_spacing.y = space::MEDIUM;
    answer::show(ui, &app.compare.journey.drawn.headline, |_| {});
    let failed = steps.steps.iter().filter(|step| !step.is_waiting());
    let troubles = failed.filter_map(|step| {
        let trouble = step.why_not_measured.as_ref()?;
        Some(format!("{} was not measured: {trouble}", step.title))
    });
    let troubles: Vec<String> = troubles.collect();
    let notes: Vec<&str> = steps.remarks.iter().map(String::as_str).collect();
    answer::notes(ui, &troubles, &notes);
    charts(ui, app, steps);
    steps_table(ui, app, found, actions);
}

fn charts(ui: &mut Ui, app: &App, steps: &Steps) {
    let drawn = &app.compare.journey.drawn;
    if !steps.is_ladder {
        let width = ui.available_width();
        return chart_card(ui, width, "start", &drawn.over_start, steps);
    }
    answer::two_columns(ui, |ui, width| {
        chart_card(ui, width, "before", &drawn.over_before, steps);
        chart_card(ui, width, "start", &drawn.over_start, steps);
    });
}

fn chart_card(ui: &mut Ui, width: f32, id: &str, spec: &ChartSpec, steps: &Steps) {
    theme::card(ui).show(ui, |ui| {
        ui.set_width(width - 34.0);
        ui.spacing_mut().item_spacing.y = space::TINY;
        ui.vertical(|ui| {
            label::card_title(ui, &spec.title)
                .on_hover_text("One bar per step with its 95 % interval, as in the table; a crossed ring marks a step that failed");
            if spec.is_empty() {
                label::quiet(ui, "No step was measured yet.");
                return;
            }
            let look = ChartOptions {
                height: 240.0,
                highlighted: None,
                zooms: true,
                crosshair: false,
            };
            let touched = chart::show(ui, id, spec, look);
            let step = touched.hovered.and_then(|(_, tag)| steps.steps.get(tag as usize));
            if let Some(reason) = touched.failed {
                tip::show_text(&touched.response, reason);
            } else if let Some(step) = step {
                let pair = if id == "before" { &step.vs_previous } else { &step.vs_baseline };
                let words = pair.as_ref().map(steps::gain_words).unwrap_or_default();
                tip::show_text(&touched.response, format!("{}\n{words}", step.title));
            }
        });
    });
}

fn steps_table(ui: &mut Ui, app: &App, found: &ComparedSteps, actions: &mut Vec<Action>) {
    let steps = &found.journey.steps;
    let title = if found.journey.is_ladder {
        "Steps"
    } else {
        "Setups"
    };
    super::rows_card(ui, |ui| {
        let title = |ui: &mut Ui| {
            ui.add_space(10.0);
            label::card_title(ui, title);
        };
        if !data_table::tools(ui, app, "steps", actions, title) {
            return;
        }
        let lead = |ui: &mut Ui, row: usize| {
            if let Some(step) = steps.get(row) {
                let number = RichText::new((row + 1).to_string());
                let number = number.font(theme::numbers(text::CAPTION));
                let color = theme::roles(ui).quiet;
                ui.add(Label::new(number.color(color)).selectable(false));
                let colour = app
                    .shared
                    .sessions
                    .colour(found.looking.session, step.case.setup);
                marker::inline(ui, colour);
            }
        };
        let table = DataTable {
            id: "steps",
            height: 560.0,
            lead: Some(&lead),
            ..DataTable::default()
        };
        table.show(ui, app, actions);
    });
}
