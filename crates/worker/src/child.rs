//! The worker's side: reads requests, does them with an engine, writes replies.
//!
//! Runs in its own process, behind the hidden subcommand `worker`. Libraries that write to standard
//! output are diverted to standard error, so that they cannot garble the protocol.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufRead as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, Signal, getrlimit, setrlimit};

use super::command::{self, CommandModel};
use super::measure;
use super::process;
use super::protocol::{Hello, OutputRange, Reply, Request, RunOutput, VERSION, WorkerCase};
use super::streams::{self, Answers, Stream};
use super::supervisor::WorkerError;
use super::worker_group::WorkerGroup;
use crate::engines::generate::Generate;
use crate::engines::{self, Engine, EngineError, LoadRequest, LoadedModel, Runnable};
use powerband_core::base::cancel::CancelToken;
use powerband_core::base::process_spec::ProcessSpec;
use powerband_core::domain::case::CaseOpening;
use powerband_core::domain::setup::Setup;
use powerband_core::domain::setup_report::SetupReport;
use powerband_core::domain::tensor::{Tensor, TensorSpec};
use powerband_devices::process::{forget_peak, peak_bytes};
use powerband_onnx::input_values;
use powerband_onnx::samples::npy;
use powerband_planning::engine_options;

/// Measures models as it is asked, until its standard input closes.
pub fn run() -> io::Result<()> {
    let mut state = WorkerState::default();
    let (own, mut has_opened) = (std::process::id(), false);
    serve(&mut |request| {
        if runs_commands(&request) {
            command::end_with_parent()?;
        }
        if matches!(request, Request::Open { .. }) && !has_opened {
            has_opened = true;
            // Loading the model is none of a case's memory; by now a parent beside it has read that.
            forget_peak(own);
        }
        let mut reply = state.answer(request).unwrap_or_else(Reply::Refused);
        if let Reply::Opened(opening) = &mut reply {
            opening.peak_bytes = peak_bytes(own);
        }
        Ok(reply)
    })
}

/// Answers requests until its standard input closes.
pub fn serve(answer: &mut dyn FnMut(Request) -> io::Result<Reply>) -> io::Result<()> {
    let mut out = private_stdout()?;
    // Should the parent die by SIGKILL, the kernel takes this process along, whatever it is doing.
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL)).unwrap_or_default();
    // Where memory runs out all the same, this process is to go, and not the user's editor.
    std::fs::write("/proc/self/oom_score_adj", "1000").unwrap_or_default();
    let hello = Hello {
        protocol: VERSION,
        program: format!("powerband {}", env!("CARGO_PKG_VERSION")),
        pid: Some(std::process::id()),
    };
    say(&mut out, &hello)?;
    for line in io::stdin().lock().lines() {
        let reply = match serde_json::from_str(&line?) {
            Ok(request) => answer(request)?,
            Err(error) => Reply::Refused(EngineError::Failed(format!(
                "a request that makes no sense: {error}"
            ))),
        };
        say(&mut out, &reply)?;
    }
    Ok(())
}

/// Turns this process into another program, which keeps its input and output and ends with the parent. Returns only
/// where it cannot be started.
pub fn become_program(command: &[OsString]) -> io::Result<()> {
    let [program, args @ ..] = command else {
        return Ok(());
    };
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    Err(process::bare(&ProcessSpec::new(program).args(args)).exec())
}

/// Whether a request loads what is run as commands.
fn runs_commands(request: &Request) -> bool {
    let Request::Load {
        setup,
        model,
        runtime,
        ..
    } = request
    else {
        return false;
    };
    let load = LoadRequest {
        setup,
        model,
        runtime: runtime.as_deref(),
    };
    find(&setup.engine).is_ok_and(|engine| engine.outside(&load).is_some())
}

fn private_stdout() -> io::Result<File> {
    // What a worker starts must not write there.
    let out = rustix::io::fcntl_dupfd_cloexec(io::stdout(), 3)?;
    rustix::stdio::dup2_stdout(io::stderr())?;
    Ok(File::from(out))
}

