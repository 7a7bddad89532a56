//! Libraries that the window loads when it opens, looked up before: the window library panics without some of them.

#![expect(
    unsafe_code,
    reason = "the window library loads the same libraries a moment later"
)]

use libloading::os::unix::{Library, RTLD_LAZY, RTLD_LOCAL};

use powerband_core::base::humanize;

/// A library that the window cannot do without.
#[derive(Debug)]
struct Needed {
    /// Any of these serves.
    libraries: &'static [&'static str],
    /// Those that have it, one for each of [`SYSTEMS`].
    packages: [&'static str; 3],
}

const SYSTEMS: [&str; 3] = ["Debian and Ubuntu", "Fedora", "Arch"];

const X11: &[Needed] = &[
    Needed {
        libraries: &["libX11.so.6"],
        packages: ["libx11-6", "libX11", "libx11"],
    },
    Needed {
        libraries: &["libX11-xcb.so.1"],
        packages: ["libx11-xcb1", "libX11-xcb", "libx11"],
    },
    Needed {
        libraries: &["libXcursor.so.1"],
        packages: ["libxcursor1", "libXcursor", "libxcursor"],
    },
    Needed {
        libraries: &["libXi.so.6"],
        packages: ["libxi6", "libXi", "libxi"],
    },
    Needed {
        libraries: &["libxkbcommon-x11.so.0"],
        packages: ["libxkbcommon-x11-0", "libxkbcommon-x11", "libxkbcommon-x11"],
    },
    Needed {
        libraries: &["libxkbcommon.so.0"],
        packages: ["libxkbcommon0", "libxkbcommon", "libxkbcommon"],
    },
    Needed {
        libraries: &["libGL.so.1", "libEGL.so.1"],
        packages: ["libgl1", "mesa-libGL", "mesa"],
    },
];

const WAYLAND: &[Needed] = &[
    Needed {
        libraries: &["libwayland-client.so.0"],
        packages: ["libwayland-client0", "libwayland-client", "wayland"],
    },
    Needed {
        libraries: &["libwayland-egl.so.1"],
        packages: ["libwayland-egl1", "libwayland-egl", "wayland"],
    },
    Needed {
        libraries: &["libxkbcommon.so.0"],
        packages: ["libxkbcommon0", "libxkbcommon", "libxkbcommon"],
    },
    Needed {
        libraries: &["libEGL.so.1"],
        packages: ["libegl1", "mesa-libEGL", "mesa"],
    },
];

/// What is missing and which packages have it; nothing where everything is there.
pub(crate) fn sentence() -> Option<String> {
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let is_wayland = is_set("WAYLAND_DISPLAY") || is_set("WAYLAND_SOCKET");
    let display = if is_wayland { WAYLAND } else { X11 };
    let missing: Vec<(&Needed, String)> = display
        .iter()
        .filter_map(|needed| Some((needed, load_any(needed.libraries).err()?)))
        .collect();
    missing_sentence(&missing)
}

fn missing_sentence(missing: &[(&Needed, String)]) -> Option<String> {
    let (_, reason) = missing.first()?;
    let names: Vec<&str> = missing
        .iter()
        .map(|(needed, _)| needed.libraries[0])
        .collect();
    let packages = SYSTEMS.iter().enumerate().map(|(system, name)| {
        let mut packages: Vec<&str> = missing
            .iter()
            .map(|(needed, _)| needed.packages[system])
            .collect();
        packages.dedup();
        format!("{name}: {}", packages.join(" "))
    });
    let packages: Vec<String> = packages.collect();
    Some(format!(
        "{} cannot be loaded ({reason}). Install the packages that have what is missing. {}.",
        humanize::list(&names),
        packages.join("; ")
    ))
}

/// Loads the first of these that can be; else the reason of the last.
fn load_any(libraries: &[&str]) -> Result<(), String> {
    let mut outcome = Ok(());
    for library in libraries {
        outcome = load(library);
        if outcome.is_ok() {
            break;
        }
    }
    outcome
}

/// Loads a library, which stays loaded: the window is about to use it.
fn load(library: &str) -> Result<(), String> {
    // SAFETY: these are the system's libraries of the display, which run nothing of note when they are loaded, and the
    // window library loads them in the same way.
    match unsafe { Library::open(Some(library), RTLD_LAZY | RTLD_LOCAL) } {
        Ok(library) => {
            library.into_raw();
            Ok(())
        }
        Err(error) => Err(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_of_each_system_are_named_once() {
        let gone = "cannot open shared object file".to_owned();
        let missing: Vec<(&Needed, String)> = X11
            .iter()
            .take(2)
            .map(|needed| (needed, gone.clone()))
            .collect();
        let sentence = missing_sentence(&missing).unwrap();
        for part in [
            "libX11.so.6 and libX11-xcb.so.1 cannot",
            "Ubuntu: libx11-6 libx11-xcb1;",
            "Fedora: libX11 libX11-xcb;",
            "Arch: libx11.",
        ] {
            assert!(sentence.contains(part), "{sentence}");
        }
        assert_eq!(missing_sentence(&[]), None);
        assert!(load("libno-such.so.7").unwrap_err().contains("libno-such"));
    }
}
