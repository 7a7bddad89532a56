//! Timeline: a profiler's trace over time.

use eframe::egui::{
    self, Align, Color32, ComboBox, Label, Layout, ProgressBar, RichText, ScrollArea, Sense,
    TextStyle, Ui, vec2,
};

use crate::gui::icon;
use crate::gui::theme::{self, space, text};
use crate::gui::widgets::timeline_canvas::{self, Shown, card};
use crate::gui::widgets::{button, field, figure, label};
use powerband_app::App;
use powerband_app::action::{Action, Timeline};
use powerband_app::figures;
use powerband_app::timeline::{Measured, OpenTrace, Reading, SEARCH, Selected, TraceId, Viewed};
use powerband_core::base::humanize;
use powerband_core::domain::trace::SliceKind;
use powerband_findings::analysis::timeline::selection::Statistics;
use powerband_findings::chart::figure::Drawing;
use powerband_findings::chart::timeline::{self, exact};
use powerband_findings::chart::timeline_figure::series;

/// Width of the card at the right.
const CARD: f32 = 272.0;
/// Below this width the card of the selection stands below the timeline.
const NARROW: f32 = 760.0;
/// Its height there.
const BELOW: f32 = 190.0;
/// Most partners of a slice that are listed.
const MOST_PARTNERS: usize = 5;

/// Shows it.
pub(super) fn show(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let mut changes = Vec::new();
    match app.timeline.current() {
        Some(current) => {
            tools(ui, app, current, &mut changes);
            ui.add_space(space::SMALL);
            reading(ui, app, &mut changes);
            body(ui, app, current, &mut changes);
        }
        None => empty(ui, app, &mut changes),
    }
    super::each(changes, Action::Timeline, actions);
}

fn empty(ui: &mut Ui, app: &App, changes: &mut Vec<Timeline>) {
    label::screen_title(
        ui,
        "Timeline",
        "What ran where and when, from a profiler's trace",
    );
    ui.add_space(space::MEDIUM);
    if !app.timeline.reading.is_empty() {
        return reading(ui, app, changes);
    }
    ui.add_space(ui.available_height() * 0.2);
    ui.vertical_centered(|ui| {
        let sentence = "Device streams and host threads over time, with every kernel, copy and launch. Open a profiler's file, or drop one on the window.";
        label::empty(ui, icon::TIMELINE, "No trace is open", sentence);
        let button = button::primary(ui, Some(icon::OPEN), "Open a trace…");
        if button.on_hover_text(app.keys_of("open-trace")).clicked() {
            changes.push(Timeline::Choose);
        }
    });
}

/// Files that are being read, each with a button to stop.
fn reading(ui: &mut Ui, app: &App, changes: &mut Vec<Timeline>) {
    for reading in &app.timeline.reading {
        theme::card(ui).show(ui, |ui| {
            ui.set_width(ui.available_width());
            ui.horizontal(|ui| {
                ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                    let name = format!("Stop reading {}", reading.name);
                    if button::icon(ui, icon::CLOSE, &name).clicked() {
                        changes.push(Timeline::StopReading(reading.id));
                    }
                    let bar = ProgressBar::new(reading.share()).desired_width(180.0);
                    ui.add(bar.desired_height(6.0));
                    ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                        label::quiet_line(ui, &progress(reading));
                    });
                });
            });
        });
        ui.add_space(space::SMALL);
        // Background reading does not repaint by itself.
        let soon = std::time::Duration::from_millis(100);
        ui.request_repaint_after(soon);
    }
}

fn progress(reading: &Reading) -> String {
    let name = &reading.name;
    if reading.cancel.is_cancelled() {
        return format!("Stopping the import of {name}…");
    }
    if reading.share() >= 1.0 {
        return format!("Building the timeline of {name}…");
    }
    format!("Reading {name}, {:.0} %", reading.share() * 100.0)
}

type Current<'a> = (TraceId, &'a std::sync::Arc<OpenTrace>, &'a Viewed);

