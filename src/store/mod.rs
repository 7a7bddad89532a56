//! Sessions on disk: one readable file each, a journal while a run goes on, a folder for all.

pub mod journal;
pub mod library;
pub mod migrate;
pub mod session_file;
pub mod settings;
pub mod version;
