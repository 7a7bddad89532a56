//! Texts of a session by their fields: which of them a person may have typed, and which name files.

use serde_json::Value;

use super::session::Session;

/// Fields of a session whose texts are one of a few words, or numbers of devices: no text that a person wrote.
const FIXED: [&str; 26] = [
    "access",
    "arch",
    "change",
    "completion",
    "created",
    "element",
    "engine",
    "extreme",
    "format",
    "id",
    "keeping",
    "kind",
    "level",
    "load",
    "measured",
    "metric",
    "numbers",
    "outcome",
    "phase",
    "preset",
    "profiling",
    "quantity",
    "samples_ns",
    "sha256",
    "source",
    "trace_file",
];
/// Fields of a session that name a file, and options of setups that do.
const FILES: [&str; 3] = ["file", "File", "samples"];
const FILE_OPTIONS: [&str; 7] = [
    "calibration",
    "library",
    "loop",
    "model",
    "python",
    "remote_program",
    "runtime",
];

/// A field of a session's document, below the two that it is in.
pub(super) type FieldPath<'a> = [&'a str; 3];

pub(super) fn is_fixed(at: FieldPath<'_>) -> bool {
    match at {
        // How an input is filled, a setup's device, and what points call a dimension.
        ["plan", "inputs", _] | [_, "setups" | "roofs", "device"] | [_, "dims", "name"] => true,
        [.., key] => FIXED.contains(&key),
    }
}

pub(super) fn is_file(at: FieldPath<'_>) -> bool {
    match at {
        [_, "plan", "model"] => true,
        [_, "options", key] => FILE_OPTIONS.contains(&key),
        [.., key] => FILES.contains(&key),
    }
}

/// Whether the keys of an object are names of inputs or settings, and not of fields.
pub(super) fn has_free_keys(at: FieldPath<'_>) -> bool {
    matches!(
        at,
        [_, "plan", "shapes" | "inputs"] | ["examinations", _, "before"]
    )
}

/// Calls `take` with every text of a session and the name of its field; a pair of texts is a name and a text as well.
pub(super) fn each_session_text(session: &Session, mut take: impl FnMut(&str, &str)) {
    if let Ok(value) = serde_json::to_value(session) {
        each_value_text(&value, [""; 3], &mut take);
    }
}

fn each_value_text(value: &Value, at: FieldPath<'_>, take: &mut impl FnMut(&str, &str)) {
    match value {
        Value::String(text) if !is_fixed(at) => take(at[2], text),
        Value::Array(items) => {
            if let [Value::String(name), Value::String(text)] = items.as_slice() {
                take(name, text);
            }
            for item in items {
                each_value_text(item, at, take);
            }
        }
        Value::Object(entries) => {
            for (key, value) in entries {
                if has_free_keys(at) {
                    take("", key);
                }
                each_value_text(value, [at[1], at[2], key], take);
            }
        }
        _ => {}
    }
}