fn tools(ui: &mut Ui, app: &App, current: Current<'_>, changes: &mut Vec<Timeline>) {
    let (id, open, view) = current;
    ui.horizontal(|ui| {
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if button::icon(ui, icon::CLOSE, "Close the trace").clicked() {
                changes.push(Timeline::Close(id));
            }
            if button::icon(ui, icon::OPEN, "Open a trace").clicked() {
                changes.push(Timeline::Choose);
            }
            let several = open
                .timeline
                .strands
                .iter()
                .any(|strand| strand.rows.len() > 1);
            let folds = view.folded.is_empty();
            let name = if folds {
                "Fold all tracks"
            } else {
                "Unfold all tracks"
            };
            if several && button::icon(ui, icon::FOLD, name).clicked() {
                changes.push(Timeline::FoldAll(folds));
            }
            let fit = button::icon(ui, icon::FIT, "Fit the selection, or everything");
            if fit.clicked() {
                changes.push(Timeline::Fit);
            }
            let measures = app.timeline.measures;
            let timer = button::plain(ui, Some(icon::TIMER), "Measure").highlight_if(measures);
            let help =
                "Drag to measure a range of time; Shift+drag does the same without this mode";
            if timer.on_hover_text(help).clicked() {
                changes.push(Timeline::Measuring(!measures));
            }
            search(ui, app, changes);
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                title(ui, app, id, open, changes);
            });
        });
    });
}

/// The look of a button that is on.
trait Highlight {
    fn highlight_if(self, is_on: bool) -> Self;
}

impl Highlight for egui::Response {
    fn highlight_if(self, is_on: bool) -> Self {
        if is_on { self.highlight() } else { self }
    }
}

fn title(ui: &mut Ui, app: &App, id: TraceId, open: &OpenTrace, changes: &mut Vec<Timeline>) {
    if app.timeline.traces.len() < 2 {
        let slices = humanize::of_many(open.trace.len() as u64, "slice");
        let tracks = humanize::of_many(open.timeline.strands.len() as u64, "track");
        label::screen_title(
            ui,
            "Timeline",
            &format!("{}: {slices}, {tracks}", open.name),
        );
        return;
    }
    label::titled(ui, "Timeline", |ui| choice(ui, app, id, open, changes));
}

/// Which of several open traces is shown.
fn choice(ui: &mut Ui, app: &App, id: TraceId, open: &OpenTrace, changes: &mut Vec<Timeline>) {
    let combo = ComboBox::from_id_salt("trace")
        .width((ui.available_width() - 8.0).clamp(80.0, 320.0))
        .truncate()
        .selected_text(&open.name);
    let response = combo.show_ui(ui, |ui| {
        for (other, trace) in &app.timeline.traces {
            if ui.selectable_label(*other == id, &trace.name).clicked() {
                changes.push(Timeline::Show(*other));
            }
        }
    });
    response.response.accessible_name("Trace");
}

/// From right to left: the field, the number of hits, and buttons to step through them. The field comes
/// first, so that it keeps its id while hits come and go.
fn search(ui: &mut Ui, app: &App, changes: &mut Vec<Timeline>) {
    let state = &app.timeline;
    let (response, typed) = field::search(ui, SEARCH, &state.search, "Find a name", 150.0);
    if let Some(typed) = typed {
        changes.push(Timeline::Search(typed));
    }
    let enter = ui.input(|input| input.key_pressed(egui::Key::Enter));
    if response.lost_focus() && enter {
        let back = ui.input(|input| input.modifiers.shift);
        changes.push(Timeline::NextHit(!back));
        response.request_focus();
    }
    if state.search.is_empty() {
        return;
    }
    let words = match (&state.hits, state.hit) {
        (Some(hits), _) if hits.all.is_empty() => "not found".to_owned(),
        (Some(hits), Some(hit)) => format!(
            "{} of {}",
            humanize::count(hit as u64 + 1),
            humanize::count(hits.all.len() as u64)
        ),
        (Some(hits), None) => humanize::of_many(hits.all.len() as u64, "hit"),
        (None, _) => "…".to_owned(),
    };
    ui.spacing_mut().item_spacing.x = space::TINY;
    for (icon, name, forward) in [
        (icon::DOWN, "Next hit", true),
        (icon::UP, "Previous hit", false),
    ] {
        if button::small_icon(ui, icon, name).clicked() {
            changes.push(Timeline::NextHit(forward));
        }
    }
    let words = RichText::new(words).font(theme::numbers(text::CAPTION));
    ui.label(words.color(theme::roles(ui).quiet));
}

