//! Comparing what the setups compute with a reference in floats, on the same inputs, once everything is
//! measured.
//!
//! Inputs and outputs travel as `NumPy` files, which every worker reads and writes.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::TempDir;

use super::{ActiveRun, model_file};
use crate::agent::Agent;
use powerband_core::base::cancel::CancelToken;
use powerband_core::base::humanize;
use powerband_core::domain::accuracy::{Accuracy, HitCount, OutputDistance};
use powerband_core::domain::case::CaseKey;
use powerband_core::domain::event::{Activity, RunEvent};
use powerband_core::domain::fill::Fill;
use powerband_core::domain::outcome::Phase;
use powerband_core::domain::plan::AccuracyCheck;
use powerband_core::domain::point::Point;
use powerband_core::domain::setup::Setup;
use powerband_core::domain::tensor::{ElementType, Tensor, TensorSpec};
use powerband_core::stats::closeness::Closeness;
use powerband_core::stats::ranking::{self, AccuracyCounter};
use powerband_onnx::input_values;
use powerband_onnx::samples::inputs::converted;
use powerband_onnx::samples::{self, npy};
use powerband_worker::protocol::{Reply, Request};
use powerband_worker::remote::files::ModelFiles;
use powerband_worker::supervisor::Worker;

/// The network in floats, on the engine that is trusted with it.
#[derive(Clone, Debug)]
pub struct Reference {
    /// How it is run.
    pub setup: Setup,
    /// Its engine's library.
    pub runtime: Option<PathBuf>,
    /// The plan's model.
    pub model: ModelFiles,
    /// What its inputs hold, by their names.
    pub elements: BTreeMap<String, ElementType>,
}

/// Inputs as files, in batches of one size.
#[derive(Clone)]
struct AccuracyInputs {
    about: String,
    batches: Vec<Batch>,
    inputs: Vec<TensorSpec>,
    /// The point whose shapes the inputs have.
    point: Point,
    /// Inputs in a batch.
    size: usize,
    seed: u64,
}

/// One batch: a file for each input, and the labels where all are known.
#[derive(Clone)]
struct Batch {
    files: Vec<PathBuf>,
    labels: Option<Vec<usize>>,
}

/// The output of a batch on another machine may be so long, in bytes.
const MOST_OUTPUT: u64 = 1 << 30;

impl ActiveRun<'_, '_> {
    /// Compares the outputs of every measured setup that was not compared yet.
    pub(super) fn compare_accuracy(&mut self) {
        let plan = self.request.beginning.plan.clone();
        let (Some(judging), Some(reference)) = (plan.judging, self.request.reference.clone())
        else {
            return;
        };
        let is_measured = |setup: &usize| {
            let cases = self.session.cases.iter();
            let mut own = cases.filter(|case| case.setup == *setup);
            own.any(|case| !case.rounds.is_empty())
        };
        let wanted: Vec<usize> = (0..plan.setups.len())
            .filter(|setup| !self.session.accuracies.contains_key(setup))
            .filter(is_measured)
            .collect();
        let wanted = self.without_requests(wanted);
        // A setup may have a batch size of its own; where there is none for all, the others are judged.
        let fits = |setup: &usize, point| {
            let case = CaseKey {
                setup: *setup,
                point,
            };
            matches!(self.request.inputs.get(&case), Some(Ok(_)))
        };
        let for_all = |point: &&Point| wanted.iter().all(|setup| fits(setup, **point));
        let common = plan.points.iter().find(for_all);
        let Some(&point) = common.or_else(|| plan.points.first()) else {
            return;
        };
        if wanted.is_empty() || self.control.is_cancelled() {
            return;
        }
        let judged = self.judge_on(&judging, &reference, &wanted, point);
        if let Err(reason) = judged
            && !self.control.is_cancelled()
        {
            self.tell(RunEvent::Warned {
                text: format!("The outputs could not be compared: {reason}."),
            });
        }
    }

