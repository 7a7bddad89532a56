//! Shows [`Lanes`]: one low strip for each quantity, words at the left, one axis of time below all, and the reading
//! under the pointer.

use eframe::egui::{
    Painter, Pos2, Rangef, Response, Sense, Stroke, Ui, Vec2, WidgetInfo, accesskit::Role, vec2,
};

use super::chart_canvas::{area, rect};
use super::sketch::{Sketch, with_letters};
use super::{figure, tip};
use crate::theme::{self, text};
use powerband_core::base::humanize;
use powerband_findings::analysis::device_readings;
use powerband_findings::chart::figure::Drawing;
use powerband_findings::chart::lanes::Lanes;
use powerband_findings::chart::layout::lanes::{LanesStyle, PlacedLanes, height, lay_out};

/// Shows the lanes over the width that there is; their time over the same places as another chart's,
/// where that is said.
pub(crate) fn show(ui: &mut Ui, shown: &Lanes, time: Option<Rangef>) -> Response {
    let size = vec2(ui.available_width(), height(shown) as f32 * text::CAPTION);
    let (outer, response) = ui.allocate_exact_size(size, Sense::hover());
    response.widget_info(|| {
        let words = humanize::pluralised(shown.lanes.len() as u64, "lane");
        WidgetInfo::labeled(Role::Image, true, format!("Devices over time, {words}"))
    });
    let painter = ui.painter_at(outer.expand(1.0));
    let look = LanesStyle {
        value: |lane| &lane.newest,
        time: time.map(|time| (time.min.into(), time.max.into())),
    };
    let placed = with_letters(&painter, |letters| {
        lay_out(shown, area(outer), look, letters)
    });
    if placed.plot.width() < 30.0 {
        return response;
    }
    Sketch::new(ui, &painter, Vec2::ZERO).paint(&placed.items);
    let accent = Stroke::new(1.0, theme::roles(ui).accent);
    if let Some(hand) = response.hover_pos() {
        under_hand(&painter, accent, &response, hand, shown, &placed);
    }
    figure::offer(ui, "lanes", outer, || {
        Drawing::Lanes(Box::new(shown.clone()))
    });
    response
}

/// A hairline in all lanes, and the readings there as text.
fn under_hand(
    painter: &Painter,
    stroke: Stroke,
    response: &Response,
    hand: Pos2,
    shown: &Lanes,
    placed: &PlacedLanes,
) {
    let plot = rect(placed.plot);
    if !plot.contains(hand) {
        return;
    }
    painter.vline(hand.x, plot.y_range(), stroke);
    let share = f64::from((hand.x - plot.left()) / plot.width());
    let at = shown.x.low + share * (shown.x.high - shown.x.low);
    let place = placed.lanes.iter();
    let mut place = place.map(|lane| rect(*lane).y_range());
    let place = place.position(|range| range.contains(hand.y));
    let Some(lane) = place.and_then(|index| shown.lanes.get(index)) else {
        return;
    };
    let nearest = lane
        .points
        .iter()
        .min_by(|a, b| (a.0 - at).abs().total_cmp(&(b.0 - at).abs()));
    let Some((when, value)) = nearest else {
        return;
    };
    let is_far = (when - at).abs() > 0.03 * (shown.x.high - shown.x.low);
    let value = if is_far {
        "no reading here".to_owned()
    } else {
        device_readings::reading_text(lane.quantity, *value)
    };
    let case = shown
        .stretches
        .iter()
        .find(|stretch| !stretch.text.is_empty() && (stretch.from..=stretch.to).contains(&at));
    let case = case.map_or_else(String::new, |case| format!(", batch {}", case.text));
    let words = format!(
        "{} {}: {value}\nat {} s{case}\n{}",
        lane.device,
        lane.title.to_lowercase(),
        humanize::significant(at, 3),
        lane.range
    );
    tip::show_text(response, words);
}