fn body(ui: &mut Ui, app: &App, current: Current<'_>, changes: &mut Vec<Timeline>) {
    let (_, open, view) = current;
    let shown = Shown {
        name: &open.name,
        trace: &open.trace,
        timeline: &open.timeline,
        lanes: &open.lanes,
        view,
        hits: app.timeline.hits.as_deref(),
        measures: app.timeline.measures,
        reveals: app.timeline.reveals,
        hand_ns: app.timeline.hand_ns,
    };
    let room = ui.available_size();
    let is_wide = room.x >= NARROW;
    let has_card = is_wide || view.selected.is_some();
    let (canvas, beside) = match (is_wide, has_card) {
        (true, _) => (
            vec2(room.x - CARD - space::MEDIUM, room.y),
            vec2(CARD, room.y),
        ),
        (false, true) => (
            vec2(room.x, (room.y - BELOW - space::SMALL).max(120.0)),
            vec2(room.x, BELOW),
        ),
        (false, false) => (room, vec2(0.0, 0.0)),
    };
    let layout = if is_wide {
        Layout::left_to_right(Align::Min)
    } else {
        Layout::top_down(Align::Min)
    };
    ui.with_layout(layout, |ui| {
        ui.spacing_mut().item_spacing = vec2(space::MEDIUM, space::SMALL);
        framed(ui, canvas, |ui| {
            let response = timeline_canvas::show(ui, &shown, changes);
            // The strip at the top can be dragged up to its end.
            let below = response.rect.top() + timeline_canvas::HEAD;
            figure::offer(ui, "timeline", response.rect.with_min_y(below), || {
                Drawing::Timeline(Box::new(figures::of_timeline(open, view)))
            });
        });
        if has_card {
            let margin = egui::Margin::symmetric(14, 12);
            theme::card(ui).inner_margin(margin).show(ui, |ui| {
                let inner = (beside - margin.sum() - vec2(2.0, 2.0)).max(vec2(40.0, 40.0));
                ui.set_min_size(inner);
                ui.set_max_size(inner);
                side(ui, app, &shown, open, changes);
            });
        }
    });
}

/// A card without a margin.
fn framed(ui: &mut Ui, size: egui::Vec2, content: impl FnOnce(&mut Ui)) {
    theme::card(ui).inner_margin(1).show(ui, |ui| {
        ui.set_min_size(size - vec2(4.0, 4.0));
        ui.set_max_size(size - vec2(4.0, 4.0));
        content(ui);
    });
}

fn side(ui: &mut Ui, app: &App, shown: &Shown<'_>, open: &OpenTrace, changes: &mut Vec<Timeline>) {
    ui.vertical(|ui| {
        ScrollArea::vertical()
            .id_salt("side")
            .auto_shrink([false, false])
            .show(ui, |ui| {
                ui.spacing_mut().item_spacing = vec2(space::SMALL, space::TINY);
                match &shown.view.selected {
                    Some(Selected::Slice(slice)) => of_slice(ui, shown, *slice, changes),
                    Some(Selected::Span(measured)) => {
                        of_span(ui, shown, measured, changes);
                    }
                    None => of_nothing(ui, app, shown, open),
                }
            });
    });
}