    /// The setups whose outputs can be compared. Of those whose runs are requests to a language model it is said
    /// that theirs cannot.
    fn without_requests(&mut self, setups: Vec<usize>) -> Vec<usize> {
        let plan = &self.request.beginning.plan;
        let makes_tokens =
            |setup: &usize| plan.setups.get(*setup).is_some_and(Setup::is_generate_task);
        let (requests, others): (Vec<usize>, Vec<usize>) =
            setups.into_iter().partition(makes_tokens);
        for setup in requests {
            let label = self.session.setup_label(setup);
            let text = format!(
                "{label}: task=generate makes tokens and no outputs that could be compared; measure the same setup without task= for that."
            );
            self.tell(RunEvent::Warned { text });
        }
        others
    }

    fn judge_on(
        &mut self,
        judging: &AccuracyCheck,
        reference: &Reference,
        setups: &[usize],
        point: Point,
    ) -> Result<(), String> {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let specs = setups.iter().find_map(|&setup| {
            let case = CaseKey { setup, point };
            self.request.inputs.get(&case)?.as_ref().ok()
        });
        let mut specs = specs
            .cloned()
            .ok_or("no point of the sweep fits the model")?;
        // A setup may take other floats than the network that it is compared with.
        for spec in &mut specs {
            let element = reference.elements.get(&spec.name).copied();
            spec.element = element.unwrap_or(spec.element);
        }
        let seed = self.request.beginning.plan.seed;
        let feed = AccuracyInputs::make(judging, specs, point, seed, &folder, &self.stop)?;
        let activity = Activity::ComputingReference;
        self.tell(RunEvent::Turned { activity });
        let (truth, title) = self.reference_outputs(reference, &feed, folder.path())?;
        for &setup in setups {
            if self.control.is_cancelled() {
                return Ok(());
            }
            let begun = Accuracy {
                reference: title.clone(),
                inputs: feed.about.clone(),
                ..Accuracy::default()
            };
            let case = CaseKey { setup, point };
            let misfit = self
                .request
                .inputs
                .get(&case)
                .and_then(|inputs| inputs.clone().err());
            let outputs = match misfit {
                Some(reason) => Err(reason),
                None => self.outputs_of(setup, &feed, folder.path()),
            };
            let accuracy = match outputs {
                Ok(outputs) => compare(&feed, &truth, &outputs, begun.clone()),
                Err(reason) => Err(reason),
            };
            let accuracy = accuracy.unwrap_or_else(|reason| Accuracy {
                trouble: Some(reason),
                ..begun
            });
            let accuracy = Box::new(accuracy);
            self.tell(RunEvent::Judged { setup, accuracy });
        }
        Ok(())
    }

    /// The reference's outputs, batch by batch, and what computed them.
    fn reference_outputs(
        &mut self,
        reference: &Reference,
        feed: &AccuracyInputs,
        folder: &Path,
    ) -> Result<(Vec<PathBuf>, String), String> {
        let mut model = reference.model.clone();
        model_file::check(&mut model)?;
        let limits = self.request.beginning.plan.limits.clone();
        let runtime = reference.runtime.clone();
        let start = Duration::from_millis(limits.start_ms);
        let limit = Duration::from_millis(limits.load_ms);
        let program = self.request.program.clone();
        let mut worker = Worker::start(
            &reference.setup,
            runtime.as_deref(),
            &program,
            start,
            &self.stop,
        )
        .map_err(|error| error.to_string())?;
        let stop = self.stop.clone();
        let mut ask = |run: &mut Self, request: &Request| {
            let answer =
                worker.ask_while_waiting(request, limit, &stop, &mut || run.poll_devices());
            answer.map_err(|error| format!("the reference does not run: {error}"))
        };
        let load = Request::Load {
            setup: reference.setup.clone(),
            model: model.file,
            name: String::new(),
            runtime,
        };
        let title = match ask(self, &load)? {
            Reply::Loaded(report) => {
                let is_plain = reference
                    .setup
                    .options
                    .get("opt")
                    .is_some_and(|opt| opt == "none");
                let plain = if is_plain { ", not optimised" } else { "" };
                format!("{}, float{plain}", report.engine)
            }
            other => {
                return Err(format!(
                    "the reference gave an answer to another question: {other:?}"
                ));
            }
        };
        let case = CaseKey {
            setup: 0,
            point: feed.point,
        };
        let outputs = feed.run(case, &folder.join("reference"), |request| {
            ask(self, request)
        })?;
        if let Some(ending) = worker.end() {
            let text = format!("The worker of the reference died when it was ended: {ending}.");
            self.tell(RunEvent::Warned { text });
        }
        Ok((outputs, title))
    }