fn say(out: &mut File, what: &impl serde::Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(what)?;
    line.push(b'\n');
    out.write_all(&line)
}

/// What a worker holds: a model, and the cases that were opened of it.
#[derive(Default)]
struct WorkerState {
    // Declared before the model: what is bound goes before what it is bound to.
    cases: BTreeMap<WorkerCase, Box<dyn Runnable>>,
    model: Option<Box<dyn LoadedModel>>,
    /// Threads that do everything in its place, where the setup has streams.
    streams: Option<WorkerGroup<Stream>>,
}

impl Answers for WorkerState {
    fn answer(&mut self, request: Request) -> Result<Reply, EngineError> {
        if let Request::Load { setup, .. } = &request {
            let streams = engine_options::streams(setup).map_err(EngineError::Unsupported)?;
            if streams > 1 {
                let started = streams::start::<Self>(streams);
                self.streams =
                    Some(started.map_err(|error| EngineError::Failed(error.to_string()))?);
            }
        }
        if let Some(streams) = &mut self.streams {
            let answer = streams.ask_while_waiting(
                &request,
                Duration::MAX,
                &CancelToken::default(),
                &mut || (),
            );
            return answer.map_err(|error| match error {
                WorkerError::Refused(error) => error,
                other => EngineError::Failed(other.to_string()),
            });
        }
        match request {
            Request::Agent(_) => Err(EngineError::Failed(
                "a worker measures, and is no agent of a run".to_owned(),
            )),
            Request::Probe { engine, runtime } => {
                Ok(Reply::Probed(find(&engine)?.probe(runtime.as_deref())?))
            }
            Request::Load {
                setup,
                model,
                name: _,
                runtime,
            } => self.load(&setup, &model, runtime.as_deref()),
            Request::Open {
                case,
                inputs,
                seed,
                feed,
                generate,
            } => match generate {
                Some(generate) => self.open_requests(case, &generate, seed),
                None => self.open(case, &inputs, seed, &feed),
            },
            Request::WarmUp { case, rule, limit } => {
                let warm_up = measure::warm_up(self.case(case)?, &rule, limit)?;
                Ok(Reply::Warm(warm_up))
            }
            Request::Measure { case, rule } => {
                Ok(Reply::Measured(measure::round(self.case(case)?, &rule)?))
            }
            Request::Outputs { case } => Ok(Reply::Outputs(outputs(self.case(case)?)?)),
            Request::Observe { case } => Ok(Reply::Observed(output_ranges(self.case(case)?)?)),
            Request::Close { case } => {
                self.cases.remove(&case);
                Ok(Reply::Closed)
            }
            Request::Examine {
                setup,
                model,
                runtime,
                inputs,
                seed,
                generate,
            } => {
                let engine = find(&setup.engine)?;
                let request = LoadRequest {
                    setup: &setup,
                    model: &model,
                    runtime: runtime.as_deref(),
                };
                let examined =
                    engine.examine(&request, &one_run(&inputs, seed, generate.as_ref())?)?;
                Ok(Reply::Examined(Box::new(examined)))
            }
            Request::Profile { .. } => profiled(&request),
            Request::Save { case, folder } => save(self.case(case)?, &folder),
            Request::Export { .. } => Err(EngineError::Unsupported(
                "this engine has no networks of its own that it could write; torch has".to_owned(),
            )),
        }
    }
}

impl WorkerState {
    fn load(
        &mut self,
        setup: &Setup,
        model: &Path,
        runtime: Option<&Path>,
    ) -> Result<Reply, EngineError> {
        let engine = find(&setup.engine)?;
        limit_memory(setup)?;
        let start = Instant::now();
        let request = LoadRequest {
            setup,
            model,
            runtime,
        };
        let loaded_model: Box<dyn LoadedModel> = match engine.outside(&request) {
            Some(outside) => Box::new(CommandModel::new(outside?)?),
            None => engine.load(&request)?,
        };
        let whole_ns = start.elapsed().as_nanos() as u64;
        let loaded = loaded_model.loaded();
        let report = SetupReport {
            engine: loaded.engine.clone(),
            library: loaded.library.clone(),
            threads: loaded.threads,
            start_ns: 0,
            library_ns: loaded.library_ns,
            load_ns: whole_ns.saturating_sub(loaded.library_ns + loaded.check_ns),
            empty_run_ns: measure::empty_run_ns(),
            clock_ns: measure::clock_ns(),
            own_weights: false,
            notes: loaded.notes.clone(),
        };
        self.model = Some(loaded_model);
        Ok(Reply::Loaded(report))
    }

