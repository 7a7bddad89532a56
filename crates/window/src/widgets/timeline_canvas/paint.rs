//! Paints what a [`Hand`] can reach: rectangles as one mesh, and words where they fit.

use std::collections::HashMap;
use std::ops::{Range, RangeInclusive};
use std::sync::Arc;

use eframe::egui::epaint::{CubicBezierShape, PathShape};
use eframe::egui::{
    Align2, Color32, FontId, Galley, Mesh, Painter, Pos2, Rect, Shape, Stroke, StrokeKind, Ui,
    pos2, vec2,
};

use super::Hand;
use super::layout::{Band, ROW};
use crate::theme::{self, Roles, text};
use powerband_app::timeline::TimelineSelection;
use powerband_core::base::humanize;
use powerband_core::domain::trace::SliceKind;
use powerband_findings::analysis::timeline::detail::{LEVELS, PieceKind};
use powerband_findings::analysis::timeline::stretch::TimeRange;
use powerband_findings::analysis::timeline::{SHADES, SlicePosition, SliceRow};
use powerband_findings::analysis::timeline_comparison::WorkPair;
use powerband_findings::chart::timeline;
use powerband_findings::chart::timeline_figure::series;

/// A slice has words from this width on.
const WORDS_FROM: f32 = 42.0;
/// Text is cut after this many characters, so that the same pieces recur at every zoom.
const CUTS: [usize; 13] = [60, 50, 42, 35, 29, 24, 20, 17, 14, 11, 9, 7, 5];
/// Arrows that are drawn.
const MOST_ARROWS: usize = 64;

/// Painter, colours and input of one timeline frame.
pub(super) struct TimelineCanvas<'a> {
    pub painter: Painter,
    pub roles: &'a Roles,
    pub hand: &'a Hand<'a>,
    /// What is being measured.
    pub measuring: Option<(TimeRange, Vec<Range<usize>>)>,
    /// Position of the pointer, while it drags nothing.
    pub pointer: Option<Pos2>,
}

/// Colours of slices: by kind, and by shade or level.
struct Tones {
    slices: Vec<[Color32; SHADES as usize]>,
    blocks: Vec<[Color32; LEVELS as usize]>,
}

impl Tones {
    fn from_roles(roles: &Roles, dimmed: bool) -> Self {
        let times = if dimmed { 0.38 } else { 1.0 };
        let slices = SliceKind::ALL.map(|kind| {
            let shade = |n: usize| roles.tone(series(kind), timeline::strength(n as u8) * times);
            std::array::from_fn(shade)
        });
        let blocks = SliceKind::ALL.map(|kind| {
            let level = |n: usize| {
                let strength = timeline::strength_of_several(n as u8 + 1);
                roles.tone(series(kind), strength * times)
            };
            std::array::from_fn(level)
        });
        Self {
            slices: slices.into(),
            blocks: blocks.into(),
        }
    }
}

/// Cuts words to a width and lays out each piece once a frame.
struct Lettering {
    font: FontId,
    /// Widths of the characters of ASCII, and at last of the mark of what was cut off.
    widths: Vec<f32>,
    laid_out: HashMap<(u32, usize), Arc<Galley>>,
}

impl Lettering {
    fn new(ui: &Ui) -> Self {
        let font = theme::text_font(text::CAPTION);
        let ascii = (0..128_u8).map(char::from).chain(['…']);
        let widths = ui.fonts_mut(|fonts| ascii.map(|c| fonts.glyph_width(&font, c)).collect());
        Self {
            font,
            widths,
            laid_out: HashMap::new(),
        }
    }

    fn fitting(
        &mut self,
        painter: &Painter,
        number: u32,
        words: &str,
        width: f32,
    ) -> Option<Arc<Galley>> {
        let count = self.count(words, width)?;
        let galley = self.laid_out.entry((number, count)).or_insert_with(|| {
            let mut cut: String = words.chars().take(count).collect();
            if cut.len() < words.len() {
                cut.truncate(cut.trim_end().len());
                cut.push('…');
            }
            painter.layout_no_wrap(cut, self.font.clone(), Color32::PLACEHOLDER)
        });
        Some(Arc::clone(galley))
    }

    /// How many characters have room.
    fn count(&self, words: &str, width: f32) -> Option<usize> {
        let mark = self.widths.last().copied().unwrap_or_default();
        let mut used = 0.0;
        let mut with_mark = 0;
        for (place, letter) in words.chars().enumerate() {
            if used + mark <= width {
                with_mark = place;
            }
            let other = self.widths.get('m' as usize);
            let of = self
                .widths
                .get(letter as usize)
                .filter(|_| letter.is_ascii());
            used += of.or(other).copied().unwrap_or_default();
            if used > width || place >= CUTS[0] {
                return CUTS.into_iter().find(|cut| *cut <= with_mark);
            }
        }
        (used > 0.0).then(|| words.chars().count())
    }
}

