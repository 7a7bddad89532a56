//! Tokens one by one with rten: keys and values are handed over and grow where they are.
//!
//! Each cache has room for the longest sequence of its case from the start, so that the network's own `Concat`
//! appends to it in place.

use std::rc::Rc;
use std::sync::Arc;

use rten::{NodeId, RunOptions, Value, ValueOrView};
use rten_tensor::Tensor as RtenTensor;
use rten_tensor::prelude::{AsView as _, Layout as _};

use super::values::to_rten;
use super::{RtenNetwork, catch_panic, explain};
use crate::engines::EngineError;
use crate::engines::generate::{Generate, TokenDecoder, most_likely, token_inputs};
use powerband_core::domain::tensor::ElementType;
use powerband_onnx::decoder::Decoder;

/// How tokens and keys and values travel.
pub(super) const FEEDING: &str = "tokens made before each step; present key/values of a step are handed over as past of the next and grow in place; scores are read, the most likely token is taken";

/// A decoder, with the keys and values of the tokens so far.
pub(super) struct RtenDecoder {
    network: Rc<RtenNetwork>,
    options: RunOptions,
    decoder: Decoder,
    batch: usize,
    /// Tokens of each sequence that a cache has room for.
    room: usize,
    /// Tokens of each sequence that were fed.
    past: usize,
    /// Keys and values, in the decoder's order.
    caches: Vec<RtenTensor<f32>>,
    past_ids: Vec<NodeId>,
    /// The scores, then the caches.
    output_ids: Vec<NodeId>,
}

impl RtenDecoder {
    pub(super) fn new(network: &Rc<RtenNetwork>, generate: &Generate) -> Result<Self, EngineError> {
        let decoder = generate.decoder()?.clone();
        if let Some(odd) = decoder
            .caches
            .iter()
            .find(|c| c.element != ElementType::F32)
        {
            return Err(EngineError::Unsupported(format!(
                "rten keeps keys and values in float32, and {} is {}",
                odd.past, odd.element
            )));
        }
        let id = |name: &str| {
            let id = network.model.node_id(name);
            id.map_err(|error| EngineError::Failed(error.to_string()))
        };
        let past_ids = decoder.caches.iter().map(|cache| id(&cache.past));
        let present_ids = decoder.caches.iter().map(|cache| id(&cache.present));
        let output_ids = std::iter::once(id(&decoder.scores)).chain(present_ids);
        Ok(Self {
            past_ids: past_ids.collect::<Result<_, _>>()?,
            output_ids: output_ids.collect::<Result<_, _>>()?,
            options: RunOptions::default().with_thread_pool(Some(Arc::clone(&network.pool))),
            network: Rc::clone(network),
            batch: generate.batch,
            room: generate.length(),
            past: 0,
            caches: Vec::new(),
            decoder,
        })
    }
}

impl TokenDecoder for RtenDecoder {
    fn begin(&mut self) -> Result<(), EngineError> {
        self.past = 0;
        let mut known = std::mem::take(&mut self.caches).into_iter();
        for cache in &self.decoder.caches {
            let axis = cache.axis();
            // The memory of the request before is taken again.
            let again = known.next().map(|mut tensor| {
                tensor.clip_dim(axis, 0..0);
                tensor
            });
            let again = again.filter(|tensor| tensor.has_capacity(axis, self.room));
            let sizes = cache.sizes(self.batch, self.room);
            self.caches
                .push(again.unwrap_or_else(|| RtenTensor::with_capacity(&sizes, axis)));
        }
        Ok(())
    }

    fn step(&mut self, tokens: &[i64], next: &mut [i64]) -> Result<(), EngineError> {
        let model = &self.network.model;
        let mut inputs: Vec<(NodeId, ValueOrView<'_>)> = Vec::new();
        for input in token_inputs(&self.decoder, self.batch, tokens, self.past) {
            let id = model.node_id(&input.spec.name);
            let id = id.map_err(|error| EngineError::Failed(error.to_string()))?;
            inputs.push((id, ValueOrView::Value(to_rten(&input)?)));
        }
        let caches = std::mem::take(&mut self.caches);
        let caches = caches.into_iter().map(Value::FloatTensor);
        inputs.extend(
            self.past_ids
                .iter()
                .copied()
                .zip(caches.map(ValueOrView::Value)),
        );
        let outputs = catch_panic(|| {
            let outputs = model.run(inputs, &self.output_ids, Some(self.options.clone()));
            outputs.map_err(|error| explain(&error.to_string()))
        })?;
        self.past += tokens.len() / self.batch;
        let mut outputs = outputs.into_iter();
        let scores = outputs.next();
        for value in outputs {
            match value {
                Value::FloatTensor(tensor) => self.caches.push(tensor),
                _ => return Err(no_floats("present key/values")),
            }
        }
        let Some(Value::FloatTensor(scores)) = scores else {
            return Err(no_floats(&self.decoder.scores));
        };
        let dims = scores.shape().to_vec();
        let vocabulary = self.decoder.vocabulary;
        match scores.data() {
            Some(values) => most_likely(values, &dims, vocabulary, next),
            None => most_likely(&scores.to_vec(), &dims, vocabulary, next),
        }
    }
}

fn no_floats(what: &str) -> EngineError {
    EngineError::Unsupported(format!(
        "{what} are no floats, which rten cannot go on with"
    ))
}