    fn open(
        &mut self,
        case: WorkerCase,
        inputs: &[TensorSpec],
        seed: u64,
        feed: &[PathBuf],
    ) -> Result<Reply, EngineError> {
        let model = self
            .model
            .as_mut()
            .ok_or_else(|| EngineError::Failed("no model was loaded".to_owned()))?;
        let tensors = if feed.is_empty() {
            input_tensors(inputs, seed)?
        } else {
            file_tensors(inputs, feed)?
        };
        let start = Instant::now();
        let mut runnable = model.open(&tensors, case.point.batch())?;
        let open_ns = start.elapsed().as_nanos() as u64;
        // Values from files are fed for their outputs; the time that this takes is not measured.
        let first_run_ns = if feed.is_empty() {
            runnable.timed_run()?
        } else {
            0
        };
        let mut feeding = model.loaded().feeding.to_owned();
        let fills = TensorSpec::fills_text(inputs).filter(|_| feed.is_empty() && model.feeds());
        if let Some(fills) = fills {
            feeding = format!("{feeding}; {fills}");
        }
        self.cases.insert(case, runnable);
        Ok(Reply::Opened(CaseOpening {
            open_ns,
            first_run_ns,
            feeding,
            peak_bytes: None,
        }))
    }

    /// Makes ready for requests to a language model, and does one.
    fn open_requests(
        &mut self,
        case: WorkerCase,
        generate: &Generate,
        seed: u64,
    ) -> Result<Reply, EngineError> {
        let model = self
            .model
            .as_mut()
            .ok_or_else(|| EngineError::Failed("no model was loaded".to_owned()))?;
        let start = Instant::now();
        let mut runnable = model.open_requests(generate, seed)?;
        let open_ns = start.elapsed().as_nanos() as u64;
        let first_run_ns = runnable.timed_run()?;
        let feeding = model.feeding_of_requests().to_owned();
        self.cases.insert(case, runnable);
        Ok(Reply::Opened(CaseOpening {
            open_ns,
            first_run_ns,
            feeding,
            peak_bytes: None,
        }))
    }

    fn case(&mut self, case: WorkerCase) -> Result<&mut dyn Runnable, EngineError> {
        match self.cases.get_mut(&case) {
            Some(runnable) => Ok(runnable.as_mut()),
            None => Err(EngineError::Failed("this case was not opened".to_owned())),
        }
    }
}

fn find(engine: &str) -> Result<&'static dyn Engine, EngineError> {
    engines::find(engine)
        .ok_or_else(|| EngineError::Unsupported(format!("this worker has no engine \"{engine}\"")))
}

/// Has an engine run a model and watch itself.
fn profiled(request: &Request) -> Result<Reply, EngineError> {
    let Request::Profile {
        setup,
        model,
        runtime,
        inputs,
        seed,
        folder,
        generate,
        ..
    } = request
    else {
        return Err(EngineError::Failed(
            "nothing to profile was named".to_owned(),
        ));
    };
    let load = LoadRequest {
        setup,
        model,
        runtime: runtime.as_deref(),
    };
    limit_memory(setup)?;
    let inputs = one_run(inputs, *seed, generate.as_ref())?;
    let watched = find(&setup.engine)?.profile(&load, &inputs, folder)?;
    Ok(Reply::Profiled {
        files: watched.files,
        runs: None,
        began_ns: Some(watched.runs.began_ns),
        warm_up: Some(watched.runs.warm_up),
    })
}

