//! A file dialog of the desktop: what it is to ask for, and what comes of it.

use std::path::PathBuf;
use std::sync::mpsc::Receiver;

/// What a dialog is to ask for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct DialogRequest {
    pub(crate) title: &'static str,
    pub(crate) kind: DialogKind,
    /// Names of file types, each with its endings; `*` stands for every file.
    pub(crate) filters: Vec<(&'static str, Vec<&'static str>)>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum DialogKind {
    /// One file that exists.
    #[default]
    File,
    /// Some files that exist.
    Files,
    /// A folder.
    Folder,
    /// Where to save, with a path to begin with.
    Save(PathBuf),
}

/// The paths that the user chose, none where the dialog was cancelled; nothing at all where there was no dialog.
pub(crate) type Chosen = Option<Vec<PathBuf>>;

/// A dialog that may be open, with the thread that waits for it.
pub(crate) struct DesktopDialog {
    pub(crate) replies: Receiver<Chosen>,
    /// Closes it where the user does not wait for it, without waiting for the desktop.
    pub(crate) close: Box<dyn Fn()>,
}
