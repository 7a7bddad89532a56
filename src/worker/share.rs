//! How a batch is shared among several workers, and how what they say is put together.
//!
//! The copies run free once they have started together: the k-th sample of the whole is the longest of
//! the copies' k-th runs, because a batch is done when its last share is.

use super::protocol::{Measured, Reply, Request, RoundRule};
use crate::domain::case::{CaseKey, Company, Opening, WarmUp};
use crate::domain::event::SetupReport;
use crate::domain::setup::Setup;
use crate::domain::tensor::TensorSpec;
use crate::engines;

/// Between whom a batch is shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// Processes.
    Copies,
    /// Threads of one process.
    Streams,
}

impl Sharing {
    /// What they are called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Copies => "copies",
            Self::Streams => "streams",
        }
    }

    /// Keys of a setup that only the whole has.
    fn keys(self) -> &'static [&'static str] {
        match self {
            Self::Copies => &[engines::COPIES_KEY, engines::DEVICES_KEY],
            Self::Streams => &[engines::STREAMS_KEY],
        }
    }
}

/// What each of several workers does of the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Which of them, from 0.
    pub index: usize,
    /// How many there are.
    pub of: usize,
    /// What they are.
    pub sharing: Sharing,
}

impl Place {
    /// Its share of a batch; the first ones take what does not divide.
    pub fn share(self, batch: usize) -> usize {
        batch / self.of + usize::from(self.index < batch % self.of)
    }

    /// The setup as this one runs it: on its own device, with its share of the threads.
    pub fn setup(self, setup: &Setup, threads: usize) -> Setup {
        let mut own = setup.clone();
        let devices = engines::devices(setup).unwrap_or_default();
        if let Some(number) = devices.get(self.index % devices.len().max(1)) {
            let kind = setup.device.split(':').next().unwrap_or("cpu");
            own.device = format!("{kind}:{number}");
        }
        for key in self.sharing.keys() {
            own.options.remove(*key);
        }
        let takes_threads = engines::find(&setup.engine)
            .is_some_and(|engine| engine.keys().iter().any(|key| key.name == "threads"));
        if own.device == "cpu" && takes_threads && !own.options.contains_key("threads") {
            // Each with every thread would have the copies fight for the processors.
            let threads = (threads / self.of).max(1);
            own.options
                .insert("threads".to_owned(), threads.to_string());
        }
        own
    }

    /// The key by which this one knows a case: shares of several batches may be alike.
    fn key(self, case: CaseKey) -> CaseKey {
        CaseKey {
            setup: case.batch,
            batch: self.share(case.batch),
        }
    }

    /// The inputs of its share.
    fn inputs(self, inputs: &[TensorSpec], batch: usize) -> Vec<TensorSpec> {
        let shared = inputs.iter().cloned().map(|mut spec| {
            for axis in spec.batch_axes.clone() {
                if let Some(size) = spec.dims.get_mut(axis) {
                    *size = self.share(batch);
                }
            }
            spec
        });
        shared.collect()
    }

    /// What this one is asked in place of the whole.
    pub fn request(self, request: &Request, threads: usize) -> Request {
        let mut own = request.clone();
        match &mut own {
            Request::Load { setup, .. } => *setup = self.setup(setup, threads),
            Request::Open {
                case, inputs, seed, ..
            } => {
                *inputs = self.inputs(inputs, case.batch);
                *seed += self.index as u64;
                *case = self.key(*case);
            }
            Request::WarmUp { case, .. }
            | Request::Measure { case, .. }
            | Request::Outputs { case }
            | Request::Save { case, .. }
            | Request::Observe { case }
            | Request::Close { case } => *case = self.key(*case),
            Request::Probe { .. }
            | Request::Examine { .. }
            | Request::Profile { .. }
            | Request::Export { .. } => {}
        }
        own
    }
}

/// A round that only wakes everybody up.
pub fn waking(rule: &RoundRule) -> RoundRule {
    RoundRule {
        min_samples: 1,
        max_samples: 1,
        min_ns: 0,
        ..rule.clone()
    }
}

