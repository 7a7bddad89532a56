//! Marker shapes, which distinguish series without colour.

use eframe::egui::accesskit::Role;
use eframe::egui::{
    Color32, Painter, Pos2, Rect, Sense, Shape, Stroke, Ui, Vec2, WidgetInfo, pos2, vec2,
};

use super::label;
use crate::theme::{self, space, text};
use powerband_app::sessions::{OpenSession, OpenSessions};
use powerband_core::base::humanize;
use powerband_findings::chart::layout::outline::Outline;
use powerband_findings::chart::palette;
use powerband_findings::chart::spec::Marker;

/// Room for a marker before its name.
const BEFORE_NAME: f32 = 16.0;
/// Characters of a name that are shown; the rest is on hover.
const NAME: usize = 44;
/// The same in the narrowest card.
const SHORTEST: usize = 12;

/// Half the width of a marker on a chart.
pub(crate) const RADIUS: f32 = 3.6;

/// Paints the marker of a palette index.
pub(crate) fn paint(painter: &Painter, at: Pos2, colour_index: usize, radius: f32, color: Color32) {
    painter.add(shape(at, palette::marker(colour_index), radius, color));
}

fn shape(at: Pos2, marker: Marker, r: f32, color: Color32) -> Shape {
    let bar = |half: Vec2| Shape::rect_filled(Rect::from_center_size(at, 2.0 * half), 0.0, color);
    match Outline::from_marker(marker, r.into()) {
        Outline::Circle(r) => Shape::circle_filled(at, r as f32, color),
        Outline::Polygon(corners) => {
            let corners = corners.iter().map(|(x, y)| at + vec2(*x as f32, *y as f32));
            Shape::convex_polygon(corners.collect(), color, Stroke::NONE)
        }
        Outline::Cross(long, short) => {
            let (long, short) = (long as f32, short as f32);
            Shape::Vec(vec![bar(vec2(long, short)), bar(vec2(short, long))])
        }
    }
}

/// The marker of an open session in a line of text, as the legend has that of its first series.
pub(crate) fn of_session(ui: &mut Ui, sessions: &OpenSessions, open: &OpenSession) {
    let index = sessions.colour(open.id, 0);
    let at = inline(ui, index);
    if open.is_hollow() {
        hollow(ui.painter(), at, index, theme::roles(ui).panel);
    }
}

/// Hollows a marker in a line of text: its series was published, not measured.
pub(crate) fn hollow(painter: &Painter, at: Pos2, colour_index: usize, ground: Color32) {
    paint(painter, at, colour_index, 2.0, ground);
}

/// A marker in a line of text; the answer is its middle.
pub(crate) fn inline(ui: &mut Ui, colour_index: usize) -> Pos2 {
    let color = theme::roles(ui).series(colour_index);
    let (rect, _) = ui.allocate_exact_size(vec2(12.0, 16.0), eframe::egui::Sense::hover());
    let at = pos2(rect.center().x, rect.center().y);
    paint(ui.painter(), at, colour_index, 4.0, color);
    at
}

/// Most names in a row where a table below has all.
const MOST_NAMED: usize = 8;

/// A row of markers with their names: the first few, and how many more there are.
pub(crate) fn named_few(ui: &mut Ui, named: impl ExactSizeIterator<Item = (usize, String)>) {
    let more = named.len().saturating_sub(MOST_NAMED);
    let (colours, names): (Vec<usize>, Vec<String>) = named.take(MOST_NAMED).unzip();
    let whole: Vec<&str> = names.iter().map(String::as_str).collect();
    let short = shortened(ui, &whole);
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = vec2(space::MEDIUM, space::TINY);
        for ((colour, name), short) in colours.into_iter().zip(whole).zip(short) {
            self::named(ui, colour, name, short);
        }
        if more > 0 {
            label::quiet(ui, &format!("and {more} more"));
        }
    });
}

/// Names that fit into a row, each another one: a wider one would make its card wider than the screen has room for.
fn shortened(ui: &Ui, names: &[&str]) -> Vec<String> {
    let room = ui.available_width() - BEFORE_NAME;
    let fits = |name: &String| {
        let font = theme::text_font(text::BODY);
        let galley = ui
            .painter()
            .layout_no_wrap(name.clone(), font, Color32::PLACEHOLDER);
        galley.size().x <= room
    };
    let mut letters = NAME;
    loop {
        let short = humanize::shorten_apart(names, letters);
        if letters <= SHORTEST || short.iter().all(fits) {
            return short;
        }
        letters -= 2;
    }
}

/// A marker and its name in one piece, so that no row wraps between the two.
fn named(ui: &mut Ui, colour_index: usize, name: &str, short: String) {
    let roles = theme::roles(ui);
    let is_cut = short != name;
    let font = theme::text_font(text::BODY);
    let galley = ui.painter().layout_no_wrap(short, font, roles.text);
    let size = vec2(BEFORE_NAME + galley.size().x, galley.size().y.max(20.0));
    let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
    let at = rect.left_center() + vec2(6.0, 0.0);
    let color = roles.series(colour_index);
    paint(ui.painter(), at, colour_index, 4.0, color);
    let words = rect.left_center() + vec2(BEFORE_NAME, -galley.size().y / 2.0);
    ui.painter().galley(words, galley, roles.text);
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, name));
    if is_cut {
        response.on_hover_text(name);
    }
}
