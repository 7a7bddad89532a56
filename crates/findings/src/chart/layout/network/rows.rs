//! The rows of one module: which child stands where, and how the edges run between them.

use std::collections::HashMap;

use super::level::{LevelEdge, ModuleLevel};
use super::skyline::Skyline;
use super::{PADDING, Wire};
use crate::chart::area::{Area, Position};

/// Between two boxes of a row.
const BESIDE: f64 = 18.0;
/// Between two rows without edges that run sideways.
const BETWEEN: f64 = 22.0;
/// The same between a row and the edge of the module.
const AT_EDGE: f64 = 12.0;
/// Between edges that run beside each other.
const TRACK: f64 = 5.0;
/// Edges that run beside each other between two rows; more of them share these places.
const TRACKS: usize = 12;
/// Between a lane and what is left of it.
const LANE: f64 = 9.0;
/// Between the ends of two edges at one box.
const APART: f64 = 11.0;

/// The size of a child, and where edges reach it, from its left edge on.
#[derive(Clone, Copy, Debug)]
pub(super) struct SizedBox {
    pub width: f64,
    pub height: f64,
    /// Where edges come in and leave.
    pub ports: (f64, f64),
    /// Whether all edges come in at the same place.
    pub is_open: bool,
}

/// Children of a module at their places.
pub(super) struct PlacedRows {
    pub areas: Vec<Area>,
    pub wires: Vec<Wire>,
    pub width: f64,
    pub height: f64,
    /// Where edges from outside come in and where edges leave.
    pub ports: (f64, f64),
}

/// Places the children of a module from its corner on.
pub(super) fn place(level: &ModuleLevel, boxes: &[SizedBox]) -> PlacedRows {
    let mut rows = Rows::new(level, boxes);
    rows.find_rows();
    rows.find_columns();
    rows.find_lanes();
    rows.find_arrivals();
    rows.find_tracks();
    rows.find_heights();
    let wires = rows.wires();
    PlacedRows {
        areas: (0..boxes.len()).map(|child| rows.area(child)).collect(),
        wires,
        width: rows.width(),
        height: *rows.tops.last().unwrap_or(&0.0),
        ports: rows.ports,
    }
}

/// Where an edge runs sideways: below which row, and whose it is.
type TrackKey = (usize, Option<usize>);

struct Rows<'a> {
    level: &'a ModuleLevel,
    boxes: &'a [SizedBox],
    /// For each child, the edges that lead to it.
    into: Vec<Vec<&'a LevelEdge>>,
    /// For each edge, the line on which it arrives.
    arrivals: Vec<f64>,
    row: Vec<usize>,
    n_rows: usize,
    left: Vec<f64>,
    /// How far each row reaches to the right.
    reach: Vec<f64>,
    /// Where the edges of a child that pass rows run; and those from outside.
    lanes: HashMap<Option<usize>, f64>,
    tracks: HashMap<TrackKey, usize>,
    /// Tracks below the head and below each row.
    n_tracks: Vec<usize>,
    /// The top of each row, and the bottom of all.
    tops: Vec<f64>,
    ports: (f64, f64),
}

impl<'a> Rows<'a> {
    fn new(level: &'a ModuleLevel, boxes: &'a [SizedBox]) -> Self {
        let mut into: Vec<Vec<&LevelEdge>> = vec![Vec::new(); boxes.len()];
        for edge in &level.edges {
            if let Some(to) = edge.to {
                into[to].push(edge);
            }
        }
        Self {
            level,
            boxes,
            into,
            arrivals: Vec::new(),
            row: vec![0; boxes.len()],
            n_rows: 0,
            left: vec![0.0; boxes.len()],
            reach: Vec::new(),
            lanes: HashMap::new(),
            tracks: HashMap::new(),
            n_tracks: Vec::new(),
            tops: Vec::new(),
            ports: (0.0, 0.0),
        }
    }

    /// Each child stands below all that it reads; what reads nothing, above the first that reads it.
    fn find_rows(&mut self) {
        for child in 0..self.boxes.len() {
            let above = self.into[child].iter().filter_map(|edge| edge.from);
            let above = above.filter(|from| *from < child);
            self.row[child] = above.map(|from| self.row[from] + 1).max().unwrap_or(0);
        }
        let mut first_reader: Vec<Option<usize>> = vec![None; self.boxes.len()];
        for edge in &self.level.edges {
            if let (Some(from), Some(to)) = (edge.from, edge.to)
                && from < to
            {
                let row = self.row[to];
                let known = first_reader[from].get_or_insert(row);
                *known = row.min(*known);
            }
        }
        for (child, reader) in first_reader.into_iter().enumerate() {
            if let (true, Some(reader)) = (self.into[child].is_empty(), reader) {
                self.row[child] = reader.saturating_sub(1);
            }
        }
        self.n_rows = self.row.iter().map(|row| row + 1).max().unwrap_or(0);
    }

