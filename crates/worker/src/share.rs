//! How a batch is shared among several workers, and how what they say is put together.
//!
//! The copies run free once they have started together: the k-th sample of the whole is the longest of
//! the copies' k-th runs, because a batch is done when its last share is.

use super::protocol::{MeasuredRound, Reply, Request, RoundRule, WorkerCase};
use crate::engines;
use powerband_core::domain::case::{CaseOpening, CpuContention, Epoch, PhaseSamples, WarmUp};
use powerband_core::domain::setup::Setup;
use powerband_core::domain::setup_report::SetupReport;
use powerband_core::domain::tensor::TensorSpec;
use powerband_planning::engine_options;
use powerband_planning::engine_options::CLOCK_KEY;

/// What shares a batch: copies or streams.
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
            Self::Copies => &[engine_options::COPIES_KEY, engine_options::DEVICES_KEY],
            Self::Streams => &[engine_options::STREAMS_KEY],
        }
    }
}

/// The share of a batch that one of several workers runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkerShare {
    /// Which of them, from 0.
    pub index: usize,
    /// How many there are.
    pub of: usize,
    /// What they are.
    pub sharing: Sharing,
}

impl WorkerShare {
    /// Its share of a batch; the first ones take what does not divide.
    pub fn share(self, batch: usize) -> usize {
        batch / self.of + usize::from(self.index < batch % self.of)
    }

    /// The setup as this one runs it: on its own device, with its share of the threads.
    pub fn setup(self, setup: &Setup, threads: usize) -> Setup {
        let mut own = setup.clone();
        let devices = engine_options::devices(setup).unwrap_or_default();
        if let Some(number) = devices.get(self.index % devices.len().max(1)) {
            let kind = setup.device.split(':').next().unwrap_or("cpu");
            own.device = format!("{kind}:{number}");
        }
        for key in self.sharing.keys() {
            own.options.remove(*key);
        }
        let engine = engines::find(&setup.engine);
        let takes =
            |name| engine.is_some_and(|engine| engine.keys().iter().any(|key| key.name == name));
        let infers = own.options.get("task").is_none_or(|task| task == "infer");
        let share_a_card = infers && own.device != "cpu" && self.of > devices.len().max(1);
        if share_a_card && takes(CLOCK_KEY) && !own.options.contains_key(CLOCK_KEY) {
            // A card's events do not see how long a run waits for the runs of others.
            own.options.insert(CLOCK_KEY.to_owned(), "host".to_owned());
        }
        if own.device == "cpu" && takes("threads") && !own.options.contains_key("threads") {
            // Each with every thread would have the copies fight for the processors.
            let threads = (threads / self.of).max(1);
            own.options
                .insert("threads".to_owned(), threads.to_string());
        }
        own
    }

    /// The case as this one knows it. What is shared out already keeps the batch that it is a share of.
    fn case(self, case: WorkerCase) -> WorkerCase {
        WorkerCase {
            setup: case.setup,
            point: case.point.with_batch(self.share(case.point.batch())),
            whole: Some(case.whole.unwrap_or_else(|| case.point.batch())),
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
                *inputs = self.inputs(inputs, case.point.batch());
                *seed += self.index as u64;
                *case = self.case(*case);
            }
            Request::WarmUp { case, .. }
            | Request::Measure { case, .. }
            | Request::Outputs { case }
            | Request::Save { case, .. }
            | Request::Observe { case }
            | Request::Close { case } => *case = self.case(*case),
            Request::Probe { .. }
            | Request::Examine { .. }
            | Request::Profile { .. }
            | Request::Agent(_)
            | Request::Export { .. } => {}
        }
        own
    }
}

/// A round that only wakes all copies up.
pub fn waking(rule: &RoundRule) -> RoundRule {
    RoundRule {
        min_samples: 1,
        max_samples: 1,
        min_ns: 0,
        ..rule.clone()
    }
}

