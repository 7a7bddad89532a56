//! The card of a slice: its facts, its arguments, what it lies within, and what it launched.

use eframe::egui::{Align, Label, Layout, RichText, Ui};

use super::parts::swatch;
use crate::icon;
use crate::theme::{self, space, text};
use crate::widgets::timeline_canvas::{TimelineContent, card};
use crate::widgets::{button, label};
use powerband_app::App;
use powerband_app::action::Timeline;
use powerband_core::base::humanize;
use powerband_core::domain::trace::SliceKind;
use powerband_findings::analysis::timeline::slice_facts::SliceFacts;
use powerband_findings::chart::timeline;

/// Most partners of a slice that are listed.
const MOST_PARTNERS: usize = 5;
/// Most slices around a slice that are listed: the innermost ones.
const MOST_AROUND: usize = 40;
/// A name and a value with more letters stand on two lines.
const ONE_LINE: usize = 28;
/// Letters of a value that are shown; a stack can have thousands.
const LONGEST_VALUE: usize = 1_200;

pub(super) fn show(
    ui: &mut Ui,
    app: &App,
    shown: &TimelineContent<'_>,
    slice: usize,
    changes: &mut Vec<Timeline>,
) {
    let (title, pairs) = card::of_slice(shown, slice);
    let own = shown.trace.slice(slice);
    let title_words = RichText::new(&title)
        .size(text::CARD)
        .family(theme::semibold());
    ui.add(Label::new(title_words).wrap());
    ui.add_space(space::TINY);
    for (name, value) in &pairs {
        if *name == "Kind" {
            ui.horizontal(|ui| swatch(ui, own.kind, value));
        } else {
            pair(ui, name, value);
        }
    }
    let facts = shown.view.facts.as_deref();
    let facts = facts.filter(|facts| facts.slice == slice);
    if let Some(facts) = facts.filter(|facts| !facts.modules.is_empty()) {
        pair(ui, "Module", &facts.modules.join(" › "));
    }
    if let Some(compared) = shown.compared {
        super::compared::slice_facts(ui, compared, slice);
    }
    ui.add_space(space::SMALL);
    ui.horizontal_wrapped(|ui| {
        if button::labelled(ui, Some(icon::FIT), "Zoom to the selection").clicked() {
            changes.push(Timeline::ZoomTo(slice));
        }
        if button::labelled(ui, Some(icon::COPY), "Select all with this name").clicked() {
            let name = shown.trace.names.get(own.name);
            changes.push(Timeline::Search(format!("\"{name}\"")));
        }
    });
    if let Some(facts) = facts {
        alike(ui, app, facts, changes);
        arguments(ui, facts, changes);
    }
    partners(ui, shown, slice, changes);
    if let Some(facts) = facts {
        within(ui, shown, facts, changes);
    }
}

/// A name that fits on a line: of a function its file without the folders.
fn short_name(name: &str, kind: SliceKind) -> &str {
    if kind != SliceKind::Script {
        return timeline::short(name, kind);
    }
    let file = name.find('(').map_or(name, |end| &name[..end]);
    let folders = file.rfind('/').map_or(0, |end| end + 1);
    &name[folders..]
}

/// A name and its value, on two lines where one is too short.
fn pair(ui: &mut Ui, name: &str, value: &str) {
    if name.chars().count() + value.chars().count() <= ONE_LINE && !value.contains('\n') {
        label::pair(ui, name, value);
        return;
    }
    label::quiet(ui, name);
    let value = humanize::shorten(value, LONGEST_VALUE);
    label::copyable(ui, RichText::new(value).font(theme::numbers(12.0)));
}

/// Its place among the slices of its name, and the ways to its neighbours.
fn alike(ui: &mut Ui, app: &App, facts: &SliceFacts, changes: &mut Vec<Timeline>) {
    let alike = facts.same_name;
    if alike.count == 0 {
        return;
    }
    ui.add_space(space::SMALL);
    label::caption(ui, "Slices of this name");
    ui.horizontal(|ui| {
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            for (words, command, found, forward) in [
                ("Next", "timeline-next-alike", alike.next, true),
                ("Previous", "timeline-previous-alike", alike.previous, false),
            ] {
                let response = ui.add_enabled_ui(found.is_some(), |ui| {
                    let name = format!("{words} of its name");
                    button::labelled(ui, None, words).accessible_name(name)
                });
                let keys = app.shared.keys_of(command);
                if response.inner.on_hover_text(keys).clicked() {
                    changes.push(Timeline::Alike(forward));
                }
            }
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                let place = humanize::count(alike.before as u64 + 1);
                let all = humanize::count(alike.count as u64);
                let words = format!("{place} of {all}");
                ui.label(RichText::new(words).font(theme::numbers(12.0)));
            });
        });
    });
}

