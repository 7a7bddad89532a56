//! A timeline as columns of numbers and lists of texts: what goes with a session into a page, and comes out of it.

use serde::{Deserialize, Serialize};

use super::slice_args::{self, ArgsText};
use super::trace::{MemoryEvent, Slice, SliceKind, Trace, Track};

/// A trace, column by column; starts are counted from the slice before.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct TraceColumns {
    names: Vec<String>,
    /// Types and sizes of inputs and outputs.
    shape_texts: Vec<String>,
    /// Arguments without their large numbers.
    argument_texts: Vec<String>,
    tracks: Vec<Track>,
    memory: Vec<MemoryEvent>,
    kind: Vec<SliceKind>,
    name: Vec<u32>,
    track: Vec<u32>,
    start_ns: Vec<i64>,
    duration_ns: Vec<u64>,
    link: Vec<u64>,
    op: Vec<u32>,
    detail: Vec<u32>,
    shapes: Vec<u32>,
    /// For each slice the number of its arguments' text.
    arguments: Vec<u32>,
    /// The numbers that these texts lack, slice after slice.
    argument_numbers: Vec<u64>,
}

/// The columns of a file do not fit together.
#[derive(Debug, thiserror::Error)]
#[error("its columns do not fit together")]
pub struct ColumnsError;

impl TraceColumns {
    /// The columns of a trace.
    pub fn from_trace(trace: &Trace) -> Self {
        let mut columns = Self {
            names: numbered(trace.names.len(), |number| trace.names.get(number)),
            shape_texts: numbered(trace.n_shape_texts(), |number| trace.shapes(number)),
            tracks: trace.tracks.clone(),
            memory: trace.memory.clone(),
            ..Self::default()
        };
        let mut before = 0;
        let mut arguments = trace.args().packed_from(0);
        let mut last_text = 0;
        for slice in trace.slices() {
            columns.kind.push(slice.kind);
            columns.name.push(slice.name);
            columns.track.push(slice.track);
            columns.start_ns.push(slice.start_ns.wrapping_sub(before));
            before = slice.start_ns;
            columns.duration_ns.push(slice.duration_ns);
            columns.link.push(slice.link);
            columns.op.push(slice.op);
            columns.detail.push(slice.detail);
            columns.shapes.push(slice.shapes);
            let text = arguments.step();
            last_text = last_text.max(text);
            columns.arguments.push(text);
            columns
                .argument_numbers
                .extend_from_slice(arguments.numbers());
        }
        columns.argument_texts = numbered(last_text as usize + 1, |number| {
            trace.args().text_with_holes(number)
        });
        columns
    }

    /// The trace; an error where a file was damaged or edited.
    pub fn into_trace(self) -> Result<Trace, ColumnsError> {
        let len = self.kind.len();
        let columns = [
            &self.name,
            &self.track,
            &self.op,
            &self.detail,
            &self.shapes,
            &self.arguments,
        ];
        let fit = columns.iter().all(|column| column.len() == len)
            && [self.start_ns.len(), self.duration_ns.len(), self.link.len()] == [len; 3];
        if !fit {
            return Err(ColumnsError);
        }
        let mut trace = Trace::default();
        trace.tracks = self.tracks;
        trace.memory = self.memory;
        let names: Vec<u32> = self.names.iter().map(|it| trace.names.number(it)).collect();
        let shapes = self.shape_texts.iter();
        let shapes: Vec<u32> = shapes.map(|it| trace.shapes_number(it)).collect();
        let tracks = trace.tracks.len() as u32;
        let renamed = |numbers: &[u32], number: u32| {
            let Some(place) = (number as usize).checked_sub(1) else {
                return Ok(0);
            };
            numbers.get(place).copied().ok_or(ColumnsError)
        };
        for event in &mut trace.memory {
            event.op = renamed(&names, event.op)?;
            if event.track.is_some_and(|track| track >= tracks) {
                return Err(ColumnsError);
            }
        }
        let mut numbers = self.argument_numbers.as_slice();
        let (mut at, mut text, mut arguments) = (0_i64, String::new(), ArgsText::default());
        for place in 0..len {
            at = at.wrapping_add(self.start_ns[place]);
            let slice = Slice {
                name: renamed(&names, self.name[place])?,
                track: self.track[place],
                link: self.link[place],
                op: renamed(&names, self.op[place])?,
                detail: renamed(&names, self.detail[place])?,
                shapes: renamed(&shapes, self.shapes[place])?,
                ..Slice::new(self.kind[place], 0, 0, at, self.duration_ns[place])
            };
            if slice.track >= tracks {
                return Err(ColumnsError);
            }
            arguments.clear();
            if let Some(number) = (self.arguments[place] as usize).checked_sub(1) {
                let template = self.argument_texts.get(number).ok_or(ColumnsError)?;
                let holes = template.matches(slice_args::HOLE).count();
                let (own, rest) = numbers.split_at_checked(holes).ok_or(ColumnsError)?;
                numbers = rest;
                text.clear();
                slice_args::fill(template, own, &mut text);
                for (key, value) in slice_args::pairs(&text) {
                    arguments.add(key, value);
                }
            }
            trace.push_with(slice, &arguments);
        }
        Ok(trace)
    }
}

