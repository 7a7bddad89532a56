//! Paints [`Lanes`]: one low strip for each quantity, words at the left, one axis of time below all.

use eframe::egui::{
    self, Align2, Painter, Rangef, Rect, Response, Sense, Shape, Stroke, Ui, WidgetInfo,
    accesskit::Role, pos2, vec2,
};

use super::{figure, tip};
use crate::gui::theme::{self, Roles, space, text};
use powerband_core::base::humanize;
use powerband_findings::analysis::device_readings;
use powerband_findings::chart::figure::Drawing;
use powerband_findings::chart::lanes::{Lane, Lanes};

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
/// Narrower stretches have no room for their words.
const NARROWEST: f32 = 22.0;

/// Shows the lanes over the width that there is; their time over the same places as another chart's,
/// where that is said.
pub(crate) fn show(ui: &mut Ui, shown: &Lanes, time: Option<Rangef>) -> Response {
    let places = places(shown);
    let lanes_height = places.last().map_or(0.0, |last| last.1 + LANE);
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
        shown,
        plot,
        left: outer.left(),
        roles: theme::roles(ui),
    };
    canvas.stretches();
    canvas.axis();
    for (lane, (name_at, at)) in shown.lanes.iter().zip(&places) {
        canvas.lane(lane, *name_at, *at);
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

/// Where each lane begins, below the head; and where its device's name stands, where it is the first.
fn places(shown: &Lanes) -> Vec<(Option<f32>, f32)> {
    let mut y = 0.0;
    let mut device = "";
    let mut places = Vec::with_capacity(shown.lanes.len());
    for lane in &shown.lanes {
        let name_at = (lane.device != device).then(|| {
            device = &lane.device;
            let at = y;
            y += NAME;
            at
        });
        places.push((name_at, y));
        y += LANE + BETWEEN;
    }
    places
}

struct Canvas<'a> {
    painter: Painter,
    shown: &'a Lanes,
    plot: Rect,
    left: f32,
    roles: &'a Roles,
}