/// The same round for workers that are awake, to begin together.
pub fn together(rule: &RoundRule, starts_at_ns: u64) -> RoundRule {
    RoundRule {
        wake_up_runs: 0,
        wake_up_ns: 0,
        starts_at_ns: Some(starts_at_ns),
        ..rule.clone()
    }
}

/// What all of them said, as one answer; nothing where they said different things.
pub(crate) fn merge(replies: &[Reply], batch: Option<usize>, sharing: Sharing) -> Option<Reply> {
    Some(match replies.first()? {
        Reply::Loaded(_) => {
            let reports = all(replies, |reply| match reply {
                Reply::Loaded(report) => Some(report),
                _ => None,
            })?;
            Reply::Loaded(loaded(&reports, sharing)?)
        }
        Reply::Opened(_) => {
            let openings = all(replies, |reply| match reply {
                Reply::Opened(opening) => Some(opening),
                _ => None,
            })?;
            Reply::Opened(opened(&openings)?)
        }
        Reply::Warm(_) => Reply::Warm(warmed(&all(replies, |reply| match reply {
            Reply::Warm(warm_up) => Some(warm_up),
            _ => None,
        })?)),
        Reply::Measured(_) => {
            let rounds = all(replies, |reply| match reply {
                Reply::Measured(measured) => Some(measured),
                _ => None,
            })?;
            Reply::Measured(measured(&rounds, batch?, sharing))
        }
        first => first.clone(),
    })
}

/// Every reply as the one kind that is wanted; nothing where one is of another kind.
fn all<T>(replies: &[Reply], pick: impl Fn(&Reply) -> Option<&T>) -> Option<Vec<&T>> {
    replies.iter().map(pick).collect()
}

fn longest<T>(of: &[&T], pick: impl Fn(&T) -> u64) -> u64 {
    of.iter().map(|one| pick(one)).max().unwrap_or_default()
}

fn loaded(all: &[&SetupReport], sharing: Sharing) -> Option<SetupReport> {
    let first = *all.first()?;
    let mut notes = first.notes.clone();
    notes.push(format!(
        "{} {} share each batch; the k-th sample is the longest of their k-th runs",
        all.len(),
        sharing.name()
    ));
    Some(SetupReport {
        library_ns: longest(all, |report| report.library_ns),
        load_ns: longest(all, |report| report.load_ns),
        threads: first
            .threads
            .map(|_| all.iter().filter_map(|report| report.threads).sum()),
        notes,
        ..first.clone()
    })
}

fn opened(all: &[&CaseOpening]) -> Option<CaseOpening> {
    let first = *all.first()?;
    Some(CaseOpening {
        open_ns: longest(all, |opening| opening.open_ns),
        first_run_ns: longest(all, |opening| opening.first_run_ns),
        // Copies are processes; streams say nothing, and their process speaks for all.
        peak_bytes: all.iter().map(|opening| opening.peak_bytes).sum(),
        ..first.clone()
    })
}

fn warmed(all: &[&WarmUp]) -> WarmUp {
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
fn measured(all: &[&MeasuredRound], batch: usize, sharing: Sharing) -> MeasuredRound {
    let last = last_ones(all);
    let runs = last.len();
    let kth = |(k, one): (usize, &&MeasuredRound)| one.samples_ns.get(k).copied();
    let samples_ns: Vec<u64> = last.iter().enumerate().filter_map(kth).collect();
    let started = all
        .iter()
        .map(|one| one.started_monotonic_ns)
        .min()
        .unwrap_or_default();
    let ended = longest(all, |one| one.started_monotonic_ns + one.spent_ns);
    let places = (0..all.len()).map(|index| WorkerShare {
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
    MeasuredRound {
        started_monotonic_ns: started,
        spent_ns: ((ended - started) as f64 * whole) as u64,
        samples_ns,
        company: match sharing {
            Sharing::Copies => company(all),
            // The process is one, and what it counts is of all its threads.
            Sharing::Streams => all.first().and_then(|one| one.company),
        },
        parts: parts(&last).unwrap_or_default(),
        epochs: epochs(all),
        // Copies that generate would each be a request of their own.
        generation: None,
        starts_within_ns: Some(longest(all, |one| one.started_monotonic_ns) - started),
        device_peak_bytes: all
            .iter()
            .filter_map(|one| one.device_peak_bytes)
            .reduce(|a, b| a + b),
    }
}

/// For each run of the whole, the worker whose run took longest: the batch was done with it.
fn last_ones<'a>(all: &[&'a MeasuredRound]) -> Vec<&'a MeasuredRound> {
    let runs = all.iter().map(|one| one.samples_ns.len()).min();
    let last = |k: usize| all.iter().max_by_key(|one| one.samples_ns.get(k)).copied();
    (0..runs.unwrap_or_default()).filter_map(last).collect()
}

