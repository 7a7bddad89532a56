//! The values of the generated networks' weights: the same on every machine and in every build.
//!
//! `builder` says which tensors a network has and how each is filled; out come protobuf tensors.
//! A tensor's values depend on its name alone, so that a layer more or less leaves the others as
//! they were. Large tensors are made in blocks, each of which has a seed of its own and so a thread.

use std::num::NonZero;
use std::sync::{Mutex, PoisonError};

use crate::pb::TensorProto;
use crate::pb::tensor_proto::DataType;
use rand_distr::{Distribution as _, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

/// Chosen once. A new value would change every number of every network.
const BASE_SEED: u64 = 0x504f_5745_5242_414e;

/// More threads than this wait for memory and no longer for each other.
const MOST_THREADS: usize = 8;

/// How a tensor is filled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fill {
    /// The same value everywhere.
    Constant(f32),
    /// Normal around zero.
    Normal {
        /// Standard deviation.
        std: f32,
    },
    /// Evenly spread.
    Uniform {
        /// From here.
        low: f32,
        /// To just below here.
        high: f32,
    },
}

/// A float tensor still to be made.
#[derive(Clone, Debug, PartialEq)]
pub struct TensorPlan {
    /// The name in the graph, which also seeds the values.
    pub name: String,
    /// Its shape.
    pub dims: Vec<usize>,
    /// Its values.
    pub fill: Fill,
}

/// Larger tensors are made block by block, so that a table of words does not keep one core busy and the
/// others waiting. Larger than any tensor of a network for pictures, whose values stay what they were.
const WHOLE: usize = 1 << 22;

/// Elements of a block.
const BLOCK: usize = 1 << 20;

/// Makes all tensors, in the order of the plans, on as many cores as help.
pub fn generate(plans: &[TensorPlan]) -> Vec<TensorProto> {
    let mut tensors: Vec<TensorProto> = plans.iter().map(outline).collect();
    for (tensor, plan) in tensors.iter_mut().zip(plans) {
        tensor.raw_data = vec![0; elements(plan) * 4];
    }
    let mut blocks: Vec<Block<'_>> = tensors
        .iter_mut()
        .zip(plans)
        .flat_map(|(tensor, plan)| blocks(plan, &mut tensor.raw_data))
        .collect();
    // Taken from the end.
    blocks.reverse();
    let blocks = Mutex::new(blocks);
    let take = || blocks.lock().unwrap_or_else(PoisonError::into_inner).pop();
    let work = || {
        while let Some(block) = take() {
            block.fill();
        }
    };
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    std::thread::scope(|scope| {
        for number in 1..cores.min(MOST_THREADS) {
            let name = format!("weights-{number}");
            // This thread does whatever a helper that could not be started would have done.
            drop(
                std::thread::Builder::new()
                    .name(name)
                    .spawn_scoped(scope, work),
            );
        }
        work();
    });
    tensors
}

/// The tensor without its values.
pub(super) fn outline(plan: &TensorPlan) -> TensorProto {
    TensorProto {
        name: plan.name.clone(),
        dims: plan.dims.iter().map(|&dim| dim as i64).collect(),
        data_type: DataType::Float as i32,
        ..Default::default()
    }
}

fn elements(plan: &TensorPlan) -> usize {
    plan.dims.iter().product()
}

/// A part of a tensor that is filled at one go.
struct Block<'a> {
    fill: Fill,
    seed: u64,
    /// 32-bit floats, little end first, as the file stores them.
    bytes: &'a mut [u8],
}

/// The blocks of a tensor: small ones are one.
fn blocks<'a>(plan: &TensorPlan, bytes: &'a mut [u8]) -> Vec<Block<'a>> {
    let (fill, name) = (plan.fill, plan.name.as_bytes());
    if elements(plan) <= WHOLE {
        let seed = BASE_SEED ^ fnv1a(name);
        return vec![Block { fill, seed, bytes }];
    }
    let parts = bytes.chunks_mut(BLOCK * 4).enumerate();
    let block = |(number, bytes)| {
        let name = [name, format!("#{number}").as_bytes()].concat();
        let seed = BASE_SEED ^ fnv1a(&name);
        Block { fill, seed, bytes }
    };
    parts.map(block).collect()
}

