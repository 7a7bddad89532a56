//! Compare: two sides, matched case by case, and what differs between them.

mod map;
mod overlaid;
mod profiles;
mod tables;

use eframe::egui::{DragAndDrop, Label, Rect, RichText, Sense, Stroke, StrokeKind, Ui};

use super::answer;
use crate::icon;
use crate::theme::{self, space};
use crate::widgets::chart::{self, ChartOptions};
use crate::widgets::choice::{Choice, ChoiceRow};
use crate::widgets::{button, flags, label, marker, tip, waiting};
use powerband_app::App;
use powerband_app::action::{Action, Compare, RunAction, Sessions};
use powerband_app::compare::profiles::side_of_profile;
use powerband_app::compare::{
    RaisedFlag, SideChoice, comparable_setups, is_comparable, same_setup_in, whole_name,
};
use powerband_app::kernels::{self, ProfileRef};
use powerband_app::screen::Screen;
use powerband_app::sessions::{LIVE, OpenSession, SessionId};
use powerband_core::base::humanize;
use powerband_core::domain::point::Point;
use powerband_core::domain::session::Session;
use powerband_core::domain::sweep;
use powerband_findings::analysis::comparison::Comparison;
use powerband_findings::analysis::flags::FlagSeverity;
use powerband_findings::analysis::profiled;

/// The tooltip of a side.
const DRAGGED: &str =
    "Drag it onto the opposite side to swap them, or an open session from the sidebar onto it";
/// Width of the choice of a batch.
const BATCH: f32 = 156.0;
/// Up to this width the buttons stand below the tabs.
const NARROW: f32 = 640.0;
/// Width of what is before it.
const BEFORE_BATCH: f32 = 26.0;

pub(super) fn show(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    if app
        .compare
        .sides
        .before
        .zip(app.compare.sides.after)
        .is_none()
    {
        return empty(ui, app, actions);
    }
    let mut changes = Vec::new();
    header(ui, app, &mut changes, actions);
    ui.add_space(space::MEDIUM);
    super::scrolled(ui, |ui| {
        sides(ui, app, &mut changes);
        ui.add_space(space::MEDIUM);
        let sides = &app.compare.sides;
        match &sides.found.result {
            _ if sides.compares_profiles() => profiles::show(ui, app, actions),
            Some((_, _, comparison)) => body(ui, app, comparison, actions),
            None => waiting::show(ui, "Comparing…"),
        }
    });
    super::each(changes, Action::Compare, actions);
}

fn empty(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    super::tabs::leave_room(ui);
    ui.add_space(ui.available_height() * 0.25);
    ui.vertical_centered(|ui| {
        let sentence = if app.shared.sessions.is_empty() {
            "Open two sessions, or one with two setups, and see what changed between them."
        } else if app.shared.sessions.iter().any(is_comparable) {
            "The open session has one setup. Open a second session, and see what changed."
        } else {
            "No open session has a setup with times. Open two sessions that have, and see what changed."
        };
        label::empty(ui, icon::COMPARE, "Two sides needed", sentence);
        if app.shared.has_machine() && button::primary(ui, Some(icon::OPEN), "Open files…").clicked() {
            actions.push(Action::Sessions(Sessions::Choose));
        }
    });
}

fn header(ui: &mut Ui, app: &App, changes: &mut Vec<Compare>, actions: &mut Vec<Action>) {
    super::tabs::with_buttons(ui, NARROW, |ui| {
        super::in_order(ui, 2, |ui, place| match place {
            0 if button::labelled(ui, Some(icon::SWAP), "Swap").clicked() => {
                changes.push(Compare::Swap);
            }
            1 => answer::report_button(ui, app, Screen::Compare, actions),
            _ => {}
        });
    });
}

fn sides(ui: &mut Ui, app: &App, changes: &mut Vec<Compare>) {
    answer::two_columns(ui, |ui, width| {
        for (title, pick, wrap) in [
            (
                "Before",
                app.compare.sides.before,
                Compare::Before as fn(SideChoice) -> Compare,
            ),
            ("After", app.compare.sides.after, Compare::After),
        ] {
            let card = theme::card(ui).show(ui, |ui| {
                ui.set_width(width - 34.0);
                ui.spacing_mut().item_spacing.y = space::TINY;
                ui.vertical(|ui| {
                    let caption = label::caption(ui, title);
                    if let Some(pick) = pick {
                        let grip = caption.interact(Sense::drag());
                        grip.dnd_set_drag_payload(pick);
                        grip.on_hover_text(DRAGGED);
                        side(ui, app, title, pick, wrap, changes);
                    }
                });
            });
            if let Some(pick) = pick {
                drop_target(ui, app, card.response.rect, pick, wrap, changes);
            }
        }
    });
}