fn of_slice(ui: &mut Ui, shown: &Shown<'_>, slice: usize, changes: &mut Vec<Timeline>) {
    let roles = theme::roles(ui);
    let (title, pairs) = card::of_slice(shown, slice);
    let kind = shown.trace.slice(slice).kind;
    let title_words = RichText::new(&title)
        .size(text::CARD)
        .family(theme::semibold());
    ui.add(Label::new(title_words).wrap());
    ui.add_space(space::TINY);
    for (name, value) in &pairs {
        if *name == "Kind" {
            ui.horizontal(|ui| swatch(ui, kind, value));
        } else if value.chars().count() > 22 {
            ui.label(RichText::new(*name).color(roles.quiet));
            let value = RichText::new(value).font(theme::numbers(12.0));
            ui.add(Label::new(value).wrap());
        } else {
            label::pair(ui, name, value);
        }
    }
    ui.add_space(space::SMALL);
    ui.horizontal_wrapped(|ui| {
        if button::plain(ui, Some(icon::FIT), "Zoom to the selection").clicked() {
            changes.push(Timeline::ZoomTo(slice));
        }
        if button::plain(ui, Some(icon::COPY), "Select all with this name").clicked() {
            changes.push(Timeline::Search(title.clone()));
        }
    });
    partners(ui, shown, slice, changes);
}

/// The kernel it launched, or the launch of it.
fn partners(ui: &mut Ui, shown: &Shown<'_>, slice: usize, changes: &mut Vec<Timeline>) {
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
                if button::plain(ui, None, "Go to").clicked() {
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

fn of_span(ui: &mut Ui, shown: &Shown<'_>, measured: &Measured, changes: &mut Vec<Timeline>) {
    let stretch = measured.stretch;
    label::caption(ui, "Measured");
    label::number(ui, &humanize::duration_ns(stretch.length()), text::BIG);
    let step = stretch.length() / 1e3;
    label::pair(ui, "From", &exact(stretch.from, step));
    label::pair(ui, "To", &exact(stretch.to, step));
    let rows = &measured.rows;
    let strands = shown.timeline.strands.iter();
    let tracks =
        strands.filter(|strand| strand.rows.start < rows.end && strand.rows.end > rows.start);
    let (tracks, all) = (tracks.count() as u64, shown.timeline.strands.len() as u64);
    let words = if tracks == all {
        format!("all {}", humanize::count(all))
    } else {
        format!("{} of {}", humanize::count(tracks), humanize::count(all))
    };
    label::pair(ui, "Tracks", &words);
    ui.add_space(space::TINY);
    ui.horizontal_wrapped(|ui| {
        if button::plain(ui, Some(icon::FIT), "Zoom to the selection").clicked() {
            changes.push(Timeline::Fit);
        }
        if button::plain(ui, None, "Clear").clicked() {
            changes.push(Timeline::Select(None));
        }
    });
    ui.add_space(space::SMALL);
    match &shown.view.statistics {
        Some(found) => statistics(ui, shown, found, stretch.length()),
        None => {
            label::quiet(ui, "Adding up…");
        }
    }
}

fn statistics(ui: &mut Ui, shown: &Shown<'_>, found: &Statistics, length: f64) {
    if found.slices == 0 {
        label::quiet(ui, "Nothing ran in this range.");
        return;
    }
    label::pair(ui, "Slices", &humanize::count(found.slices));
    ui.add_space(space::SMALL);
    label::caption(ui, "Utilisation by kind").on_hover_text(
        "Share of the range in which at least one slice of the kind ran on any track",
    );
    for kind in &found.kinds {
        let share = kind.busy_ns / length.max(1e-9) * 100.0;
        let time = humanize::duration_ns(kind.busy_ns);
        let help = format!(
            "{}, total {}",
            humanize::of_many(kind.slices, "slice"),
            humanize::duration_ns(kind.sum_ns)
        );
        let value = format!("{time}  {:>5} %", humanize::value(share.min(100.0)));
        line(ui, kind.kind, kind.kind.title(), &value, &help);
    }
    ui.add_space(space::SMALL);
    label::caption(
        ui,
        &format!(
            "Longest of {}",
            humanize::of_many(found.distinct as u64, "name")
        ),
    );
    for name in &found.names {
        let whole = shown.trace.names.get(name.name);
        let help = format!(
            "{}\n{}",
            humanize::shorten(whole, 400),
            humanize::of_many(name.slices, "slice")
        );
        let value = format!(
            "{}  {:>5}",
            humanize::duration_ns(name.sum_ns),
            format!("{} ×", humanize::count(name.slices))
        );
        let short = timeline::short(whole, name.kind);
        line(ui, name.kind, short, &value, &help);
    }
}

/// A colour, a name and a number, with more of it on hover.
fn line(ui: &mut Ui, kind: SliceKind, name: &str, value: &str, help: &str) {
    let roles = theme::roles(ui);
    ui.spacing_mut().interact_size.y = 18.0;
    let response = ui.horizontal(|ui| {
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let value = RichText::new(value).font(theme::numbers(text::CAPTION));
            ui.label(value.color(roles.quiet));
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                swatch(ui, kind, name);
            });
        });
    });
    response.response.on_hover_text(help);
}

