//! Sessions as documents for other programs, figures as pictures, and reports for people.

pub mod claims;
pub mod comparison;
pub mod csv;
pub mod experiments;
pub mod figure_data;
pub mod figure_file;
pub mod fleet;
pub mod html;
pub mod json;
pub mod junit;
pub mod kernels;
pub mod limits;
pub mod markdown;
mod plain_text;
pub mod profile;
pub mod report;
pub mod session_table;
pub mod style;
pub mod svg;
pub mod terminal;
mod text_metrics;
pub mod tree;

use serde::Serialize;
use serde_json::{Value, json};

/// What a value has in a document, with more that is computed of it.
fn with(value: impl Serialize, more: Value) -> Value {
    let mut document = json!(value);
    if let (Value::Object(fields), Value::Object(more)) = (&mut document, more) {
        fields.extend(more);
    }
    document
}