/// Texts that are known by their numbers, from 1 on.
fn numbered<'a>(count: usize, text: impl Fn(u32) -> &'a str) -> Vec<String> {
    (1..count as u32)
        .map(|number| text(number).to_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Trace {
        let mut trace = Trace::default();
        let device = trace.track(Track {
            device: Some(0),
            group: "GPU 0".to_owned(),
            name: "stream 7".to_owned(),
        });
        let host = trace.track(Track::default());
        let names = ["conv", "aten::conv2d", "grid 8"].map(|name| trace.names.number(name));
        let shapes = trace.shapes_number("Input type(float) [8, 3]");
        for turn in 0..70_u64 {
            let mut arguments = ArgsText::default();
            if turn % 3 > 0 {
                arguments.add("registers", "128");
                arguments.add("correlation", &(1_000_000 + turn).to_string());
            }
            let start = 5_000 - turn as i64 * 40;
            let slice = Slice {
                link: turn,
                op: names[1],
                detail: names[2],
                shapes,
                ..Slice::new(SliceKind::Kernel, names[0], device, start, 30)
            };
            trace.push_with(slice, &arguments);
        }
        trace.memory.push(MemoryEvent {
            at_ns: 7,
            device: Some(0),
            change: -64,
            total: Some(1024),
            track: Some(host),
            op: names[1],
        });
        trace
    }

    fn assert_same(one: &Trace, other: &Trace) {
        assert!(one.slices().eq(other.slices()));
        assert_eq!((&one.tracks, &one.memory), (&other.tracks, &other.memory));
        assert_eq!(one.names.len(), other.names.len());
        for number in 0..one.names.len() as u32 {
            assert_eq!(one.names.get(number), other.names.get(number));
        }
        assert_eq!(one.shapes(1), other.shapes(1));
        for place in 0..one.len() {
            assert_eq!(one.args().get(place), other.args().get(place));
        }
    }

    #[test]
    fn a_trace_comes_back_as_it_was() {
        let trace = sample();
        assert!(!trace.args().get(1).is_empty());
        let columns = TraceColumns::from_trace(&trace);
        let text = serde_json::to_string(&columns).unwrap();
        let again: TraceColumns = serde_json::from_str(&text).unwrap();
        assert_same(&again.into_trace().unwrap(), &trace);
        let empty = TraceColumns::from_trace(&Trace::default());
        assert!(empty.into_trace().unwrap().is_empty());
    }

    #[test]
    fn damaged_columns_are_refused() {
        let damaged: [fn(&mut TraceColumns); 7] = [
            |columns| columns.link.truncate(3),
            |columns| columns.start_ns.push(0),
            |columns| columns.name[1] = 99,
            |columns| columns.track[1] = 2,
            |columns| columns.arguments[1] = 9,
            |columns| columns.argument_numbers.truncate(4),
            |columns| columns.memory[0].track = Some(5),
        ];
        for damage in damaged {
            let mut columns = TraceColumns::from_trace(&sample());
            damage(&mut columns);
            assert!(columns.into_trace().is_err());
        }
    }
}
