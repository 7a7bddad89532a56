//! A timeline with its own painting: an overview strip, a ruler, tracks with their slices, memory and
//! devices below. The pointer's input becomes actions.

pub(crate) mod card;
mod card_text;
mod device_lanes;
mod flags;
mod layout;
mod paint;
mod ruler_and_labels;
mod track_names;

use eframe::egui::{
    CursorIcon, PointerButton, Pos2, Rect, Response, Sense, Ui, WidgetInfo, accesskit::Role, pos2,
};

use crate::theme;
use layout::{TrackLayout, VisibleTracks};
use paint::TimelineCanvas;
use powerband_app::action::Timeline as Change;
use powerband_app::timeline::compared::ComparedTrace;
use powerband_app::timeline::tracks::ShownTracks;
use powerband_app::timeline::{TimelineSelection, TraceView};
use powerband_core::base::humanize;
use powerband_core::domain::trace::Trace;
use powerband_findings::analysis::timeline::Timeline;
use powerband_findings::analysis::timeline::detail::TimelineView;
use powerband_findings::analysis::timeline::find::SearchHits;
use powerband_findings::analysis::timeline::stretch::TimeRange;
use powerband_findings::chart::lanes::Lane;
use powerband_store::trace_notes::Note;

/// The strip with all of the trace.
const OVERVIEW: f32 = 26.0;
/// The ruler.
const RULER: f32 = 26.0;
/// The strip with the flags of notes.
const FLAGS: f32 = 16.0;
/// Height above the tracks.
pub(crate) const HEAD: f32 = OVERVIEW + RULER;
/// For the names of tracks.
const NAMES: f32 = 168.0;
/// Most distance of the pointer from a slice it means, in points.
const REACH: f64 = 2.5;
/// A drag that is shorter selects nothing, in points.
const LEAST_DRAG: f32 = 3.0;

/// The content of a timeline: trace, view, telemetry and notes.
pub(crate) struct TimelineContent<'a> {
    /// What the trace is called.
    pub name: &'a str,
    /// The slices.
    pub trace: &'a Trace,
    /// The same, ready for looking at.
    pub timeline: &'a Timeline,
    /// Device telemetry.
    pub lanes: &'a [Lane],
    /// How it is looked at.
    pub view: &'a TraceView,
    /// The tracks that are shown.
    pub tracks: ShownTracks,
    /// Notes on it.
    pub notes: &'a [Note],
    /// What was found.
    pub hits: Option<&'a SearchHits>,
    /// Whether dragging measures.
    pub measures: bool,
    /// Whether the row of what is selected wants to be seen.
    pub reveals: bool,
    /// What ran for the same as the selection in the other trace, by the trace's index.
    pub counterparts: Vec<usize>,
    /// Whether a slice has a counterpart, where two traces are compared.
    pub compared: Option<&'a ComparedTrace>,
    /// The time under the pointer, as it is known.
    pub hand_ns: Option<f64>,
}

impl TimelineContent<'_> {
    /// Whether slices that do not match fade. Without any hit nothing fades.
    fn is_dimmed(&self) -> bool {
        self.hits.is_some_and(SearchHits::has_hits)
    }
}

/// What a drag does.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Drag {
    /// It moves the tracks.
    Move,
    /// It measures from this time and height on; without a height all tracks.
    Measure { from_ns: f64, from_y: Option<f32> },
    /// It moves the visible range within the overview.
    Overview,
}

/// The parts of the place that there is.
#[derive(Clone, Copy)]
struct CanvasParts {
    outer: Rect,
    overview: Rect,
    /// For the flags of notes, where there are any.
    flags: Rect,
    ruler: Rect,
    tracks: Rect,
    lanes: Rect,
}

/// Width of the column of names.
pub(crate) fn names_width(width: f32) -> f32 {
    NAMES.min(width * 0.35)
}

impl CanvasParts {
    fn divide(outer: Rect, flags: f32, beneath: f32) -> Self {
        let left = outer.left() + names_width(outer.width());
        let across = |top: f32, bottom: f32| {
            Rect::from_min_max(pos2(left, top), pos2(outer.right(), bottom))
        };
        let top = outer.top();
        let lanes_top = outer.bottom() - beneath;
        let ruler_top = top + OVERVIEW + flags;
        let tracks_top = ruler_top + RULER;
        Self {
            outer,
            overview: across(top, top + OVERVIEW),
            flags: across(top + OVERVIEW, ruler_top),
            ruler: across(ruler_top, tracks_top),
            tracks: across(tracks_top, lanes_top.max(tracks_top)),
            lanes: across(lanes_top.max(tracks_top), outer.bottom()),
        }
    }
}