/// What each run of the whole consists of: the parts of the run that took longest, so that they add up to
/// its sample. Nothing where one of them does not report its parts, or names others.
fn parts(last: &[&MeasuredRound]) -> Option<Vec<PhaseSamples>> {
    let first = last.first()?;
    let of_one = |name: &str| {
        let kth = |(k, one): (usize, &&MeasuredRound)| {
            let part = one.parts.iter().find(|part| part.name == name)?;
            part.samples_ns.get(k).copied()
        };
        last.iter()
            .enumerate()
            .map(kth)
            .collect::<Option<Vec<u64>>>()
    };
    let is_alike = |one: &&MeasuredRound| one.parts.len() == first.parts.len();
    let parts = first.parts.iter().map(|part| {
        Some(PhaseSamples {
            name: part.name.clone(),
            samples_ns: of_one(&part.name)?,
        })
    });
    last.iter().all(is_alike).then(|| parts.collect())?
}

/// What was learned, epoch by epoch, over the items of all: each of them learns by itself, so the loss of
/// the whole is the mean over its items.
fn epochs(all: &[&MeasuredRound]) -> Vec<Epoch> {
    let longest = all.iter().map(|one| one.epochs.len()).max();
    let kth = |k: usize| {
        let own: Vec<&Epoch> = all.iter().filter_map(|one| one.epochs.get(k)).collect();
        let items: u64 = own.iter().map(|epoch| epoch.items).sum();
        let mean = |of: &dyn Fn(&Epoch) -> Option<f64>| {
            let weighted = own
                .iter()
                .map(|epoch| Some(of(epoch)? * epoch.items as f64));
            let sum: Option<f64> = weighted.sum();
            sum.map(|sum| sum / items.max(1) as f64)
        };
        Epoch {
            items,
            loss: mean(&|epoch| epoch.loss),
            accuracy: mean(&|epoch| Some(epoch.accuracy)).unwrap_or_default(),
        }
    };
    (0..longest.unwrap_or_default()).map(kth).collect()
}