    /// Each child stands below the first of the nearest row that it reads, or right of what is there already.
    fn find_columns(&mut self) {
        let mut reach = vec![f64::MIN; self.n_rows];
        for child in 0..self.boxes.len() {
            let sized = self.boxes[child];
            let row = self.row[child];
            let above = self.into[child].iter().filter_map(|edge| edge.from);
            let above = above.filter(|from| *from < child);
            let main = above.fold(None, |best: Option<usize>, from| match best {
                Some(best) if self.row[best] >= self.row[from] => Some(best),
                _ => Some(from),
            });
            let line = main.map_or(0.0, |main| self.left[main] + self.boxes[main].ports.1);
            let left = (line - sized.ports.0).max(reach[row] + BESIDE);
            self.left[child] = left;
            reach[row] = left + sized.width;
        }
        let least = self.left.iter().copied().fold(f64::MAX, f64::min);
        for left in &mut self.left {
            *left -= least;
        }
        self.reach = reach.into_iter().map(|reach| reach - least).collect();
        let enters = self.level.edges.iter().filter(|edge| edge.from.is_none());
        let first = enters
            .filter_map(|edge| edge.to)
            .min_by_key(|to| (self.row[*to], *to));
        let leaves = self.level.edges.iter().filter(|edge| edge.to.is_none());
        let last = leaves
            .filter_map(|edge| edge.from)
            .max_by_key(|from| (self.row[*from], std::cmp::Reverse(*from)));
        let middle = |child: Option<usize>, port: fn(&SizedBox) -> f64| {
            let child = child.unwrap_or_default();
            let sized = self.boxes.get(child).copied();
            sized.map_or(0.0, |sized| self.left[child] + port(&sized))
        };
        self.ports = (
            middle(first, |sized| sized.ports.0),
            middle(last, |sized| sized.ports.1),
        );
    }

    /// The row that an edge begins in, counted from 1: what comes from outside begins in row 0.
    fn row_from(&self, edge: &LevelEdge) -> usize {
        edge.from.map_or(0, |from| self.row[from] + 1)
    }

    /// The row that an edge ends in, counted from 1: what leaves ends below the last.
    fn row_to(&self, edge: &LevelEdge) -> usize {
        edge.to.map_or(self.n_rows + 1, |to| self.row[to] + 1)
    }

    /// Rows that an edge passes, from 0; none for an edge between neighbouring rows.
    fn passed(&self, edge: &LevelEdge) -> (usize, usize) {
        let (from, to) = (self.row_from(edge), self.row_to(edge));
        if to > from {
            (from, to - 1)
        } else {
            (to - 1, from)
        }
    }

    /// Gives all edges of a child that pass rows one lane, right of all that these rows have; short ones first.
    fn find_lanes(&mut self) {
        let mut spans: HashMap<Option<usize>, (usize, usize)> = HashMap::new();
        for edge in &self.level.edges {
            let (from, to) = self.passed(edge);
            if from < to {
                let span = spans.entry(edge.from).or_insert((from, to));
                *span = (span.0.min(from), span.1.max(to));
            }
        }
        let mut spans: Vec<(Option<usize>, (usize, usize))> = spans.into_iter().collect();
        spans.sort_by_key(|(child, (from, to))| (to - from, *from, *child));
        let mut skyline = Skyline::new(self.reach.clone());
        for (child, (from, to)) in spans {
            let lane = skyline.farthest(from, to) + LANE;
            skyline.raise(from, to, lane);
            self.lanes.insert(child, lane);
        }
    }

    fn lane(&self, edge: &LevelEdge) -> Option<f64> {
        let (from, to) = self.passed(edge);
        (from < to).then(|| self.lanes.get(&edge.from).copied())?
    }

    /// The line on which an edge leaves.
    fn line_from(&self, edge: &LevelEdge) -> f64 {
        match edge.from {
            None => self.ports.0,
            Some(from) => self.left[from] + self.boxes[from].ports.1,
        }
    }

    /// Edges arrive side by side, the one from right above in the middle.
    fn find_arrivals(&mut self) {
        let middle = |to: usize| self.left[to] + self.boxes[to].ports.0;
        let comes_from_above = |edge: &LevelEdge, to: usize| {
            self.lane(edge).is_none() && (self.line_from(edge) - middle(to)).abs() < 0.5
        };
        let mut beside = vec![0_usize; self.boxes.len()];
        let arrivals = self.level.edges.iter().map(|edge| {
            let Some(to) = edge.to else {
                return self.ports.1;
            };
            let sized = self.boxes[to];
            let n_edges = self.into[to].len();
            if sized.is_open || n_edges < 2 || comes_from_above(edge, to) {
                return middle(to);
            }
            beside[to] += 1;
            let apart = APART.min((sized.width / 2.0 - 6.0) / n_edges as f64);
            middle(to) + apart * beside[to] as f64
        });
        self.arrivals = arrivals.collect();
    }