/// The same round for those who are awake, to begin together.
pub fn together(rule: &RoundRule, starts_at_ns: u64) -> RoundRule {
    RoundRule {
        wake_up_runs: 0,
        wake_up_ns: 0,
        starts_at_ns: Some(starts_at_ns),
        ..rule.clone()
    }
}

/// What all of them said, as one answer; nothing where they said different things.
pub fn merge(replies: Vec<Reply>, batch: Option<usize>, sharing: Sharing) -> Option<Reply> {
    let first = replies.first()?.clone();
    Some(match first {
        Reply::Loaded(report) => Reply::Loaded(loaded(
            report,
            &all(replies, |reply| match reply {
                Reply::Loaded(report) => Some(report),
                _ => None,
            })?,
            sharing,
        )),
        Reply::Opened(opening) => Reply::Opened(opened(
            opening,
            &all(replies, |reply| match reply {
                Reply::Opened(opening) => Some(opening),
                _ => None,
            })?,
        )),
        Reply::Warm(_) => Reply::Warm(warmed(&all(replies, |reply| match reply {
            Reply::Warm(warm_up) => Some(warm_up),
            _ => None,
        })?)),
        Reply::Measured(_) => Reply::Measured(measured(
            &all(replies, |reply| match reply {
                Reply::Measured(measured) => Some(measured),
                _ => None,
            })?,
            batch?,
            sharing,
        )),
        other => other,
    })
}

fn all<T>(replies: Vec<Reply>, pick: impl Fn(Reply) -> Option<T>) -> Option<Vec<T>> {
    replies.into_iter().map(pick).collect()
}

fn longest<T>(of: &[T], pick: impl Fn(&T) -> u64) -> u64 {
    of.iter().map(pick).max().unwrap_or_default()
}

fn loaded(first: SetupReport, all: &[SetupReport], sharing: Sharing) -> SetupReport {
    let mut notes = first.notes.clone();
    notes.push(format!(
        "{} {} share each batch; the k-th sample is the longest of their k-th runs",
        all.len(),
        sharing.name()
    ));
    SetupReport {
        library_ns: longest(all, |report| report.library_ns),
        load_ns: longest(all, |report| report.load_ns),
        threads: first
            .threads
            .map(|_| all.iter().filter_map(|report| report.threads).sum()),
        notes,
        ..first
    }
}

fn opened(first: Opening, all: &[Opening]) -> Opening {
    Opening {
        open_ns: longest(all, |opening| opening.open_ns),
        first_run_ns: longest(all, |opening| opening.first_run_ns),
        ..first
    }
}

fn warmed(all: &[WarmUp]) -> WarmUp {
    WarmUp {
        runs: all
            .iter()
            .map(|warm_up| warm_up.runs)
            .min()
            .unwrap_or_default(),
        spent_ns: longest(all, |warm_up| warm_up.spent_ns),
        settled: all.iter().all(|warm_up| warm_up.settled),
    }
}

/// The whole of a round: as many samples as the slowest has, and the time in which they were done.
fn measured(all: &[Measured], batch: usize, sharing: Sharing) -> Measured {
    let runs = all
        .iter()
        .map(|one| one.samples_ns.len())
        .min()
        .unwrap_or_default();
    let kth = |k: usize| {
        all.iter()
            .filter_map(|one| one.samples_ns.get(k).copied())
            .max()
    };
    let samples_ns: Vec<u64> = (0..runs).filter_map(kth).collect();
    let started = all
        .iter()
        .map(|one| one.started_monotonic_ns)
        .min()
        .unwrap_or_default();
    let ended = longest(all, |one| one.started_monotonic_ns + one.spent_ns);
    let places = (0..all.len()).map(|index| Place {
        index,
        of: all.len(),
        sharing,
    });
    let items: u64 = places
        .zip(all)
        .map(|(place, one)| (place.share(batch) * one.samples_ns.len()) as u64)
        .sum();
    // Faster copies did more runs: the time counts as far as it went into the whole batches.
    let whole = (runs * batch) as f64 / items.max(1) as f64;
    Measured {
        started_monotonic_ns: started,
        spent_ns: ((ended - started) as f64 * whole) as u64,
        samples_ns,
        company: match sharing {
            Sharing::Copies => company(all),
            // The process is one, and what it counts is of all its threads.
            Sharing::Streams => all.first().and_then(|one| one.company),
        },
        starts_within_ns: Some(longest(all, |one| one.started_monotonic_ns) - started),
        device_peak_bytes: all
            .iter()
            .filter_map(|one| one.device_peak_bytes)
            .reduce(|a, b| a + b),
        ..Measured::default()
    }
}

