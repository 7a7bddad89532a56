//! What an answer rests on: a line for each observation, with a small picture of it.

use eframe::egui::{Rect, Sense, Stroke, Ui, pos2, vec2};

use crate::theme::{self, space};
use crate::widgets::label;
use powerband_findings::analysis::limits::evidence_line::{
    EvidenceLine, SeenNode, SeenShare, SeenTimes,
};
use powerband_findings::analysis::limits::hypotheses::CaseLimit;
use powerband_findings::chart::roofline;
use powerband_findings::report::experiments as texts;

/// The room of a picture.
const PICTURE: [f32; 2] = [84.0, 16.0];
/// Times as long at its left and right end.
const TIMES: LogAxis = LogAxis {
    low: 0.7,
    high: 2.5,
};
/// The same of the time of a node, in nanoseconds.
const NODE_TIMES: LogAxis = LogAxis {
    low: 500.0,
    high: 20e6,
};
/// Height of a bar of shares, and half the width of a mark.
const BAR: f32 = 8.0;
const MARK: f32 = 3.5;
/// Between two shares.
const GAP: f32 = 1.0;

/// A logarithmic axis without numbers.
struct LogAxis {
    low: f64,
    high: f64,
}

impl LogAxis {
    /// Where a value lies in the room; at its ends what is beyond them.
    fn place(&self, room: Rect, value: f64) -> f32 {
        let share = (value / self.low).ln() / (self.high / self.low).ln();
        let within = room.width() - 2.0 * MARK;
        room.left() + MARK + share.clamp(0.0, 1.0) as f32 * within
    }
}

/// Shows one, the picture before the words.
pub(super) fn row(ui: &mut Ui, line: &EvidenceLine) {
    ui.horizontal_top(|ui| {
        let (room, _) = ui.allocate_exact_size(PICTURE.into(), Sense::hover());
        if let Some(times) = line.times {
            interval(ui, room, times);
        } else if let Some(node) = line.node {
            node_time(ui, room, node);
        } else if !line.shares.is_empty() {
            shares(ui, room, &line.shares);
        }
        ui.add_space(space::TINY);
        label::quiet(ui, &texts::evidence_text(line));
    });
}

/// How many times as long something took: its interval on a logarithmic axis with a line at 1.
fn interval(ui: &Ui, room: Rect, times: SeenTimes) {
    let roles = theme::roles(ui);
    let at = |times: f64| TIMES.place(room, times);
    let painter = ui.painter();
    painter.vline(at(1.0), room.y_range(), Stroke::new(1.0, roles.line));
    let middle = room.center().y;
    let ends = at(times.low)..=at(times.high);
    painter.hline(ends, middle, Stroke::new(1.5, roles.quiet));
    painter.circle_filled(pos2(at(times.ratio), middle), MARK, roles.text);
}

/// The time of a node on a logarithmic axis, with a line at what starting one costs.
fn node_time(ui: &Ui, room: Rect, node: SeenNode) {
    let roles = theme::roles(ui);
    let at = |ns: f64| NODE_TIMES.place(room, ns);
    let painter = ui.painter();
    let middle = room.center().y;
    let ends = at(NODE_TIMES.low)..=at(NODE_TIMES.high);
    painter.hline(ends, middle, Stroke::new(1.0, roles.line));
    if let Some(start_ns) = node.start_ns {
        painter.vline(at(start_ns), room.y_range(), Stroke::new(1.5, roles.quiet));
    }
    painter.circle_filled(pos2(at(node.ns), middle), MARK, roles.text);
}

/// Shares of the time as a bar, in the colours of the roofline.
fn shares(ui: &Ui, room: Rect, shares: &[SeenShare]) {
    let roles = theme::roles(ui);
    let mut part = Rect::from_min_size(room.left_top(), vec2(room.width(), BAR));
    part = part.translate(vec2(0.0, (room.height() - BAR) / 2.0));
    ui.painter().rect_filled(part, 2.0, roles.line);
    let right = part.right();
    for one in shares {
        let width = room.width() * one.share.clamp(0.0, 1.0) as f32;
        part.set_right((part.left() + width).min(right));
        let bound = one.limit.map(CaseLimit::bound);
        let colour = bound.and_then(roofline::bound_colour);
        let colour = colour.map_or(roles.quiet, |colour| roles.series(colour));
        ui.painter().rect_filled(part, 0.0, colour);
        // Memory and caches have one colour.
        part.set_left(part.right() + GAP);
        part.set_right(right);
    }
}
