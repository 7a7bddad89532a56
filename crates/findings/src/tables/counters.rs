//! What the hardware counted, a row for each kernel and counter.

use super::cell::Cell;
use super::{Column, Table};
use crate::analysis::kernel_name::KernelName;
use powerband_core::base::humanize;
use powerband_core::domain::profile::Counter;

type CounterColumn = Column<Counter>;

/// Digits of what was counted.
const DIGITS: usize = 4;

/// The counters of a profile.
pub fn of_counters(counters: &[Counter]) -> Table {
    Table::new(COLUMNS, counters.to_vec())
}

/// The columns of counters.
pub const COLUMNS: &[CounterColumn] = &[
    CounterColumn::text("kernel", "Kernel", |counter| {
        let short = KernelName::parse(&counter.kernel).short();
        Some(
            Cell::text(short)
                .for_programs(&counter.kernel)
                .noted(&counter.kernel),
        )
    }),
    CounterColumn::text("counter", "Counter", |counter| {
        Some(Cell::text(&counter.name))
    }),
    CounterColumn::number("launches", "Launches", "", |counter| {
        Some(Cell::count(counter.launches))
    }),
    CounterColumn::number("sum", "Sum", "", |counter| {
        Some(counted(counter, counter.sum))
    }),
    CounterColumn::number("per_launch", "Per launch", "", |counter| {
        Some(counted(counter, counter.a_launch()))
    }),
];

fn counted(counter: &Counter, value: f64) -> Cell {
    let digits = humanize::significant(value, DIGITS);
    Cell::shown(format!("{digits} {}", counter.unit).trim_end(), value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_their_unit() {
        let counter = Counter {
            kernel: "void f<int>(float*)".to_owned(),
            name: "L2CacheHit".to_owned(),
            unit: "%".to_owned(),
            launches: 2,
            sum: 151.5,
        };
        let texts = |counter: &Counter| {
            let table = of_counters(std::slice::from_ref(counter));
            let cells = (1..5).map(|place| table.cell(0, place).shown_text().to_owned());
            cells.collect::<Vec<_>>()
        };
        assert_eq!(texts(&counter), ["L2CacheHit", "2", "151.5 %", "75.75 %"]);
        let plain = Counter {
            unit: String::new(),
            ..counter
        };
        assert_eq!(texts(&plain)[2], "151.5");
    }
}
