//! Journey: the steps of a session, what each one gained, and what that cost.

use eframe::egui::{Align, ComboBox, Label, Layout, Rect, RichText, Ui, UiBuilder, pos2};

use crate::gui::icon;
use crate::gui::theme::{self, space, text};
use crate::gui::widgets::chart::{self, Look};
use crate::gui::widgets::table::{self, ColumnSpec, Table};
use crate::gui::widgets::{button, flags, label, marker, tip, verdict, waiting};
use powerband_app::App;
use powerband_app::action::{Action, Journey, Sessions};
use powerband_app::journey::{self, ComparedSteps, Looking};
use powerband_app::plan::{self, PlanEdit};
use powerband_app::sessions::LIVE;
use powerband_core::base::humanize::{self, UNKNOWN};
use powerband_findings::analysis::accuracy;
use powerband_findings::analysis::comparison::Pair;
use powerband_findings::analysis::journey::{Journey as Steps, StepResult};
use powerband_findings::analysis::verdict::Call;
use powerband_findings::chart::spec::ChartSpec;

/// Below this width the charts stand one above the other.
const NARROW: f32 = 620.0;

/// What stands in a column.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cell {
    Step,
    Latency,
    Throughput,
    OverBefore,
    Verdict,
    OverStart,
    ReadyAfter,
    PaysAfter,
    Memory,
    Cosine,
}

/// The table from left to right; what is said of a step that failed takes the place of all but the first.
const CELLS: [Cell; 10] = [
    Cell::Step,
    Cell::Latency,
    Cell::Throughput,
    Cell::OverBefore,
    Cell::Verdict,
    Cell::OverStart,
    Cell::ReadyAfter,
    Cell::PaysAfter,
    Cell::Memory,
    Cell::Cosine,
];

const COLUMNS: [ColumnSpec; CELLS.len()] = [
    ColumnSpec::words("Step", 148.0).growing(),
    ColumnSpec::numbers("Latency", 78.0).with_help("Median time of a batch: half of the runs took less"),
    ColumnSpec::numbers("Throughput", 84.0).with_help("Items done over time spent"),
    ColumnSpec::numbers("Over before", 80.0)
        .with_help("How many times as fast it is as the last step before it that was measured, by the time of an item where batch sizes differ: over the rounds, so that it may differ from the quotient of the two medians"),
    ColumnSpec::words("Verdict", 114.0)
        .with_help("Faster or slower than the step before where the whole 95 % interval lies beyond the noise floor, same where it lies within, else inconclusive"),
    ColumnSpec::numbers("Over start", 76.0)
        .with_help("How many times as fast it is as the first step, by the time of an item where batch sizes differ: over the rounds, so that it may differ from the quotient of the two medians"),
    ColumnSpec::numbers("Ready after", 80.0)
        .with_help("Loading and compiling the model, and the first run"),
    ColumnSpec::numbers("Pays after", 82.0)
        .with_help("Runs after which a longer preparation has paid by faster runs, against the step before"),
    ColumnSpec::numbers("Memory", 76.0).with_help("The most memory that the step needed"),
    ColumnSpec::numbers("Accuracy", 80.0)
        .with_help("The lowest cosine between an output and that of the network in floats: 1 is the same"),
];

/// Shows it.
pub(super) fn show(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let Some(looking) = app.journey.looking else {
        return empty(ui, app, actions);
    };
    head(ui, app, actions);
    ui.add_space(space::MEDIUM);
    choices(ui, app, looking, actions);
    ui.add_space(space::MEDIUM);
    super::scrolled(ui, |ui| match &app.journey.result {
        Some(found) => body(ui, app, found),
        None => waiting::show(ui, "Comparing the steps…"),
    });
}

fn empty(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    label::screen_title(ui, "Journey", "What each step gained, and what it cost");
    ui.add_space(ui.available_height() * 0.2);
    ui.vertical_centered(|ui| {
        let sentence = journey::what_helps(&app.sessions);
        label::empty(ui, icon::JOURNEY, "No steps to be seen yet", sentence);
        for ladder in plan::ladders() {
            let name = format!("Plan: {}", ladder.title);
            let button = button::plain(ui, None, &name).on_hover_text(ladder.about);
            if button.clicked() {
                actions.push(Action::Plan(PlanEdit::Ladder(ladder.id)));
            }
            ui.add_space(space::TINY);
        }
        ui.add_space(space::SMALL);
        if button::primary(ui, Some(icon::OPEN), "Open files…").clicked() {
            actions.push(Action::Sessions(Sessions::Choose));
        }
    });
}

