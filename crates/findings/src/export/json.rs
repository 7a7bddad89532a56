//! A session as the JSON document that `bench --json` and `show --json` print.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::analysis::case_rows::{self, CaseRow};
use crate::analysis::comparison;
use crate::analysis::device_readings::{CaseReadings, newest_value};
use crate::analysis::energy::Energy;
use crate::analysis::examined;
use crate::analysis::generation::RequestFigures;
use crate::analysis::limits::answer::ExplainedCase;
use crate::analysis::memory::{MemoryKind, MemoryNeed};
use crate::analysis::run_phases;
use crate::analysis::scaling::{self, Scaling};
use crate::export::{profile, with};
use powerband_core::domain::case::{Case, Epoch};
use powerband_core::domain::examination::Examination;
use powerband_core::domain::profile::Profile;
use powerband_core::domain::quantity::Quantity;
use powerband_core::domain::session::{Completion, Session};
use powerband_core::domain::telemetry::{DeviceLoss, DeviceTelemetry, Telemetry, WatchedDevice};
use powerband_core::stats::summary::Summary;

/// The whole document.
pub fn session(session: &Session) -> Value {
    let rows = case_rows::case_rows(session);
    let mut document = json!({
        "name": session.name,
        "created": session.created,
        "completion": match session.completion {
            Completion::Complete => "complete",
            Completion::Cancelled => "cancelled",
            Completion::Interrupted => "interrupted",
        },
        "made_up": session.made_up,
        "model": session.model,
        "published": session.published,
        "plan": session.plan,
        "environment": session.environment,
        "setups": setups(session),
        "cases": rows
            .iter()
            .zip(&session.cases)
            .map(|(row, measured)| with_parts(case(row), measured))
            .collect::<Vec<_>>(),
        "comparisons": comparison::comparisons_with_first(session, &rows)
            .iter()
            .map(super::comparison::document)
            .collect::<Vec<_>>(),
        "scaling": scalings(session, &rows),
        "experiments": ExplainedCase::of_experiments(session, &session.roofs).map(|asked| super::experiments::document(&asked)),
        "profiles": session.profiles.iter().map(profile_of).collect::<Vec<_>>(),
        "roofs": session.roofs,
        "limits": super::limits::of_session(session, &rows),
        "sittings": session.sittings,
        "elapsed_s": session.elapsed_ns as f64 / 1e9,
        "telemetry": telemetry(&session.telemetry),
        "warnings": session.warnings,
    });
    if let Some(fields) = document
        .as_object_mut()
        .filter(|_| !session.machines.is_empty())
    {
        fields.insert("machines".to_owned(), json!(session.machines));
    }
    document
}

/// Which profile there is; what is in it, `kernels --json` prints.
fn profile_of(profile: &Profile) -> Value {
    json!({ "name": profile.name, "case": profile.case, "trace_file": profile.trace_file })
}

/// The gain of replicas over one worker.
fn scalings(session: &Session, rows: &[CaseRow]) -> Vec<Value> {
    let of_one = |found: &Scaling| {
        let gains = found.gains.iter().map(|gain| {
            json!({
                "batch": gain.point.batch(),
                "point": gain.point,
                "efficiency": gain.efficiency,
                "pair": super::comparison::pair(&gain.pair),
            })
        });
        json!({
            "setup": session.setup_spec(found.setup),
            "single": session.setup_spec(found.single),
            "copies": found.replicas,
            "gains": gains.collect::<Vec<_>>(),
        })
    };
    scaling::scaling_rows(session, rows)
        .iter()
        .map(of_one)
        .collect()
}

/// A case with its run phases and training results, where the worker reported them.
fn with_parts(mut document: Value, case: &Case) -> Value {
    let parts = run_phases::phase_rows(case);
    let Some(document_fields) = document.as_object_mut().filter(|_| !parts.is_empty()) else {
        return document;
    };
    let parts = parts.iter().map(
        |part| json!({ "name": part.name, "median_ms": part.median_ns / 1e6, "share": part.share }),
    );
    let epochs: Vec<&Epoch> = case.rounds.iter().flat_map(|round| &round.epochs).collect();
    document_fields.insert("parts".to_owned(), parts.collect());
    document_fields.insert("epochs".to_owned(), json!(epochs));
    document
}