/// Who else used the processor: the copies are no company to each other.
fn company(all: &[Measured]) -> Option<Company> {
    let told: Vec<Company> = all.iter().map(|one| one.company).collect::<Option<_>>()?;
    let first = *told.first()?;
    let own_ns: u64 = told.iter().map(|company| company.own_ns).sum();
    Some(Company {
        own_ns,
        others_ns: first.others_ns.saturating_sub(own_ns - first.own_ns),
        switches: told.iter().map(|company| company.switches).sum(),
        stolen_ns: longest(&told, |company| company.stolen_ns),
        ..first
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(index: usize, of: usize) -> Place {
        Place {
            index,
            of,
            sharing: Sharing::Copies,
        }
    }

    #[test]
    fn a_batch_is_shared_out_whole() {
        for (batch, of) in [(4, 2), (7, 3), (2, 2), (9, 4)] {
            let shares: Vec<usize> = (0..of).map(|index| place(index, of).share(batch)).collect();
            assert_eq!(shares.iter().sum::<usize>(), batch);
            assert!(shares.iter().max().unwrap() - shares.iter().min().unwrap() <= 1);
        }
    }

    #[test]
    fn each_copy_has_its_device_its_threads_and_its_inputs() {
        let setup: Setup = "ort:cuda,copies=2,devices=\"0,3\"".parse().unwrap();
        assert_eq!(place(1, 2).setup(&setup, 8).to_string(), "ort:cuda:3");
        let setup: Setup = "ort:cpu,copies=2".parse().unwrap();
        assert_eq!(
            place(0, 2).setup(&setup, 8).to_string(),
            "ort:cpu,threads=4"
        );
        let setup: Setup = "ort:cpu,copies=2,threads=3".parse().unwrap();
        assert_eq!(
            place(0, 2).setup(&setup, 8).to_string(),
            "ort:cpu,threads=3"
        );
        let spec = TensorSpec {
            batch_axes: vec![0],
            ..TensorSpec::new(
                "input",
                crate::domain::tensor::ElementType::F32,
                vec![5, 3, 8, 8],
            )
        };
        let dims = |index| place(index, 2).inputs(std::slice::from_ref(&spec), 5)[0].dims[0];
        assert_eq!((dims(0), dims(1)), (3, 2));
    }

    #[test]
    fn a_round_of_copies_is_done_when_the_last_share_is() {
        let one = |started, samples: &[u64]| Measured {
            started_monotonic_ns: started,
            spent_ns: samples.iter().sum(),
            samples_ns: samples.to_vec(),
            ..Measured::default()
        };
        let whole = measured(
            &[one(100, &[10, 10, 10]), one(105, &[20, 12])],
            4,
            Sharing::Copies,
        );
        assert_eq!(whole.samples_ns, [20, 12]);
        assert_eq!(whole.started_monotonic_ns, 100);
        // From 100 to 137, in which 2 × 3 + 2 × 2 items were done, and two batches are 8 of them.
        assert_eq!(whole.spent_ns, 29);
        assert_eq!(whole.starts_within_ns, Some(5));
    }

    #[test]
    fn the_copies_are_no_company_to_each_other() {
        let one = |own, others| Measured {
            company: Some(Company {
                counted_ns: 1_000,
                own_ns: own,
                others_ns: others,
                ..Company::default()
            }),
            ..Measured::default()
        };
        let whole = company(&[one(900, 1_000), one(800, 1_100)]).unwrap();
        assert_eq!((whole.own_ns, whole.others_ns), (1_700, 200));
    }
}