/// A side takes the opposite one, which swaps them, and an open session.
fn drop_target(
    ui: &Ui,
    app: &App,
    card: Rect,
    pick: SideChoice,
    wrap: fn(SideChoice) -> Compare,
    changes: &mut Vec<Compare>,
) {
    let sessions = &app.shared.sessions;
    let opposite = DragAndDrop::payload::<SideChoice>(ui);
    let opposite = opposite.filter(|side| **side != pick);
    let session = DragAndDrop::payload::<SessionId>(ui).and_then(|id| {
        let session = sessions.get(*id)?;
        if !is_comparable(session) {
            let (session, profile) = (session.id, 0);
            let dropped = ProfileRef { session, profile };
            return kernels::profile(sessions, dropped).map(|_| side_of_profile(sessions, dropped));
        }
        let side = same_setup_in(sessions.get(pick.session)?, pick.setup, session);
        Some(SideChoice {
            whole: pick.whole,
            ..side
        })
    });
    let change = opposite
        .map(|_| Compare::Swap)
        .or_else(|| session.map(wrap));
    let Some(change) = change.filter(|_| ui.rect_contains_pointer(card)) else {
        return;
    };
    let edge = Stroke::new(1.5, theme::roles(ui).accent);
    let painter = ui.painter();
    painter.rect_stroke(card, theme::CARD_RADIUS, edge, StrokeKind::Inside);
    if ui.input(|input| input.pointer.any_released()) {
        DragAndDrop::clear_payload(ui);
        changes.push(change);
    }
}

fn side(
    ui: &mut Ui,
    app: &App,
    title: &str,
    pick: SideChoice,
    wrap: fn(SideChoice) -> Compare,
    changes: &mut Vec<Compare>,
) {
    let Some(open) = app.shared.sessions.get(pick.session) else {
        return;
    };
    ui.horizontal(|ui| {
        let colour = app.shared.sessions.colour(pick.session, pick.setup);
        marker::inline(ui, colour);
        let room = (ui.available_width() - BATCH).max(60.0);
        let shown = side_name(app, pick);
        let name = format!("{title}: setup");
        let choice = Choice {
            name: &name,
            shown: &shown,
            width: room,
        };
        let choices = side_choices(app);
        let rows = || {
            let rows = choices.iter();
            rows.map(|choice| side_row(app, *choice, pick)).collect()
        };
        if let (_, Some(taken)) = choice.show(ui, rows)
            && let Some(taken) = choices.get(taken)
        {
            changes.push(wrap(*taken));
        }
        if pick.profile.is_none() {
            let points = &open.comparable_session().plan.points;
            point_choice(ui, title, pick, points, wrap, changes);
        }
    });
    label::faint(ui, &side_details(open, pick));
}

/// Every setup that can be this side, of several sessions each as a whole, and every profile.
fn side_choices(app: &App) -> Vec<SideChoice> {
    let sessions = &app.shared.sessions;
    let mut choices = Vec::new();
    for open in sessions.iter().filter(|open| is_comparable(open)) {
        let has_whole = sessions.len() > 1 && !open.session.plan.setups.is_empty();
        choices.extend(has_whole.then(|| SideChoice::of_session(open.id)));
        choices.extend(comparable_setups(open).map(|setup| SideChoice::of_setup(open.id, setup)));
    }
    let profiles = kernels::profile_refs(sessions).into_iter();
    choices.extend(profiles.map(|pick| side_of_profile(sessions, pick)));
    choices
}

fn side_row(app: &App, choice: SideChoice, pick: SideChoice) -> ChoiceRow {
    let key = |side: SideChoice| (side.session, side.whole, side.setup, side.profile);
    ChoiceRow {
        name: side_name(app, choice),
        colour: Some(app.shared.sessions.colour(choice.session, choice.setup)),
        is_chosen: if choice.whole {
            pick.whole && choice.session == pick.session
        } else {
            key(choice) == key(pick)
        },
    }
}

fn side_name(app: &App, side: SideChoice) -> String {
    let sessions = &app.shared.sessions;
    if let Some(profile) = side.profile {
        let session = side.session;
        let name = kernels::words::name(sessions, ProfileRef { session, profile });
        return format!("Profile: {name}");
    }
    match sessions.get(side.session) {
        Some(open) if side.whole => whole_name(sessions, open),
        _ => sessions.series_name(side.session, side.setup),
    }
}