fn setups(session: &Session) -> Vec<Value> {
    let specs = (0..session.plan.setups.len()).map(|setup| session.setup_spec(setup));
    specs
        .zip(&session.reports)
        .enumerate()
        .map(|(place, (setup, report))| {
            json!({
                "setup": setup,
                "report": report,
                "examination": examined::timed_examination(session, place)
                    .map(|timed| examination(&timed.examination)),
                "accuracy": session.accuracies.get(&place),
            })
        })
        .collect()
}

/// What the engine made of the model; the nodes one by one are in the session's file.
fn examination(examined: &Examination) -> Value {
    json!({
        "asked": examined.asked,
        "nodes_before": examined.before,
        "nodes_after": examined.after(),
        "providers": examined.providers(),
        "copies_between_devices": examined.copies().len(),
        "became": examined.fusions.patterns(),
        "added": examined.fusions.added_by_op(),
        "fallback": examined.fallback(),
        "notes": examined.notes,
    })
}

/// The devices that were read and how often; the readings are in the session's file.
fn telemetry(telemetry: &Telemetry) -> Value {
    let devices: Vec<Value> = telemetry
        .tracks
        .iter()
        .map(|track| {
            json!({
                "device": device(&track.device),
                "readings": track.times_ns.len(),
                "lost": track.losses().last().map(lost),
            })
        })
        .collect();
    json!({
        "rate_hz": telemetry.rate_hz,
        "devices": devices,
        "missing": telemetry.missing,
    })
}

/// A device, with what of it does not change.
pub fn device(device: &WatchedDevice) -> Value {
    with(
        device,
        json!({ "kind": device.kind.key(), "machine": device.machine }),
    )
}

/// When and why a device stopped responding.
pub fn lost(lost: &DeviceLoss) -> Value {
    json!({ "at_s": lost.at_ns as f64 / 1e9, "why": lost.why })
}

/// The devices with their newest readings.
pub fn devices_now(telemetry: &Telemetry) -> Value {
    let devices = telemetry.tracks.iter().map(|track| {
        let mut document = device(&track.device);
        document["now"] = newest_values(telemetry, track);
        document["lost"] = track.lost.as_ref().map(lost).into();
        document
    });
    devices.collect()
}

fn newest_values(telemetry: &Telemetry, track: &DeviceTelemetry) -> Value {
    let read = Quantity::ALL.into_iter().filter_map(|quantity| {
        let value = newest_value(telemetry, track, quantity)?;
        Some((quantity.key().to_owned(), Value::from(value)))
    });
    let mut values: Map<String, Value> = read.collect();
    let cores: Vec<f64> = (0..)
        .map_while(|core| newest_value(telemetry, track, Quantity::Core(core)))
        .collect();
    if !cores.is_empty() {
        values.insert("cores_percent".to_owned(), Value::from(cores));
    }
    Value::Object(values)
}

/// The readings of each device during a case, by the device's place in the session's list.
fn devices(watched: &[CaseReadings]) -> Value {
    let devices = watched.iter().map(|device| {
        let extents = device.extents.iter().map(|(quantity, extent)| {
            let extent = json!({
                "min": extent.min,
                "mean": (!quantity.is_counter()).then_some(extent.mean),
                "max": extent.max,
                "readings": extent.readings,
            });
            (quantity.full_key(), extent)
        });
        json!({
            "device": device.device,
            "quantities": extents.collect::<Map<String, Value>>(),
        })
    });
    devices.collect()
}

fn energy(energy: &Result<Energy, String>) -> Value {
    match energy {
        Ok(energy) => {
            let computed = json!({
                "method": energy.method.to_string(),
                "mean_w": energy.mean_w(),
                "net_j": energy.net_j(),
                "gross_j_per_item": energy.gross_j_per_item(),
                "net_j_per_item": energy.net_j_per_item(),
                "items_per_j": energy.items_per_j(),
            });
            with(energy, computed)
        }
        Err(reason) => json!({ "unknown": reason }),
    }
}

fn memory(need: MemoryNeed) -> Value {
    json!({
        "peak_bytes": need.bytes,
        "of": match need.kind {
            MemoryKind::Worker => "the worker, in main memory",
            MemoryKind::CardOfWorker => "the worker, on the card",
            MemoryKind::CardOfAll => "everybody, on the card",
        },
        "capacity_bytes": need.capacity,
    })
}

