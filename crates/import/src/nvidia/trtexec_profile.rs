//! `trtexec --exportProfile`: each layer's time over all iterations, in milliseconds.

use crate::benchmarks::common;
use crate::nvidia::trtexec_layers;
use crate::nvidia::trtexec_layers::PLACE;
use crate::reading::head::FileHead;
use crate::reading::json;
use crate::reading::json::Object;
use crate::reading::read_progress::ReadProgress;
use crate::reading::source::ImportSource;
use crate::{Format, ImportError, Imported};
use powerband_core::domain::profile::Total;
use powerband_core::domain::trace::SliceKind;

pub(crate) const FORMAT: Format = Format {
    id: "trtexec-profile",
    title: "a profile of trtexec",
    tool: "trtexec",
    name_ends: &[".profile.json"],
    recognises,
    read,
};

fn recognises(head: &FileHead) -> bool {
    let first = head
        .json()
        .map(|text| text.trim_start_matches(['[', ' ', '\n', '\r', '\t']));
    head.is_list()
        && !head.has_key("ph")
        && (head.has_key("timeMs") && head.has_key("averageMs")
            || first.is_some_and(|text| {
                text.strip_prefix('{')
                    .is_some_and(|rest| rest.trim_start().starts_with("\"count\""))
            }))
}

fn read(
    source: &ImportSource,
    watch: &ReadProgress<'_>,
    into: &mut Imported,
) -> Result<(), ImportError> {
    let text = source.text(watch, into)?;
    let mut list = json::elements(&text);
    let mut count = None;
    let mut layers = common::Sums::default();
    let (mut unread, mut is_negative) = (0, false);
    for element in source.progress_reader(list.by_ref(), watch) {
        let element = element?;
        let row = json::object(element).unwrap_or_default();
        if let (Some(told), true) = (json::number_of(&row, "count"), count.is_none()) {
            count = Some(told.max(0.0) as u64);
            continue;
        }
        match layer(&row, count.unwrap_or(1)) {
            Some((total, below)) => {
                layers.add(total);
                is_negative |= below;
            }
            None => unread += 1,
        }
    }
    if count.is_none() {
        into.note("the profile does not state its number of iterations; each layer counts once");
    }
    if is_negative {
        into.note("some times lie below zero and count as zero");
    }
    if list.is_cut() {
        into.note_cut(&source.name());
    }
    into.note_unread(unread, "layer", &source.name());
    take(into, layers.into_list(), count);
    Ok(())
}

/// Takes layers in, unless another file of the same run had them.
pub fn take(into: &mut Imported, layers: Vec<Total>, runs: Option<u64>) {
    if into.totals.iter().any(|total| total.place == PLACE) {
        into.note("two files of the run have the layers' times; those of the first count");
        return;
    }
    into.totals.extend(layers);
    into.runs = into.runs.or(runs);
    trtexec_layers::join(into);
}

/// A layer, and whether its time lies below zero.
fn layer(row: &Object, count: u64) -> Option<(Total, bool)> {
    let average = || Some(json::number_of(row, "averageMs")? * count as f64);
    let time = json::number_of(row, "timeMs").or_else(average)?;
    let total = Total {
        work: None,
        kind: SliceKind::Kernel,
        name: json::text_of(row, "name")?.to_owned(),
        op: String::new(),
        place: PLACE.to_owned(),
        calls: count,
        total_ns: common::ms(time)?,
        min_ns: None,
        max_ns: None,
    };
    Some((total, time < 0.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    const FILE: &str = "tensorrt/resnet-a100-fp16.profile.json";

    #[test]
    fn layers_of_a_real_file_have_their_times() {
        let imported = testing::fixture(FILE);
        assert_eq!((imported.runs, imported.totals.len()), (Some(1), 36));
        let sum: u64 = imported.totals.iter().map(|total| total.total_ns).sum();
        assert_eq!(sum, 1_016_832);
        let none = imported.totals.iter().filter(|total| total.total_ns == 0);
        assert_eq!(none.count(), 11);
        let top = imported
            .totals
            .iter()
            .max_by_key(|total| total.total_ns)
            .unwrap();
        assert_eq!(
            (top.name.as_str(), top.total_ns),
            ("Conv_0 + Relu_1", 111_616)
        );
        let share = top.total_ns as f64 / sum as f64 * 100.0;
        assert!((share - 10.9768).abs() < 5e-5);
    }

    #[test]
    fn calls_are_iterations_and_equal_names_are_one() {
        let text = r#"[ { "count" : 20 }, { "name" : "a", "timeMs" : 2, "averageMs" : 0.1 },
            { "name" : "a", "averageMs" : 0.1 }, { "name" : "b", "timeMs" : -1 }, { "name" : 5 }"#;
        let imported = testing::imported(text).unwrap();
        let found = testing::totals(&imported);
        assert_eq!(found, [("a", 40, 4_000_000), ("b", 20, 0)]);
        assert_eq!(imported.notes.len(), 3, "{:?}", imported.notes);
    }

    #[test]
    fn no_damage_makes_it_panic() {
        testing::survives(&FORMAT, &testing::raw(FILE));
        assert!(
            testing::imported("[ { \"count\" : 0 } ]")
                .unwrap()
                .totals
                .is_empty()
        );
    }
}
