//! Requests to a language model: a prompt, then tokens one by one, each the most likely after those before it.
//!
//! What is the same for every engine stands here: which tokens a prompt has, how a request is timed, which token
//! is the most likely. An engine brings `Steps`. Nothing is padded and no token ends a request early, so that
//! each request is as long as its point says.

use std::mem;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::{EngineError, Runnable};
use powerband_core::base::humanize;
use powerband_core::domain::generation::Generation;
use powerband_core::domain::tensor::{ElementType, Tensor, TensorData, TensorSpec};
use powerband_onnx::decoder::{Decoder, FedInput};

/// Requests whose times fit into the memory that is set aside before they are measured.
const REQUESTS_SET_ASIDE: usize = 64;
/// Scores that are looked at side by side.
const LANES: usize = 16;

/// What each request of a case asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Generate {
    /// Sequences of a request.
    pub batch: usize,
    /// Tokens of each prompt.
    pub prompt: usize,
    /// New tokens of each sequence.
    pub new: usize,
    /// What the network is fed, for engines that run its file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decoder: Option<Decoder>,
}

impl Generate {
    /// Refuses a request that no network, or not this one, can do.
    pub fn check(&self) -> Result<(), String> {
        for (name, size) in [
            ("prompt", self.prompt),
            ("new", self.new),
            ("batch", self.batch),
        ] {
            if size == 0 {
                return Err(format!("{name} 0 makes no request; it is 1 or more"));
            }
        }
        let most = self
            .decoder
            .as_ref()
            .and_then(|decoder| decoder.most_positions);
        match most.filter(|most| self.length() > *most) {
            Some(most) => Err(format!(
                "prompt {} and new {} take {} positions, and the network has {}; make prompt + new − 1 at most {}",
                humanize::count(self.prompt as u64),
                humanize::count(self.new as u64),
                humanize::count(self.length() as u64),
                humanize::count(most as u64),
                humanize::count(most as u64),
            )),
            None => Ok(()),
        }
    }

    /// Tokens of each sequence that went through the network when its last one was made.
    pub(crate) fn length(&self) -> usize {
        (self.prompt + self.new).saturating_sub(1)
    }

    /// The decoder, which engines that run files cannot do without.
    pub(crate) fn decoder(&self) -> Result<&Decoder, EngineError> {
        let none = || EngineError::Failed("nothing is said of what the decoder is fed".to_owned());
        self.decoder.as_ref().ok_or_else(none)
    }

    /// The tokens of all prompts, sequence after sequence: the same for the same seed in every engine.
    pub(crate) fn prompt_tokens(&self, seed: u64, vocabulary: usize) -> Vec<i64> {
        let count = (self.batch * self.prompt) as u64;
        let vocabulary = vocabulary.max(1) as u64;
        let token = |place| (split_mix(seed.wrapping_add(place)) % vocabulary) as i64;
        (0..count).map(token).collect()
    }

    /// The inputs of the first step after the prompt, to watch how a step runs.
    pub(crate) fn step_inputs(&self, seed: u64) -> Result<Vec<Tensor>, EngineError> {
        let decoder = self.decoder()?;
        let one = Self {
            prompt: 1,
            ..self.clone()
        };
        let tokens = one.prompt_tokens(seed, decoder.vocabulary);
        let mut inputs = token_inputs(decoder, self.batch, &tokens, self.prompt);
        let specs = decoder.inputs(self.batch, 1, self.prompt);
        let caches = specs.iter().skip(inputs.len());
        inputs.extend(
            (seed..)
                .zip(caches)
                .map(|(seed, spec)| Tensor::seeded(spec, seed)),
        );
        Ok(inputs)
    }

    /// What is said of each round, before any request.
    fn generation(&self) -> Generation {
        let (batch, prompt, new) = (self.batch as u64, self.prompt as u64, self.new as u64);
        let decoder = self.decoder.as_ref();
        Generation {
            prompt_tokens: batch * prompt,
            new_tokens: batch * new,
            sequences: batch,
            first_token_ns: Vec::with_capacity(REQUESTS_SET_ASIDE),
            later_token_ns: Vec::with_capacity(REQUESTS_SET_ASIDE * self.new),
            cache_bytes: decoder.map(|decoder| decoder.cache_bytes(self.batch, self.length())),
        }
    }
}

