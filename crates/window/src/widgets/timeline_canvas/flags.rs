//! Notes as flags on the ruler: a click looks at one, and its text is shown under the pointer.

use eframe::egui::{
    Align2, CursorIcon, FontId, Id, Rect, Sense, Stroke, Ui, WidgetInfo, accesskit::Role, pos2,
    vec2,
};

use super::Hand;
use super::paint::TimelineCanvas;
use crate::icon;
use crate::theme;
use powerband_app::action::Timeline as Change;
use powerband_core::base::humanize;
use powerband_findings::chart::timeline::exact;

/// Size of a flag.
const FLAG: f32 = 14.0;

impl TimelineCanvas<'_> {
    /// Lines of notes through the tracks, and stretches between two of them.
    pub(super) fn notes(&self) {
        let parts = &self.hand.parts;
        let across = parts.ruler.x_range();
        let tall = parts.flags.top()..=parts.outer.bottom();
        let clip = Rect::from_x_y_ranges(across, tall.clone());
        let painter = self.painter.with_clip_rect(clip);
        for note in self.hand.shown.notes {
            let (from, to) = note.times();
            let (left, right) = (self.x(from), self.x(to));
            let line = Stroke::new(1.0, self.roles.unsure.gamma_multiply(0.7));
            painter.vline(left.round() + 0.5, tall.clone(), line);
            if to > from {
                painter.vline(right.round() + 0.5, tall.clone(), line);
                let bar = Rect::from_x_y_ranges(
                    left..=right,
                    parts.flags.bottom() - 3.0..=parts.flags.bottom(),
                );
                painter.rect_filled(bar, 0.0, self.roles.unsure);
            }
        }
    }
}

impl Hand<'_> {
    /// The flags themselves.
    pub(super) fn flags(&self, ui: &Ui, actions: &mut Vec<Change>) {
        let ruler = self.parts.ruler;
        let roles = theme::roles(ui);
        for (place, note) in self.shown.notes.iter().enumerate() {
            let (from, _) = note.times();
            let x = ruler.left() + self.look.x(from) as f32;
            if x < ruler.left() - 1.0 || x > ruler.right() - 4.0 {
                continue;
            }
            let rect = Rect::from_min_size(
                pos2(x + 1.0, self.parts.flags.top()),
                vec2(FLAG, FLAG - 2.0),
            );
            let response = ui.interact(rect, Id::unique(("note-flag", place)), Sense::click());
            let text = humanize::shorten(note.text.trim(), 200);
            let when = exact(from, self.look.stretch.length() / 2_000.0);
            let words = format!("Note at {when}: {text}");
            response.widget_info(|| WidgetInfo::labeled(Role::Button, true, words.clone()));
            let font = FontId::new(FLAG - 2.0, theme::icons());
            let is_lit = response.hovered() || response.has_focus();
            let color = if is_lit { roles.text } else { roles.unsure };
            ui.painter().text(
                rect.center(),
                Align2::CENTER_CENTER,
                icon::FLAG,
                font,
                color,
            );
            if response.clicked() {
                actions.push(Change::GoToNote(place));
            }
            let text = if text.is_empty() {
                "No text yet"
            } else {
                &text
            };
            response
                .on_hover_text(format!("{when}\n{text}"))
                .on_hover_cursor(CursorIcon::PointingHand);
        }
    }
}