    /// A setup's outputs, batch by batch.
    fn outputs_of(
        &mut self,
        setup: usize,
        feed: &AccuracyInputs,
        folder: &Path,
    ) -> Result<Vec<PathBuf>, String> {
        let activity = Activity::Comparing { setup };
        self.tell(RunEvent::Turned { activity });
        let mut phase = Phase::Start;
        if let Err(error) = self.ensure_worker(setup, &mut phase) {
            self.forget_worker(setup);
            return Err(error.to_string());
        }
        let report = self.session.reports.get(setup).and_then(Option::as_ref);
        if report.is_some_and(|report| report.own_weights) {
            return Err(
                "it runs with weights of its own, so its outputs cannot be compared".to_owned(),
            );
        }
        let case = CaseKey {
            setup,
            point: feed.point,
        };
        self.close(case);
        let limit = Duration::from_millis(self.request.beginning.plan.limits.load_ms);
        let folder = folder.join(setup.to_string());
        let specs = self
            .request
            .inputs
            .get(&case)
            .and_then(|specs| specs.clone().ok());
        let feed = feed.converted_to(&specs.unwrap_or_default(), &folder)?;
        let ask = |run: &mut Self, request: &Request| {
            run.ask(setup, request, limit).map_err(|error| {
                if !error.leaves_worker_usable() {
                    run.forget_worker(setup);
                }
                error.to_string()
            })
        };
        let Some((spec, _)) = self.agent_there(setup)? else {
            return feed.run(case, &folder, |request| ask(self, request));
        };
        let (limits, stop) = (
            self.request.beginning.plan.limits.clone(),
            self.stop.clone(),
        );
        let mut nothing = || ();
        let mut agent = Agent::start(&spec, &limits, &stop, &mut nothing)?;
        let there = feed.sent_by(&mut agent)?;
        let outputs = there.run_in(case, &mut |name| agent.folder(name), |request| {
            ask(self, request)
        })?;
        let outputs = outputs.iter().enumerate();
        outputs
            .map(|(number, file)| {
                let to = folder.join(format!("{number}.npy"));
                agent.fetch(file, &to, MOST_OUTPUT)?;
                Ok(to)
            })
            .collect()
    }
}

impl AccuracyInputs {
    /// Writes the inputs down: the user's own, or made-up ones.
    fn make(
        judging: &AccuracyCheck,
        inputs: Vec<TensorSpec>,
        point: Point,
        seed: u64,
        folder: &TempDir,
        cancel: &CancelToken,
    ) -> Result<Self, String> {
        let mut feed = Self {
            about: String::new(),
            batches: Vec::new(),
            inputs,
            point,
            size: point.batch(),
            seed,
        };
        let path = folder.path().join("inputs");
        fs::create_dir(&path).map_err(|error| error.to_string())?;
        match &judging.samples {
            Some(samples) => feed.own(judging, Path::new(samples), &path, cancel)?,
            None => feed.seeded(judging, &path)?,
        }
        Ok(feed)
    }

    fn seeded(&mut self, judging: &AccuracyCheck, folder: &Path) -> Result<(), String> {
        let count = (judging.inputs as usize).div_ceil(self.size).max(1);
        for number in 0..count {
            let seeds = (self.seed + 1_000 * (number as u64 + 1))..;
            let tensors = seeds.zip(&self.inputs);
            let tensors = tensors.map(|(seed, spec)| input_values::tensor(spec, seed));
            let tensors: Result<Vec<Tensor>, _> = tensors.collect();
            let tensors = tensors.map_err(|error| error.to_string())?;
            self.push(folder, &tensors, None)?;
        }
        let items = (count * self.size) as u64;
        self.about = humanize::pluralised(items, "seeded input");
        let from_files = self
            .inputs
            .iter()
            .filter(|spec| matches!(spec.fill, Fill::File(_)));
        for spec in from_files {
            let file = spec.fill.describe(spec.element);
            self.about = format!("{}, {} from {file} in all", self.about, spec.name);
        }
        Ok(())
    }