/// What the file says about it.
fn arguments(ui: &mut Ui, facts: &SliceFacts, changes: &mut Vec<Timeline>) {
    ui.add_space(space::SMALL);
    if facts.arguments.is_empty() {
        label::caption(ui, "Arguments");
        label::faint(ui, "The file has none of this slice.");
        return;
    }
    ui.horizontal(|ui| {
        label::caption(ui, "Arguments");
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if button::small_icon(ui, icon::COPY, "Copy the arguments").clicked() {
                changes.push(Timeline::CopyArguments);
            }
        });
    });
    for (key, value) in &facts.arguments {
        pair(ui, key, value);
    }
}

/// What it lies within, the innermost last.
fn within(
    ui: &mut Ui,
    shown: &TimelineContent<'_>,
    facts: &SliceFacts,
    changes: &mut Vec<Timeline>,
) {
    if facts.within.is_empty() {
        return;
    }
    ui.add_space(space::SMALL);
    let is_work = shown.trace.slice(facts.slice).kind.is_work();
    label::caption(ui, if is_work { "Launched within" } else { "Within" });
    let rest = facts.within.len().saturating_sub(MOST_AROUND);
    if rest > 0 {
        label::faint(ui, &format!("{} further out", humanize::count(rest as u64)));
    }
    for slice in facts.within.iter().copied().skip(rest) {
        let other = shown.trace.slice(slice);
        let name = shown.trace.names.get(other.name);
        let short = humanize::shorten(short_name(name, other.kind), 28);
        ui.horizontal(|ui| {
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                ui.push_id(slice, |ui| {
                    let go = format!("Go to {}", humanize::shorten(name, 60));
                    let go = button::small_icon(ui, icon::RIGHT, &go);
                    if go.on_hover_text(humanize::shorten(name, 400)).clicked() {
                        changes.push(Timeline::GoTo(slice));
                    }
                });
                ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                    swatch(ui, other.kind, &short);
                });
            });
        });
    }
}

/// The kernel it launched, or the launch of it.
fn partners(ui: &mut Ui, shown: &TimelineContent<'_>, slice: usize, changes: &mut Vec<Timeline>) {
    let found = shown.timeline.partners(shown.trace, slice);
    if found.is_empty() {
        return;
    }
    let own = shown.trace.slice(slice);
    ui.add_space(space::MEDIUM);
    label::caption(
        ui,
        if own.kind.is_work() {
            "Launched by"
        } else {
            "Launched"
        },
    );
    for partner in found.iter().copied().take(MOST_PARTNERS) {
        let other = shown.trace.slice(partner);
        let (call, work) = if own.kind.is_work() {
            (&other, &own)
        } else {
            (&own, &other)
        };
        let delay = work.start_ns.saturating_sub(call.start_ns);
        let name = shown.trace.names.get(other.name);
        let short = humanize::shorten(timeline::short(name, other.kind), 28);
        let when = if delay < 0 {
            "before its launch".to_owned()
        } else {
            format!("{} later", humanize::duration_ns(delay as f64))
        };
        ui.horizontal(|ui| swatch(ui, other.kind, &short));
        ui.horizontal(|ui| {
            let place = format!("{partner}");
            ui.push_id(place, |ui| {
                if button::labelled(ui, None, "Go to").clicked() {
                    changes.push(Timeline::GoTo(partner));
                }
            });
            let delay = if own.kind.is_work() {
                "it began "
            } else {
                "begins "
            };
            label::faint(ui, &format!("{delay}{when}"));
        });
    }
    if found.len() > MOST_PARTNERS {
        let rest = (found.len() - MOST_PARTNERS) as u64;
        label::faint(ui, &format!("and {} more", humanize::count(rest)));
    }
}
