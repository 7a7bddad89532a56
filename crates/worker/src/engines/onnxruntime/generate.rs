//! Tokens one by one with ONNX Runtime: keys and values stay where it put them.
//!
//! What comes out as present of one step goes in as past of the next: the value is handed over, and no copy is
//! made. While a step runs there are two sets, and the older one is given back when its successor is bound.

use std::cell::RefCell;
use std::rc::Rc;

use half::f16;
use ort::memory::{AllocationDevice, AllocatorType, MemoryInfo, MemoryType};
use ort::session::{IoBinding, Session};
use ort::value::DynValue;

use super::explain;
use super::values::to_ort;
use crate::engines::EngineError;
use crate::engines::generate::{Generate, TokenDecoder, most_likely, token_inputs};
use powerband_core::domain::tensor::{Tensor, TensorSpec};
use powerband_onnx::decoder::Decoder;

/// How tokens and keys and values travel.
pub(super) const FEEDING: &str = "tokens bound before each step (IoBinding); present key/values of a step are bound as past of the next, without a copy; scores are read, the most likely token is taken";

/// A decoder's session, with the keys and values of the tokens so far bound to its inputs.
pub(super) struct OrtDecoder {
    session: Rc<RefCell<Session>>,
    binding: IoBinding,
    decoder: Decoder,
    batch: usize,
    /// Tokens of each sequence that were fed.
    past: usize,
    /// Keys and values of no tokens.
    empty: Vec<DynValue>,
    /// Where scores are left.
    host: MemoryInfo<'static>,
    /// Where keys and values are left.
    place: MemoryInfo<'static>,
}

impl OrtDecoder {
    pub(super) fn new(
        session: &Rc<RefCell<Session>>,
        generate: &Generate,
        device: &str,
    ) -> Result<Self, EngineError> {
        let decoder = generate.decoder()?.clone();
        let prepared = || {
            let empty = decoder.caches.iter().map(|cache| {
                let sizes = cache.sizes(generate.batch, 0);
                let spec = TensorSpec::new(&cache.past, cache.element, sizes);
                to_ort(&Tensor::seeded(&spec, 0))
            });
            Ok((
                session.borrow().create_binding()?,
                empty.collect::<ort::Result<_>>()?,
                memory("cpu")?,
                memory(device)?,
            ))
        };
        let (binding, empty, host, place) =
            prepared().map_err(|error: ort::Error| explain(&error))?;
        Ok(Self {
            session: Rc::clone(session),
            binding,
            batch: generate.batch,
            past: 0,
            empty,
            host,
            place,
            decoder,
        })
    }

    /// Binds tokens and outputs, runs, and binds what came out for the next step. The scores come back.
    fn run(&mut self, tokens: &[i64]) -> ort::Result<Option<DynValue>> {
        for input in token_inputs(&self.decoder, self.batch, tokens, self.past) {
            self.binding
                .bind_input(input.spec.name.as_str(), &to_ort(&input)?)?;
        }
        // Bound anew each time: a value that is bound already would be taken for the one to fill, and its size is
        // that of the step before.
        self.binding
            .bind_output_to_device(self.decoder.scores.as_str(), &self.host)?;
        for cache in &self.decoder.caches {
            self.binding
                .bind_output_to_device(cache.present.as_str(), &self.place)?;
        }
        let mut session = self.session.borrow_mut();
        let outputs = session.run_binding(&self.binding)?;
        // In the order in which they were bound.
        let mut values = outputs.into_iter().map(|(_, value)| value);
        let scores = values.next();
        let present: Vec<DynValue> = values.collect();
        for (cache, value) in self.decoder.caches.iter().zip(&present) {
            self.binding.bind_input(cache.past.as_str(), value)?;
        }
        Ok(scores)
    }
}

impl TokenDecoder for OrtDecoder {
    fn begin(&mut self) -> Result<(), EngineError> {
        self.past = 0;
        for (cache, empty) in self.decoder.caches.iter().zip(&self.empty) {
            self.binding
                .bind_input(cache.past.as_str(), empty)
                .map_err(|error| explain(&error))?;
        }
        Ok(())
    }

    fn step(&mut self, tokens: &[i64], next: &mut [i64]) -> Result<(), EngineError> {
        let scores = self.run(tokens).map_err(|error| explain(&error))?;
        self.past += tokens.len() / self.batch;
        let vocabulary = self.decoder.vocabulary;
        macro_rules! choose {
            ($($native:ty),*) => {
                $(if let Some(Ok((shape, scores))) = scores.as_ref().map(|s| s.try_extract_tensor::<$native>()) {
                    let dims: Vec<usize> = shape.iter().map(|&dim| dim as usize).collect();
                    return most_likely(scores, &dims, vocabulary, next);
                })*
            };
        }
        choose!(f32, f16, f64);
        Err(EngineError::Unsupported(format!(
            "the output {} holds no floats, so the most likely token cannot be taken",
            self.decoder.scores
        )))
    }
}

/// Where values are left on a device: on NVIDIA's cards there, else in the processor's memory.
fn memory(device: &str) -> ort::Result<MemoryInfo<'static>> {
    let (kind, number) = device.split_once(':').unwrap_or((device, "0"));
    let (place, memory_type) = match kind {
        "cuda" => (AllocationDevice::CUDA, MemoryType::Default),
        _ => (AllocationDevice::CPU, MemoryType::CPUOutput),
    };
    let number = if kind == "cuda" { number } else { "0" };
    let number = number.parse().unwrap_or_default();
    MemoryInfo::new(place, number, AllocatorType::Device, memory_type)
}
