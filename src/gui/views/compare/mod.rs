//! Compare: two sides, matched case by case, and what differs between them.

mod map;
mod overlaid;
mod tables;

use eframe::egui::{self, ComboBox, Label, RichText, Ui, vec2};

use crate::gui::icon;
use crate::gui::theme::{self, space, text};
use crate::gui::widgets::{button, field, flags, label, marker, verdict, waiting};
use powerband_app::App;
use powerband_app::action::{Action, Compare, RunAction, Sessions};
use powerband_app::compare::{RaisedFlag, SideChoice, is_comparable, whole_name};
use powerband_core::base::humanize;
use powerband_core::domain::point::Point;
use powerband_core::domain::session::Session;
use powerband_core::domain::sweep;
use powerband_findings::analysis::comparison::Comparison;
use powerband_findings::analysis::flags::FlagSeverity;
use powerband_findings::analysis::verdict::Call;

/// Most reasons on hover; each pair has its own in the table.
const REASONS: usize = 6;
/// Width of the choice of a batch.
const BATCH: f32 = 130.0;
/// Up to this width the buttons stand below the tabs.
const NARROW: f32 = 640.0;
/// Below this width cards stand below each other.
const HALVES: f32 = 520.0;

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
        match &app.compare.sides.found.result {
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
        if button::primary(ui, Some(icon::OPEN), "Open files…").clicked() {
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
            1 => report(ui, app, actions),
            _ => {}
        });
    });
}

fn report(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    if let Some(subject) = app.compare.sides.subject()
        && button::labelled(ui, Some(icon::SAVE), "Write a report…").clicked()
    {
        actions.push(Action::Report(subject, None));
    }
}

fn sides(ui: &mut Ui, app: &App, changes: &mut Vec<Compare>) {
    both(ui, |ui, width| {
        for (title, pick, wrap) in [
            (
                "Before",
                app.compare.sides.before,
                Compare::Before as fn(SideChoice) -> Compare,
            ),
            ("After", app.compare.sides.after, Compare::After),
        ] {
            theme::card(ui).show(ui, |ui| {
                ui.set_width(width - 34.0);
                ui.spacing_mut().item_spacing.y = space::TINY;
                ui.vertical(|ui| {
                    label::caption(ui, title);
                    if let Some(pick) = pick {
                        side(ui, app, title, pick, wrap, changes);
                    }
                });
            });
        }
    });
}

/// Two parts side by side, or below each other in a narrow window. They get their width.
fn both(ui: &mut Ui, content: impl FnOnce(&mut Ui, f32)) {
    let whole = ui.available_width();
    if whole < HALVES {
        ui.vertical(|ui| {
            ui.spacing_mut().item_spacing.y = space::MEDIUM;
            content(ui, whole);
        });
        return;
    }
    ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = space::MEDIUM;
        content(ui, (whole - space::MEDIUM) / 2.0);
    });
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
        let shown = if pick.whole {
            whole_name(&app.shared.sessions, open)
        } else {
            app.shared.sessions.series_name(pick.session, pick.setup)
        };
        let combo = ComboBox::from_id_salt((title, "setup"))
            .width(room)
            .truncate()
            .selected_text(shown.clone());
        let choices = |ui: &mut Ui| setups(ui, app, pick, wrap, changes);
        let response = field::within(ui, room, |ui| combo.show_ui(ui, choices)).response;
        response
            .accessible_name(format!("{title}: setup"))
            .on_hover_text(shown);
        point_choice(ui, title, pick, &open.session.plan.points, wrap, changes);
    });
    label::faint(ui, &side_details(&open.session, pick));
}

