//! The ribbon of difference above the tracks of two timelines.

use eframe::egui::{Rect, Sense, Stroke, Ui, WidgetInfo, accesskit::Role, pos2, vec2};

use super::sketch::{Sketch, with_letters};
use super::timeline_canvas::names_width;
use crate::theme::{self, space, text};
use powerband_core::base::humanize;
use powerband_findings::analysis::timeline::stretch::TimeRange;
use powerband_findings::chart::area::Area;
use powerband_findings::chart::layout::ribbon::{self, RibbonPlace};
use powerband_findings::chart::ribbon::Ribbon;

/// How far the pointer may be from a bar, in points.
const REACH: f64 = 2.0;

/// Shows it over the width that there is; returns the row of the comparison whose bar was clicked.
pub(crate) fn show(
    ui: &mut Ui,
    shown: &Ribbon,
    stretch: TimeRange,
    selected: Option<usize>,
) -> Option<usize> {
    let height = ribbon::HEIGHT as f32 * text::CAPTION;
    let size = vec2(ui.available_width(), height);
    let (outer, response) = ui.allocate_exact_size(size, Sense::click());
    let left = outer.left() + names_width(outer.width());
    let place = RibbonPlace {
        area: Area::new(
            (outer.left() + space::SMALL).into(),
            outer.top().into(),
            outer.right().into(),
            outer.bottom().into(),
        ),
        columns: (left.into(), outer.right().into()),
        stretch,
        has_tooltips: false,
    };
    let painter = ui.painter_at(outer);
    if let Some(bar) = selected.and_then(|row| shown.seen(stretch).find(|bar| bar.row == row)) {
        let (from, to) = (place.x(bar.time.from) as f32, place.x(bar.time.to) as f32);
        let mark = Rect::from_min_max(
            pos2(from - 1.0, outer.top()),
            pos2(to + 1.0, outer.bottom()),
        );
        let edge = Stroke::new(1.0, theme::roles(ui).accent);
        painter.rect_stroke(mark, 0.0, edge, eframe::egui::StrokeKind::Outside);
    }
    let items = with_letters(&painter, |letters| ribbon::lay_out(shown, place, letters));
    Sketch::new(ui, &painter, vec2(0.0, 0.0)).paint_areas_first(&items);
    response.widget_info(|| {
        let total = humanize::time_change(shown.total_ns);
        WidgetInfo::labeled(
            Role::Image,
            true,
            format!("What each operator gained or lost, {total} in all"),
        )
    });
    let at = response.hover_pos().filter(|at| at.x >= left)?;
    let bar = place.bar_at(shown, at.x.into(), REACH)?;
    let is_clicked = response.clicked();
    response.on_hover_text_at_pointer(format!("{}\n{}", bar.tooltip(), bar.standing.title()));
    is_clicked.then_some(bar.row)
}