fn head(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let sentence = "What each step gained over the one before and over the start, and what it cost";
    super::head(ui, "Journey", sentence, super::NARROW_HEAD, |ui| {
        let found = app.journey.result.as_ref();
        let allowed = found
            .map(|_| ())
            .ok_or("the steps are still being compared");
        if button::plain_if(ui, allowed, Some(icon::COPY), "Copy the table").clicked() {
            actions.push(Action::Journey(Journey::CopyTable));
        }
    });
}

fn choices(ui: &mut Ui, app: &App, looking: Looking, actions: &mut Vec<Action>) {
    let Some(open) = app.sessions.get(looking.session) else {
        return;
    };
    let mut look = |looking| actions.push(Action::Journey(Journey::Look(looking)));
    ui.horizontal(|ui| {
        let combo = ComboBox::from_id_salt("journey-session")
            .width((ui.available_width() - 180.0).min(460.0))
            .truncate()
            .selected_text(app.sessions.name(open));
        let response = combo.show_ui(ui, |ui| {
            for other in app.sessions.iter().filter(|open| journey::has_steps(open)) {
                let is_it = other.id == looking.session;
                if ui
                    .selectable_label(is_it, app.sessions.name(other))
                    .clicked()
                {
                    look(Looking::at(other));
                }
            }
        });
        response.response.accessible_name("Session");
        if journey::has_ladder(open) {
            let steps = open.session.plan.ladder.len() as u64;
            label::quiet_line(ui, &humanize::of_many(steps, "step"));
            return;
        }
        if open.id == LIVE {
            label::quiet_line(ui, &format!("Batch {}", looking.batch))
                .on_hover_text("Other batch sizes can be seen once the run is over");
            return;
        }
        let combo = ComboBox::from_id_salt("journey-batch")
            .width(110.0)
            .selected_text(format!("Batch {}", looking.batch));
        let response = combo.show_ui(ui, |ui| {
            for &batch in &open.session.plan.batches {
                let words = format!("Batch {batch}");
                if ui.selectable_label(batch == looking.batch, words).clicked() {
                    look(Looking { batch, ..looking });
                }
            }
        });
        response.response.accessible_name("Batch size of the steps");
    });
}

fn body(ui: &mut Ui, app: &App, found: &ComparedSteps) {
    let steps = &found.journey;
    charts(ui, app, steps);
    ui.add_space(space::MEDIUM);
    steps_table(ui, app, found);
    let failed = steps.steps.iter().filter(|step| !step.is_waiting());
    let troubles = failed.filter_map(|step| {
        let trouble = step.trouble.as_ref()?;
        Some(format!("{} was not measured: {trouble}", step.title))
    });
    ui.add_space(space::SMALL);
    for remark in troubles.chain(steps.remarks.iter().cloned()) {
        ui.horizontal_top(|ui| {
            let color = theme::roles(ui).faint;
            ui.label(button::glyph(icon::INFO).size(13.0).color(color));
            label::quiet(ui, &remark);
        });
    }
}

fn charts(ui: &mut Ui, app: &App, steps: &Steps) {
    let drawn = &app.journey.drawn;
    let both = |ui: &mut Ui, width: f32| {
        let (spec, sentence) = (&drawn.over_before, best_step(steps));
        chart_card(ui, width, "before", spec, steps, &sentence);
        let (spec, sentence) = (&drawn.over_start, whole_way(steps));
        chart_card(ui, width, "start", spec, steps, &sentence);
    };
    if ui.available_width() < NARROW {
        ui.vertical(|ui| {
            ui.spacing_mut().item_spacing.y = space::MEDIUM;
            let width = ui.available_width();
            both(ui, width);
        });
        return;
    }
    ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = space::MEDIUM;
        let width = (ui.available_width() - space::MEDIUM) / 2.0;
        both(ui, width);
    });
}

fn chart_card(ui: &mut Ui, width: f32, id: &str, spec: &ChartSpec, steps: &Steps, sentence: &str) {
    theme::card(ui).show(ui, |ui| {
        ui.set_width(width - 34.0);
        ui.spacing_mut().item_spacing.y = space::TINY;
        ui.vertical(|ui| {
            label::card_title(ui, &spec.title)
                .on_hover_text("A bar for each step with its 95 % interval; numbers are those of the table, and a crossed ring is a step that failed");
            label::quiet_line(ui, sentence);
            if spec.is_empty() {
                label::quiet(ui, "No step was measured yet.");
                return;
            }
            let look = Look {
                height: 240.0,
                highlighted: None,
                zooms: false,
            };
            let touched = chart::show(ui, id, spec, look);
            let step = touched.hovered.and_then(|(_, tag)| steps.steps.get(tag as usize));
            if let Some(reason) = touched.failed {
                tip::words(&touched.response, reason);
            } else if let Some(step) = step {
                let pair = if id == "before" { &step.over_before } else { &step.over_start };
                let words = pair.as_ref().map(grounds).unwrap_or_default();
                tip::words(&touched.response, format!("{}\n{words}", step.title));
            }
        });
    });
}

