//! Below the slices: memory in use, and device telemetry.

use eframe::egui::{Align2, Color32, FontId, Mesh, Painter, Pos2, Rect, Shape, Stroke, pos2};

use super::card_text::CardText;
use super::paint::TimelineCanvas;
use super::{Hand, TimelineContent};
use crate::theme::{self, text};
use powerband_core::base::humanize;
use powerband_findings::analysis::device_readings;
use powerband_findings::analysis::timeline::line::MemoryLine;
use powerband_findings::chart::lanes::Lane;
use powerband_findings::chart::layout::lanes::stacked;
use powerband_findings::chart::timeline::exact;

/// A lane of memory.
const LINE: f32 = 44.0;
/// Lanes of memory that are shown.
const MOST_LINES: usize = 4;
/// A lane of a device, and the name of one above its lanes.
const LANE: f32 = 25.0;
const HEAD: f32 = 22.0;
/// All lanes of devices take this share of the height at most.
const MOST: f32 = 0.4;
/// Readings further apart than this have a dot each, in points.
const APART: f32 = 9.0;

/// How many lanes of memory there is room for.
fn lines(shown: &TimelineContent<'_>) -> usize {
    shown.timeline.lines.len().min(MOST_LINES)
}

/// Lanes of devices with their tops, below those of memory, and their devices' names where they are the
/// first: as many as there is room for in a timeline so high. At last, where they end.
fn places<'a>(shown: &TimelineContent<'a>, room: f32) -> (Vec<(&'a Lane, f32, bool)>, f32) {
    let begin = lines(shown) as f32 * LINE;
    let lanes = shown.lanes.iter();
    let rows = lanes.map(|lane| (lane.device.as_str(), f64::from(LANE)));
    let (rows, _) = stacked(rows, HEAD.into());
    let places = shown.lanes.iter().zip(rows);
    let places = places.map(|(lane, row)| (lane, begin + row.top as f32, row.head.is_some()));
    let has_room = |place: &(&Lane, f32, bool)| place.1 + LANE <= begin + room * MOST;
    let places: Vec<_> = places.take_while(has_room).collect();
    let end = places.last().map_or(begin, |(_, top, _)| top + LANE);
    (places, end)
}

/// How high all of it is, where there is so much room for the whole timeline.
pub(super) fn height(shown: &TimelineContent<'_>, room: f32) -> f32 {
    places(shown, room).1
}

/// The lane at the pointer.
pub(super) fn under_hand(
    shown: &TimelineContent<'_>,
    hand: &Hand<'_>,
    at: Pos2,
) -> Option<CardText> {
    let depth = at.y - hand.parts.lanes.top();
    let time = hand.time(at.x);
    let when = (
        "At".to_owned(),
        exact(time, hand.look.stretch.length() / 1e3),
    );
    let number = (depth / LINE) as usize;
    let line = shown.timeline.lines.get(number);
    if let Some(line) = line.filter(|_| number < lines(shown)) {
        let used = line.value_at(time)?;
        return Some(CardText {
            title: format!("{}: {} in use", line.title, humanize::bytes(used)),
            pairs: vec![when, ("Peak".to_owned(), humanize::bytes(line.highest))],
        });
    }
    let (places, _) = places(shown, hand.parts.outer.height());
    let mut places = places.into_iter();
    let (lane, ..) = places.find(|(_, top, _)| (*top..*top + LANE).contains(&depth))?;
    let apart = |point: &&(f64, f64)| (point.0 - time).abs();
    let nearest = lane
        .points
        .iter()
        .min_by(|a, b| apart(a).total_cmp(&apart(b)))?;
    let value = device_readings::reading_text(lane.quantity, nearest.1);
    Some(CardText {
        title: format!("{} {}: {value}", lane.device, lane.title.to_lowercase()),
        pairs: vec![
            when,
            (
                "Read at".to_owned(),
                exact(nearest.0, hand.look.stretch.length() / 1e3),
            ),
            ("Range".to_owned(), lane.range.clone()),
        ],
    })
}

impl TimelineCanvas<'_> {
    /// Memory in use by device, then device telemetry.
    pub(super) fn paint_lanes(&self) {
        let area = self.hand.parts.lanes;
        let painter = self.painter.with_clip_rect(area.expand2([0.0, 1.0].into()));
        let mut top = area.top();
        let shown = self.hand.shown;
        for line in shown.timeline.lines.iter().take(lines(shown)) {
            self.memory(&painter, line, top);
            top += LINE;
        }
        for (lane, top, is_first) in places(shown, self.hand.parts.outer.height()).0 {
            let top = area.top() + top;
            if is_first {
                self.above(top - HEAD);
                let device = humanize::shorten(&lane.device, 24);
                self.aside(top - HEAD / 2.0 + 1.0, &device, "", self.roles.text);
            }
            self.readings(&painter, lane, top);
        }
    }

    fn above(&self, top: f32) {
        let stroke = Stroke::new(1.0, self.roles.line);
        let outer = self.hand.parts.outer;
        self.painter.hline(outer.x_range(), top, stroke);
    }

    fn memory(&self, painter: &Painter, line: &MemoryLine, top: f32) {
        let area = self.hand.parts.lanes;
        self.above(top);
        let (low, high) = (top + LINE - 4.0, top + 6.0);
        let mut steps = Vec::new();
        line.visible(self.hand.look, &mut steps);
        let mut mesh = Mesh::default();
        let color = self.roles.tone(Some(0), 0.22);
        let edge = self.roles.tone(Some(0), 0.8);
        for step in &steps {
            let share = step.value as f32 / line.highest.max(1) as f32;
            let y = low - share * (low - high);
            let x = area.left() + step.left..=area.left() + step.right;
            mesh.add_colored_rect(Rect::from_x_y_ranges(x.clone(), y..=low), color);
            mesh.add_colored_rect(Rect::from_x_y_ranges(x, y - 1.3..=y), edge);
        }
        painter.add(mesh);
        let title = humanize::shorten(&line.title, 24);
        self.aside(top + 12.0, &title, "", self.roles.text);
        let most = humanize::bytes(line.highest);
        self.aside(top + 28.0, "memory, peak", &most, self.roles.faint);
    }

    /// A name and a value at the left.
    fn aside(&self, y: f32, name: &str, value: &str, color: Color32) {
        let at = pos2(self.hand.parts.outer.left() + 10.0, y);
        self.draw_text(at, Align2::LEFT_CENTER, name, color);
        let at = pos2(self.hand.parts.lanes.left() - 10.0, y);
        self.numbers(at, Align2::RIGHT_CENTER, value, self.roles.quiet);
    }

    fn readings(&self, painter: &Painter, lane: &Lane, top: f32) {
        let y = |value: f64| top + LANE - 4.0 - lane.share(value) as f32 * (LANE - 8.0);
        let stroke = Stroke::new(1.3, self.roles.tone(Some(0), 0.8));
        let place = |(at, value): &(f64, f64)| pos2(self.x(*at), y(*value));
        for run in lane.runs() {
            painter.add(Shape::line(run.iter().map(place).collect(), stroke));
        }
        let mut last = f32::NEG_INFINITY;
        let dots = lane.points.iter().map(place).filter(|at| {
            let is_apart = at.x - last >= APART;
            last = at.x;
            is_apart
        });
        let dots: Vec<Shape> = dots
            .map(|at| Shape::circle_filled(at, 2.0, stroke.color))
            .collect();
        painter.extend(dots);
        self.name_of(painter, lane, top + LANE / 2.0);
    }

    /// Quantity and range, as far as there is room.
    fn name_of(&self, painter: &Painter, lane: &Lane, y: f32) {
        let room = self.hand.parts.lanes.left() - self.hand.parts.outer.left() - 28.0;
        let width = |words: &str, font: FontId| {
            let galley = painter.layout_no_wrap(words.to_owned(), font, Color32::PLACEHOLDER);
            galley.size().x
        };
        let name = width(&lane.title, theme::text_font(text::CAPTION));
        let fits = name + width(&lane.range, theme::numbers(text::CAPTION)) < room;
        let range = if fits { lane.range.as_str() } else { "" };
        self.aside(y, &lane.title, range, self.roles.quiet);
    }
}
