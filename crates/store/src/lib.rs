//! Sessions on disk: one readable file each, a journal while a run goes on, a folder for all.

pub mod bundle;
pub mod changes_tally;
mod edit;
pub mod examples;
pub mod gate_plan;
mod head;
pub mod installation;
pub mod journal;
pub mod library;
pub mod migrate;
pub mod own_file;
mod packed_json;
mod packed_parts;
pub mod packed_trace;
pub mod programs;
pub mod recoverable;
pub mod ron_keys;
pub mod roofs_file;
pub mod session_copy;
pub mod session_file;
pub mod settings;
#[cfg(test)]
mod testing;
pub mod trace_file;
mod trace_lines;
pub mod trace_notes;
pub mod trash;
pub mod version;
mod version_1;
