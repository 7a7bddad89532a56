//! Blocks of a network that come several times in a row: twelve alike layers become one module that opens.
//!
//! Alike are blocks with the same operators in the same order, whatever their names and sizes.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash as _, Hasher as _};

use super::TimedNode;
use super::modules::{Item, Module, ModuleKind, ModuleTree};

/// Fewer blocks are shown one by one.
const FEWEST: usize = 3;
/// A block that differs has at least this share of the nodes of the others, and the others of its.
const NEARLY: f64 = 0.75;
/// A block has at least so many nodes.
const SMALLEST: usize = 2;
/// Nodes of the longest block that is looked for.
const LONGEST: usize = 256;

/// So many blocks in a row among the children of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct BlockRun {
    start: usize,
    /// Children of each block.
    period: usize,
    blocks: usize,
    /// How many of them differ from the others.
    differing: usize,
}

impl BlockRun {
    fn end(self) -> usize {
        self.start + self.period * self.blocks
    }
}

/// Folds what repeats in every module.
pub(super) fn fold(tree: &mut ModuleTree, nodes: &[TimedNode]) {
    let (kinds, sizes) = signatures(tree, nodes);
    for module in 0..kinds.len() {
        if matches!(
            tree.modules[module].kind,
            ModuleKind::Fused(_) | ModuleKind::Extra
        ) {
            continue;
        }
        let children = std::mem::take(&mut tree.modules[module].children);
        let marks: Vec<u64> = children
            .iter()
            .map(|child| signature(*child, nodes, &kinds))
            .collect();
        let mut folded = Vec::with_capacity(children.len());
        let mut next = 0;
        let size = |child: &Item| match child {
            Item::Node(_) => 1,
            Item::Module(inner) => sizes[*inner],
        };
        let nodes_in: Vec<usize> = children.iter().map(size).collect();
        for run in joined(runs(&marks), &marks, &nodes_in) {
            let block = &children[run.start..run.start + run.period];
            if block.iter().map(size).sum::<usize>() < SMALLEST {
                continue;
            }
            folded.extend_from_slice(&children[next..run.start]);
            folded.push(Item::Module(repeated(tree, &children, run)));
            next = run.end();
        }
        folded.extend_from_slice(&children[next..]);
        // What is nothing but its blocks needs no module around them.
        tree.modules[module].children = match folded[..] {
            [Item::Module(only)] if module != 0 && only >= kinds.len() => {
                tree.modules[module].kind = tree.modules[only].kind;
                std::mem::take(&mut tree.modules[only].children)
            }
            _ => folded,
        };
    }
}

/// A module of the blocks of a run.
fn repeated(tree: &mut ModuleTree, children: &[Item], run: BlockRun) -> usize {
    let mut blocks = Vec::with_capacity(run.blocks);
    for block in 0..run.blocks {
        let start = run.start + block * run.period;
        let inside = &children[start..start + run.period];
        if let [Item::Module(only)] = inside {
            blocks.push(Item::Module(*only));
            continue;
        }
        tree.modules.push(Module {
            name: format!("block {}", block + 1),
            kind: ModuleKind::Block,
            children: inside.to_vec(),
            ..Module::default()
        });
        blocks.push(Item::Module(tree.modules.len() - 1));
    }
    let name = match blocks[..] {
        [Item::Module(first), .., Item::Module(last)] => {
            let (first, last) = (&tree.modules[first].name, &tree.modules[last].name);
            format!("{first} … {last}")
        }
        _ => String::new(),
    };
    tree.modules.push(Module {
        name,
        kind: ModuleKind::Repeat(run.blocks, run.differing),
        children: blocks,
        ..Module::default()
    });
    tree.modules.len() - 1
}

