//! The options of a setup, applied to a session of ONNX Runtime.

use ort::session::builder::{GraphOptimizationLevel, SessionBuilder};

use powerband_devices::cores::Cores;
use powerband_planning::engine_options::onnxruntime::{OptimisationLevel, OrtOptions};

/// ONNX Runtime's name for the processors of its pool.
const AFFINITIES: &str = "session.intra_op_thread_affinities";
/// Applies the options of a setup to a session builder.
pub(super) fn apply(
    options: &OrtOptions,
    mut builder: SessionBuilder,
) -> ort::Result<SessionBuilder> {
    builder = builder.with_optimization_level(level(options.level))?;
    if let Some(threads) = options.threads {
        builder = builder.with_intra_threads(threads)?;
    }
    if let Some(parallel) = options.parallel {
        builder = builder.with_parallel_execution(parallel)?;
    }
    if let Some(threads) = options.inter_threads {
        builder = builder.with_inter_threads(threads)?;
    }
    if let Some(spinning) = options.spinning {
        builder = builder.with_intra_op_spinning(spinning)?;
        builder = builder.with_inter_op_spinning(spinning)?;
    }
    if let Some(pinned) = pinned_pool(options) {
        builder = builder.with_config_entry(AFFINITIES, pinned)?;
    }
    if let Some(pattern) = options.memory_pattern {
        builder = builder.with_memory_pattern(pattern)?;
    }
    Ok(builder)
}

/// The processors of the threads of its pool as ONNX Runtime wants them, counted from 1; the thread that
/// calls it is none of the pool. Nothing where threads are not pinned, or there is none beside that one.
fn pinned_pool(options: &OrtOptions) -> Option<String> {
    let cores = pinned_cores(options).ok()?;
    let pool: Vec<String> = cores
        .iter()
        .skip(1)
        .map(|core| (core + 1).to_string())
        .collect();
    (!pool.is_empty()).then(|| pool.join(";"))
}

/// A processor for each thread, that of the calling one first; none where threads are not pinned.
pub(super) fn pinned_cores(options: &OrtOptions) -> Result<Vec<usize>, String> {
    let threads = options.threads.filter(|_| options.pinning).unwrap_or(0);
    let mut cores = Cores::here().one_by_one();
    if cores.len() < threads {
        return Err(format!(
            "pinning=on gives each of {threads} threads a processor of its own, and there are {} that this process may use",
            cores.len()
        ));
    }
    cores.truncate(threads);
    Ok(cores)
}

fn level(level: OptimisationLevel) -> GraphOptimizationLevel {
    match level {
        OptimisationLevel::None => GraphOptimizationLevel::Disable,
        OptimisationLevel::Basic => GraphOptimizationLevel::Level1,
        OptimisationLevel::Extended => GraphOptimizationLevel::Level2,
        OptimisationLevel::All => GraphOptimizationLevel::All,
    }
}
