//! The example sessions of the folder `sessions/`: real measurements and published numbers, built into the
//! program so that there is something to look at before the first run.

use std::path::Path;

use super::session_file::{self, OpenedSession, ReadError};

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
        sentence: "rten and ONNX Runtime over batch sizes 1 to 8, on two cores",
        file: "resnet50-two-engines.ron",
        text: include_str!("../../../sessions/resnet50-two-engines.ron"),
    },
    Example {
        title: "DenseNet-121, graph optimisations off and on",
        sentence: "What fusing operators is worth in ONNX Runtime, and a verdict in spite of a restless machine",
        file: "densenet121-graph-optimisations.ron",
        text: include_str!("../../../sessions/densenet121-graph-optimisations.ron"),
    },
    Example {
        title: "ResNet-50: what limits it",
        sentence: "Profiles of two engines below the roofs of the machine that they ran on",
        file: "resnet50-what-limits-it.ron",
        text: include_str!("../../../sessions/resnet50-what-limits-it.ron"),
    },
    Example {
        title: "Published: a ResNet-50 case study",
        sentence: "From 12.5 to 4.2 ms on an AMD GPU, step by step, and batch sizes 1 to 32",
        file: "published-resnet50-case-study.ron",
        text: include_str!("../../../sessions/published-resnet50-case-study.ron"),
    },
    Example {
        title: "Published: AITemplate on ResNet-50",
        sentence: "Against PyTorch on an A100 and on one and two halves of an MI250, batch sizes 1 to 256",
        file: "published-aitemplate-resnet50.ron",
        text: include_str!("../../../sessions/published-aitemplate-resnet50.ron"),
    },
    Example {
        title: "Published: a ResNet training baseline",
        sentence: "The phases of a training step, and ResNet-18 beside ResNet-34",
        file: "published-resnet-training-baseline.ron",
        text: include_str!("../../../sessions/published-resnet-training-baseline.ron"),
    },
    Example {
        title: "Published: a DenseNet-121 suite",
        sentence: "Optimisations of PyTorch, with their ranges and what each is said to bring",
        file: "published-densenet121-suite.ron",
        text: include_str!("../../../sessions/published-densenet121-suite.ron"),
    },
];

impl Example {
    /// The session.
    pub fn open(&self) -> Result<OpenedSession, ReadError> {
        session_file::from_text(Path::new(self.file), self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_example_opens_and_is_measured_or_published() {
        for example in ALL {
            let session = example.open().unwrap().session;
            assert!(!session.made_up, "{}", example.file);
            let is_measured =
                !session.cases.is_empty() && session.cases.iter().all(|case| case.n_samples() > 0);
            assert_ne!(is_measured, session.is_published_only(), "{}", example.file);
            assert_eq!(
                session.is_published_only(),
                example.title.starts_with("Published: "),
                "{}",
                example.title
            );
        }
    }

    #[test]
    fn published_numbers_are_written_as_they_were_read() {
        for example in ALL {
            let session = example.open().unwrap().session;
            let text = session_file::to_text(&session).unwrap();
            let again = session_file::from_text(Path::new("again"), &text).unwrap();
            assert_eq!(again.session, session, "{}", example.file);
            assert_eq!(text.contains("published:"), session.published.is_some());
        }
    }

    #[test]
    fn blank_cells_stay_blank_and_digits_stay() {
        let of = |file: &str| {
            let example = ALL.iter().find(|example| example.file == file).unwrap();
            example.open().unwrap().session.published.unwrap()
        };
        let tables = of("published-aitemplate-resnet50.ron");
        let two = tables.curves.iter().filter(|curve| curve.devices == 2);
        for curve in two {
            let first = &curve.points[0];
            assert_eq!(
                (first.batch, &first.latency_ms, &first.throughput),
                (1, &None, &None)
            );
            assert_eq!(curve.points.len(), 9);
        }
        let study = of("published-resnet50-case-study.ron");
        let last = study.curves[0].points.last().unwrap();
        assert_eq!(last.throughput.as_ref().unwrap().to_string(), "1,730");
    }

    #[test]
    fn a_figure_that_is_none_is_refused_with_its_place() {
        let is_it = |example: &&Example| example.file == "published-resnet50-case-study.ron";
        let study = ALL.iter().find(is_it).unwrap();
        let text = study.text.replacen("\"1,730\"", "\"1,73O\"", 1);
        let error = session_file::from_text(Path::new("a.ron"), &text).unwrap_err();
        let error = error.to_string();
        assert!(
            error.contains("1,73O") && error.contains("is no figure"),
            "{error}"
        );
    }

    #[test]
    fn every_file_of_the_folder_is_listed() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sessions");
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
