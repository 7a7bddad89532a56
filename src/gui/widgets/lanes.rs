//! Paints [`Lanes`]: one low strip for each quantity, words at the left, one axis of time below all.

use eframe::egui::{
    self, Align2, FontId, Painter, Rangef, Rect, Response, Sense, Shape, Stroke, Ui, WidgetInfo,
    accesskit::Role, pos2, vec2,
};

use super::chart_canvas::{area, rect};
use super::{figure, tip};
use crate::gui::theme::{self, Roles, space, text};
use powerband_core::base::humanize;
use powerband_findings::analysis::device_readings;
use powerband_findings::chart::figure::Drawing;
use powerband_findings::chart::lanes::{Lane, Lanes};
use powerband_findings::chart::layout::lanes::{Row, Strip, stacked};

/// Height of a lane.
const LANE: f32 = 30.0;
/// Between two lanes.
const BETWEEN: f32 = 5.0;
/// Above the first lane of a device, for its name.
const NAME: f32 = 17.0;
/// For what a lane is and its newest value.
const WORDS: f32 = 168.0;
/// Above the lanes, for the cases.
const HEAD: f32 = 16.0;
/// Below them, for the time.
const FOOT: f32 = 32.0;

/// Shows the lanes over the width that there is; their time over the same places as another chart's,
/// where that is said.
pub(crate) fn show(ui: &mut Ui, shown: &Lanes, time: Option<Rangef>) -> Response {
    let lanes = shown.lanes.iter();
    let lanes = lanes.map(|lane| (lane.device.as_str(), f64::from(LANE + BETWEEN)));
    let (places, height) = stacked(lanes, NAME.into());
    let lanes_height = (height as f32 - BETWEEN).max(0.0);
    let size = vec2(ui.available_width(), HEAD + lanes_height + FOOT);
    let (outer, response) = ui.allocate_exact_size(size, Sense::hover());
    response.widget_info(|| {
        let words = humanize::of_many(shown.lanes.len() as u64, "lane");
        WidgetInfo::labeled(Role::Image, true, format!("Devices over time, {words}"))
    });
    let words_width = WORDS.min(outer.width() * 0.4);
    let plot = Rect::from_min_max(
        outer.min + vec2(words_width, HEAD),
        outer.max - vec2(space::SMALL, FOOT),
    );
    let plot = time.map_or(plot, |time| Rect::from_x_y_ranges(time, plot.y_range()));
    if plot.width() < 30.0 {
        return response;
    }
    let canvas = Canvas {
        painter: ui.painter_at(outer.expand(1.0)),
        strip: Strip {
            shown,
            plot: area(plot),
        },
        plot,
        left: outer.left(),
        roles: theme::roles(ui),
    };
    canvas.stretches();
    canvas.axis();
    for (lane, row) in shown.lanes.iter().zip(&places) {
        canvas.lane(lane, row);
    }
    canvas.cuts();
    let hand = response.hover_pos().filter(|hand| plot.contains(*hand));
    if let Some(hand) = hand {
        canvas.under_hand(&response, hand, &places);
    }
    figure::offer(ui, "lanes", outer, || {
        Drawing::Lanes(Box::new(shown.clone()))
    });
    response
}

struct Canvas<'a> {
    painter: Painter,
    strip: Strip<'a>,
    plot: Rect,
    left: f32,
    roles: &'a Roles,
}

