//! What every engine's setups may say: copies, devices, streams, rewrites, memory.

use std::path::PathBuf;

use super::key::{Key, MOST, Takes, always, is_elsewhere};
use super::{COPIES_KEY, DEVICES_KEY, MOST_COPIES, PRECISION_KEY, STREAMS_KEY, find};
use crate::transport::{self, PROGRAM_KEY, VIA_KEY, WHERE_KEY};
use powerband_core::base::humanize;
use powerband_core::domain::setup::{
    CORES_KEY, GENERATE, MODEL_KEY, NEIGHBOUR_KEY, Setup, TASK_KEY,
};
use powerband_onnx::rewrite::Precision;
use powerband_onnx::rewrite::ranges::Method;
use powerband_onnx::rewrite::recipe::{Recipe, parse_ranges};

/// More processors than this a mask does not hold.
const MOST_CORES: usize = 1024;

/// Keys that every engine's setup may have, because the worker itself heeds them.
pub const COMMON_KEYS: &[Key] = &[
    Key::new(
        "memory",
        Takes::Text("bytes, e.g. 4GiB", "4GiB"),
        "most memory that the worker may allocate; beyond it the case is out of memory",
    ),
    Key::new(
        PRECISION_KEY,
        Takes::One(&Precision::WORDS),
        "rewrite the model first: weights and arithmetic in other numbers, inputs and outputs as they were",
    )
    .with_default(Precision::WORDS[0])
    .with_control(1, "Precision"),
    Key::new(
        "keep_float",
        Takes::Text("operators or nodes, joined by +", "Softmax"),
        "what stays in fp32 where the model is rewritten",
    ),
    Key::new(
        "calibration",
        Takes::Folder("a folder of pictures or .npz files, a CSV, or .npy files"),
        "inputs that the ranges of 8-bit values are found with",
    )
    .with_default("16 seeded ones"),
    Key::new(
        "ranges",
        Takes::OneOr(&["minmax", "percentile"], "percentile:99.9"),
        "how the ranges of 8-bit values follow from what was seen",
    )
    .with_default("minmax"),
    Key::new(
        "fixed_batch",
        Takes::Count(MOST),
        "rewrite the model first: this batch size is written into it, which some engines optimise better",
    ),
    Key::new(
        COPIES_KEY,
        Takes::Count(MOST_COPIES as u32),
        "so many workers share each batch and begin together; threads are shared out where threads= does not say",
    )
    .with_default("1")
    .with_control(4, "Replicas"),
    Key::new(
        DEVICES_KEY,
        Takes::Text("numbers, e.g. \"0,1\"", "0+1"),
        "the devices of the copies, one after the other",
    )
    .with_default("the setup's device for all"),
    Key::new(
        STREAMS_KEY,
        Takes::Count(MOST_COPIES as u32),
        "so many threads of one worker share each batch, each with a session of its own",
    )
    .with_default("1"),
    Key::new(
        MODEL_KEY,
        Takes::Path("a network or a file"),
        "run this model instead of the plan's, in turns with it: two versions of a network compared",
    ),
    Key::new(
        CORES_KEY,
        Takes::Text("numbers of processors, e.g. 0-3 or 0+2", "0"),
        "the worker and all its threads stay on these processors",
    )
    .with_default("all that this process may use"),
    Key::new(
        NEIGHBOUR_KEY,
        Takes::One(&NEIGHBOURS),
        "a process beside each run, on the processors that cores= leaves: it streams memory, or computes from registers",
    ),
    Key::new(
        WHERE_KEY,
        Takes::OneOr(&["here"], "a machine of the settings, or ssh:HOST"),
        "the machine that the worker runs on",
    )
    .running(is_elsewhere)
    .with_default("this machine")
    .called("Machine"),
    Key::new(
        VIA_KEY,
        Takes::Text("words, e.g. \"kubectl exec -i pod --\"", "env"),
        "words in front of the worker's command that run it on another machine and carry its input and output",
    )
    .running(always),
    Key::new(
        "slurm.*",
        Takes::Text("options of salloc, e.g. slurm.gres=gpu:1", "1"),
        "what the scheduler of where=slurm is asked for: gres, nodelist, account, constraint, time and others",
    )
    .running(always),
    Key::new(
        PROGRAM_KEY,
        Takes::Text("a path over there", "/opt/powerband"),
        "this program on the machine of where= or via=, which is sent there otherwise",
    )
    .running(always),
];

