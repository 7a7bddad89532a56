//! The example sessions of the folder `sessions/`: real measurements, built into the program so that
//! there is something to look at before the first run.

use std::path::Path;

use super::session_file::{self, Opened, ReadError};

/// One example.
#[derive(Clone, Copy, Debug)]
pub struct Example {
    /// What it is called on the home screen.
    pub title: &'static str,
    /// What it shows, in a sentence.
    pub sentence: &'static str,
    /// Its file below `sessions/`.
    pub file: &'static str,
    text: &'static str,
}

/// Every example.
pub const ALL: &[Example] = &[
    Example {
        title: "ResNet-50 on two engines",
        sentence: "tract and ONNX Runtime over batch sizes 1 to 8, on two cores",
        file: "resnet50-two-engines.ron",
        text: include_str!("../../sessions/resnet50-two-engines.ron"),
    },
    Example {
        title: "DenseNet-121, graph optimisations off and on",
        sentence: "What fusing operators is worth in ONNX Runtime, and a verdict in spite of a restless machine",
        file: "densenet121-graph-optimisations.ron",
        text: include_str!("../../sessions/densenet121-graph-optimisations.ron"),
    },
];

impl Example {
    /// The session.
    pub fn open(&self) -> Result<Opened, ReadError> {
        session_file::from_text(Path::new(self.file), self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_example_opens_and_is_real() {
        for example in ALL {
            let opened = example.open().unwrap();
            assert!(!opened.session.made_up, "{}", example.file);
            assert!(
                opened.session.cases.iter().all(|case| case.n_samples() > 0),
                "{}",
                example.file
            );
        }
    }

    #[test]
    fn every_file_of_the_folder_is_listed() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("sessions");
        let mut files: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| Path::new(name).extension().is_some_and(|e| e == "ron"))
            .collect();
        files.sort_unstable();
        let mut listed: Vec<&str> = ALL.iter().map(|example| example.file).collect();
        listed.sort_unstable();
        assert_eq!(files, listed);
    }
}
