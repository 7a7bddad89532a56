//! The desktop's file dialog: asked of its portal over the session bus, or through rfd where no portal has dialogs. rfd
//! would ask the portal, too, but through a library that ends the whole program when the session bus ends.
//!
//! A call blocks until the user has chosen, so each dialog has a thread. A portal that hangs, ends, or
//! whose bus ends leads to no dialog, and the caller has a field for the path instead.

use std::collections::HashMap;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use zbus::blocking::{Connection, MessageIterator};
use zbus::message::{Message, Type};
use zbus::zvariant::{OwnedObjectPath, OwnedValue, Value};

use eframe::egui::Context;

use super::dialog_request::{Chosen, DesktopDialog, DialogKind, DialogRequest};
use super::portal::{self, BUS, BUS_OBJECT, DIALOGS, OBJECT, PORTAL};
use powerband_core::base::clock;

/// The interface of a dialog that is open.
const REQUEST: &str = "org.freedesktop.portal.Request";
/// A dialog that is cancelled faster than this was never shown.
const TOO_FAST: Duration = Duration::from_millis(600);

/// A dialog of the portal that may be open, to be closed from another thread.
#[derive(Clone, Default)]
struct OpenDialog(Arc<Mutex<DialogState>>);

#[derive(Default)]
struct DialogState {
    open: Option<(Connection, OwnedObjectPath)>,
    /// Whether the user does not wait for it any more.
    is_unwanted: bool,
}

impl OpenDialog {
    fn state(&self) -> MutexGuard<'_, DialogState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that it is open; one that came too late is closed.
    fn set(&self, connection: &Connection, handle: &OwnedObjectPath) {
        let mut state = self.state();
        state.open = Some((connection.clone(), handle.clone()));
        if state.is_unwanted {
            drop(state);
            self.close();
        }
    }

    /// Closes it, if it is open. Blocks for a moment.
    fn close(&self) {
        let mut state = self.state();
        state.is_unwanted = true;
        let open = state.open.take();
        drop(state);
        if let Some((connection, handle)) = open {
            // Where the portal does not answer there is nothing to close.
            drop(connection.call_method(Some(PORTAL), &handle, Some(REQUEST), "Close", &()));
        }
    }
}

/// Opens a dialog; nothing where no thread can wait for it.
pub(crate) fn open_dialog(wanted: DialogRequest, ctx: Context) -> Option<DesktopDialog> {
    let (sender, replies) = sync_channel(1);
    let dialog = OpenDialog::default();
    let open = dialog.clone();
    let started = thread::Builder::new()
        .name("file-dialog".to_owned())
        .spawn(move || {
            let reply = ask(&wanted, &open);
            // The answer is dropped if the window closed before the dialog did.
            if sender.send(reply).is_ok() {
                ctx.request_repaint();
            }
        });
    started.ok()?;
    let close = move || {
        let dialog = dialog.clone();
        let started = thread::Builder::new()
            .name("close-dialog".to_owned())
            .spawn(move || dialog.close());
        // Without the thread the user closes it.
        drop(started);
    };
    Some(DesktopDialog {
        replies,
        close: Box::new(close),
    })
}

/// Shows a dialog and waits for the user.
fn ask(wanted: &DialogRequest, dialog: &OpenDialog) -> Chosen {
    let asked = portal::connect(portal::STARTING)
        .and_then(|connection| ask_portal(&connection, wanted, dialog));
    let mut state = dialog.state();
    state.open = None;
    let is_unwanted = state.is_unwanted;
    drop(state);
    if asked.is_some() || is_unwanted {
        return asked;
    }
    ask_rfd(wanted)
}

fn ask_portal(connection: &Connection, wanted: &DialogRequest, dialog: &OpenDialog) -> Chosen {
    // Every message of this connection: the answer, and that the portal ended.
    let mut messages = MessageIterator::from(connection.clone());
    let token = format!("powerband_{:x}", clock::entropy());
    let own = connection
        .unique_name()?
        .trim_start_matches(':')
        .replace('.', "_");
    for rule in [
        format!("type='signal',sender='{PORTAL}',interface='{REQUEST}',member='Response'"),
        format!("type='signal',sender='{BUS}',member='NameOwnerChanged',arg0='{PORTAL}'"),
    ] {
        let added = connection.call_method(Some(BUS), BUS_OBJECT, Some(BUS), "AddMatch", &rule);
        added.ok()?;
    }
    let method = match wanted.kind {
        DialogKind::Save(_) => "SaveFile",
        _ => "OpenFile",
    };
    let begun = Instant::now();
    let arguments = ("", wanted.title, options(wanted, &token));
    let reply = connection.call_method(Some(PORTAL), OBJECT, Some(DIALOGS), method, &arguments);
    let handle: OwnedObjectPath = reply.ok()?.body().deserialize().ok()?;
    dialog.set(connection, &handle);
    // Portals of before 2017 choose a path of their own.
    let usual = format!("{OBJECT}/request/{own}/{token}");
    while let Some(Ok(message)) = messages.next() {
        if message.message_type() != Type::Signal {
            continue;
        }
        match member(&message).as_str() {
            "NameOwnerChanged" if has_ended(&message) => return None,
            "Response" if is_at(&message, &[&usual, handle.as_str()]) => {
                return chosen(&message, begun.elapsed());
            }
            _ => {}
        }
    }
    // The bus ended.
    None
}