    fn own(
        &mut self,
        judging: &AccuracyCheck,
        path: &Path,
        folder: &Path,
        cancel: &CancelToken,
    ) -> Result<(), String> {
        let told = |error: samples::SampleError| error.to_string();
        let set = samples::open(path).map_err(told)?;
        let set = set.for_inputs(&self.inputs).map_err(told)?;
        let set = set
            .take_readable(judging.inputs as usize, cancel)
            .map_err(told)?;
        let places: Vec<usize> = (0..set.items.len()).collect();
        let whole = places.chunks_exact(self.size);
        if whole.len() == 0 {
            return Err(format!(
                "{} holds {}, fewer than one batch of {}",
                path.display(),
                humanize::pluralised(set.items.len() as u64, "input"),
                self.size
            ));
        }
        let items = (whole.len() * self.size) as u64;
        let specs = self.inputs.clone();
        let mut reader = set.reader();
        for batch in whole {
            let tensors = reader.tensors(batch, &specs).map_err(told)?;
            let labels = batch.iter().map(|&place| set.items.get(place)?.label);
            let labels = labels.collect();
            self.push(folder, &tensors, labels)?;
        }
        let words = humanize::pluralised(items, "sample");
        let mut about = vec![format!("{words} of {}", path.display())];
        about.extend(set.notes.clone());
        self.about = about.join("; ");
        Ok(())
    }

    fn push(
        &mut self,
        folder: &Path,
        tensors: &[Tensor],
        labels: Option<Vec<usize>>,
    ) -> Result<(), String> {
        let number = self.batches.len();
        let files = tensors.iter().enumerate().map(|(input, tensor)| {
            let file = folder.join(format!("{number}-{input}.npy"));
            let written = fs::write(&file, npy::write(tensor));
            written.map_err(|error| format!("{} cannot be written: {error}", file.display()))?;
            Ok(file)
        });
        let files = files.collect::<Result<Vec<_>, String>>()?;
        self.batches.push(Batch { files, labels });
        Ok(())
    }

    /// The same inputs for a setup whose model takes other floats, written down once more where it does.
    fn converted_to(&self, specs: &[TensorSpec], folder: &Path) -> Result<Self, String> {
        let mut feed = self.clone();
        for (place, (known, spec)) in self.inputs.iter().zip(specs).enumerate() {
            if known.element == spec.element || known.dims != spec.dims {
                continue;
            }
            fs::create_dir_all(folder).map_err(|error| error.to_string())?;
            for (number, batch) in feed.batches.iter_mut().enumerate() {
                let Some(file) = batch.files.get_mut(place) else {
                    continue;
                };
                let tensor = npy::read(file, &spec.name).map_err(|error| error.to_string())?;
                let tensor = converted(tensor, spec).ok_or_else(|| {
                    format!(
                        "input {} takes {}, and the fp32 network {}",
                        spec.name, spec.element, known.element
                    )
                })?;
                *file = folder.join(format!("{number}-{place}.npy"));
                fs::write(&*file, npy::write(&tensor)).map_err(|error| error.to_string())?;
            }
            if let Some(input) = feed.inputs.get_mut(place) {
                input.element = spec.element;
            }
        }
        Ok(feed)
    }

    /// The same inputs on another machine, sent to its agent, with which they go.
    fn sent_by(&self, agent: &mut Agent<'_>) -> Result<Self, String> {
        let mut there = self.clone();
        for (number, batch) in there.batches.iter_mut().enumerate() {
            for (place, file) in batch.files.iter_mut().enumerate() {
                *file = agent.put(file, &format!("inputs/{number}-{place}.npy"))?;
            }
        }
        Ok(there)
    }

    /// Has a worker compute every batch; the files of the first output, in a folder here.
    fn run(
        &self,
        case: CaseKey,
        folder: &Path,
        ask: impl FnMut(&Request) -> Result<Reply, String>,
    ) -> Result<Vec<PathBuf>, String> {
        let mut made = |name: &str| {
            let path = folder.join(name);
            fs::create_dir_all(&path).map_err(|error| error.to_string())?;
            Ok(path)
        };
        self.run_in(case, &mut made, ask)
    }