/// Every setup that can be this side, and every session as a whole.
fn setups(
    ui: &mut Ui,
    app: &App,
    pick: SideChoice,
    wrap: fn(SideChoice) -> Compare,
    changes: &mut Vec<Compare>,
) {
    for other in app
        .shared
        .sessions
        .iter()
        .filter(|open| is_comparable(open))
    {
        let is_it = pick.whole && other.id == pick.session;
        if app.shared.sessions.len() > 1
            && ui
                .selectable_label(is_it, whole_name(&app.shared.sessions, other))
                .clicked()
        {
            changes.push(wrap(SideChoice {
                session: other.id,
                setup: 0,
                point: None,
                whole: true,
            }));
        }
        for setup in 0..other.session.plan.setups.len() {
            let is_it = !pick.whole && (other.id, setup) == (pick.session, pick.setup);
            let name = app.shared.sessions.series_name(other.id, setup);
            if ui.selectable_label(is_it, name).clicked() {
                changes.push(wrap(SideChoice {
                    session: other.id,
                    setup,
                    point: None,
                    whole: false,
                }));
            }
        }
    }
}

/// When, how and where it was measured, as far as known.
fn side_details(session: &Session, pick: SideChoice) -> String {
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
        answer(ui, app, comparison, actions);
        if !comparison.remarks.is_empty() {
            remarks(ui, comparison);
        }
        care(ui, app);
        overlaid::show(ui, app, actions);
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

/// The ratio with its verdicts, and what changed between the two.
fn answer(ui: &mut Ui, app: &App, comparison: &Comparison, actions: &mut Vec<Action>) {
    both(ui, |ui, width| {
        ui.allocate_ui(vec2(width, 0.0), |ui| {
            ui.vertical(|ui| {
                super::card(ui, |ui| {
                    overall(ui, comparison);
                    if !comparison.pairs.is_empty() {
                        verdicts(ui, app, comparison, actions);
                    }
                });
            });
        });
        ui.allocate_ui(vec2(width, 0.0), |ui| {
            ui.vertical(|ui| super::card(ui, |ui| differences(ui, comparison)));
        });
    });
}

fn care(ui: &mut Ui, app: &App) {
    if !app.compare.sides.drawn.flags.is_empty() {
        super::card(ui, |ui| raised(ui, &app.compare.sides.drawn.flags));
    }
}

fn remarks(ui: &mut Ui, comparison: &Comparison) {
    let networks = comparison.networks.as_ref();
    super::card(ui, |ui| {
        if let Some(networks) = networks {
            ui.horizontal(|ui| {
                let color = flags::color(theme::roles(ui), FlagSeverity::Amber);
                ui.label(button::glyph(icon::WARNING).size(13.0).color(color));
                ui.add(Label::new(RichText::new(networks).family(theme::semibold())).wrap());
            });
        }
        for remark in &comparison.remarks {
            if Some(remark) == networks {
                continue;
            }
            ui.horizontal(|ui| {
                let color = theme::roles(ui).unsure;
                ui.label(button::glyph(icon::INFO).size(13.0).color(color));
                ui.add(Label::new(RichText::new(remark).color(theme::roles(ui).quiet)).wrap());
            });
        }
    });
}

fn overall(ui: &mut Ui, comparison: &Comparison) {
    label::card_title(ui, "Speed-up over all pairs")
        .on_hover_text("The geometric mean of the speed-ups of all matched batch sizes");
    if let Some(overall) = comparison.overall {
        label::number(ui, &overall.speed_up_text(), text::HUGE);
        if let Some(interval) = overall.interval_text() {
            label::quiet(ui, &format!("95 % interval {interval}"))
                .on_hover_text("Its width is the average width of the intervals of the pairs");
        }
        let pairs = humanize::pluralised(comparison.pairs.len() as u64, "pair");
        let open = match comparison.count(Call::Inconclusive) {
            0 => String::new(),
            open => format!(", {open} of them inconclusive"),
        };
        label::quiet(ui, &format!("Geometric mean of {pairs}{open}."));
    } else {
        let reason = comparison.nothing.as_deref();
        label::quiet(ui, reason.unwrap_or("These cannot be compared."));
    }
}

/// Pairs by verdict, and the rounds that may settle the open ones.
fn verdicts(ui: &mut Ui, app: &App, comparison: &Comparison, actions: &mut Vec<Action>) {
    ui.add_space(space::SMALL);
    for call in [Call::Faster, Call::Slower, Call::Same, Call::Inconclusive] {
        let count = comparison.count(call);
        if count > 0 {
            ui.horizontal_wrapped(|ui| {
                verdict::word(ui, call);
                label::quiet(ui, &humanize::pluralised(count as u64, "pair"));
                if let Some(networks) = &comparison.networks {
                    let color = flags::color(theme::roles(ui), FlagSeverity::Amber);
                    label::pill(ui, "different networks", color).on_hover_text(networks);
                }
            });
        }
    }
    reasons(ui, comparison);
    again(ui, app, actions);
    let Some((session, more)) = app.compare.sides.rounds_to_settle(&app.shared.sessions) else {
        return;
    };
    ui.add_space(space::SMALL);
    let name = format!(
        "Measure {}",
        humanize::pluralised(u64::from(more.rounds), "more round")
    );
    let allowed = if app.is_running() {
        Err("a run is in progress")
    } else {
        Ok(())
    };
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

/// The reason of the first pair that has one; those of the others on hover, and in the table with each pair.
fn reasons(ui: &mut Ui, comparison: &Comparison) {
    let all = comparison.reasons();
    let Some((first, others)) = all.split_first() else {
        return;
    };
    let more = match others.len() {
        0 => String::new(),
        count => format!(" {} more on hover.", humanize::count(count as u64)),
    };
    let text = format!("{}.{more}", humanize::capitalised(first));
    let response = label::quiet(ui, &text);
    if !others.is_empty() {
        let listed: Vec<&str> = others.iter().take(REASONS).copied().collect();
        response.on_hover_text(listed.join("\n\n"));
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
    let allowed = if app.is_running() {
        Err("a run is in progress")
    } else {
        Ok(())
    };
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

fn differences(ui: &mut Ui, comparison: &Comparison) {
    label::card_title(ui, "What changed");
    ui.add_space(space::TINY);
    let (differing, same): (Vec<_>, Vec<_>) =
        comparison.differences.iter().partition(|d| d.differs());
    if differing.is_empty() {
        label::quiet(ui, "No recorded difference.");
    }
    for difference in differing {
        label::faint(ui, difference.what);
        let words = format!("{} → {}", difference.before, difference.after);
        ui.add(Label::new(words).wrap());
        ui.add_space(space::TINY);
    }
    ui.add_space(space::TINY);
    egui::CollapsingHeader::new(
        RichText::new("The same on both sides").color(theme::roles(ui).quiet),
    )
    .id_salt("same")
    .show(ui, |ui| {
        for difference in same {
            label::pair(ui, difference.what, &difference.before);
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
    let shown = pick.point.map_or_else(
        || all.to_owned(),
        |point| humanize::capitalised(&point.to_string()),
    );
    let combo = ComboBox::from_id_salt((title, "point"))
        .width(104.0)
        .truncate()
        .selected_text(shown);
    let response = combo.show_ui(ui, |ui| {
        if ui.selectable_label(pick.point.is_none(), all).clicked() {
            changes.push(wrap(SideChoice {
                point: None,
                ..pick
            }));
        }
        for &point in points.iter().filter(|_| !pick.whole) {
            if ui
                .selectable_label(
                    pick.point == Some(point),
                    humanize::capitalised(&point.to_string()),
                )
                .clicked()
            {
                changes.push(wrap(SideChoice {
                    point: Some(point),
                    ..pick
                }));
            }
        }
    });
    response.response.accessible_name(format!("{title}: point"));
}

/// Whether a side has several setups: its card names one, the charts name all.
fn is_whole(app: &App) -> bool {
    let sides = [app.compare.sides.before, app.compare.sides.after];
    sides.into_iter().flatten().any(|pick| pick.whole)
}