/// When, how and where it was measured, as far as known.
fn side_details(open: &OpenSession, pick: SideChoice) -> String {
    let session = &open.session;
    let profile = pick.profile.and_then(|place| session.profiles.get(place));
    if let Some(profile) = profile {
        return profiled::profile_text(profile);
    }
    if pick.setup >= session.plan.setups.len()
        && let Some(published) = &session.published
    {
        return format!("published: {}", published.source.title);
    }
    let how = match &session.imported {
        Some(tool) if tool.name.is_empty() => "imported".to_owned(),
        Some(tool) => format!("imported from {}", tool.name),
        None => format!("{} preset", session.plan.preset),
    };
    let mut parts = vec![
        humanize::moment(&session.created),
        how,
        place(session, pick),
    ];
    parts.retain(|part| !part.is_empty());
    parts.join(", ")
}

/// The machines of a side: the processor of the one that Powerband ran on, the names of others.
fn place(session: &Session, pick: SideChoice) -> String {
    let setups = session.plan.setups.iter().enumerate();
    let picked = setups.filter(|(setup, _)| pick.whole || *setup == pick.setup);
    let mut names: Vec<&str> = Vec::new();
    for (setup, spec) in picked {
        let reached = session.machine_of(setup);
        let name = reached.map(|machine| machine.name.as_str());
        let name = name.or_else(|| spec.machine_asked_for());
        let name = name.unwrap_or(&session.environment.cpu.model);
        if !name.is_empty() && !names.contains(&name) {
            names.push(name);
        }
    }
    names.join(", ")
}

/// The answer with what changed beside it, what to know of both, the charts, the tables.
fn body(ui: &mut Ui, app: &App, comparison: &Comparison, actions: &mut Vec<Action>) {
    ui.vertical(|ui| {
        ui.spacing_mut().item_spacing.y = space::MEDIUM;
        let found = &app.compare.sides.drawn.headline;
        answer::show(ui, found, |ui| next_steps(ui, app, comparison, actions));
        remarks(ui, comparison);
        care(ui, app);
        overlaid::show(ui, app, actions);
        closing_in(ui, app);
        numbers(ui, app, comparison, actions);
    });
}

fn numbers(ui: &mut Ui, app: &App, comparison: &Comparison, actions: &mut Vec<Action>) {
    if !comparison.pairs.is_empty() {
        tables::pairs(ui, app, actions);
        tables::parts(ui, app, comparison, actions);
    }
    if has_numbers(comparison) {
        tables::metrics(ui, app, actions);
    }
}

/// Whether any side has a number.
fn has_numbers(comparison: &Comparison) -> bool {
    let mut metrics = comparison.metrics.iter();
    metrics.any(|metric| metric.before.is_some() || metric.after.is_some())
}

/// How the interval of one pair closed in; while a run goes on it grows round by round.
fn closing_in(ui: &mut Ui, app: &App) {
    let Some((point, spec)) = &app.compare.sides.drawn.closing_in else {
        return;
    };
    super::card(ui, |ui| {
        label::card_title(ui, &format!("Speed-up at {point}, round by round"))
            .on_hover_text("The ratio after each round with its interval, of more than 48 after some of them, for the pinned case, else for the first that is open; a word marks the round from which on the verdict stayed. There is a verdict after the planned rounds and after each that was added");
        if app
            .compare
            .sides
            .before
            .is_some_and(|side| side.session == LIVE)
        {
            label::quiet(
                ui,
                "The run goes on: a verdict before its last planned round may change.",
            );
        }
        let look = ChartOptions {
            height: 180.0,
            highlighted: None,
            zooms: true,
            crosshair: false,
        };
        let touched = chart::show(ui, "compare-by-round", spec, look);
        tip::of_point(&touched, spec);
    });
}

fn care(ui: &mut Ui, app: &App) {
    if !app.compare.sides.drawn.flags.is_empty() {
        super::card(ui, |ui| raised(ui, &app.compare.sides.drawn.flags));
    }
}

/// That the networks differ stands by itself.
fn remarks(ui: &mut Ui, comparison: &Comparison) {
    let networks = comparison.networks.as_ref();
    if let Some(networks) = networks {
        super::card(ui, |ui| {
            ui.horizontal(|ui| {
                let color = flags::color(theme::roles(ui), FlagSeverity::Amber);
                ui.label(button::glyph(icon::WARNING).size(13.0).color(color));
                ui.add(Label::new(RichText::new(networks).family(theme::semibold())).wrap());
            });
        });
    }
    let others = comparison.remarks.iter();
    let others = others.filter(|remark| Some(*remark) != networks);
    let others: Vec<&str> = others.map(String::as_str).collect();
    answer::notes(ui, &[], &others);
}