/// Shows it over all available space; the answer has the slice under the pointer.
pub(crate) fn show(
    ui: &mut Ui,
    shown: &TimelineContent<'_>,
    actions: &mut Vec<Change>,
) -> (Response, Option<usize>) {
    let (outer, response) = ui.allocate_exact_size(ui.available_size(), Sense::click_and_drag());
    response.widget_info(|| {
        let slices = humanize::pluralised(shown.trace.len() as u64, "slice");
        let tracks = humanize::pluralised(shown.timeline.tracks.len() as u64, "track");
        let words = format!("Timeline of {}: {slices} on {tracks}", shown.name);
        WidgetInfo::labeled(Role::Image, true, words)
    });
    let flags = if shown.notes.is_empty() { 0.0 } else { FLAGS };
    let parts = CanvasParts::divide(outer, flags, device_lanes::height(shown, outer.height()));
    if parts.tracks.width() < 60.0 || parts.tracks.height() < layout::ROW {
        return (response, None);
    }
    let folded = &shown.view.folded;
    let places = TrackLayout::new(shown.trace, shown.timeline, folded, &shown.tracks);
    let height = parts.tracks.height();
    let mut scroll = places.kept_within(shown.view.scroll, height);
    if shown.reveals {
        let slice = shown
            .view
            .selected
            .as_ref()
            .and_then(TimelineSelection::slice);
        let place = slice.and_then(|slice| shown.timeline.place(slice));
        if let Some(place) = place {
            scroll = places.scroll_to(place.row as usize, shown.timeline, scroll, height);
        }
        actions.push(Change::Reveal(scroll));
    } else if scroll != shown.view.scroll {
        // Scrolling stops at the last track, so that the next step back takes effect at once.
        actions.push(Change::Scroll(scroll));
    }
    let hand = Hand {
        shown,
        parts,
        places: &places,
        scroll,
        look: TimelineView {
            stretch: shown.view.stretch,
            pixels: parts.tracks.width(),
        },
    };
    let drag = hand.drag(ui, &response, actions);
    hand.wheel(ui, &response, actions);
    hand.clicks(&response, actions);
    let pointer = response
        .hover_pos()
        .filter(|at| parts.outer.contains(*at) && at.x >= parts.tracks.left());
    hand.tell_time(pointer, actions);
    let canvas = TimelineCanvas {
        painter: ui.painter_at(outer),
        roles: theme::roles(ui),
        hand: &hand,
        measuring: hand.measuring(drag, response.interact_pointer_pos()),
        pointer: pointer.filter(|_| drag.is_none()),
    };
    canvas.paint(ui);
    hand.names(ui, actions);
    hand.flags(ui, actions);
    if let Some(at) = canvas.pointer {
        let range = hand.hit(at);
        if let Some(words) = card::under_hand(shown, &hand, at, range) {
            card::show(ui, &response, &words);
        }
    }
    let under = response.hover_pos().and_then(|at| hand.slice_at(at));
    (response, under)
}

/// Everything that the pointer can reach.
struct Hand<'a> {
    shown: &'a TimelineContent<'a>,
    parts: CanvasParts,
    places: &'a TrackLayout<'a>,
    scroll: f32,
    look: TimelineView,
}

