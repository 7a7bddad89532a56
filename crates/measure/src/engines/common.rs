//! What every engine's setups may say: copies, devices, streams, rewrites, memory.

use std::path::PathBuf;

use super::{COPIES_KEY, DEVICES_KEY, Key, MOST_COPIES, PRECISION_KEY, STREAMS_KEY, find};
use powerband_core::base::humanize;
use powerband_core::domain::setup::Setup;
use powerband_onnx::rewrite::Precision;
use powerband_onnx::rewrite::ranges::Method;
use powerband_onnx::rewrite::recipe::{Recipe, parse_ranges};

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
pub fn recipe(setup: &Setup) -> Result<Recipe, String> {
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
pub(crate) fn memory_limit(setup: &Setup) -> Result<Option<u64>, String> {
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
pub(super) fn positive(setup: &Setup, key: &str) -> Result<Option<usize>, String> {
    let Some(text) = setup.options.get(key) else {
        return Ok(None);
    };
    text.parse()
        .ok()
        .filter(|n| (1..=4096).contains(n))
        .map(Some)
        .ok_or_else(|| format!("{key}={text} is not a whole number from 1 to 4096"))
}

/// The key for threads, where their number is that of the hardware threads unless a setup says otherwise.
pub(super) const THREADS: Key = Key {
    name: "threads",
    values: "1 to 4096",
    help: "threads that share the matrix products (default: the hardware threads this process may use)",
};

/// Refuses what an engine that knows only the processor and threads cannot do.
pub(super) fn check_cpu_alone(setup: &Setup) -> Result<(), String> {
    if setup.device != "cpu" {
        return Err(format!(
            "{} runs on the cpu alone, not on {}",
            setup.engine, setup.device
        ));
    }
    positive(setup, "threads").map(drop)
}
