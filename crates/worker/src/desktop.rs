//! Opens files and folders with what the desktop has for them.

use std::io;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use super::process::{named, silent};

/// How long a program that shows a folder is watched for failing.
const OPENING: Duration = Duration::from_secs(2);
/// What the desktops of Linux open files and folders with.
const OPENER: &str = "xdg-open";

/// Shows a file's folder, or a folder, in the desktop's file manager.
///
/// Waits for a moment, because what cannot show anything says so at once. A file manager outlives us, and
/// its output is discarded.
pub fn show_folder(path: &Path) -> io::Result<()> {
    open_folder_with(Path::new(OPENER), path)
}

/// Opens a file with the program that the desktop has for it: a report in the browser, a picture in a viewer.
pub fn open_file(path: &Path) -> io::Result<()> {
    let whole = std::path::absolute(path)?;
    if !whole.is_file() {
        return Err(io::Error::new(
            io::ErrorKind::NotFound,
            format!("there is no file {} any more", whole.display()),
        ));
    }
    open_with(Path::new(OPENER), &whole)
}

fn open_folder_with(opener: &Path, path: &Path) -> io::Result<()> {
    let whole = std::path::absolute(path)?;
    let folder = if whole.is_dir() {
        whole.as_path()
    } else {
        whole.parent().unwrap_or(&whole)
    };
    if !folder.is_dir() {
        return Err(io::Error::new(
            io::ErrorKind::NotFound,
            format!("there is no folder {} any more", folder.display()),
        ));
    }
    open_with(opener, folder)
}

fn open_with(opener: &Path, target: &Path) -> io::Result<()> {
    let mut child = silent(opener, target).spawn().map_err(|error| {
        let reason = if error.kind() == io::ErrorKind::NotFound {
            format!(
                "there is no {} here to show {} with; install xdg-utils, or open it by hand",
                opener.display(),
                target.display()
            )
        } else {
            format!("{} could not be started: {error}", opener.display())
        };
        io::Error::new(error.kind(), reason)
    })?;
    let until = Instant::now() + OPENING;
    while Instant::now() < until {
        match child.try_wait()? {
            Some(status) if status.success() => return Ok(()),
            Some(status) => {
                return Err(io::Error::other(format!(
                    "{} did not show {}: {status}; open it by hand",
                    opener.display(),
                    target.display()
                )));
            }
            None => thread::sleep(Duration::from_millis(20)),
        }
    }
    // Waited for in the background, so that no zombie is left.
    named("open-outside", move || drop(child.wait()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn the_folder_of_a_file_is_opened_and_no_zombie_is_left() {
        use std::os::unix::fs::PermissionsExt as _;
        let home = tempfile::tempdir().unwrap();
        let opener = home.path().join("opener");
        std::fs::write(&opener, "#!/bin/sh\necho \"$1 $$\" > \"$1/opened\"\n").unwrap();
        std::fs::set_permissions(&opener, std::fs::Permissions::from_mode(0o755)).unwrap();
        open_folder_with(&opener, &home.path().join("a session.ron")).unwrap();
        let deadline = Instant::now() + Duration::from_secs(20);
        let told = loop {
            match std::fs::read_to_string(home.path().join("opened")) {
                Ok(told) if told.ends_with('\n') => break told,
                _ => assert!(Instant::now() < deadline, "nothing was opened"),
            }
            thread::sleep(Duration::from_millis(10));
        };
        let (folder, pid) = told.trim().rsplit_once(' ').unwrap();
        assert_eq!(Path::new(folder), home.path());
        while Path::new("/proc").join(pid).exists() {
            assert!(Instant::now() < deadline, "a zombie is left");
            thread::sleep(Duration::from_millis(10));
        }
        let missing = open_folder_with(Path::new("/nowhere/xdg-open"), home.path()).unwrap_err();
        assert!(
            missing.to_string().contains("install xdg-utils"),
            "{missing}"
        );
        let failing = home.path().join("failing");
        fs::write(&failing, "#!/bin/sh\nexit 3\n").unwrap();
        fs::set_permissions(&failing, fs::Permissions::from_mode(0o755)).unwrap();
        let failed = open_folder_with(&failing, home.path()).unwrap_err();
        assert!(failed.to_string().contains("by hand"), "{failed}");
        let gone = open_folder_with(&opener, Path::new("/nowhere/at/all.ron")).unwrap_err();
        assert!(gone.to_string().contains("no folder"), "{gone}");
    }
}