impl Hand<'_> {
    fn time(&self, x: f32) -> f64 {
        self.look.time(f64::from(x - self.parts.tracks.left()))
    }

    /// The height of a place within all tracks.
    fn depth(&self, y: f32) -> f32 {
        let below = y - self.parts.tracks.top();
        self.places.to_depth(below, self.sight())
    }

    /// What of the tracks is in sight.
    fn sight(&self) -> VisibleTracks {
        VisibleTracks {
            scroll: self.scroll,
            height: self.parts.tracks.height(),
        }
    }

    /// Where tracks are drawn: the pinned ones, or the others below them. From the left edge.
    fn region(&self, is_pinned: bool) -> Rect {
        let all = self.parts.tracks.with_min_x(self.parts.outer.left());
        let edge = all.top() + self.places.pinned_in(all.height());
        if is_pinned {
            all.with_max_y(edge)
        } else {
            all.with_min_y(edge)
        }
    }

    /// The row and the positions of the slices there.
    fn hit(&self, at: Pos2) -> Option<(usize, std::ops::Range<usize>)> {
        if !self.parts.tracks.contains(at) {
            return None;
        }
        let row = self.places.row_at(self.depth(at.y))?;
        let reach = REACH / self.look.scale();
        let found = self.shown.timeline.slices_at(row, self.time(at.x), reach);
        (!found.is_empty()).then_some((row, found))
    }

    fn drag(&self, ui: &Ui, response: &Response, actions: &mut Vec<Change>) -> Option<Drag> {
        let id = response.id.with("drag");
        let at = response.interact_pointer_pos();
        if response.drag_started_by(PointerButton::Primary)
            && let Some(from) = ui.input(|input| input.pointer.press_origin())
        {
            let shift = ui.input(|input| input.modifiers.shift);
            ui.data_mut(|data| data.insert_temp(id, self.begin(from, shift)));
        }
        let drag: Drag = ui.data(|data| data.get_temp(id))?;
        let Some(at) = at else {
            ui.data_mut(|data| data.remove::<Drag>(id));
            return None;
        };
        match drag {
            Drag::Move => {
                let by = response.drag_delta();
                if by.x != 0.0 {
                    let share = f64::from(-by.x / self.parts.tracks.width());
                    actions.push(Change::Look(self.shown.view.stretch.moved(share)));
                }
                if by.y != 0.0 {
                    let height = self.parts.tracks.height();
                    let scroll = self.places.kept_within(self.scroll - by.y, height);
                    actions.push(Change::Scroll(scroll));
                }
                ui.set_cursor_icon(CursorIcon::Grabbing);
            }
            Drag::Overview => self.to_overview(at, actions),
            Drag::Measure { .. } => {}
        }
        if response.drag_stopped() {
            ui.data_mut(|data| data.remove::<Drag>(id));
            if let Some((stretch, rows)) = self.measuring(Some(drag), Some(at)) {
                actions.push(Change::Measure(stretch, rows));
            }
            return None;
        }
        Some(drag)
    }

    fn begin(&self, from: Pos2, shift: bool) -> Drag {
        if self.parts.overview.contains(from) {
            return Drag::Overview;
        }
        let is_on_ruler = from.y < self.parts.tracks.top();
        if shift || self.shown.measures || is_on_ruler {
            return Drag::Measure {
                from_ns: self.time(from.x),
                from_y: (!is_on_ruler).then(|| self.depth(from.y)),
            };
        }
        Drag::Move
    }

    /// The range and rows that a drag measures.
    fn measuring(
        &self,
        drag: Option<Drag>,
        at: Option<Pos2>,
    ) -> Option<(TimeRange, Vec<std::ops::Range<usize>>)> {
        let (Some(Drag::Measure { from_ns, from_y }), Some(at)) = (drag, at) else {
            return None;
        };
        let to = self.time(at.x.clamp(self.parts.tracks.left(), self.parts.tracks.right()));
        let stretch = TimeRange::new(from_ns, to);
        let points = stretch.length() * self.look.scale();
        if points < f64::from(LEAST_DRAG) {
            return None;
        }
        let timeline = self.shown.timeline;
        let rows = from_y.map(|from| self.places.rows_between(from, self.depth(at.y), timeline));
        let rows = rows.filter(|rows| !rows.is_empty());
        let all = || self.places.rows_between(0.0, self.places.height, timeline);
        Some((stretch, rows.unwrap_or_else(all)))
    }

    fn to_overview(&self, at: Pos2, actions: &mut Vec<Change>) {
        let share = f64::from((at.x - self.parts.overview.left()) / self.parts.overview.width());
        let whole = self.shown.timeline.full_range();
        let middle = whole.from + share.clamp(0.0, 1.0) * whole.length();
        let half = self.shown.view.stretch.length() / 2.0;
        actions.push(Change::Look(TimeRange::new(middle - half, middle + half)));
    }

    fn wheel(&self, ui: &Ui, response: &Response, actions: &mut Vec<Change>) {
        if !response.contains_pointer() {
            return;
        }
        let (zoom, turned) = ui.input(|input| (input.zoom_delta(), input.smooth_scroll_delta()));
        if (zoom - 1.0).abs() > 1e-4 {
            let hand = response.hover_pos();
            let hand = hand.map(|at| self.time(at.x.max(self.parts.tracks.left())));
            let at = hand.unwrap_or_else(|| self.look.stretch.middle());
            let zoomed = self.look.stretch.zoomed(at, 1.0 / f64::from(zoom));
            actions.push(Change::Look(zoomed));
            return;
        }
        if turned.y != 0.0 {
            let height = self.parts.tracks.height();
            let scroll = self.places.kept_within(self.scroll - turned.y, height);
            actions.push(Change::Scroll(scroll));
        }
        if turned.x != 0.0 {
            let share = f64::from(-turned.x / self.parts.tracks.width());
            actions.push(Change::Look(self.look.stretch.moved(share)));
        }
    }

    /// Of slices too close to separate, the pointer means the longest.
    fn slice_at(&self, at: Pos2) -> Option<usize> {
        let (row, range) = self.hit(at)?;
        let row = self.shown.timeline.rows.get(row)?;
        let longest = range.max_by_key(|at| row.busy_ns(*at..*at + 1))?;
        Some(row.slice(longest))
    }

    fn clicks(&self, response: &Response, actions: &mut Vec<Change>) {
        let Some(at) = response.interact_pointer_pos() else {
            return;
        };
        if response.clicked() && self.parts.overview.contains(at) {
            return self.to_overview(at, actions);
        }
        let slice = self.slice_at(at);
        if response.double_clicked() {
            actions.extend(slice.map(Change::ZoomTo));
        } else if response.clicked() && self.parts.tracks.contains(at) {
            actions.push(Change::Select(slice));
        } else if response.secondary_clicked() && slice.is_some() {
            // Its menu is about the selection.
            actions.push(Change::Select(slice));
        }
    }

    /// Reports the time under the pointer, where it changed.
    fn tell_time(&self, pointer: Option<Pos2>, actions: &mut Vec<Change>) {
        let time = pointer.map(|at| self.time(at.x));
        if time != self.shown.hand_ns {
            actions.push(Change::Hand(time));
        }
    }
}
