//! Which columns of a table become arguments of its slices, and what they are called.

use crate::reading::by_id::ById;
use crate::reading::rows::Cells;
use powerband_core::domain::slice_args::ArgsText;

/// Columns that say nothing more: times, and numbers that stand for a name which the slice has anyway, or that
/// mean something within their database alone.
const PASSED_OVER: [&str; 25] = [
    "start",
    "end",
    "timestamp",
    "rowid",
    "_id_",
    "guid",
    "nid",
    "name",
    "nameid",
    "name_id",
    "demangledname",
    "shortname",
    "mangledname",
    "mangledshortname",
    "text",
    "textid",
    "jsontext",
    "jsontextid",
    "binarydata",
    "globalpid",
    "globaltid",
    "apiname_id",
    "optype_id",
    "description_id",
    "cudevice",
];

/// An argument: its columns, three of them for a size, and the texts that their numbers stand for.
struct Planned<'a> {
    title: String,
    columns: Vec<usize>,
    texts: Option<&'a ById<String>>,
}

/// The arguments of a table.
pub(crate) struct ArgsPlan<'a> {
    planned: Vec<Planned<'a>>,
}

impl<'a> ArgsPlan<'a> {
    /// Of a table with these columns, of which some have numbers of texts.
    pub(crate) fn for_columns(columns: &[&str], texts: &[(&str, &str, &'a ById<String>)]) -> Self {
        let mut planned: Vec<Planned<'a>> = Vec::new();
        for (place, column) in columns.iter().enumerate() {
            if columns.iter().position(|known| known == column) != Some(place) {
                continue;
            }
            if let Some((_, title, texts)) = texts.iter().find(|(known, ..)| known == column) {
                planned.push(Planned {
                    title: (*title).to_owned(),
                    columns: vec![place],
                    texts: Some(texts),
                });
                continue;
            }
            if PASSED_OVER.contains(&column.to_lowercase().as_str()) {
                continue;
            }
            let (title, axis) = axis(column);
            let mut before = planned.iter_mut().rev();
            let size = before.find(|known| axis > 0 && known.title == title);
            match size {
                Some(size) if size.columns.len() == axis => size.columns.push(place),
                _ => planned.push(Planned {
                    title: if axis == 0 { title } else { column }.to_owned(),
                    columns: vec![place],
                    texts: None,
                }),
            }
        }
        Self { planned }
    }

    /// Writes the arguments of a row.
    pub(crate) fn write(&self, row: &Cells<'_, '_>, text: &mut ArgsText) {
        text.clear();
        for one in &self.planned {
            text.add_with(&one.title, |text| {
                if let Some(texts) = one.texts {
                    let known = one.columns.first().and_then(|column| row.int(*column));
                    text.push_str(known.and_then(|id| texts.get(id)).map_or("", |text| text));
                    return;
                }
                let before = text.len();
                for (place, column) in one.columns.iter().enumerate() {
                    if place > 0 && text.len() > before {
                        text.push('×');
                    }
                    row.write(*column, text);
                }
                if matches!(text.get(before..), Some("{}" | "[]")) {
                    text.truncate(before);
                }
            });
        }
    }
}

/// The size that a column is one part of, and which: `gridY` is part 1 of `grid`.
fn axis(column: &str) -> (&str, usize) {
    for (part, ends) in [["X", "_x"], ["Y", "_y"], ["Z", "_z"]].iter().enumerate() {
        for end in ends {
            if let Some(size) = column.strip_suffix(end).filter(|size| !size.is_empty()) {
                return (size, part);
            }
        }
    }
    (column, 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_one_argument_and_names_are_none() {
        let columns = [
            "start",
            "end",
            "deviceId",
            "gridX",
            "gridY",
            "gridZ",
            "deviceId",
            "shortName",
            "args_id",
            "blockY",
        ];
        let texts = ById::new(vec![(1, "text".to_owned())]);
        let plan = ArgsPlan::for_columns(&columns, &[("args_id", "arguments", &texts)]);
        let found: Vec<(&str, &[usize])> = plan
            .planned
            .iter()
            .map(|one| (one.title.as_str(), one.columns.as_slice()))
            .collect();
        assert_eq!(
            found,
            [
                ("deviceId", &[2][..]),
                ("grid", &[3, 4, 5]),
                ("arguments", &[8]),
                ("blockY", &[9])
            ]
        );
    }
}