fn outputs(model: &mut dyn Runnable) -> Result<Vec<RunOutput>, EngineError> {
    let tensors = model.outputs()?;
    let output = |tensor: Tensor| RunOutput {
        values: tensor.to_f64(),
        spec: tensor.spec,
    };
    Ok(tensors.into_iter().map(output).collect())
}

/// Input tensors: seeded values, or the contents of files.
fn input_tensors(inputs: &[TensorSpec], seed: u64) -> Result<Vec<Tensor>, EngineError> {
    let numbered = (seed..).zip(inputs);
    let tensors = numbered.map(|(seed, spec)| input_values::tensor(spec, seed));
    let tensors: Result<_, _> = tensors.collect();
    tensors.map_err(|error| EngineError::Failed(error.to_string()))
}

/// Made-up values of one run; of requests to a language model, those of the first step after the prompt.
fn one_run(
    inputs: &[TensorSpec],
    seed: u64,
    generate: Option<&Generate>,
) -> Result<Vec<Tensor>, EngineError> {
    generate.map_or_else(
        || input_tensors(inputs, seed),
        |generate| generate.step_inputs(seed),
    )
}

/// Values out of files, which have to be what the model takes.
fn file_tensors(inputs: &[TensorSpec], files: &[PathBuf]) -> Result<Vec<Tensor>, EngineError> {
    let wrong = |what: String| EngineError::Failed(what);
    if inputs.len() != files.len() {
        return Err(wrong(format!(
            "the model takes {} inputs, and {} files were given",
            inputs.len(),
            files.len()
        )));
    }
    let read = inputs.iter().zip(files).map(|(spec, file)| {
        let tensor = npy::read(file, &spec.name).map_err(|error| wrong(error.to_string()))?;
        if (tensor.spec.element, &tensor.spec.dims) != (spec.element, &spec.dims) {
            return Err(wrong(format!(
                "{} holds {} {:?}, and the input {} takes {} {:?}",
                file.display(),
                tensor.spec.element,
                tensor.spec.dims,
                spec.name,
                spec.element,
                spec.dims
            )));
        }
        Ok(tensor)
    });
    read.collect()
}

/// Runs once and writes the outputs down, in the model's order.
fn save(model: &mut dyn Runnable, folder: &Path) -> Result<Reply, EngineError> {
    let tensors = model.outputs()?.into_iter().enumerate();
    let written = tensors.map(|(place, tensor)| {
        let file = folder.join(format!("{place}.npy"));
        fs::write(&file, npy::write(&tensor)).map_err(|error| {
            EngineError::Failed(format!("{} cannot be written: {error}", file.display()))
        })?;
        Ok(file)
    });
    Ok(Reply::Saved(written.collect::<Result<_, EngineError>>()?))
}

/// How far each output reaches; one without a single number that is one is left out.
fn output_ranges(model: &mut dyn Runnable) -> Result<Vec<OutputRange>, EngineError> {
    let tensors = model.outputs()?;
    let reach = tensors.into_iter().filter_map(|tensor| {
        let (low, high) = tensor.value_range()?;
        Some(OutputRange {
            name: tensor.spec.name,
            low,
            high,
        })
    });
    Ok(reach.collect())
}

/// Holds the worker to the setup's limit; without one, on a processor, to the machine's memory, because
/// a model that only runs from swap is not measured but endured.
fn limit_memory(setup: &Setup) -> Result<(), EngineError> {
    let info = rustix::system::sysinfo();
    let machine = (setup.device == "cpu").then(|| u64::from(info.mem_unit) * info.totalram);
    let wanted = engine_options::memory_limit(setup).map_err(EngineError::Unsupported)?;
    if let Some(bytes) = wanted.or(machine) {
        // A limit that the user's login already has can be lowered, never raised.
        let hard = getrlimit(Resource::Data).maximum;
        let bytes = hard.map_or(bytes, |hard| bytes.min(hard));
        let limit = Rlimit {
            current: Some(bytes),
            maximum: Some(bytes),
        };
        setrlimit(Resource::Data, limit).map_err(|error| {
            EngineError::Failed(format!("the memory limit could not be set: {error}"))
        })?;
    }
    Ok(())
}