/// Starts another line where a colour and its word do not fit.
fn keep_together(ui: &mut Ui, words: &str) {
    let font = TextStyle::Body.resolve(ui.style());
    let galley = ui
        .painter()
        .layout_no_wrap(words.to_owned(), font, Color32::PLACEHOLDER);
    let width = galley.size().x + 10.0 + ui.spacing().item_spacing.x;
    if width > ui.available_size_before_wrap().x {
        ui.end_row();
    }
}

fn swatch(ui: &mut Ui, kind: SliceKind, words: &str) {
    let roles = theme::roles(ui);
    // As high as the word, so that the two align.
    let high = ui.text_style_height(&TextStyle::Body);
    let (room, _) = ui.allocate_exact_size(vec2(10.0, high), Sense::hover());
    let rect = egui::Rect::from_center_size(room.center(), vec2(10.0, 10.0));
    let color = roles.tone(series(kind), 0.8);
    ui.painter().rect_filled(rect, 2.0, color);
    ui.add(Label::new(RichText::new(words).color(roles.text)).truncate());
}

/// Colours, mouse and keys, and the warnings of the import.
fn of_nothing(ui: &mut Ui, app: &App, shown: &Shown<'_>, open: &OpenTrace) {
    label::card_title(ui, "No selection");
    label::quiet(ui, "Click a slice, or Shift+drag to measure a range.");
    ui.add_space(space::SMALL);
    label::caption(ui, "Colours");
    let mut occurs = [false; SliceKind::ALL.len()];
    for kind in shown.timeline.kinds() {
        occurs[*kind as usize] = true;
    }
    ui.scope(|ui| {
        ui.spacing_mut().interact_size.y = 18.0;
        ui.horizontal_wrapped(|ui| {
            let kinds = SliceKind::ALL.into_iter();
            let kinds = kinds.filter(|kind| occurs[*kind as usize]);
            for (kind, words) in timeline::legend(kinds) {
                keep_together(ui, &words);
                swatch(ui, kind, &words);
                ui.add_space(space::TINY);
            }
        });
    });
    ui.add_space(space::SMALL);
    label::caption(ui, "Mouse and keys");
    let keys = |one: &str, other: &str| {
        let both = [one, other].map(|id| app.keys_of(id));
        both.join(" ").trim().to_owned()
    };
    let mouse = |words: &str| words.to_owned();
    for (words, keys) in [
        ("Zoom in, out", keys("timeline-closer", "timeline-farther")),
        ("Earlier, later", keys("timeline-earlier", "timeline-later")),
        ("Fit the selection", keys("timeline-fit", "")),
        ("Show everything", keys("timeline-whole", "")),
        ("Launch ↔ kernel", keys("timeline-partner", "")),
        ("Next hit", keys("timeline-next", "")),
        ("Scroll tracks", mouse("Wheel")),
        ("Zoom at the pointer", mouse("Ctrl+wheel")),
        ("Move", mouse("Drag")),
        ("Measure", mouse("Shift+drag")),
        ("Zoom to a slice", mouse("Double click")),
    ] {
        label::pair(ui, words, &keys);
    }
    if !open.notes.is_empty() {
        ui.add_space(space::SMALL);
        label::caption(ui, "Import warnings");
        for note in &open.notes {
            label::quiet(ui, note);
        }
    }
}