fn case(row: &CaseRow) -> Value {
    // Several devices may earn a case the same flag.
    let mut evidence: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for flag in &row.flags {
        evidence.entry(flag.name).or_default().push(&flag.evidence);
    }
    let evidence: Map<String, Value> = evidence
        .into_iter()
        .map(|(name, seen)| (name.to_owned(), Value::from(seen.join("; "))))
        .collect();
    json!({
        "setup": row.setup_spec,
        "batch": row.point.batch(),
        "point": row.point,
        "outcome": row.outcome.name(),
        "reason": row.outcome.sentence(),
        "rounds": row.rounds,
        "samples": row.samples,
        "latency_ms": row.latency_ns.as_ref().map(|times| latency(row, times)),
        "ci95_rel": row.ci95_rel(),
        "throughput_per_s": row.throughput_per_s,
        "throughput_by_median_per_s": row.throughput_by_median,
        "of_best": row.of_best,
        "outliers": json!({
            "mild": row.outliers.mild,
            "severe": row.outliers.severe,
            "by_z_score": row.outliers.by_z_score,
            "severe_at_s": row.outliers.severe_at_ns.iter().map(|&ns| ns as f64 / 1e9).collect::<Vec<_>>(),
        }),
        "busy": row.busy,
        "of_peak": row.of_peak,
        "memory": row.memory.map(memory),
        "energy": energy(&row.energy),
        "requests": row.requests.as_ref().map(|found| requests(found, row)),
        "devices": devices(&row.device_readings),
        "flags": row.flags.iter().map(|flag| flag.name).collect::<Vec<_>>(),
        "flag_evidence": evidence,
    })
}

/// Requests to a language model; times in milliseconds.
fn requests(found: &RequestFigures, row: &CaseRow) -> Value {
    // Of what another program states, everything that it states is in a part of its own.
    let counted = found.count > 0;
    let times = |times: &Summary| {
        let ms = |ns: f64| ns / 1e6;
        json!({
            "n": times.n,
            "min": counted.then(|| ms(times.min)),
            "median": ms(times.median),
            "mean": counted.then(|| ms(times.mean)),
            "p90": times.p90.map(ms),
            "p95": times.p95.map(ms),
            "p99": times.p99.map(ms),
            "max": counted.then(|| ms(times.max)),
        })
    };
    let energy = row.energy.as_ref().ok();
    json!({
        "count": found.count,
        "sequences": found.sequences,
        "prompt_tokens": found.prompt_tokens,
        "new_tokens": found.new_tokens,
        "all_prompt_tokens": found.all_prompt_tokens(),
        "all_new_tokens": found.all_new_tokens(),
        "first_token_ms": found.first_token_ns.as_ref().map(times),
        "token_ms": found.later_token_ns.as_ref().map(times),
        "prefill_tokens_per_s": found.prefill_per_s,
        "prefill_of_one_tokens_per_s": found.prefill_of_one_per_s(),
        "decode_tokens_per_s": found.decode_per_s,
        "decode_of_one_tokens_per_s": found.decode_of_one_per_s(),
        "cache_bytes": found.cache_bytes,
        "cache_bytes_per_token": found.cache_bytes_per_token(),
        "stated": found.stated.as_ref().map(profile::generation),
        "j_per_token": energy.and_then(|energy| found.joules_per_token(energy)),
    })
}

fn latency(row: &CaseRow, summary: &Summary) -> Value {
    let ms = |ns: f64| ns / 1e6;
    let of_samples = |ns: f64| (!row.is_stated_only()).then_some(ns / 1e6);
    json!({
        "min": row.min_ns().map(ms),
        "median": ms(summary.median),
        "mean": row.mean_ns().map(ms),
        "p90": summary.p90.map(ms),
        "p95": summary.p95.map(ms),
        "p99": summary.p99.map(ms),
        "p99_9": summary.p99_9.map(ms),
        "mean_inner_half": of_samples(summary.mean_inner_half),
        "q1": of_samples(summary.q1),
        "q3": of_samples(summary.q3),
        "max": row.max_ns().map(ms),
        "std": summary.std.map(ms),
    })
}