/// What makes modules alike, and how many nodes they have; the innermost come first.
fn signatures(tree: &ModuleTree, nodes: &[TimedNode]) -> (Vec<u64>, Vec<usize>) {
    let mut kinds = vec![0; tree.modules.len()];
    let mut sizes = vec![0; tree.modules.len()];
    for module in tree.inside_out() {
        let mut hasher = DefaultHasher::new();
        let shown = &tree.modules[module];
        std::mem::discriminant(&shown.kind).hash(&mut hasher);
        for child in &shown.children {
            signature(*child, nodes, &kinds).hash(&mut hasher);
            sizes[module] += match child {
                Item::Node(_) => 1,
                Item::Module(inner) => sizes[*inner],
            };
        }
        kinds[module] = hasher.finish();
    }
    (kinds, sizes)
}

fn signature(item: Item, nodes: &[TimedNode], kinds: &[u64]) -> u64 {
    match item {
        Item::Module(module) => kinds[module],
        Item::Node(node) => {
            let mut hasher = DefaultHasher::new();
            nodes[node].node.op.hash(&mut hasher);
            nodes[node].node.weights.len().hash(&mut hasher);
            hasher.finish()
        }
    }
}

/// Two runs of the same modules with one between them that has nearly as many nodes are one, in which one differs.
fn joined(runs: Vec<BlockRun>, marks: &[u64], nodes_in: &[usize]) -> Vec<BlockRun> {
    let is_nearly = |one: usize, other: usize| {
        let (less, more) = (one.min(other) as f64, one.max(other) as f64);
        less >= NEARLY * more
    };
    let mut all: Vec<BlockRun> = Vec::with_capacity(runs.len());
    for run in runs {
        let is_alike = |before: &BlockRun| {
            let of_one = before.period == 1 && run.period == 1 && before.differing == 0;
            let between = before.end();
            of_one
                && run.start == between + 1
                && marks[before.start] == marks[run.start]
                && nodes_in[before.start] >= SMALLEST
                && is_nearly(nodes_in[before.start], nodes_in[between])
        };
        match all.last_mut().filter(|before| is_alike(before)) {
            Some(before) => {
                before.blocks += run.blocks + 1;
                before.differing = 1;
            }
            None => all.push(run),
        }
    }
    all
}

/// Runs of blocks, first to last, none of them over another: at each place the one that covers most, and among
/// these the one of the shortest blocks.
fn runs(marks: &[u64]) -> Vec<BlockRun> {
    let most = LONGEST.min(marks.len() / FEWEST);
    let mut found: Vec<BlockRun> = Vec::new();
    for period in 1..=most {
        let mut start = 0;
        while start + period < marks.len() {
            let pairs = marks[start..].iter().zip(&marks[start + period..]);
            let alike = pairs.take_while(|(one, two)| one == two).count();
            let blocks = alike / period + 1;
            if blocks >= FEWEST {
                found.push(BlockRun {
                    start,
                    period,
                    blocks,
                    differing: 0,
                });
            }
            start += alike + 1;
        }
    }
    found.sort_by_key(|run| (std::cmp::Reverse(run.period * run.blocks), run.period));
    let mut is_taken = vec![false; marks.len()];
    let mut chosen = Vec::new();
    for run in found {
        let covered = &mut is_taken[run.start..run.end()];
        if !covered.contains(&true) {
            covered.fill(true);
            chosen.push(run);
        }
    }
    chosen.sort_by_key(|run| run.start);
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs_of(text: &str) -> Vec<(usize, usize, usize)> {
        let marks: Vec<u64> = text.bytes().map(u64::from).collect();
        let runs = runs(&marks).into_iter();
        runs.map(|run| (run.start, run.period, run.blocks))
            .collect()
    }

    #[test]
    fn blocks_in_a_row_are_found() {
        assert_eq!(runs_of("xabcabcabcabcy"), [(1, 3, 4)]);
        assert_eq!(runs_of("ababx"), []);
        assert_eq!(runs_of("aaaa"), [(0, 1, 4)]);
        // The longest stretch wins, by its shortest blocks.
        assert_eq!(runs_of("abababab"), [(0, 2, 4)]);
        assert_eq!(runs_of("aaaxyxyxyxy"), [(0, 1, 3), (3, 2, 4)]);
        assert_eq!(runs_of(""), []);
    }
}