impl TimelineCanvas<'_> {
    /// Paints all of it.
    pub(crate) fn paint(&self, ui: &Ui) {
        let parts = &self.hand.parts;
        self.painter.rect_filled(parts.outer, 0.0, self.roles.panel);
        self.overview();
        self.ruler();
        for is_pinned in [false, true] {
            self.slices(ui, is_pinned);
        }
        self.paint_selection();
        self.paint_lanes();
        for is_pinned in [false, true] {
            self.names(is_pinned);
        }
        self.notes();
        self.measure();
        self.scroll_bar();
        self.time_of_hand();
    }

    pub(super) fn x(&self, time_ns: f64) -> f32 {
        let x = self.hand.look.x(time_ns).clamp(-20_000.0, 40_000.0);
        self.hand.parts.tracks.left() + x as f32
    }

    pub(super) fn y(&self, depth: f32) -> f32 {
        let hand = self.hand;
        hand.parts.tracks.top() + hand.places.to_screen(depth, hand.sight())
    }

    /// The tracks in sight: the pinned ones, or the others.
    pub(super) fn seen(&self, is_pinned: bool) -> impl Iterator<Item = &Band> {
        let places = self.hand.places;
        let seen = places.seen(self.hand.sight());
        seen.filter(move |band| (band.top < places.pinned) == is_pinned)
    }

    pub(super) fn draw_text(
        &self,
        at: Pos2,
        align: Align2,
        words: impl ToString,
        color: Color32,
    ) -> Rect {
        let font = theme::text_font(text::CAPTION);
        self.painter.text(at, align, words, font, color)
    }

    pub(super) fn numbers(
        &self,
        at: Pos2,
        align: Align2,
        words: impl ToString,
        color: Color32,
    ) -> Rect {
        let font = theme::numbers(text::CAPTION);
        self.painter.text(at, align, words, font, color)
    }

    /// All visible slices of pinned tracks or of the others as one mesh, and text on those wide enough.
    fn slices(&self, ui: &Ui, is_pinned: bool) {
        let hand = self.hand;
        let shown = hand.shown;
        let area = hand.region(is_pinned).with_min_x(hand.parts.tracks.left());
        let tones = Tones::from_roles(self.roles, shown.is_dimmed());
        let bright = Tones::from_roles(self.roles, false);
        let painter = self.painter.with_clip_rect(area);
        let (mut mesh, mut letters) = (Mesh::default(), Vec::new());
        let mut lettering = Lettering::new(ui);
        let (mut pieces, mut marks) = (Vec::new(), Vec::new());
        for (band, number) in self
            .seen(is_pinned)
            .flat_map(|band| band.rows.clone().map(move |row| (band, row)))
        {
            let top = self.y(band.row_top(number)).round();
            let Some(row) = shown.timeline.rows.get(number) else {
                continue;
            };
            if top > area.bottom() || top + ROW < area.top() {
                continue;
            }
            let (top, bottom) = (top + 1.0, top + ROW - 1.0);
            shown.timeline.visible(number, hand.look, &mut pieces);
            for piece in &pieces {
                let (left, right) = (area.left() + piece.left, area.left() + piece.right);
                match piece.what {
                    PieceKind::Block { kind, level } => {
                        let rect = Rect::from_x_y_ranges(left..=right, top..=bottom);
                        let color = tones.blocks[kind as usize][usize::from(level - 1)];
                        mesh.add_colored_rect(rect, color);
                    }
                    PieceKind::Slice(at) => {
                        let rect = slice_rect(left, right, top, bottom);
                        let color = self.color(row, at as usize, &tones);
                        mesh.add_colored_rect(rect, color);
                        if self.is_one_sided(row.slice(at as usize)) {
                            let mark = rect.with_min_y(bottom - 2.0);
                            mesh.add_colored_rect(mark, self.roles.text);
                        }
                        if rect.width() >= WORDS_FROM {
                            letters.extend(self.letters(&mut lettering, row, at as usize, rect));
                        }
                    }
                }
            }
            let Some(hits) = shown.hits else {
                continue;
            };
            hits.visible(shown.timeline, number, hand.look, &mut marks);
            self.found(row, &marks, top..=bottom, &bright, &mut mesh);
        }
        painter.add(mesh);
        painter.extend(letters);
    }

    /// Hits of a row in their colours, with a foot that continues below neighbours.
    fn found(
        &self,
        row: &SliceRow,
        marks: &[(f32, f32, usize)],
        tall: RangeInclusive<f32>,
        tones: &Tones,
        mesh: &mut Mesh,
    ) {
        let area = self.hand.parts.tracks;
        let (top, bottom) = (*tall.start(), *tall.end());
        let mut foot: Option<(f32, f32)> = None;
        let under = |mesh: &mut Mesh, (left, right): (f32, f32)| {
            let rect = Rect::from_x_y_ranges(left..=right, bottom - 2.0..=bottom);
            mesh.add_colored_rect(rect, self.roles.accent);
        };
        for (left, right, at) in marks {
            let (left, right) = (area.left() + left, area.left() + right);
            let rect = slice_rect(left, right.max(left + 2.0), top, bottom);
            mesh.add_colored_rect(rect, self.color(row, *at, tones));
            foot = match foot {
                Some(before) if rect.left() <= before.1 => Some((before.0, rect.right())),
                before => {
                    if let Some(foot) = before {
                        under(mesh, foot);
                    }
                    Some((rect.left(), rect.right()))
                }
            };
        }
        if let Some(foot) = foot {
            under(mesh, foot);
        }
    }

    /// Whether a slice is of an operator that the other trace does not have.
    fn is_one_sided(&self, slice: usize) -> bool {
        let compared = self.hand.shown.compared;
        let pair = compared.and_then(|compared| compared.pair(slice));
        pair.is_some_and(WorkPair::is_one_sided)
    }

    fn color(&self, row: &SliceRow, at: usize, tones: &Tones) -> Color32 {
        let shade = self.hand.shown.timeline.shade(row.name(at));
        tones.slices[row.kind(at) as usize][usize::from(shade)]
    }

    fn letters(
        &self,
        lettering: &mut Lettering,
        row: &SliceRow,
        at: usize,
        rect: Rect,
    ) -> Option<Shape> {
        let number = row.name(at);
        let name = self.hand.shown.trace.names.get(number);
        let short = timeline::short(name, row.kind(at));
        let room = rect.width() - 8.0;
        let galley = lettering.fitting(&self.painter, number, short, room)?;
        let y = (rect.center().y - galley.size().y / 2.0).round();
        let at = pos2((rect.left() + 4.0).round(), y);
        let color = if self.hand.shown.is_dimmed() {
            self.roles.faint
        } else {
            self.roles.text
        };
        Some(Shape::galley(at, galley, color))
    }

    /// Where a slice is on the screen.
    fn place(&self, place: SlicePosition) -> Option<Rect> {
        let timeline = self.hand.shown.timeline;
        let (from, to) = timeline.times(place)?;
        let depth = self.hand.places.row_top(place.row as usize, timeline)?;
        let top = self.y(depth).round();
        let (left, right) = (self.x(from as f64), self.x(to as f64));
        Some(slice_rect(left, right, top + 1.0, top + ROW - 1.0))
    }

    /// The selection, its partners, and the slice under the pointer.
    fn paint_selection(&self) {
        let shown = self.hand.shown;
        let painter = self.painter.with_clip_rect(self.hand.parts.tracks);
        let hit = self.pointer.and_then(|at| self.hand.hit(at));
        if let Some((row, range)) = hit.filter(|(_, range)| range.len() == 1) {
            let place = SlicePosition {
                row: row as u32,
                at: range.start as u32,
            };
            if let Some(rect) = self.place(place) {
                let stroke = Stroke::new(1.0, self.roles.quiet);
                painter.rect_stroke(rect, 1.0, stroke, StrokeKind::Inside);
            }
        }
        let selected = shown
            .view
            .selected
            .as_ref()
            .and_then(TimelineSelection::slice);
        let Some(slice) = selected else {
            return;
        };
        let own = shown
            .timeline
            .place(slice)
            .and_then(|place| self.place(place));
        let Some(own) = own else {
            return;
        };
        let is_work = shown.trace.slice(slice).kind.is_work();
        let partners = shown.timeline.partners(shown.trace, slice);
        for partner in partners.into_iter().take(MOST_ARROWS) {
            let place = shown.timeline.place(partner);
            let Some(other) = place.and_then(|place| self.place(place)) else {
                continue;
            };
            let soft = Stroke::new(1.0, self.roles.accent.gamma_multiply(0.8));
            painter.rect_stroke(other, 1.0, soft, StrokeKind::Inside);
            let (from, to) = if is_work { (other, own) } else { (own, other) };
            self.arrow(&painter, from, to);
        }
        let stroke = Stroke::new(2.0, self.roles.accent);
        painter.rect_stroke(own.expand(1.0), 1.0, stroke, StrokeKind::Inside);
        for counterpart in &shown.counterparts {
            let place = shown.timeline.place(*counterpart);
            if let Some(rect) = place.and_then(|place| self.place(place)) {
                painter.rect_stroke(rect.expand(1.0), 1.0, stroke, StrokeKind::Inside);
            }
        }
    }

    /// From a launch to what it launched.
    fn arrow(&self, painter: &Painter, from: Rect, to: Rect) {
        let is_below = to.center().y > from.center().y;
        let (start, way) = if is_below {
            (from.center_bottom(), 1.0)
        } else {
            (from.center_top(), -1.0)
        };
        let end = pos2(to.left(), to.center().y);
        let bend = ((end.x - start.x).abs() * 0.5).clamp(14.0, 90.0);
        let reach = ((end.y - start.y).abs() * 0.6).clamp(10.0, 160.0);
        let points = [
            start,
            start + vec2(0.0, way * reach),
            end - vec2(bend, 0.0),
            end,
        ];
        let stroke = Stroke::new(1.5, self.roles.accent);
        let curve =
            CubicBezierShape::from_points_stroke(points, false, Color32::TRANSPARENT, stroke);
        painter.add(curve);
        let head = vec![end, end + vec2(-6.0, -3.5), end + vec2(-6.0, 3.5)];
        let head = PathShape::convex_polygon(head, self.roles.accent, Stroke::NONE);
        painter.add(head);
    }

    /// The stretch that is selected, or is being measured.
    fn measure(&self) {
        let selected = match &self.hand.shown.view.selected {
            Some(TimelineSelection::Span(measured)) => {
                Some((measured.stretch, measured.rows.clone()))
            }
            _ => None,
        };
        let Some((stretch, rows)) = self.measuring.clone().or(selected) else {
            return;
        };
        let timeline = self.hand.shown.timeline;
        let area = self.hand.parts.tracks;
        let painter = self.painter.with_clip_rect(area);
        let (left, right) = (self.x(stretch.from), self.x(stretch.to));
        let all = self
            .hand
            .places
            .rows_between(0.0, self.hand.places.height, timeline);
        let accent = self.roles.accent;
        let edge = Stroke::new(1.0, accent);
        let mark = |painter: &Painter, tall: RangeInclusive<f32>| {
            let rect = Rect::from_x_y_ranges(left..=right, tall);
            painter.rect_filled(rect, 0.0, accent.gamma_multiply(0.07));
            for x in [left, right] {
                painter.vline(x, rect.y_range(), edge);
            }
        };
        if rows == all {
            mark(&painter, area.top()..=area.bottom());
        } else {
            for is_pinned in [false, true] {
                let painter = self
                    .painter
                    .with_clip_rect(self.hand.region(is_pinned).intersect(area));
                let measured = self.seen(is_pinned).filter(|band| {
                    let mut ranges = rows.iter();
                    ranges.any(|rows| rows.contains(&band.rows.start))
                });
                for band in measured {
                    mark(
                        &painter,
                        self.y(band.top)..=self.y(band.top) + band.rows.len() as f32 * ROW,
                    );
                }
            }
        }
        let ruler = self.hand.parts.ruler;
        let on_ruler = self.painter.with_clip_rect(ruler);
        let bar = Rect::from_x_y_ranges(left..=right, ruler.bottom() - 3.0..=ruler.bottom());
        on_ruler.rect_filled(bar, 0.0, accent);
        let words = format!("Δ {}", humanize::duration_ns(stretch.length()));
        let font = theme::numbers(text::CAPTION);
        let galley = painter.layout_no_wrap(words, font, self.roles.on_accent);
        let size = galley.size() + vec2(12.0, 6.0);
        let middle = f32::midpoint(left.max(ruler.left()), right.min(ruler.right()));
        let lowest = ruler.left() + size.x / 2.0;
        let middle = middle.clamp(lowest, (ruler.right() - size.x / 2.0).max(lowest));
        let pill = Rect::from_center_size(pos2(middle, ruler.center().y - 2.0), size);
        self.painter.rect_filled(pill, 4.0, self.roles.accent_fill);
        self.painter
            .galley(pill.min + vec2(6.0, 3.0), galley, self.roles.on_accent);
    }
}

/// Whole pixels, and a gap to the neighbour at the right where there is room for one.
fn slice_rect(left: f32, right: f32, top: f32, bottom: f32) -> Rect {
    let left = left.round();
    let right = right.round().max(left + 1.0);
    let right = if right - left >= 4.0 {
        right - 1.0
    } else {
        right
    };
    Rect::from_x_y_ranges(left..=right, top..=bottom)
}