/// The step that gained the most, among those that gained something for sure.
fn best_step(steps: &Steps) -> String {
    let gains = steps.steps.iter().filter_map(|step| {
        let pair = step.over_before.as_ref()?;
        let ratio = pair.ratio.filter(|_| pair.verdict.call == Call::Faster)?;
        Some((step, ratio))
    });
    let best = gains.max_by(|(_, a), (_, b)| a.speed_up.total_cmp(&b.speed_up));
    let pairs = || {
        steps
            .steps
            .iter()
            .filter_map(|step| step.over_before.as_ref())
    };
    let open = pairs().filter(|pair| pair.verdict.call == Call::Inconclusive);
    let nothing = match (pairs().count(), open.count()) {
        (0, _) => "There is no step to compare with the one before yet.".to_owned(),
        (_, 0) => "No step is faster than the one before.".to_owned(),
        (all, open) => format!(
            "No step is faster than the one before for sure; {open} of {all} cannot be told."
        ),
    };
    best.map_or(nothing, |(step, gain)| {
        format!("{} gained the most, {}.", step.title, gain.words())
    })
}

/// From the start to the last step that was measured, as far as that is sure.
fn whole_way(steps: &Steps) -> String {
    let last = steps.steps.iter().rev().find(|step| step.row.is_some());
    let gain = last.and_then(|step| {
        let pair = step.over_start.as_ref()?;
        Some((&step.title, pair.ratio?.words(), pair.verdict.call))
    });
    let Some((title, times, call)) = gain else {
        return "There is nothing to compare with the start yet.".to_owned();
    };
    match call {
        Call::Faster | Call::Slower => {
            format!("{title} is {times} as fast as the start.")
        }
        Call::Same => format!("{title} is as fast as the start."),
        Call::Inconclusive => {
            format!("Whether {title} is faster than the start cannot be told.")
        }
    }
}

fn steps_table(ui: &mut Ui, app: &App, found: &ComparedSteps) {
    let steps = &found.journey;
    let table = Table {
        id: "steps",
        columns: &COLUMNS,
        sort: None,
        sorts: false,
        rows: steps.steps.len(),
        selected: None,
        height: 560.0,
    };
    let show = |ui: &mut Ui, row: usize, column: usize| {
        let (step, cell) = (steps.steps.get(row), CELLS.get(column));
        match (step, cell) {
            (Some(step), Some(Cell::Step)) => {
                let colour = app.sessions.colour(found.looking.session, step.case.setup);
                step_cell(ui, row + 1, step, colour);
            }
            (Some(step), Some(cell)) => match &step.trouble {
                None => measured(ui, step, *cell),
                // The last cell of a row is painted over the others.
                Some(trouble) if column + 1 == CELLS.len() => failed(ui, step, trouble),
                Some(_) => {}
            },
            _ => {}
        }
    };
    super::rows_card(ui, |ui| table.show(ui, show));
}

fn step_cell(ui: &mut Ui, number: usize, step: &StepResult, colour: usize) {
    let roles = theme::roles(ui);
    if step.trouble.is_some() {
        ui.multiply_opacity(0.55);
    }
    let number = RichText::new(number.to_string()).font(theme::numbers(text::CAPTION));
    ui.add(Label::new(number.color(roles.quiet)).selectable(false));
    marker::inline(ui, colour);
    let setup = step.row.as_ref().map(|row| row.setup_spec.as_str());
    let batch = humanize::count(step.case.batch as u64);
    let hover = match setup {
        Some(setup) => format!("{}\n{setup}, batch {batch}", step.title),
        None => format!("{}\nbatch {batch}", step.title),
    };
    table::words_about(ui, &step.title, hover);
}