fn member(message: &Message) -> String {
    let header = message.header();
    header.member().map(ToString::to_string).unwrap_or_default()
}

fn is_at(message: &Message, paths: &[&str]) -> bool {
    let header = message.header();
    header
        .path()
        .is_some_and(|path| paths.contains(&path.as_str()))
}

/// Whether a change of the portal's owner leaves it without one.
fn has_ended(message: &Message) -> bool {
    let body = message.body();
    let owners: Result<(&str, &str, &str), _> = body.deserialize();
    owners.is_ok_and(|(name, _, now)| name == PORTAL && now.is_empty())
}

/// What the portal answers. It says 1 where the user cancelled, and 2 where the dialog ended in another way, as when its
/// window was closed.
fn chosen(message: &Message, took: Duration) -> Chosen {
    let body = message.body();
    let (code, results): (u32, HashMap<String, OwnedValue>) = body.deserialize().ok()?;
    match code {
        0 => {
            let uris = results.get("uris")?.try_clone().ok()?;
            let uris: Vec<String> = uris.try_into().ok()?;
            Some(uris.iter().filter_map(|uri| path_of(uri)).collect())
        }
        1 | 2 => was_cancelled(took).then(Vec::new),
        _ => None,
    }
}

/// Whether a dialog without a path was seen and cancelled by the user.
fn was_cancelled(took: Duration) -> bool {
    took >= TOO_FAST
}

fn options<'a>(wanted: &'a DialogRequest, token: &'a str) -> HashMap<&'static str, Value<'a>> {
    let mut options = HashMap::from([("handle_token", Value::from(token))]);
    match &wanted.kind {
        DialogKind::File => {}
        DialogKind::Files => drop(options.insert("multiple", Value::from(true))),
        DialogKind::Folder => drop(options.insert("directory", Value::from(true))),
        DialogKind::Save(path) => {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            options.insert("current_name", Value::from(name.into_owned()));
            if let Some(folder) = path.parent() {
                // A path ends with a zero byte there.
                let mut bytes = folder.as_os_str().as_bytes().to_vec();
                bytes.push(0);
                options.insert("current_folder", Value::from(bytes));
            }
        }
    }
    let filters: Vec<(&str, Vec<(u32, String)>)> = wanted
        .filters
        .iter()
        .map(|(name, endings)| (*name, endings.iter().map(|end| (0, glob(end))).collect()))
        .collect();
    if !filters.is_empty() {
        options.insert("filters", Value::from(filters));
    }
    options
}

fn glob(ending: &str) -> String {
    match ending {
        "*" => "*".to_owned(),
        ending => format!("*.{ending}"),
    }
}

/// The path of a `file://` URI, whose unusual bytes are written as `%20`.
fn path_of(uri: &str) -> Option<PathBuf> {
    let mut bytes = uri.strip_prefix("file://")?.bytes();
    let mut path = Vec::new();
    while let Some(byte) = bytes.next() {
        path.push(match byte {
            b'%' => {
                let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
                let number = digit(bytes.next())? * 16 + digit(bytes.next())?;
                u8::try_from(number).ok()?
            }
            byte => byte,
        });
    }
    Some(PathBuf::from(OsString::from_vec(path)))
}

/// The dialog of what else the desktop has, of zenity for example.
fn ask_rfd(wanted: &DialogRequest) -> Chosen {
    let begun = Instant::now();
    let mut dialog = rfd::FileDialog::new().set_title(wanted.title);
    for (name, endings) in &wanted.filters {
        dialog = dialog.add_filter(*name, endings);
    }
    let one = |path: Option<PathBuf>| path.map(|path| vec![path]);
    let chosen = match &wanted.kind {
        DialogKind::File => one(dialog.pick_file()),
        DialogKind::Files => dialog.pick_files(),
        DialogKind::Folder => one(dialog.pick_folder()),
        DialogKind::Save(path) => one(starting_at(path, dialog).save_file()),
    };
    // It says the same where the user cancelled and where there was no dialog.
    chosen.or_else(|| was_cancelled(begun.elapsed()).then(Vec::new))
}

/// A dialog that begins at a path.
fn starting_at(path: &Path, dialog: rfd::FileDialog) -> rfd::FileDialog {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let dialog = dialog.set_file_name(name);
    match path.parent() {
        Some(folder) => dialog.set_directory(folder),
        None => dialog,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_come_out_of_uris() {
        for (uri, path) in [
            ("file:///a/b.ron", Some("/a/b.ron")),
            ("file:///with%20space/%C3%BC.ron", Some("/with space/ü.ron")),
            ("file:///cut%2", None),
            ("file:///no%zz", None),
            ("https://example.org/a", None),
        ] {
            assert_eq!(path_of(uri), path.map(PathBuf::from), "{uri}");
        }
    }

    #[test]
    fn a_dialog_that_ends_at_once_was_not_seen() {
        assert!(!was_cancelled(TOO_FAST / 2) && was_cancelled(TOO_FAST));
    }
}