    /// The same in folders that are made by name, wherever the worker is.
    fn run_in(
        &self,
        case: CaseKey,
        made: &mut dyn FnMut(&str) -> Result<PathBuf, String>,
        mut ask: impl FnMut(&Request) -> Result<Reply, String>,
    ) -> Result<Vec<PathBuf>, String> {
        let mut firsts = Vec::with_capacity(self.batches.len());
        let case = case.into();
        for (number, batch) in self.batches.iter().enumerate() {
            let folder = made(&number.to_string())?;
            ask(&Request::Open {
                case,
                inputs: self.inputs.clone(),
                seed: self.seed,
                feed: batch.files.clone(),
                generate: None,
            })?;
            match ask(&Request::Save { case, folder })? {
                Reply::Saved(files) => {
                    firsts.push(
                        files
                            .into_iter()
                            .next()
                            .ok_or("the network has no outputs")?,
                    );
                }
                other => return Err(format!("an answer to another question: {other:?}")),
            }
            ask(&Request::Close { case })?;
        }
        Ok(firsts)
    }
}

/// Puts a setup's outputs beside the reference's.
fn compare(
    feed: &AccuracyInputs,
    truth: &[PathBuf],
    outputs: &[PathBuf],
    begun: Accuracy,
) -> Result<Accuracy, String> {
    let (mut closeness, mut ranking) = (Closeness::default(), AccuracyCounter::default());
    let read = |file: &Path| npy::read(file, "output").map_err(|error| error.to_string());
    let mut is_labelled = true;
    let mut no_choice = None;
    for (batch, (truth, output)) in feed.batches.iter().zip(truth.iter().zip(outputs)) {
        let (truth, output) = (read(truth)?, read(output)?);
        no_choice = no_choice.or_else(|| why_no_choice(&truth.spec.dims, feed.size));
        let output = output.to_f64();
        closeness
            .add(&truth.to_f64(), &output, feed.size)
            .map_err(|error| error.to_string())?;
        match &batch.labels {
            Some(labels) if no_choice.is_none() => ranking
                .add(&output, labels)
                .map_err(|error| error.to_string())?,
            _ => is_labelled = false,
        }
    }
    let agreement = closeness.finish();
    let hits = |share: powerband_core::stats::share::Share| HitCount {
        hits: share.hits,
        of: share.of,
    };
    let trouble = (agreement.figures.is_none()).then(|| {
        let lost = (agreement.reference_not_finite, agreement.other_not_finite);
        format!(
            "{} of the outputs and {} of the reference's are no finite numbers",
            humanize::count(lost.1),
            humanize::count(lost.0)
        )
    });
    let figures = agreement.figures;
    let ranked = is_labelled.then(|| ranking.finish());
    Ok(Accuracy {
        items: agreement.items,
        distance: figures.as_ref().map(|figures| OutputDistance {
            max_error: figures.max_error,
            mean_error: figures.mean_error,
            relative_error: figures.relative_error,
            worst_cosine: figures.worst_cosine,
            mean_cosine: figures.mean_cosine,
        }),
        same_choice: figures
            .filter(|_| no_choice.is_none())
            .and_then(|figures| figures.top1)
            .map(hits),
        top1: ranked.as_ref().and_then(|ranked| ranked.top1).map(hits),
        top5: ranked.and_then(|ranked| ranked.top5).map(hits),
        trouble,
        no_choice,
        ..begun
    })
}

/// Why the place of the largest value is no choice between classes; nothing where it is one.
fn why_no_choice(dims: &[usize], items: usize) -> Option<String> {
    if ranking::classes_of(dims, items).is_some() {
        return None;
    }
    let dims: Vec<String> = dims.iter().map(ToString::to_string).collect();
    let shape = match dims.len() {
        0 => "a single number".to_owned(),
        _ => dims.join("×"),
    };
    Some(format!(
        "the output of a batch of {items} is {shape}, not one row of class scores for each input"
    ))
}
