//! A session as a table: a row for each case, or for each sample; or an array of its samples.

use super::csv::{CsvCell, CsvTable};
use crate::analysis::case_rows;
use crate::tables::{self, view::TableView};
use powerband_core::domain::element::ElementType;
use powerband_core::domain::point;
use powerband_core::domain::session::Session;
use powerband_core::domain::tensor::{Tensor, TensorData, TensorSpec};

/// A row for each case; times to tokens where runs are requests to a language model.
pub fn cases(session: &Session) -> TableView {
    let rows = case_rows::case_rows(session);
    let table = tables::cases::of_session(session, &rows, &[]);
    let has_requests = rows.iter().any(|row| row.requests.is_some());
    let of_requests: &[&str] = if has_requests {
        &tables::requests::OF_CASES
    } else {
        &[]
    };
    TableView::new(table).columns(&[&tables::cases::IN_FILE[..], of_requests].concat())
}

/// A row for each sample, in the order in which they came.
pub fn samples(session: &Session) -> CsvTable {
    let points = session.cases.iter().map(|case| case.point);
    let dimensions = point::dimensions(points);
    let mut table = CsvTable::new(&["setup"]);
    let last = ["round", "sample", "ns"];
    let names = dimensions.iter().chain(&last);
    table.header.extend(names.map(|name| (*name).to_owned()));
    for case in &session.cases {
        let setup = session.setup_spec(case.setup);
        for round in &case.rounds {
            let samples = (0..).zip(&round.samples_ns);
            table.rows.extend(samples.map(|(number, ns)| {
                let sizes = dimensions.iter().map(|name| {
                    let size = case.point.get(name);
                    size.map_or(CsvCell::Empty, |size| CsvCell::Whole(size as u64))
                });
                let mut row = vec![CsvCell::text(setup.as_str())];
                row.extend(sizes);
                row.extend([
                    CsvCell::Whole(u64::from(round.round)),
                    CsvCell::Whole(number),
                    CsvCell::Whole(*ns),
                ]);
                row
            }));
        }
    }
    table
}

/// The same as an array: the case by its place in the session, the round, the number of the sample in it, and nanoseconds.
pub fn sample_array(session: &Session) -> Tensor {
    let mut numbers = Vec::new();
    for (case, measured) in (0..).zip(&session.cases) {
        for round in &measured.rounds {
            for (sample, ns) in (0..).zip(&round.samples_ns) {
                numbers.extend([case, i64::from(round.round), sample, *ns as i64]);
            }
        }
    }
    let rows = numbers.len() / 4;
    Tensor {
        spec: TensorSpec::new("samples", ElementType::I64, vec![rows, 4]),
        data: TensorData::I64(numbers),
    }
}
