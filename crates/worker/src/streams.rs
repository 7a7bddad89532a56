//! The streams of a setup: threads of one worker that share each batch, each with a session of its own.

use std::io;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use super::protocol::{Reply, Request};
use super::share::Sharing;
use super::supervisor::WorkerError;
use super::worker_group::{WorkerGroup, WorkerHandle};
use crate::engines::EngineError;
use powerband_core::base::cancel::CancelToken;

/// One thread, which does what a worker does.
#[derive(Debug)]
pub(super) struct Stream {
    requests: SyncSender<Request>,
    answers: Receiver<Result<Reply, EngineError>>,
}

/// What a stream has requests answered by.
pub(super) trait Answers: Default + 'static {
    /// Does what is asked.
    fn answer(&mut self, request: Request) -> Result<Reply, EngineError>;
}

/// Starts so many, each with a fresh `A`.
pub(super) fn start<A: Answers>(streams: usize) -> io::Result<WorkerGroup<Stream>> {
    let members = (1..=streams).map(Stream::start::<A>);
    let members = members.collect::<io::Result<Vec<_>>>()?;
    Ok(WorkerGroup::from_workers(members, Sharing::Streams))
}

impl Stream {
    fn start<A: Answers>(number: usize) -> io::Result<Self> {
        let (requests, asked) = sync_channel::<Request>(1);
        let (answer, answers) = sync_channel(1);
        thread::Builder::new()
            .name(format!("stream-{number}"))
            .spawn(move || {
                let mut state = A::default();
                for request in asked {
                    if answer.send(state.answer(request)).is_err() {
                        return;
                    }
                }
            })?;
        Ok(Self { requests, answers })
    }
}

fn gone() -> WorkerError {
    EngineError::Failed("a stream of this worker has ended".to_owned()).into()
}

impl WorkerHandle for Stream {
    fn say(&mut self, request: &Request) -> Result<(), WorkerError> {
        let sent = self.requests.send(request.clone());
        sent.map_err(|_ended| gone())
    }

    // The worker's own parent keeps the time.
    fn answer(
        &mut self,
        _limit: Duration,
        _cancel: &CancelToken,
        _while_waiting: &mut dyn FnMut(),
    ) -> Result<Reply, WorkerError> {
        let answer = self.answers.recv().map_err(|_ended| gone())?;
        Ok(answer?)
    }
}