/// Refuses values of those keys that make no sense.
pub(super) fn check(setup: &Setup) -> Result<(), String> {
    memory_limit(setup)?;
    rewrite_recipe(setup)?;
    copies(setup)?;
    streams(setup)?;
    transport::check(setup)?;
    cores(setup)?;
    background_work(setup)?;
    Ok(())
}

/// Words of `neighbour=`.
const NEIGHBOURS: [&str; 2] = ["stream", "compute"];

/// The background load of `neighbour=` during a setup's runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackgroundWork {
    /// It streams memory.
    Streams,
    /// It computes from registers.
    Computes,
}

/// The processors that the setup's worker stays on, ascending; none where it does not say.
pub fn cores(setup: &Setup) -> Result<Vec<usize>, String> {
    let Some(text) = setup.options.get(CORES_KEY) else {
        return Ok(Vec::new());
    };
    let refused =
        || format!("{CORES_KEY}={text} is no list of processors; write for example 0-3 or 0+2");
    let number = |text: &str| {
        let number: Option<usize> = text.trim().parse().ok();
        number.filter(|core| *core < MOST_CORES).ok_or_else(refused)
    };
    let mut cores = Vec::new();
    for part in text.split([',', '+']) {
        let (first, last) = match part.split_once('-') {
            Some((first, last)) => (number(first)?, number(last)?),
            None => (number(part)?, number(part)?),
        };
        if first > last {
            return Err(refused());
        }
        cores.extend(first..=last);
    }
    if setup.is_elsewhere() {
        return Err(format!(
            "{CORES_KEY}= holds a worker to processors of this machine; leave {WHERE_KEY}= and {VIA_KEY}= out"
        ));
    }
    cores.sort_unstable();
    cores.dedup();
    Ok(cores)
}

/// What a neighbour does beside the setup's runs; nothing where it has none.
pub fn background_work(setup: &Setup) -> Result<Option<BackgroundWork>, String> {
    let beside = match setup.options.get(NEIGHBOUR_KEY).map(String::as_str) {
        None => return Ok(None),
        Some("stream") => BackgroundWork::Streams,
        Some("compute") => BackgroundWork::Computes,
        Some(other) => {
            return Err(format!(
                "{NEIGHBOUR_KEY}={other} is not known, only {}",
                NEIGHBOURS.join(" and ")
            ));
        }
    };
    if cores(setup)?.is_empty() {
        return Err(format!(
            "{NEIGHBOUR_KEY}= needs {CORES_KEY}=, which leaves processors for the neighbour; for example {CORES_KEY}=0"
        ));
    }
    Ok(Some(beside))
}

/// The key for what a run is, of engines that run files.
pub const TASK: Key = Key::new(
    TASK_KEY,
    Takes::One(&["infer", GENERATE]),
    "what a run is: the network once, or with generate a whole request to a decoder with past key/values, prompt and new tokens (dimensions prompt and new)",
)
.with_default("infer");

/// Refuses what does not go with requests to a language model.
pub fn check_task(setup: &Setup) -> Result<(), String> {
    if !setup.is_generate_task() {
        return match setup.options.get(TASK_KEY).map(String::as_str) {
            None | Some("infer") => Ok(()),
            Some(other) => Err(format!(
                "task={other} is not known, only infer and {GENERATE}"
            )),
        };
    }
    let key = [COPIES_KEY, DEVICES_KEY, STREAMS_KEY];
    let shared = key.into_iter().find(|key| setup.options.contains_key(*key));
    shared.map_or(Ok(()), |key| {
        Err(format!(
            "{key}= shares a batch, and a request of task={GENERATE} is not shared; leave one of them out"
        ))
    })
}

/// How many workers the setup has: as many as it says, else one for each device that it names.
pub fn copies(setup: &Setup) -> Result<usize, String> {
    let devices = devices(setup)?;
    if !devices.is_empty() && setup.device == "cpu" {
        return Err(
            "devices= numbers cards; the cpu is one device, write copies= alone".to_owned(),
        );
    }
    let copies = positive(setup, COPIES_KEY)?.unwrap_or_else(|| devices.len().max(1));
    if copies > MOST_COPIES {
        return Err(format!("copies={copies} is more than {MOST_COPIES}"));
    }
    if copies % devices.len().max(1) != 0 {
        return Err(format!(
            "{copies} copies do not share {} devices evenly",
            devices.len()
        ));
    }
    Ok(copies)
}