impl Block<'_> {
    fn fill(self) {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(self.seed);
        let (words, _) = self.bytes.as_chunks_mut::<4>();
        match self.fill {
            Fill::Constant(value) => words.fill(value.to_le_bytes()),
            Fill::Normal { std } => {
                for word in words {
                    let value: f32 = StandardNormal.sample(&mut rng);
                    *word = (value * std).to_le_bytes();
                }
            }
            Fill::Uniform { low, high } => {
                for word in words {
                    // 24 bits are what a float between zero and one holds exactly.
                    let unit = (rng.next_u64() >> 40) as f32 / (1_u32 << 24) as f32;
                    *word = (unit * (high - low) + low).to_le_bytes();
                }
            }
        }
    }
}

/// The 64-bit FNV-1a hash, written out because the standard library's may change between versions.
/// See the IETF draft "The FNV Non-Cryptographic Hash Algorithm".
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash: u64, &byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(name: &str, fill: Fill) -> TensorPlan {
        TensorPlan {
            name: name.to_owned(),
            dims: vec![100, 100],
            fill,
        }
    }

    fn floats(tensor: &TensorProto) -> Vec<f32> {
        let (words, _) = tensor.raw_data.as_chunks::<4>();
        words.iter().map(|&word| f32::from_le_bytes(word)).collect()
    }

    #[test]
    fn the_hash_is_fnv1a() {
        assert_eq!(fnv1a(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv1a(b"foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn values_depend_on_the_name_alone() {
        let a = plan("a", Fill::Normal { std: 2.0 });
        let b = plan("b", Fill::Normal { std: 2.0 });
        let both = generate(&[a.clone(), b.clone()]);
        let swapped = generate(&[b, a]);
        assert_eq!(both[0], swapped[1]);
        assert_eq!(both[1], swapped[0]);
        assert_ne!(both[0].raw_data, both[1].raw_data);
    }

    /// Blocks differ from each other, and a thread more or less changes none of them.
    #[test]
    fn large_tensors_are_made_in_blocks() {
        let mut large = plan("large", Fill::Normal { std: 1.0 });
        large.dims = vec![WHOLE + 1];
        let made = generate(std::slice::from_ref(&large));
        assert_eq!(made[0].raw_data.len(), (WHOLE + 1) * 4);
        let mut blocks = made[0].raw_data.chunks(BLOCK * 4);
        let (first, second) = (blocks.next().unwrap(), blocks.next().unwrap());
        assert_ne!(first, second);
        assert_eq!(blocks.next_back().unwrap().len(), 4);
        assert!(floats(&made[0]).iter().all(|value| *value != 0.0));
        assert!(made == generate(&[large]));
    }

    #[test]
    fn fills_have_the_spread_they_name() {
        let made = generate(&[
            plan("n", Fill::Normal { std: 2.0 }),
            plan(
                "u",
                Fill::Uniform {
                    low: 0.5,
                    high: 1.5,
                },
            ),
            plan("c", Fill::Constant(0.5)),
        ]);
        let normal = floats(&made[0]);
        let variance = normal.iter().map(|x| x * x).sum::<f32>() / normal.len() as f32;
        assert!((variance.sqrt() - 2.0).abs() < 0.1, "{variance}");
        let uniform = floats(&made[1]);
        assert!(uniform.iter().all(|x| (0.5..1.5).contains(x)));
        assert!((uniform.iter().sum::<f32>() / 1e4 - 1.0).abs() < 0.02);
        assert!(floats(&made[2]).iter().all(|&x| x == 0.5));
    }
}