/// Who else used the processor: the copies are no company to each other.
fn company(all: &[&MeasuredRound]) -> Option<CpuContention> {
    let told: Vec<CpuContention> = all.iter().map(|one| one.company).collect::<Option<_>>()?;
    let first = *told.first()?;
    let own_ns: u64 = told.iter().map(|company| company.own_ns).sum();
    let stolen = told.iter().map(|company| company.stolen_ns).max();
    Some(CpuContention {
        own_ns,
        others_ns: first.others_ns.saturating_sub(own_ns - first.own_ns),
        switches: told.iter().map(|company| company.switches).sum(),
        stolen_ns: stolen.unwrap_or_default(),
        ..first
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use powerband_core::domain::point::Point;

    fn place(index: usize, of: usize) -> WorkerShare {
        WorkerShare {
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
                powerband_core::domain::tensor::ElementType::F32,
                vec![5, 3, 8, 8],
            )
        };
        let dims = |index| place(index, 2).inputs(std::slice::from_ref(&spec), 5)[0].dims[0];
        assert_eq!((dims(0), dims(1)), (3, 2));
    }

    #[test]
    fn a_round_of_copies_is_done_when_the_last_share_is() {
        let one = |started, samples: &[u64]| MeasuredRound {
            started_monotonic_ns: started,
            spent_ns: samples.iter().sum(),
            samples_ns: samples.to_vec(),
            ..MeasuredRound::default()
        };
        let whole = measured(
            &[&one(100, &[10, 10, 10]), &one(105, &[20, 12])],
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
        let one = |own, others| MeasuredRound {
            company: Some(CpuContention {
                counted_ns: 1_000,
                own_ns: own,
                others_ns: others,
                ..CpuContention::default()
            }),
            ..MeasuredRound::default()
        };
        let whole = company(&[&one(900, 1_000), &one(800, 1_100)]).unwrap();
        assert_eq!((whole.own_ns, whole.others_ns), (1_700, 200));
    }

    #[test]
    fn shares_of_several_batches_are_told_apart() {
        let case = |batch| WorkerCase {
            setup: 5,
            point: Point::of_batch(batch),
            whole: None,
        };
        let (of_three, of_four) = (place(0, 2).case(case(3)), place(0, 2).case(case(4)));
        assert_eq!(
            (of_three.setup, of_three.point.batch(), of_three.whole),
            (5, 2, Some(3))
        );
        assert_eq!((of_four.point.batch(), of_four.whole), (2, Some(4)));
        // Streams of a copy share its share.
        let of_stream = |case| place(1, 2).case(case);
        assert_ne!(of_stream(of_three), of_stream(of_four));
        assert_eq!(of_stream(of_three).point.batch(), 1);
    }

    fn trained(
        samples: &[u64],
        forward: &[u64],
        epochs: &[(u64, Option<f64>, f64)],
    ) -> MeasuredRound {
        let part = |name: &str, samples_ns: Vec<u64>| PhaseSamples {
            name: name.to_owned(),
            samples_ns,
        };
        let rest = samples.iter().zip(forward).map(|(all, own)| all - own);
        let epoch = |&(items, loss, accuracy): &(u64, Option<f64>, f64)| Epoch {
            items,
            loss,
            accuracy,
        };
        MeasuredRound {
            samples_ns: samples.to_vec(),
            parts: vec![
                part("forward", forward.to_vec()),
                part("backward", rest.collect()),
            ],
            epochs: epochs.iter().map(epoch).collect(),
            ..MeasuredRound::default()
        }
    }

    #[test]
    fn phases_are_those_of_the_run_that_took_longest() {
        let one = trained(&[10, 30, 10], &[4, 9, 1], &[]);
        let other = trained(&[20, 12], &[5, 6], &[]);
        let whole = measured(&[&one, &other], 4, Sharing::Copies);
        assert_eq!(whole.samples_ns, [20, 30]);
        let of = |place: usize| {
            (
                whole.parts[place].name.as_str(),
                &whole.parts[place].samples_ns,
            )
        };
        assert_eq!(of(0), ("forward", &vec![5, 9]));
        assert_eq!(of(1), ("backward", &vec![15, 21]));
        let mut silent = trained(&[40, 1], &[1, 1], &[]);
        silent.parts.pop();
        let whole = measured(&[&one, &silent], 4, Sharing::Copies);
        assert_eq!((whole.samples_ns, whole.parts), (vec![40, 30], Vec::new()));
    }

    #[test]
    fn epochs_are_those_of_all_items() {
        let one = trained(&[10], &[4], &[(100, Some(2.0), 0.1), (100, Some(1.0), 0.5)]);
        let other = trained(&[10], &[4], &[(300, Some(4.0), 0.3)]);
        let whole = measured(&[&one, &other], 4, Sharing::Copies).epochs;
        let found = |place: usize| (whole[place].items, whole[place].loss.unwrap());
        assert_eq!((found(0), found(1)), ((400, 3.5), (100, 1.0)));
        assert!((whole[0].accuracy - 0.25).abs() < 1e-12, "{whole:?}");
        let lost = trained(&[10], &[4], &[(300, None, 0.3)]);
        let whole = measured(&[&one, &lost], 4, Sharing::Copies).epochs;
        assert_eq!(whole[0].loss, None);
    }
}