/// How many threads of one worker share each batch.
pub fn streams(setup: &Setup) -> Result<usize, String> {
    let streams = positive(setup, STREAMS_KEY)?.unwrap_or(1);
    if streams == 1 {
        return Ok(1);
    }
    if streams > MOST_COPIES {
        return Err(format!("streams={streams} is more than {MOST_COPIES}"));
    }
    if copies(setup)? > 1 {
        return Err("streams= and copies= exclude each other; give one of them".to_owned());
    }
    let is_ours = find(&setup.engine).is_some_and(|e| e.takes_files() && e.stands_alone());
    if !is_ours {
        return Err(format!(
            "streams= is for engines within Powerband's own worker; {} takes copies=",
            setup.engine
        ));
    }
    Ok(streams)
}

/// The numbers of the devices that the setup names for its copies; none where it names none.
pub fn devices(setup: &Setup) -> Result<Vec<u32>, String> {
    let Some(text) = setup.options.get(DEVICES_KEY) else {
        return Ok(Vec::new());
    };
    let numbers = text.split([',', '+']).map(|number| {
        let number = number.trim();
        number.parse().map_err(|_odd| {
            format!("devices={text}: \"{number}\" is no number of a device; write for example devices=0+1")
        })
    });
    numbers.collect()
}

/// What the setup wants done to its model first.
pub fn rewrite_recipe(setup: &Setup) -> Result<Recipe, String> {
    let option = |key: &str| setup.options.get(key).map(String::as_str);
    let precision = option(PRECISION_KEY).map(str::parse::<Precision>);
    let leave_out =
        option("keep_float").map(|text| text.split('+').map(|name| name.trim().to_owned()));
    let recipe = Recipe {
        precision: precision
            .transpose()
            .map_err(|error| error.to_string())?
            .unwrap_or_default(),
        batch: positive(setup, "fixed_batch")?,
        leave_out: leave_out.into_iter().flatten().collect(),
        calibration: option("calibration").map(PathBuf::from),
        ranges: option("ranges").map_or(Ok(Method::MinMax), parse_ranges)?,
    };
    recipe.check()?;
    Ok(recipe)
}

/// The most memory that the setup's worker may allocate, in bytes.
pub fn memory_limit(setup: &Setup) -> Result<Option<u64>, String> {
    let Some(text) = setup.options.get("memory") else {
        return Ok(None);
    };
    humanize::parse_bytes(text)
        .filter(|bytes| *bytes > 0)
        .map(Some)
        .ok_or_else(|| {
            format!("memory={text} is no amount of memory; write bytes or for example 4GiB")
        })
}

/// A whole number above zero from a setup's options.
pub fn positive(setup: &Setup, key: &str) -> Result<Option<usize>, String> {
    let Some(text) = setup.options.get(key) else {
        return Ok(None);
    };
    text.parse()
        .ok()
        .filter(|n| (1..=4096).contains(n))
        .map(Some)
        .ok_or_else(|| format!("{key}={text} is not a whole number from 1 to 4096"))
}

/// Refuses what an engine that knows only the processor and threads cannot do.
pub fn check_cpu_alone(setup: &Setup) -> Result<(), String> {
    if setup.device != "cpu" {
        return Err(format!(
            "{} runs on the cpu alone, not on {}",
            setup.engine, setup.device
        ));
    }
    positive(setup, "threads").map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_are_read_as_the_system_writes_them() {
        let read = |spec: &str| cores(&spec.parse().unwrap());
        assert_eq!(read("rten"), Ok(Vec::new()));
        assert_eq!(read("rten,cores=0-2+5"), Ok(vec![0, 1, 2, 5]));
        assert_eq!(read("rten,cores=\"3,1-2,1\""), Ok(vec![1, 2, 3]));
        for wrong in [
            "rten,cores=",
            "rten,cores=2-1",
            "rten,cores=a",
            "rten,cores=0-99999",
        ] {
            assert!(
                read(wrong).unwrap_err().contains("for example 0-3"),
                "{wrong}"
            );
        }
    }

    #[test]
    fn a_neighbour_needs_processors_of_its_own() {
        let read = |spec: &str| background_work(&spec.parse().unwrap());
        assert_eq!(read("rten"), Ok(None));
        assert_eq!(
            read("rten,cores=0,neighbour=stream"),
            Ok(Some(BackgroundWork::Streams))
        );
        let elsewhere = read("rten,cores=0,neighbour=stream,where=ssh:host");
        assert!(elsewhere.unwrap_err().contains("this machine"));
        assert!(
            read("rten,neighbour=stream")
                .unwrap_err()
                .contains("cores=")
        );
        assert!(
            read("rten,cores=0,neighbour=loud")
                .unwrap_err()
                .contains("compute")
        );
    }
}
