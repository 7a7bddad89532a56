//! A display that ends while the window is open: an X server that is killed, or a connection that breaks.
//!
//! libX11 calls a function then that must not return. Its own one prints a line about the connection and ends
//! with status 1, which means a regression here. Ours says what happens to a run and ends with the status of
//! trouble. Wayland reports the same as an error of the event loop, which `window.rs` receives.

#![expect(
    unsafe_code,
    reason = "a function of libX11, which is found at run time"
)]

use std::ffi::{c_int, c_void};
use std::io::{self, Write as _};
use std::panic;
use std::sync::atomic::{AtomicBool, Ordering};

use libloading::os::unix::{Library, RTLD_LAZY};
use signal_hook::low_level;

/// The library, as the window library loads it too.
const LIBRARY: &str = "libX11.so.6";
/// For `dlopen`: only a library that is loaded already. The same number in glibc and musl.
const ONLY_IF_LOADED: c_int = 4;
/// Exit status of the program where something did not end as planned.
const TROUBLE: c_int = 2;

/// `XIOErrorHandler`.
type Handler = extern "C" fn(*mut c_void) -> c_int;
/// `XSetIOErrorHandler`.
type SetHandler = unsafe extern "C" fn(Option<Handler>) -> Option<Handler>;

/// Whether a run goes on, for when libX11 asks for the end.
static IS_RUNNING: AtomicBool = AtomicBool::new(false);

/// Keeps whether a run goes on.
pub(crate) fn note_running(is_running: bool) {
    IS_RUNNING.store(is_running, Ordering::Relaxed);
}

/// Ends the program with a sentence once the X server is gone. Called when a window is there; does nothing on
/// Wayland.
pub(crate) fn watch() {
    let usual = panic::take_hook();
    // The window library asks the server for the window's size over a connection of its own, and panics where it
    // gets no answer.
    panic::set_hook(Box::new(move |info| {
        let text = info.payload_as_str().unwrap_or_default();
        let is_by_window_library = info
            .location()
            .is_some_and(|at| at.file().contains("/winit-"));
        if is_by_window_library && text.contains("Connection(IoError(") {
            end();
        }
        usual(info);
    }));
    // SAFETY: the library is loaded already, so none of its code runs by opening it.
    let Ok(library) = (unsafe { Library::open(Some(LIBRARY), RTLD_LAZY | ONLY_IF_LOADED) }) else {
        return;
    };
    // SAFETY: the type is that of Xlib's documentation, with the display as an opaque pointer.
    if let Ok(set_handler) = unsafe { library.get::<SetHandler>(b"XSetIOErrorHandler\0") } {
        // SAFETY: the function can be called at any time, and the handler is there as long as the program.
        unsafe { set_handler(Some(connection_broke)) };
    }
}

/// Called by libX11 on the window's thread, within a frame or between two.
extern "C" fn connection_broke(_display: *mut c_void) -> c_int {
    end()
}

fn end() -> ! {
    drop(writeln!(io::stderr(), "powerband: {}", sentence()));
    // Nothing is cleaned up: other threads may still use it. Workers end with this process.
    low_level::exit(TROUBLE)
}

/// What happened, and what is left of a run.
pub(crate) fn sentence() -> String {
    sentence_where(IS_RUNNING.load(Ordering::Relaxed))
}

fn sentence_where(is_running: bool) -> String {
    let cause = "the window was closed because its display ended or the connection to it broke.";
    if is_running {
        format!(
            "{cause} The run was interrupted; what it measured is in its journal, and \"powerband recover\" or the window's next start makes a session of it."
        )
    } else {
        cause.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_mentioned_where_there_is_one() {
        assert!(sentence_where(true).contains("powerband recover"));
        assert!(
            !sentence_where(false).contains("run"),
            "{}",
            sentence_where(false)
        );
    }
}