    /// Gives every edge that runs sideways a track below the row that it leaves and above the one that it reaches.
    fn find_tracks(&mut self) {
        self.n_tracks = vec![0; self.n_rows + 1];
        for (place, edge) in self.level.edges.iter().enumerate() {
            if self.is_straight(place) {
                continue;
            }
            self.add_track((self.row_from(edge), edge.from));
            if self.lane(edge).is_some() {
                self.add_track((self.row_to(edge) - 1, edge.from));
            }
        }
    }

    fn add_track(&mut self, key: TrackKey) {
        let row = key.0.min(self.n_rows);
        let next = self.n_tracks[row];
        if let std::collections::hash_map::Entry::Vacant(free) = self.tracks.entry((row, key.1)) {
            free.insert(next);
            self.n_tracks[row] += 1;
        }
    }

    fn is_straight(&self, place: usize) -> bool {
        let edge = &self.level.edges[place];
        self.lane(edge).is_none() && (self.line_from(edge) - self.arrivals[place]).abs() < 0.5
    }

    fn find_heights(&mut self) {
        let mut heights = vec![0.0_f64; self.n_rows];
        for (child, sized) in self.boxes.iter().enumerate() {
            let height = &mut heights[self.row[child]];
            *height = height.max(sized.height);
        }
        let enters = self.level.edges.iter().any(|edge| edge.from.is_none());
        let leaves = self.level.edges.iter().any(|edge| edge.to.is_none());
        let enters = enters || self.n_tracks[0] > 0;
        let leaves = leaves || self.n_tracks[self.n_rows] > 0;
        let mut top = if enters { self.gap(0) } else { 0.0 };
        for (row, height) in heights.iter().enumerate() {
            self.tops.push(top);
            top += height;
            if row + 1 < self.n_rows || leaves {
                top += self.gap(row + 1);
            }
        }
        self.tops.push(top);
    }

    /// Height below a row, counted from 1; less where nothing but an edge of the module is on one side.
    fn gap(&self, row: usize) -> f64 {
        let is_outer = row == 0 || row == self.n_rows;
        let least = if is_outer { AT_EDGE } else { BETWEEN };
        least + TRACK * self.n_tracks[row].min(TRACKS) as f64
    }

    fn area(&self, child: usize) -> Area {
        let sized = self.boxes[child];
        let (left, top) = (self.left[child], self.tops[self.row[child]]);
        Area::new(left, top, left + sized.width, top + sized.height)
    }

    fn width(&self) -> f64 {
        let boxes = self.reach.iter().copied().fold(0.0, f64::max);
        self.lanes.values().copied().fold(boxes, f64::max)
    }

    /// How far down an edge runs sideways below a row.
    fn track(&self, row: usize, from: Option<usize>) -> f64 {
        let row = row.min(self.n_rows);
        let track = self.tracks.get(&(row, from)).copied().unwrap_or_default() % TRACKS;
        let bottom = match self.tops.get(row) {
            Some(next) => *next,
            None => *self.tops.last().unwrap_or(&0.0),
        };
        // Tracks stand above the row below, away from the bottoms of unequal boxes.
        bottom - AT_EDGE / 2.0 - TRACK * track as f64
    }

    fn wires(&self) -> Vec<Wire> {
        (0..self.level.edges.len())
            .map(|place| self.wire(place))
            .collect()
    }

    fn wire(&self, place: usize) -> Wire {
        let edge = &self.level.edges[place];
        let bottom = *self.tops.last().unwrap_or(&0.0);
        let start = (
            self.line_from(edge),
            // What comes from outside and what leaves crosses the space within the module's edge.
            edge.from.map_or(-PADDING, |from| self.area(from).bottom),
        );
        let end = (
            self.arrivals[place],
            edge.to.map_or(bottom + PADDING, |to| self.area(to).top),
        );
        let mut points: Vec<Position> = vec![start];
        if !self.is_straight(place) {
            let leaving = self.track(self.row_from(edge), edge.from);
            points.push((start.0, leaving));
            if let Some(lane) = self.lane(edge) {
                let arriving = self.track(self.row_to(edge) - 1, edge.from);
                points.extend([(lane, leaving), (lane, arriving), (end.0, arriving)]);
            } else {
                points.push((end.0, leaving));
            }
        }
        points.push(end);
        let item = |child: Option<usize>| child.map(|child| self.level.items[child]);
        Wire {
            points,
            from: item(edge.from),
            to: item(edge.to),
            bytes: edge.bytes,
            label: edge.label(),
            is_backward: self.row_to(edge) <= self.row_from(edge),
        }
    }
}