impl Canvas<'_> {
    fn x(&self, at: f64) -> f32 {
        let axis = &self.shown.x;
        let share = (at - axis.low) / (axis.high - axis.low).max(1e-9);
        self.plot.left() + share as f32 * self.plot.width()
    }

    fn words(&self, at: egui::Pos2, align: Align2, words: &str, color: egui::Color32) -> Rect {
        let font = theme::words(text::CAPTION);
        self.painter.text(at, align, words, font, color)
    }

    fn numbers(&self, at: egui::Pos2, align: Align2, words: &str, color: egui::Color32) {
        let font = theme::numbers(text::CAPTION);
        self.painter.text(at, align, words, font, color);
    }

    /// The cases behind the lanes, each in its setup's colour.
    fn stretches(&self) {
        let mut free_from = f32::NEG_INFINITY;
        for stretch in &self.shown.stretches {
            let (from, to) = (self.x(stretch.from), self.x(stretch.to));
            if stretch.from >= stretch.to {
                let stroke = Stroke::new(1.0, self.roles.line);
                self.painter.vline(from, self.plot.y_range(), stroke);
                continue;
            }
            let color = self.roles.series(stretch.colour);
            let rect = Rect::from_x_y_ranges(from..=to, self.plot.y_range());
            self.painter
                .rect_filled(rect, 0.0, color.gamma_multiply(0.10));
            let top = Rect::from_x_y_ranges(from..=to, self.plot.top() - 3.0..=self.plot.top());
            self.painter.rect_filled(top, 0.0, color);
            if to - from >= NARROWEST && from >= free_from {
                let at = pos2(from + 1.0, self.plot.top() - 4.0);
                let drawn = self.words(at, Align2::LEFT_BOTTOM, &stretch.text, self.roles.quiet);
                free_from = drawn.right() + space::TINY;
            }
        }
    }

    fn axis(&self) {
        let y = self.plot.bottom();
        let line = Stroke::new(1.0, self.roles.line);
        self.painter.hline(self.plot.x_range(), y + 3.0, line);
        for tick in &self.shown.x.ticks {
            let at = pos2(self.x(tick.at), y + 6.0);
            self.numbers(at, Align2::CENTER_TOP, &tick.text, self.roles.quiet);
        }
        let at = pos2(self.plot.right(), y + 20.0);
        self.words(at, Align2::RIGHT_TOP, &self.shown.x.title, self.roles.quiet);
    }

    fn lane(&self, lane: &Lane, name_at: Option<f32>, at: f32) {
        let top = self.plot.top() + at;
        let rect = Rect::from_x_y_ranges(self.plot.x_range(), top..=top + LANE);
        if let Some(name_at) = name_at {
            let at = pos2(self.left, self.plot.top() + name_at + 1.0);
            self.words(at, Align2::LEFT_TOP, &lane.device, self.roles.text);
        }
        let middle = rect.center().y;
        let words = pos2(self.left, middle);
        self.words(words, Align2::LEFT_CENTER, &lane.title, self.roles.quiet);
        let value = pos2(self.plot.left() - 10.0, middle);
        self.numbers(value, Align2::RIGHT_CENTER, &lane.newest, self.roles.text);
        let line = Stroke::new(1.0, self.roles.line);
        self.painter.hline(rect.x_range(), rect.bottom(), line);
        let y = |value: f64| {
            let share = (value - lane.low) / (lane.high - lane.low).max(1e-9);
            rect.bottom() - share.clamp(0.0, 1.0) as f32 * (LANE - 2.0)
        };
        let stroke = Stroke::new(1.3, self.roles.series(0));
        // Where only a part of the time is seen, lines go on beyond it.
        let within = self.painter.with_clip_rect(rect.expand(1.5));
        let mut part: Vec<egui::Pos2> = Vec::new();
        for (index, (at, value)) in lane.points.iter().enumerate() {
            part.push(pos2(self.x(*at), y(*value)));
            if lane.gap_after.contains(&index) || index + 1 == lane.points.len() {
                let points = std::mem::take(&mut part);
                if let [alone] = points[..] {
                    within.circle_filled(alone, 1.2, stroke.color);
                } else {
                    within.add(Shape::line(points, stroke));
                }
            }
        }
    }

    /// A device that stopped to answer.
    fn cuts(&self) {
        for (at, words) in &self.shown.cuts {
            let x = self.x(*at);
            let stroke = Stroke::new(1.5, self.roles.bad);
            self.painter.vline(x, self.plot.y_range(), stroke);
            let is_right = x > self.plot.center().x;
            let (align, aside) = if is_right {
                (Align2::RIGHT_TOP, -5.0)
            } else {
                (Align2::LEFT_TOP, 5.0)
            };
            let words = humanize::shorten(words, 70);
            let place = pos2(x + aside, self.plot.top() + 2.0);
            self.words(place, align, &words, self.roles.bad);
        }
    }

    /// A hairline in all lanes, and what is there in words.
    fn under_hand(&self, response: &Response, hand: egui::Pos2, places: &[(Option<f32>, f32)]) {
        let stroke = Stroke::new(1.0, self.roles.accent);
        self.painter.vline(hand.x, self.plot.y_range(), stroke);
        let axis = &self.shown.x;
        let share = f64::from((hand.x - self.plot.left()) / self.plot.width());
        let at = axis.low + share * (axis.high - axis.low);
        let within = |place: &(Option<f32>, f32)| {
            let top = self.plot.top() + place.1;
            (top..=top + LANE + BETWEEN).contains(&hand.y)
        };
        let place = places.iter().position(within);
        let Some(lane) = place.and_then(|index| self.shown.lanes.get(index)) else {
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
            "nothing was read here".to_owned()
        } else {
            device_readings::text(lane.quantity, *value)
        };
        let case =
            self.shown.stretches.iter().find(|stretch| {
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
