//! The overview, the ruler, the names of tracks, and the time at the pointer.

use eframe::egui::text::{LayoutJob, TextWrapping};
use eframe::egui::{Align2, FontId, Mesh, Rect, Stroke, StrokeKind, pos2, vec2};

use super::layout::ROW;
use super::paint::TimelineCanvas;
use crate::theme::{self, text};
use powerband_core::base::humanize;
use powerband_findings::chart::timeline;

impl TimelineCanvas<'_> {
    /// The whole trace, with the visible range marked.
    pub(super) fn overview(&self) {
        let rect = self.hand.parts.overview.shrink2(vec2(0.0, 3.0));
        let timeline = self.hand.shown.timeline;
        self.painter.rect_filled(rect, 3.0, self.roles.raised);
        let mut mesh = Mesh::default();
        let part = rect.width() / timeline.overview.len().max(1) as f32;
        let color = self.roles.tone(Some(0), 0.6);
        for (n, busy) in timeline.overview.iter().enumerate() {
            if *busy == 0 {
                continue;
            }
            let left = rect.left() + n as f32 * part;
            let top = rect.bottom() - (f32::from(*busy) / 255.0 * rect.height()).max(1.0);
            let bar = Rect::from_min_max(pos2(left, top), pos2(left + part, rect.bottom()));
            mesh.add_colored_rect(bar, color);
        }
        self.painter.add(mesh);
        let whole = timeline.full_range();
        let x = |time: f64| {
            let share = ((time - whole.from) / whole.length()).clamp(0.0, 1.0) as f32;
            rect.left() + share * rect.width()
        };
        let stretch = self.hand.look.stretch;
        let (from, to) = (x(stretch.from), x(stretch.to));
        let (from, to) = if to - from < 3.0 {
            let middle = f32::midpoint(from, to);
            (middle - 1.5, middle + 1.5)
        } else {
            (from, to)
        };
        let shade = self.roles.ground.gamma_multiply(0.62);
        for (left, right) in [(rect.left(), from), (to, rect.right())] {
            let aside = Rect::from_x_y_ranges(left..=right.max(left), rect.y_range());
            self.painter.rect_filled(aside, 0.0, shade);
        }
        let seen = Rect::from_x_y_ranges(from..=to, rect.y_range());
        let edge = Stroke::new(1.0, self.roles.quiet);
        self.painter
            .rect_stroke(seen, 2.0, edge, StrokeKind::Inside);
        let at = pos2(self.hand.parts.outer.left() + 10.0, rect.center().y);
        let length = humanize::duration_ns(whole.length());
        self.draw_text(at, Align2::LEFT_CENTER, "Total", self.roles.faint);
        let at = pos2(rect.left() - 10.0, rect.center().y);
        self.numbers(at, Align2::RIGHT_CENTER, length, self.roles.quiet);
    }

    pub(super) fn ruler(&self) {
        let rect = self.hand.parts.ruler;
        let ruler = timeline::ruler(self.hand.look.stretch, rect.width());
        let hairline = Stroke::new(1.0, self.roles.line.gamma_multiply(0.6));
        let line = Stroke::new(1.0, self.roles.line);
        let outer = self.hand.parts.outer;
        self.painter.hline(outer.x_range(), rect.bottom(), line);
        let clipped = self
            .painter
            .with_clip_rect(rect.expand2(vec2(0.0, 4_000.0)));
        let bottom = self.hand.parts.outer.bottom();
        for tick in &ruler.ticks {
            let x = self.x(tick.at).round() + 0.5;
            if x < rect.left() {
                continue;
            }
            clipped.vline(x, rect.bottom() - 6.0..=bottom, hairline);
            let font = theme::numbers(text::CAPTION);
            let galley = clipped.layout_no_wrap(tick.text.clone(), font, self.roles.quiet);
            let at = pos2(x + 4.0, rect.center().y - 1.0 - galley.size().y / 2.0);
            if at.x + galley.size().x <= rect.right() {
                clipped.galley(at, galley, self.roles.quiet);
            }
        }
        let left = self.hand.parts.outer.left() + 10.0;
        let right = rect.left() - 10.0;
        let y = rect.center().y - 1.0;
        let (words, value) = if let Some(base) = ruler.base {
            ("From", base)
        } else {
            let length = self.hand.look.stretch.length();
            ("Visible", humanize::duration_ns(length))
        };
        self.draw_text(pos2(left, y), Align2::LEFT_CENTER, words, self.roles.faint);
        let at = pos2(right, y);
        self.numbers(at, Align2::RIGHT_CENTER, value, self.roles.text);
    }

    /// Names of tracks at the left, which stay where they are: of pinned ones, or of the others.
    pub(super) fn names(&self, is_pinned: bool) {
        let parts = &self.hand.parts;
        let region = self.hand.region(is_pinned);
        let column = region.with_max_x(parts.tracks.left());
        let painter = self.painter.with_clip_rect(column);
        let line = Stroke::new(1.0, self.roles.line);
        let sides = parts.ruler.top()..=parts.outer.bottom();
        self.painter.vline(column.right() - 0.5, sides, line);
        let all = self.painter.with_clip_rect(region);
        if is_pinned && region.height() > 0.0 {
            let edge = Stroke::new(1.0, self.roles.faint);
            self.painter
                .hline(parts.outer.x_range(), region.bottom() - 0.5, edge);
        }
        let strong = FontId::new(text::CAPTION, theme::semibold());
        let pinned = self.hand.places.pinned;
        let heads = self.hand.places.heads.iter();
        for (depth, group) in heads.filter(|(depth, _)| (*depth < pinned) == is_pinned) {
            let y = self.y(*depth);
            if y > column.bottom() || y < column.top() - 30.0 {
                continue;
            }
            if *depth > 0.0 {
                all.hline(parts.outer.x_range(), y.round() + 0.5, line);
            }
            // No slices are beside it, so it may be longer than its column.
            let at = pos2(column.left() + 10.0, y + 14.0);
            let group = humanize::shorten(group, 60);
            let (font, color) = (strong.clone(), self.roles.text);
            all.text(at, Align2::LEFT_CENTER, group, font, color);
        }
        let length = self.hand.shown.timeline.length_ns.max(1) as f64;
        for band in self.seen(is_pinned) {
            let Some(strand) = self.hand.shown.timeline.tracks.get(band.strand) else {
                continue;
            };
            let y = self.y(band.top) + ROW / 2.0;
            if strand.rows.len() > 1 {
                let sign = if band.is_folded { "▸" } else { "▾" };
                let at = pos2(column.left() + 14.0, y);
                let font = theme::text_font(text::CAPTION);
                painter.text(at, Align2::CENTER_CENTER, sign, font, self.roles.quiet);
            }
            let busy = strand.busy_ns as f64 / length * 100.0;
            let busy = if busy < 0.05 {
                String::new()
            } else {
                format!("{} %", humanize::value(busy))
            };
            let at = pos2(column.right() - 10.0, y);
            let drawn = self.painter.with_clip_rect(column).text(
                at,
                Align2::RIGHT_CENTER,
                busy,
                theme::numbers(text::CAPTION),
                self.roles.faint,
            );
            let track = self.hand.shown.trace.tracks.get(strand.track as usize);
            let name = track.map_or("", |track| track.name.as_str());
            let room = Rect::from_x_y_ranges(
                column.left() + 22.0..=drawn.left().min(column.right() - 10.0) - 6.0,
                column.y_range(),
            );
            let font = theme::text_font(text::CAPTION);
            let color = self.roles.quiet;
            let mut line = LayoutJob::simple_singleline(name.to_owned(), font, color);
            line.wrap = TextWrapping::truncate_at_width(room.width().max(0.0));
            let galley = painter.layout_job(line);
            let at = pos2(room.left(), y - galley.size().y / 2.0);
            painter.with_clip_rect(room).galley(at, galley, color);
        }
    }

    pub(super) fn scroll_bar(&self) {
        let area = self.hand.parts.tracks;
        let area = area.with_min_y(area.top() + self.hand.places.pinned_in(area.height()));
        let all = self.hand.places.height - self.hand.places.pinned;
        if all <= area.height() {
            return;
        }
        let length = (area.height() / all * area.height()).max(24.0);
        let share = self.hand.scroll / (all - area.height());
        let top = area.top() + share * (area.height() - length);
        let bar = Rect::from_min_size(pos2(area.right() - 5.0, top), vec2(4.0, length));
        let color = self.roles.faint.gamma_multiply(0.6);
        self.painter.rect_filled(bar, 2.0, color);
    }

    /// A hairline under the pointer, with its time on the ruler.
    pub(super) fn time_of_hand(&self) {
        let parts = &self.hand.parts;
        let Some(at) = self.pointer.filter(|at| at.y > parts.overview.bottom()) else {
            return;
        };
        let stroke = Stroke::new(1.0, self.roles.faint.gamma_multiply(0.7));
        let tall = parts.ruler.top()..=parts.outer.bottom();
        self.painter.vline(at.x.round() + 0.5, tall, stroke);
        let step = self.hand.look.stretch.length() / 2_000.0;
        let words = timeline::exact(self.hand.time(at.x), step);
        let font = theme::numbers(text::CAPTION);
        let galley = self.painter.layout_no_wrap(words, font, self.roles.text);
        let size = galley.size() + vec2(10.0, 4.0);
        let highest = parts.ruler.right() - size.x;
        let left = (at.x - size.x / 2.0).clamp(parts.ruler.left(), highest.max(parts.ruler.left()));
        let box_at = pos2(left, parts.ruler.center().y - size.y / 2.0 - 1.0);
        let rect = Rect::from_min_size(box_at, size);
        self.painter.rect_filled(rect, 3.0, self.roles.raised);
        let line = Stroke::new(1.0, self.roles.line);
        self.painter
            .rect_stroke(rect, 3.0, line, StrokeKind::Inside);
        self.painter
            .galley(rect.min + vec2(5.0, 2.0), galley, self.roles.text);
    }
}