/// What would settle an open verdict: both sides again in one run, or more rounds.
fn next_steps(ui: &mut Ui, app: &App, comparison: &Comparison, actions: &mut Vec<Action>) {
    if comparison.pairs.is_empty() {
        return;
    }
    if let Some(networks) = &comparison.networks {
        let color = flags::color(theme::roles(ui), FlagSeverity::Amber);
        label::pill(ui, "different networks", color).on_hover_text(networks);
    }
    if !app.shared.has_machine() {
        return;
    }
    again(ui, app, actions);
    let Some((session, more)) = app.compare.sides.rounds_to_settle(&app.shared.sessions) else {
        return;
    };
    ui.add_space(space::SMALL);
    let name = format!(
        "Measure {}",
        humanize::pluralised(u64::from(more.rounds), "more round")
    );
    let allowed = app.bench.can_start();
    let button = button::plain_if(ui, allowed, Some(icon::RUN), &name);
    if button
        .on_hover_text(format!(
            "{}. They are added to this session, in its own file.",
            more.text()
        ))
        .clicked()
    {
        actions.push(Action::Run(RunAction::More(session, more.rounds)));
    }
}

/// The tooltip of what measures two sessions again.
pub(super) const IN_TURNS: &str = "As a session of its own, in which the two take turns: what slows the machine down slows down both";

/// Measures both sides in one run, where they are of two.
fn again(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let Ok((before, after)) = app
        .compare
        .sides
        .sides_to_measure_again(&app.shared.sessions)
    else {
        return;
    };
    ui.add_space(space::SMALL);
    let allowed = app.bench.can_start();
    let button = button::plain_if(
        ui,
        allowed,
        Some(icon::AGAIN),
        "Measure both again, in turns",
    );
    if button.on_hover_text(IN_TURNS).clicked() {
        actions.push(Action::Run(RunAction::Again(before, after)));
    }
}

/// Flags of the cases on one line, each with its effect on the comparison and what to do on hover.
fn raised(ui: &mut Ui, raised: &[RaisedFlag]) {
    ui.horizontal_wrapped(|ui| {
        label::card_title(ui, "Warnings");
        ui.add_space(space::TINY);
        for flag in raised {
            let color = flags::color(theme::roles(ui), flag.weight);
            let count = humanize::pluralised(flag.cases as u64, "case");
            let shown = ui.horizontal(|ui| {
                ui.spacing_mut().item_spacing.x = space::TINY;
                ui.label(button::glyph(icon::WARNING).size(12.0).color(color));
                ui.label(flag.name);
                label::faint(ui, &count);
            });
            let help = format!("{} What to do: {}.", flag.meaning, flag.advice);
            shown.response.on_hover_text(help);
            ui.add_space(space::SMALL);
        }
    });
}

/// Which point of a side; a whole session has them all.
fn point_choice(
    ui: &mut Ui,
    title: &str,
    pick: SideChoice,
    points: &[Point],
    wrap: fn(SideChoice) -> Compare,
    changes: &mut Vec<Compare>,
) {
    let all = if sweep::is_of_batches(points) {
        "All batches"
    } else {
        "All points"
    };
    let mut choices = vec![None];
    choices.extend(points.iter().filter(|_| !pick.whole).copied().map(Some));
    let text = |point: Option<Point>| {
        point.map_or_else(
            || all.to_owned(),
            |point| humanize::capitalised(&point.to_string()),
        )
    };
    let choice = Choice {
        name: &format!("{title}: point"),
        shown: &text(pick.point),
        width: BATCH - BEFORE_BATCH,
    };
    let rows = || {
        let rows = choices.iter().map(|point| ChoiceRow {
            name: text(*point),
            colour: None,
            is_chosen: pick.point == *point,
        });
        rows.collect()
    };
    if let (_, Some(taken)) = choice.show(ui, rows)
        && let Some(point) = choices.get(taken)
    {
        changes.push(wrap(SideChoice {
            point: *point,
            ..pick
        }));
    }
}

/// Whether a side has several setups: its card names one, the charts name all.
fn is_whole(app: &App) -> bool {
    let sides = [app.compare.sides.before, app.compare.sides.after];
    sides.into_iter().flatten().any(|pick| pick.whole)
}