/// Why a step has no numbers, in the place of them.
fn failed(ui: &mut Ui, step: &StepResult, trouble: &str) {
    let cell = ui.max_rect();
    let others = COLUMNS.iter().skip(1).map(|column| column.width);
    let from = cell.right() + 10.0 - others.sum::<f32>() + 10.0;
    let rect = Rect::from_min_max(pos2(from, cell.top()), cell.max);
    let clip = ui.clip_rect();
    let layout = Layout::left_to_right(Align::Center);
    let mut ui = ui.new_child(UiBuilder::new().max_rect(rect).layout(layout));
    ui.set_clip_rect(Rect::from_x_y_ranges(rect.x_range(), clip.y_range()));
    let roles = theme::roles(&ui);
    let (words, color) = if step.is_waiting() {
        ("not measured yet".to_owned(), roles.faint)
    } else {
        (format!("not measured: {trouble}"), roles.quiet)
    };
    let words = Label::new(RichText::new(words).color(color)).truncate();
    let words = words.show_tooltip_when_elided(false);
    ui.add(words.selectable(false)).on_hover_text(trouble);
}

fn measured(ui: &mut Ui, step: &StepResult, cell: Cell) {
    let Some(row) = &step.row else {
        return;
    };
    let before = step.over_before.as_ref();
    let (words, help) = match cell {
        Cell::Step => return,
        Cell::Verdict => {
            if let Some(pair) = before {
                verdict::pill(ui, &pair.verdict);
            }
            return;
        }
        Cell::Latency => {
            let words = row.median_words();
            let uncertainty = row.uncertainty_words();
            (
                words,
                uncertainty.map(|uncertainty| format!("± {uncertainty}, the 95 % interval")),
            )
        }
        Cell::Throughput => (row.rate_words(), None),
        Cell::OverBefore => gain(before),
        Cell::OverStart => gain(step.over_start.as_ref()),
        Cell::ReadyAfter => {
            let words = step.cost.preparation_ns.map(humanize::duration_ns);
            let help = words
                .is_none()
                .then(|| "Its worker did not tell".to_owned());
            (words, help)
        }
        Cell::PaysAfter => {
            let runs = step.cost.pays_after_runs;
            let words = runs.map(|runs| format!("{} runs", humanize::count(runs as u64)));
            (
                words,
                runs.is_none().then(|| why_not_paid(before).to_owned()),
            )
        }
        Cell::Cosine => {
            let found = step.accuracy.as_ref();
            let words = found.and_then(|found| found.distance);
            let words = words.map(|distance| accuracy::cosine(distance.worst_cosine));
            let unknown = "Outputs were not compared; Plan and bench --accuracy ask for it";
            let help = found.map_or_else(|| unknown.to_owned(), accuracy::in_short);
            (words, Some(help))
        }
        Cell::Memory => {
            let words = step
                .cost
                .memory
                .map(|need| humanize::bytes(need.bytes as u64));
            let help = words
                .is_none()
                .then(|| "Nobody told what it needed".to_owned());
            (words, help)
        }
    };
    let response = table::number(ui, &words.unwrap_or_else(|| UNKNOWN.to_owned()));
    if let Some(help) = help {
        response.on_hover_text(help);
    }
    if cell == Cell::Latency {
        flags::mark(ui, &row.flags);
    }
}

fn gain(pair: Option<&Pair>) -> (Option<String>, Option<String>) {
    let Some(pair) = pair else {
        return (None, Some("There is no step before".to_owned()));
    };
    let words = pair.ratio.map(|ratio| ratio.words());
    (words, Some(grounds(pair)))
}

/// A ratio in words: its interval, what it counts, and the answer.
fn grounds(pair: &Pair) -> String {
    let Some(ratio) = pair.ratio else {
        let reason = pair.verdict.reason.clone();
        return reason.unwrap_or_else(|| "These are not to be compared".to_owned());
    };
    let per = if pair.is_per_item() {
        format!(
            ", by the time of an item of batch {} and batch {}",
            pair.before_batch, pair.after_batch
        )
    } else {
        String::new()
    };
    let interval = ratio.interval_words().map_or_else(
        || "an interval needs two rounds on either side".to_owned(),
        |words| format!("95 % interval {words}"),
    );
    let times = ratio.words();
    format!("{times}{per}\n{interval}\n{}", pair.verdict.call)
}

/// Why no number of runs can be given.
fn why_not_paid(before: Option<&Pair>) -> &'static str {
    match before {
        None => "There is no step before",
        Some(pair) if pair.is_per_item() => "Counted between steps of one batch size only",
        Some(pair) if pair.verdict.call != Call::Faster => {
            "It is not known to be faster than the step before"
        }
        Some(_) => "It takes no longer to get ready than the step before, as far as is known",
    }
}