/// The next value of the generator `SplitMix64` (Steele, Lea, Flood 2014); the worker for `PyTorch` has the same.
fn split_mix(place: u64) -> u64 {
    let mut x = place.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// An engine's decoder: it is fed tokens and returns the next ones.
pub(crate) trait TokenDecoder {
    /// Forgets every token.
    fn begin(&mut self) -> Result<(), EngineError>;

    /// Feeds tokens, as many of each sequence, behind those that were fed since the beginning; `next` gets the
    /// most likely token after each sequence.
    fn step(&mut self, tokens: &[i64], next: &mut [i64]) -> Result<(), EngineError>;
}

/// A case whose runs are requests.
pub(crate) struct RequestRunnable<S> {
    steps: S,
    generate: Generate,
    prompt: Vec<i64>,
    next: Vec<i64>,
    /// The tokens that the last request made, step after step.
    made: Vec<i64>,
    generation: Generation,
}

impl<S: TokenDecoder> RequestRunnable<S> {
    /// Requests with seeded prompts.
    pub(crate) fn new(steps: S, generate: &Generate, seed: u64) -> Result<Self, EngineError> {
        generate.check().map_err(EngineError::Unsupported)?;
        Ok(Self {
            steps,
            prompt: generate.prompt_tokens(seed, generate.decoder()?.vocabulary),
            next: vec![0; generate.batch],
            made: Vec::with_capacity(generate.batch * generate.new),
            generation: generate.generation(),
            generate: generate.clone(),
        })
    }
}

impl<S: TokenDecoder> Runnable for RequestRunnable<S> {
    fn run(&mut self) -> Result<(), EngineError> {
        self.timed_run().map(drop)
    }

    fn timed_run(&mut self) -> Result<u64, EngineError> {
        self.made.clear();
        let start = Instant::now();
        self.steps.begin()?;
        self.steps.step(&self.prompt, &mut self.next)?;
        self.made.extend_from_slice(&self.next);
        let mut last_ns = start.elapsed().as_nanos() as u64;
        self.generation.first_token_ns.push(last_ns);
        let mut fed = self.next.clone();
        for _ in 1..self.generate.new {
            self.steps.step(&fed, &mut self.next)?;
            fed.copy_from_slice(&self.next);
            self.made.extend_from_slice(&self.next);
            let now_ns = start.elapsed().as_nanos() as u64;
            self.generation.later_token_ns.push(now_ns - last_ns);
            last_ns = now_ns;
        }
        Ok(last_ns)
    }

    fn take_generation(&mut self) -> Option<Generation> {
        let fresh = self.generate.generation();
        Some(mem::replace(&mut self.generation, fresh))
    }

    /// The new tokens, batch × new.
    fn outputs(&mut self) -> Result<Vec<Tensor>, EngineError> {
        self.run()?;
        let (batch, new) = (self.generate.batch, self.generate.new);
        let token = |place: usize| self.made.get(place % new * batch + place / new).copied();
        let tokens: Vec<i64> = (0..batch * new).filter_map(token).collect();
        let spec = TensorSpec::new("tokens", ElementType::I64, vec![batch, new]);
        Ok(vec![Tensor {
            spec,
            data: TensorData::I64(tokens),
        }])
    }
}

/// The inputs of a step that are not keys and values, in the order of [`Decoder::inputs`].
pub(crate) fn token_inputs(
    decoder: &Decoder,
    batch: usize,
    tokens: &[i64],
    past: usize,
) -> Vec<Tensor> {
    let sequence = tokens.len() / batch.max(1);
    let total = past + sequence;
    let mut inputs = vec![integers(&decoder.tokens, &[batch, sequence], |place| {
        tokens.get(place).copied().unwrap_or_default()
    })];
    let mask = decoder.mask.as_ref();
    inputs.extend(mask.map(|fed| integers(fed, &[batch, total], |_| 1)));
    let positions = decoder.positions.as_ref();
    inputs.extend(positions.map(|fed| {
        let position = |place: usize| (past + place % sequence) as i64;
        integers(fed, &[batch, sequence], position)
    }));
    let cached = decoder.uses_cache.as_ref();
    inputs.extend(cached.map(|fed| integers(fed, &[1], |_| i64::from(past > 0))));
    inputs
}

/// A small input whose values are whole numbers, in the type that the network takes.
fn integers(fed: &FedInput, dims: &[usize], value: impl Fn(usize) -> i64) -> Tensor {
    let spec = TensorSpec::new(&fed.name, fed.element, dims.to_vec());
    let values = (0..spec.len()).map(value);
    let data = match fed.element {
        ElementType::I64 => TensorData::I64(values.collect()),
        ElementType::I32 => TensorData::I32(values.map(|value| value as i32).collect()),
        ElementType::I16 => TensorData::I16(values.map(|value| value as i16).collect()),
        ElementType::I8 => TensorData::I8(values.map(|value| value as i8).collect()),
        ElementType::U8 => TensorData::U8(values.map(|value| value as u8).collect()),
        ElementType::Bool => TensorData::Bool(values.map(|value| value != 0).collect()),
        ElementType::F32 => TensorData::F32(values.map(|value| value as f32).collect()),
        ElementType::F64 => TensorData::F64(values.map(|value| value as f64).collect()),
        ElementType::F16 => TensorData::F16(
            values
                .map(|value| half::f16::from_f32(value as f32))
                .collect(),
        ),
    };
    Tensor { spec, data }
}

/// The most likely token behind the last position of each sequence; of equals the first.
pub(crate) fn most_likely<T: Copy + PartialOrd>(
    scores: &[T],
    dims: &[usize],
    vocabulary: usize,
    next: &mut [i64],
) -> Result<(), EngineError> {
    let odd = || {
        EngineError::Failed(format!(
            "the scores are {dims:?}, which is not batch×sequence×vocabulary for {} sequences",
            next.len()
        ))
    };
    let &[batch, sequence, width] = dims else {
        return Err(odd());
    };
    if batch != next.len() || sequence == 0 || width == 0 || scores.len() < batch * sequence * width
    {
        return Err(odd());
    }
    for (row, slot) in next.iter_mut().enumerate() {
        let from = (row * sequence + sequence - 1) * width;
        let last = scores
            .get(from..from + width.min(vocabulary))
            .unwrap_or_default();
        *slot = place_of_largest(last) as i64;
    }
    Ok(())
}

/// The place of the largest value, of equals the first. A value that is none (NaN) counts as smaller.
fn place_of_largest<T: Copy + PartialOrd>(values: &[T]) -> usize {
    let larger = |a: T, b: T| if b > a { b } else { a };
    let Some(&first) = values
        .iter()
        .find(|value| value.partial_cmp(value).is_some())
    else {
        return 0;
    };
    // Lane by lane, because that is what processors are quick at.
    let mut lanes = [first; LANES];
    let chunks = values.chunks_exact(LANES);
    let rest = chunks.remainder();
    for chunk in chunks {
        for (lane, &value) in lanes.iter_mut().zip(chunk) {
            *lane = larger(*lane, value);
        }
    }
    let largest = lanes.iter().chain(rest).copied().fold(first, larger);
    values
        .iter()
        .position(|value| *value == largest)
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_the_largest_is_taken_wherever_it_stands() {
        let mut values = vec![-3.0_f32; 50];
        for place in [0, 7, 15, 16, 31, 32, 47, 48, 49] {
            values[place] = 2.0;
            assert_eq!(place_of_largest(&values), place);
            values[place] = -3.0;
        }
        values[20] = 5.0;
        values[44] = 5.0;
        assert_eq!(place_of_largest(&values), 20);
        values[0] = f32::NAN;
        assert_eq!(place_of_largest(&values), 20);
        assert_eq!(place_of_largest(&[f32::NAN; 20]), 0);
        assert_eq!(place_of_largest(&[-2.0, -1.0]), 1);
    }

    #[test]
    fn only_the_last_position_counts_and_only_tokens_of_the_vocabulary() {
        // Two sequences of two positions, four scores each; the vocabulary ends before the last.
        let scores = [
            9., 0., 0., 0., /* */ 1., 3., 2., 8., /* */ 0., 9., 0., 0., /* */ 1.,
            2., 7., 8.,
        ];
        let mut next = [0; 2];
        most_likely(&scores, &[2, 2, 4], 3, &mut next).unwrap();
        assert_eq!(next, [1, 2]);
        let odd = most_likely(&scores, &[4, 4], 3, &mut next)
            .unwrap_err()
            .to_string();
        assert!(
            odd.contains("[4, 4]") && odd.contains("2 sequences"),
            "{odd}"
        );
        assert!(most_likely(&scores, &[2, 2, 5], 3, &mut next).is_err());
    }

    /// Counts tokens up, and what it was fed.
    struct Counting(Vec<Vec<i64>>);

    impl TokenDecoder for Counting {
        fn begin(&mut self) -> Result<(), EngineError> {
            self.0.clear();
            Ok(())
        }

        fn step(&mut self, tokens: &[i64], next: &mut [i64]) -> Result<(), EngineError> {
            for (row, slot) in next.iter_mut().enumerate() {
                *slot = (10 * (row + 1) + self.0.len()) as i64;
            }
            self.0.push(tokens.to_vec());
            Ok(())
        }
    }

    fn request(batch: usize, prompt: usize, new: usize) -> Generate {
        let model = powerband_onnx::decoder::testing::tiny();
        Generate {
            batch,
            prompt,
            new,
            decoder: Some(Decoder::find(&model).unwrap()),
        }
    }

    #[test]
    fn a_request_is_its_prompt_and_one_step_for_each_further_token() {
        let generate = request(2, 5, 3);
        let mut requests = RequestRunnable::new(Counting(Vec::new()), &generate, 1).unwrap();
        let tokens = requests.outputs().unwrap();
        assert_eq!(tokens[0].spec.dims, [2, 3]);
        assert_eq!(
            tokens[0].data,
            TensorData::I64(vec![10, 11, 12, 20, 21, 22])
        );
        assert_eq!(requests.steps.0[0].len(), 10);
        assert_eq!(requests.steps.0[1..], [vec![10, 20], vec![11, 21]]);
        requests.take_generation();
        let sum: u64 = (0..4).map(|_| requests.timed_run().unwrap()).sum();
        let found = requests.take_generation().unwrap();
        assert_eq!(
            (found.prompt_tokens, found.new_tokens, found.sequences),
            (10, 6, 2)
        );
        assert_eq!(
            (found.first_token_ns.len(), found.later_token_ns.len()),
            (4, 8)
        );
        let parts = found.first_token_ns.iter().chain(&found.later_token_ns);
        assert_eq!(parts.sum::<u64>(), sum, "a sample is the sum of its tokens");
        // Seven tokens had gone through when the last one was made.
        assert_eq!(found.cache_bytes, Some(4 * 2 * 2 * 7 * 4 * 4));
        assert!(
            requests
                .take_generation()
                .unwrap()
                .first_token_ns
                .is_empty()
        );
    }

    #[test]
    fn requests_that_cannot_be_are_refused_with_their_numbers() {
        assert_eq!(request(1, 60, 5).check(), Ok(()));
        let long = request(1, 60, 6).check().unwrap_err();
        assert!(
            long.contains("65 positions, and the network has 64"),
            "{long}"
        );
        assert!(
            request(1, 0, 5)
                .check()
                .unwrap_err()
                .starts_with("prompt 0")
        );
        assert!(request(1, 5, 0).check().unwrap_err().starts_with("new 0"));
    }

    #[test]
    fn prompts_are_seeded_and_within_the_vocabulary() {
        let generate = request(2, 100, 1);
        let tokens = generate.prompt_tokens(7, 97);
        assert_eq!(tokens, generate.prompt_tokens(7, 97));
        assert_ne!(tokens, generate.prompt_tokens(8, 97));
        assert!(tokens.iter().all(|token| (0..97).contains(token)));
        let distinct: std::collections::BTreeSet<_> = tokens.iter().collect();
        assert!(distinct.len() > 60, "{}", distinct.len());
        // The first value of SplitMix64 from state 0, as its authors publish it.
        assert_eq!(split_mix(0), 0xe220_a839_7b1d_cdaf);
    }

    #[test]
    fn a_step_is_fed_what_the_network_takes() {
        let inputs = request(2, 5, 3).step_inputs(1).unwrap();
        let decoder = request(2, 5, 3).decoder.unwrap();
        let specs: Vec<TensorSpec> = inputs.iter().map(|tensor| tensor.spec.clone()).collect();
        assert_eq!(specs, decoder.inputs(2, 1, 5));
        assert_eq!(
            inputs[1].data,
            TensorData::I64(vec![1; 12]),
            "every token counts"
        );
        assert_eq!(
            inputs[2].data,
            TensorData::I64(vec![5, 5]),
            "positions go on"
        );
    }
}
