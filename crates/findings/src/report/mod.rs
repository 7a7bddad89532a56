//! Reports: one or two sessions in, a document out. Pure: no I/O, no clock.
//!
//! A report is a value, as a chart is: headings, paragraphs, tables and figures. Another
//! layer writes it as a file. `analysis` computes what it says; here it is put in order and in words.
//! A layout is one order of sections, and [`ALL`] lists them.

pub mod answer;
pub mod batches;
pub mod case_study;
pub mod circumstances;
pub mod comparison;
pub mod conclusions;
pub mod devices;
pub mod document;
pub mod experiments;
pub mod figures;
pub mod fleet;
pub mod full;
pub mod gate;
pub mod in_short;
pub mod job;
pub mod journey;
pub mod kernels;
pub mod machine;
pub mod material;
pub mod numbers;
pub mod overview;
pub mod pairs;
pub mod profiles;
pub mod published;
pub mod requests;
pub mod session;
pub mod summary;

use document::Document;
use material::ReportInputs;
use powerband_core::base::humanize;

/// Longer titles are cut, in characters.
const LONGEST_TITLE: usize = 160;

/// One order of sections.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// How it is asked for.
    pub name: &'static str,
    /// What it is called.
    pub title: &'static str,
    /// What it has, in a sentence without its full stop.
    pub has: &'static str,
    /// Whether it is of two sessions; of one otherwise.
    pub is_of_two: bool,
    /// Why it would say nothing of these sessions, and which layout does.
    refusal: fn(&ReportInputs<'_>) -> Option<String>,
    write: fn(&ReportInputs<'_>) -> Document,
}

/// Every layout.
pub const ALL: &[Layout] = &[
    Layout {
        name: "full",
        title: "Everything",
        has: "everything about one session, from a summary to how it is measured again",
        is_of_two: false,
        refusal: |_| None,
        write: full::write,
    },
    Layout {
        name: "comparison",
        title: "Before and after",
        has: "two sessions, their conditions, and each case that both have with its verdict",
        is_of_two: true,
        refusal: |_| None,
        write: comparison::write,
    },
    Layout {
        name: "summary",
        title: "Performance summary",
        has: "one page for each setup, or for each imported profile: times, memory, top operations, opportunities",
        is_of_two: false,
        refusal: summary::refusal,
        write: summary::write,
    },
    Layout {
        name: "case-study",
        title: "Case study",
        has: "the optimisation steps from the first setup to the last, with a table of the final results",
        is_of_two: false,
        refusal: case_study::refusal,
        write: case_study::write,
    },
];

impl Layout {
    /// The layout of a name, or the usual one for so many sessions; in a sentence why there is none.
    pub fn choose(name: Option<&str>, is_of_two: bool) -> Result<&'static Self, String> {
        let Some(name) = name else {
            let usual = ALL.iter().find(|layout| layout.is_of_two == is_of_two);
            return usual.ok_or_else(|| "there is no layout for these sessions".to_owned());
        };
        let names: Vec<&str> = ALL.iter().map(|layout| layout.name).collect();
        let found = ALL.iter().find(|layout| layout.name == name);
        let layout = found.ok_or_else(|| {
            format!(
                "there is no layout \"{name}\"; there are {}",
                names.join(", ")
            )
        })?;
        match (layout.is_of_two, is_of_two) {
            (true, false) => Err(format!(
                "the layout {name} is of two sessions: give the second one too"
            )),
            (false, true) => Err(format!(
                "the layout {name} is of one session; leave the second one out, or use --layout comparison"
            )),
            _ => Ok(layout),
        }
    }

    /// Whether it has something to say of these sessions; in a sentence what helps where it has not.
    pub fn check(&self, material: &ReportInputs<'_>) -> Result<(), String> {
        (self.refusal)(material).map_or(Ok(()), Err)
    }

    /// Makes the report.
    pub fn write(&self, material: &ReportInputs<'_>) -> Document {
        let mut document = (self.write)(material);
        if let Some(title) = material
            .title
            .as_ref()
            .filter(|title| !title.trim().is_empty())
        {
            document.title.clone_from(title);
        }
        document.title = humanize::shorten(document.title.trim(), LONGEST_TITLE);
        document.footer = footer(material);
        document
    }
}

/// The program that wrote it, and the one that measured.
fn footer(material: &ReportInputs<'_>) -> String {
    let last = &material.last().session;
    let measured = &last.environment.program;
    let measured = if last.imported.is_some() || measured.is_empty() {
        String::new()
    } else {
        format!("; measured by Powerband {measured}")
    };
    format!(
        "Written by Powerband {}{measured}.",
        env!("CARGO_PKG_VERSION")
    )
}
