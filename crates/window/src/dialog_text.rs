//! Titles of file dialogs, and examples of paths.

use std::path::{Path, PathBuf};

use powerband_app::Ask;
use powerband_app::machine::PathSetting;

pub(super) fn title(ask: &Ask) -> &'static str {
    match ask {
        Ask::Open => "Open sessions, files of other tools or an ONNX file",
        Ask::Model => "Choose an ONNX file",
        Ask::KeyFile(..) => "Choose a file",
        Ask::KeyFolder(..) => "Choose a folder",
        Ask::Trace => "Open a trace of a profiler",
        Ask::Point(PathSetting::OnnxRuntime) => "Choose the library of ONNX Runtime",
        Ask::Point(PathSetting::Python) => "Choose a Python interpreter",
        Ask::SaveSession(..) => "Save the session as",
        Ask::SaveFigure(..) => "Save the figure as .svg, .png, .pdf, .csv or .json",
        Ask::SaveTable(..) => "Export the table to a .csv, .tsv or .json file",
        Ask::SaveReport(..) => "Write the report to a .html or .md file",
        Ask::SavePage(..) => "Write the page to a .html file",
    }
}

pub(super) fn example(ask: &Ask) -> &'static str {
    match ask {
        Ask::Open | Ask::SaveSession(..) => "~/session.ron",
        Ask::Model => "~/model.onnx",
        Ask::KeyFile(..) => "~/file",
        Ask::KeyFolder(..) => "~/pictures",
        Ask::Trace => "~/trace.json.gz",
        Ask::Point(PathSetting::OnnxRuntime) => "/opt/onnxruntime/lib/libonnxruntime.so",
        Ask::Point(PathSetting::Python) => "~/venv/bin/python",
        Ask::SaveFigure(..) => "~/figure.svg",
        Ask::SaveReport(..) => "~/report.html",
        Ask::SavePage(..) => "~/result.html",
        Ask::SaveTable(..) => "~/table.csv",
    }
}

/// `~` and `~/…` stand for the user's home folder.
fn expand_home(path: &str) -> PathBuf {
    let home = directories::BaseDirs::new().map(|dirs| dirs.home_dir().to_path_buf());
    match (path.strip_prefix('~'), home) {
        (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with('/') => {
            home.join(rest.trim_start_matches('/'))
        }
        _ => PathBuf::from(path),
    }
}

/// The proposed path of a save dialog.
pub(super) fn proposed(ask: &Ask) -> Option<&Path> {
    match ask {
        Ask::SaveSession(_, path)
        | Ask::SaveFigure(_, path)
        | Ask::SaveTable(_, path)
        | Ask::SaveReport(_, path)
        | Ask::SavePage(_, path) => Some(path),
        Ask::Open
        | Ask::Model
        | Ask::KeyFile(..)
        | Ask::KeyFolder(..)
        | Ask::Trace
        | Ask::Point(_) => None,
    }
}

/// The typed text as an absolute path. A bare name lies in the proposed folder, not in the folder from
/// which the program was started.
pub(super) fn absolute_path(ask: &Ask, typed: &str) -> PathBuf {
    let folder = proposed(ask).and_then(Path::parent);
    let path = folder
        .unwrap_or_else(|| Path::new(""))
        .join(expand_home(typed.trim()));
    std::path::absolute(&path).unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn home_is_expanded_and_nothing_else() {
        let home = directories::BaseDirs::new()
            .unwrap()
            .home_dir()
            .to_path_buf();
        assert_eq!(expand_home("~/a.ron"), home.join("a.ron"));
        assert_eq!(expand_home("~"), home);
        assert_eq!(expand_home("/a/~b"), PathBuf::from("/a/~b"));
        assert_eq!(expand_home("~b"), PathBuf::from("~b"));
    }

    #[test]
    fn a_bare_name_lies_where_it_was_proposed() {
        let folder = PathBuf::from("/somewhere");
        let save = Ask::SaveSession(powerband_app::sessions::LIVE, folder.join("a.ron"));
        assert_eq!(absolute_path(&save, " b.ron "), folder.join("b.ron"));
        assert_eq!(
            absolute_path(&save, "deep/b.ron"),
            folder.join("deep/b.ron")
        );
        assert_eq!(absolute_path(&save, "/c.ron"), PathBuf::from("/c.ron"));
        assert!(absolute_path(&Ask::Open, "b.ron").is_absolute());
    }
}
