//! Names of tracks under the pointer: folded, pinned and hidden there.

use eframe::egui::{
    Align2, CursorIcon, FontId, Id, Rect, Response, Sense, Ui, WidgetInfo, accesskit::Role, pos2,
    vec2,
};

use super::{Hand, card, layout};
use crate::icon;
use crate::theme;
use powerband_app::action::Timeline as Change;
use powerband_core::base::humanize;
use powerband_findings::analysis::timeline::TimelineTrack;

/// Width of the buttons at the end of a name.
const BUTTONS: f32 = 40.0;

impl Hand<'_> {
    /// Names of tracks are shown in full under the pointer; those of several rows fold and unfold.
    pub(super) fn names(&self, ui: &Ui, actions: &mut Vec<Change>) {
        let parts = &self.parts;
        for band in self.places.seen(self.sight()) {
            let Some(strand) = self.shown.timeline.tracks.get(band.strand) else {
                continue;
            };
            let folds = strand.rows.len() > 1;
            let top = parts.tracks.top() + self.places.to_screen(band.top, self.sight());
            let rect = Rect::from_min_size(
                pos2(parts.outer.left(), top),
                vec2(parts.tracks.left() - parts.outer.left(), layout::ROW),
            );
            let rect = rect.intersect(self.region(band.top < self.places.pinned));
            if rect.height() < 8.0 {
                continue;
            }
            let whole = rect;
            let rect = rect.with_max_x(rect.right() - BUTTONS);
            let id = Id::unique(("fold-track", strand.track));
            let sense = if folds {
                Sense::click()
            } else {
                Sense::hover()
            };
            let response = ui.interact(rect, id, sense);
            let track = self.shown.trace.tracks.get(strand.track as usize);
            let name = track.map(|track| format!("{} of {}", track.name, track.group));
            let name = humanize::shorten(&name.unwrap_or_default(), card::LONGEST_NAME);
            response.widget_info(|| {
                let (role, words) = match (folds, band.is_folded) {
                    (false, _) => (Role::Label, name.clone()),
                    (true, false) => (Role::Button, format!("Fold {name}")),
                    (true, true) => (Role::Button, format!("Unfold {name}")),
                };
                WidgetInfo::labeled(role, true, words)
            });
            if response.clicked() {
                actions.push(Change::Fold(strand.track));
            }
            let response = response.on_hover_text(self.track_tooltip(strand, &name));
            if folds {
                response.on_hover_cursor(CursorIcon::PointingHand);
            }
            self.buttons(ui, strand, whole, &name, actions);
        }
    }

    /// Pins and hides a track. The buttons are seen while the pointer or the cursor is there.
    fn buttons(
        &self,
        ui: &Ui,
        strand: &TimelineTrack,
        row: Rect,
        name: &str,
        actions: &mut Vec<Change>,
    ) {
        let view = self.shown.view;
        let is_pinned = view.pinned.contains(&strand.track);
        let pin = if is_pinned { "Unpin" } else { "Pin" };
        let all = [
            (icon::PIN, pin, Change::Pin(strand.track)),
            (icon::HIDE, "Hide", Change::Hide(strand.track)),
        ];
        let places = all.iter().enumerate().map(|(place, _)| {
            let left = row.right() - BUTTONS + place as f32 * BUTTONS / 2.0;
            Rect::from_min_size(pos2(left, row.top()), vec2(BUTTONS / 2.0, row.height()))
        });
        let responses: Vec<Response> = all
            .iter()
            .zip(places)
            .map(|((_, doing, _), rect)| {
                let id = Id::unique((*doing == "Hide", "arrange-track", strand.track));
                let response = ui.interact(rect, id, Sense::click());
                let words = format!("{doing} {name}");
                response.widget_info(|| WidgetInfo::labeled(Role::Button, true, words.clone()));
                response
            })
            .collect();
        let is_near = ui.rect_contains_pointer(row) || responses.iter().any(Response::has_focus);
        if is_near {
            let back = Rect::from_x_y_ranges(
                row.right() - BUTTONS - 8.0..=row.right() - 1.0,
                row.y_range(),
            );
            ui.painter().rect_filled(back, 0.0, theme::roles(ui).panel);
        }
        for ((glyph, doing, change), response) in all.into_iter().zip(responses) {
            if is_near {
                let roles = theme::roles(ui);
                let is_lit = response.hovered() || response.has_focus() || doing == "Unpin";
                let color = if is_lit { roles.text } else { roles.faint };
                let font = FontId::new(12.0, theme::icons());
                let middle = response.rect.center();
                ui.painter()
                    .text(middle, Align2::CENTER_CENTER, glyph, font, color);
            }
            if response.clicked() {
                actions.push(change);
            }
            response
                .on_hover_text(format!("{doing} this track"))
                .on_hover_cursor(CursorIcon::PointingHand);
        }
    }

    /// Statistics of a track, below its name.
    fn track_tooltip(&self, strand: &TimelineTrack, name: &str) -> String {
        let (busy, all) = (strand.busy_ns as f64, self.shown.timeline.length_ns as f64);
        let slices = humanize::pluralised(strand.slices as u64, "slice");
        let share = humanize::value(busy / all.max(1.0) * 100.0);
        let busy = humanize::duration_ns(busy);
        format!("{name}\n{slices}\nBusy {busy}, {share} % of the trace")
    }
}
