//! Stacks of a memory snapshot, each named after the frames that tell most: the user's own where there are any.

use rustc_hash::FxHashMap;

use powerband_core::base::humanize;
use powerband_core::domain::trace::Names;

/// Parts of the paths of Python files that are not the user's own.
const LIBRARIES: [&str; 6] = [
    "site-packages",
    "dist-packages",
    "/lib/python",
    "pytorch/torch/",
    "torchinductor_",
    "<eval_with_key>",
];
/// What the C++ functions begin with that name an operator or a node of the backward pass.
const OPERATORS: [&str; 2] = ["at::_ops::", "torch::autograd::generated::"];

/// Frames and names of stacks that are kept; real snapshots have thousands.
const MOST_NAMES: usize = 1 << 18;
/// Letters of a name.
const LETTERS: usize = 160;

/// How much a frame tells, the least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum FrameRank {
    Machinery,
    Operator,
    Library,
    User,
}

/// Frames, each once, and names of stacks.
#[derive(Debug, Default)]
pub(super) struct StackNames {
    /// Function, file and line, by numbers.
    numbers: FxHashMap<(u32, u32, i64), u32>,
    /// What each frame is called, and how much it tells.
    frames: Vec<(FrameRank, String)>,
    /// Names of stacks by the frames that they are named after.
    names: FxHashMap<[Option<u32>; 2], u32>,
}

impl StackNames {
    /// The number of a frame, of a function, a file and a line; nothing where there are too many.
    pub(super) fn frame(&mut self, frame: (u32, u32, i64), texts: &Names) -> Option<u32> {
        if let Some(known) = self.numbers.get(&frame) {
            return Some(*known);
        }
        let number = self.frames.len();
        if number >= MOST_NAMES {
            return None;
        }
        let (function, file, line) = frame;
        let (rank, name) = described(texts.get(function), texts.get(file), line);
        self.frames
            .push((rank, humanize::shorten_middle(&name, LETTERS)));
        self.numbers.insert(frame, number as u32);
        Some(number as u32)
    }

    /// The name of a stack, innermost frame first: the innermost two of the user's frames, or the innermost frame of
    /// those that tell most.
    pub(super) fn name(&mut self, stack: impl Iterator<Item = u32>, names: &mut Names) -> u32 {
        let mut best: [Option<u32>; 2] = [None; 2];
        let mut best_rank = None;
        for number in stack {
            let rank = self.frames.get(number as usize).map(|(rank, _)| *rank);
            if rank > best_rank {
                (best, best_rank) = ([Some(number), None], rank);
            } else if rank == Some(FrameRank::User) && best[0] != Some(number) {
                best[1] = Some(number);
                break;
            }
        }
        if self.names.len() >= MOST_NAMES && !self.names.contains_key(&best) {
            return names.number("other stacks");
        }
        let frames = &self.frames;
        *self.names.entry(best).or_insert_with(|| {
            let found = best.iter().flatten();
            let texts = found.filter_map(|number| frames.get(*number as usize));
            let texts: Vec<&str> = texts.map(|(_, text)| text.as_str()).collect();
            names.number(&texts.join(" < "))
        })
    }
}

/// How much a frame tells, and its name: `forward (models/block.py:41)`, or an operator's alone.
fn described(function: &str, file: &str, line: i64) -> (FrameRank, String) {
    let is_python = file.rsplit('.').next() == Some("py") || file.starts_with('<');
    if !is_python {
        let bare = function.split('(').next().unwrap_or_default();
        let operator = OPERATORS.iter().find_map(|start| bare.strip_prefix(start));
        return match operator.and_then(|name| name.split("::").next()) {
            Some(name) => (FrameRank::Operator, name.to_owned()),
            None => (FrameRank::Machinery, function.to_owned()),
        };
    }
    let is_library = LIBRARIES.iter().any(|part| file.contains(part));
    let rank = if is_library {
        FrameRank::Library
    } else {
        FrameRank::User
    };
    // Files of one name are common: the folder tells which.
    let folder = file.rmatch_indices(['/', '\\']).nth(1);
    let short = file.get(folder.map_or(0, |(at, _)| at + 1)..);
    let short = short.unwrap_or(file);
    (rank, format!("{function} ({short}:{line})"))
}
