//! How files are read: streams, numbers, text, tables, databases, pickles.

pub mod by_id;
pub mod chunks;
pub(crate) mod gunzip;
pub mod head;
pub mod json;
pub mod limits;
pub mod lines;
pub(crate) mod messages;
pub(crate) mod pickle;
pub mod progress_reader;
pub(crate) mod protobuf;
pub mod read_progress;
pub mod rows;
pub mod source;
pub mod sqlite;
pub mod standard_input;
pub mod table;
pub mod utf16;