impl Canvas<'_> {
    fn x(&self, at: f64) -> f32 {
        self.strip.x(at) as f32
    }

    fn words(&self, at: egui::Pos2, align: Align2, words: &str, color: egui::Color32) -> Rect {
        let font = theme::words(text::CAPTION);
        self.painter.text(at, align, words, font, color)
    }

    fn numbers(&self, at: egui::Pos2, align: Align2, words: &str, color: egui::Color32) {
        let font = theme::numbers(text::CAPTION);
        self.painter.text(at, align, words, font, color);
    }

    fn width(&self, words: &str, font: FontId) -> f64 {
        let words = words.to_owned();
        let galley = self
            .painter
            .layout_no_wrap(words, font, egui::Color32::PLACEHOLDER);
        galley.size().x.into()
    }

    /// The cases behind the lanes, each in its setup's colour.
    fn stretches(&self) {
        let width = |text: &str| self.width(text, theme::words(text::CAPTION));
        for case in self.strip.cases(width) {
            let (from, to) = (case.from as f32, case.to as f32);
            if case.is_divider() {
                let stroke = Stroke::new(1.0, self.roles.line);
                self.painter.vline(from, self.plot.y_range(), stroke);
                continue;
            }
            let color = self.roles.series(case.stretch.colour);
            let rect = Rect::from_x_y_ranges(from..=to, self.plot.y_range());
            self.painter
                .rect_filled(rect, 0.0, color.gamma_multiply(0.10));
            let top = Rect::from_x_y_ranges(from..=to, self.plot.top() - 3.0..=self.plot.top());
            self.painter.rect_filled(top, 0.0, color);
            if case.has_words {
                let at = pos2(from + 1.0, self.plot.top() - 4.0);
                let words = &case.stretch.text;
                self.words(at, Align2::LEFT_BOTTOM, words, self.roles.quiet);
            }
        }
    }

    fn axis(&self) {
        let y = self.plot.bottom();
        let line = Stroke::new(1.0, self.roles.line);
        self.painter.hline(self.plot.x_range(), y + 3.0, line);
        let width = |text: &str| self.width(text, theme::numbers(text::CAPTION));
        for (x, text) in self.strip.ticks(width) {
            let at = pos2(x as f32, y + 6.0);
            self.numbers(at, Align2::CENTER_TOP, text, self.roles.quiet);
        }
        let at = pos2(self.plot.right(), y + 20.0);
        let title = &self.strip.shown.x.title;
        self.words(at, Align2::RIGHT_TOP, title, self.roles.quiet);
    }

    fn lane(&self, lane: &Lane, row: &Row) {
        let top = self.plot.top() + row.top as f32;
        let rect = Rect::from_x_y_ranges(self.plot.x_range(), top..=top + LANE);
        if let Some(head) = row.head {
            let at = pos2(self.left, self.plot.top() + head as f32 + 1.0);
            self.words(at, Align2::LEFT_TOP, &lane.device, self.roles.text);
        }
        let middle = rect.center().y;
        let words = pos2(self.left, middle);
        self.words(words, Align2::LEFT_CENTER, &lane.title, self.roles.quiet);
        let value = pos2(self.plot.left() - 10.0, middle);
        self.numbers(value, Align2::RIGHT_CENTER, &lane.newest, self.roles.text);
        let line = Stroke::new(1.0, self.roles.line);
        self.painter.hline(rect.x_range(), rect.bottom(), line);
        let place = |(at, value): &(f64, f64)| {
            let up = lane.share(*value) as f32 * (LANE - 2.0);
            pos2(self.x(*at), rect.bottom() - up)
        };
        let stroke = Stroke::new(1.3, self.roles.series(0));
        // Where only a part of the time is visible, lines continue beyond it.
        let within = self.painter.with_clip_rect(rect.expand(1.5));
        for run in lane.runs() {
            if let [alone] = run {
                within.circle_filled(place(alone), 1.2, stroke.color);
            } else {
                within.add(Shape::line(run.iter().map(place).collect(), stroke));
            }
        }
    }

    /// A device that stopped answering.
    fn cuts(&self) {
        for (at, words) in &self.strip.shown.cuts {
            let x = self.x(*at);
            let stroke = Stroke::new(1.5, self.roles.bad);
            self.painter.vline(x, self.plot.y_range(), stroke);
            let words = humanize::shorten(words, 70);
            let font = theme::words(text::CAPTION);
            let galley = self.painter.layout_no_wrap(words, font, self.roles.bad);
            let (anchor, _) = self.strip.cut_words(x.into());
            let place = rect(anchor.area((galley.size().x.into(), galley.size().y.into())));
            self.painter.galley(place.min, galley, self.roles.bad);
        }
    }

    /// A hairline in all lanes, and the readings there as text.
    fn under_hand(&self, response: &Response, hand: egui::Pos2, places: &[Row]) {
        let stroke = Stroke::new(1.0, self.roles.accent);
        self.painter.vline(hand.x, self.plot.y_range(), stroke);
        let axis = &self.strip.shown.x;
        let share = f64::from((hand.x - self.plot.left()) / self.plot.width());
        let at = axis.low + share * (axis.high - axis.low);
        let within = |row: &Row| {
            let top = self.plot.top() + row.top as f32;
            (top..=top + LANE + BETWEEN).contains(&hand.y)
        };
        let place = places.iter().position(within);
        let Some(lane) = place.and_then(|index| self.strip.shown.lanes.get(index)) else {
            return;
        };
        let nearest = lane
            .points
            .iter()
            .min_by(|a, b| (a.0 - at).abs().total_cmp(&(b.0 - at).abs()));
        let Some((when, value)) = nearest else {
            return;
        };
        let is_far = (when - at).abs() > 0.03 * (axis.high - axis.low);
        let value = if is_far {
            "no reading here".to_owned()
        } else {
            device_readings::text(lane.quantity, *value)
        };
        let case =
            self.strip.shown.stretches.iter().find(|stretch| {
                !stretch.text.is_empty() && (stretch.from..=stretch.to).contains(&at)
            });
        let case = case.map_or_else(String::new, |case| format!(", batch {}", case.text));
        let words = format!(
            "{} {}: {value}\nat {} s{case}\n{}",
            lane.device,
            lane.title.to_lowercase(),
            humanize::significant(at, 3),
            lane.range
        );
        tip::words(response, words);
    }
}
