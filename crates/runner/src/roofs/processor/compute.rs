//! Roofs of arithmetic: for each kind of numbers, the best loop with so many threads, in several stretches.

use std::io;

use super::together::{self, BRIEF, FULL};
use crate::roofs::code::ComputeCode;
use powerband_core::base::humanize;
use powerband_core::domain::roofs::{ComputeRoof, MeasuredValue};
use powerband_core::domain::work::NumberFormat;

/// Kinds of numbers that this processor has loops for, in their order.
pub(super) fn kinds(codes: &[&ComputeCode]) -> Vec<NumberFormat> {
    let has = |numbers: &NumberFormat| codes.iter().any(|code| code.numbers == *numbers);
    NumberFormat::ALL.into_iter().filter(has).collect()
}

/// What a step is called: `f32, 2 threads`.
pub(super) fn title(numbers: NumberFormat, threads: usize) -> String {
    format!(
        "{numbers} peak, {}",
        humanize::pluralised(threads as u64, "thread")
    )
}

/// Arithmetic that is measured in stretches that lie apart: what disturbs one need not disturb the others.
pub(super) struct ComputeVisits {
    numbers: NumberFormat,
    cores: Vec<usize>,
    code: &'static ComputeCode,
    stretches: Vec<MeasuredValue>,
}

impl ComputeVisits {
    /// Chooses the best loop for these numbers with a thread on each of these cores; nothing where there is none.
    pub(super) fn begin(
        codes: &[&'static ComputeCode],
        numbers: NumberFormat,
        cores: &[usize],
    ) -> io::Result<Option<Self>> {
        let codes = codes.iter().copied();
        let codes: Vec<&ComputeCode> = codes.filter(|code| code.numbers == numbers).collect();
        let best = together::best_of(&codes, |code| {
            let timed = together::timed(cores, BRIEF, |_| |passes| code.run(passes))?;
            Ok(timed.best(of_a_pass(code, cores)))
        })?;
        Ok(best.map(|code| Self {
            numbers,
            cores: cores.to_vec(),
            code,
            stretches: Vec::new(),
        }))
    }

    /// Whether it is of these numbers and so many threads.
    pub(super) fn is_of(&self, numbers: NumberFormat, threads: usize) -> bool {
        self.numbers == numbers && self.cores.len() == threads
    }

    /// One more stretch.
    pub(super) fn visit(&mut self) -> io::Result<()> {
        let code = self.code;
        let timed = together::timed(&self.cores, FULL, |_| |passes| code.run(passes))?;
        let rates = timed.rates(of_a_pass(code, &self.cores));
        self.stretches.push(together::faster_half(rates));
        Ok(())
    }

    /// The highest of all stretches; nothing before the first.
    pub(super) fn roof(&self) -> Option<ComputeRoof> {
        Some(ComputeRoof {
            numbers: self.numbers,
            threads: self.cores.len(),
            vector_bits: self.code.vector_bits,
            code: self.code.name.to_owned(),
            per_s: MeasuredValue::highest(&self.stretches)?,
        })
    }
}

/// Operations of all threads together.
fn of_a_pass(code: &ComputeCode, cores: &[usize]) -> f64 {
    code.operations as f64 * cores.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::roofs::code::compute_codes;

    #[test]
    fn the_roof_is_of_the_best_loop_for_these_numbers() {
        let codes = compute_codes();
        let core = crate::roofs::processor::cores::here(std::path::Path::new("/"))[0];
        for numbers in kinds(&codes) {
            let mut visits = ComputeVisits::begin(&codes, numbers, &[core])
                .unwrap()
                .unwrap();
            assert!(visits.roof().is_none() && visits.is_of(numbers, 1));
            visits.visit().unwrap();
            visits.visit().unwrap();
            let roof = visits.roof().unwrap();
            assert_eq!((roof.numbers, roof.threads), (numbers, 1));
            assert!(codes.iter().any(|code| code.name == roof.code));
            // Less than one operation in ten nanoseconds is no processor of our time.
            assert!(roof.per_s.value > 1e8, "{roof:?}");
            assert!(roof.per_s.low <= roof.per_s.value && roof.per_s.value <= roof.per_s.high);
        }
    }

    #[test]
    fn without_a_loop_there_is_no_roof() {
        assert!(kinds(&[]).is_empty());
        let none = ComputeVisits::begin(&[], NumberFormat::F32, &[0]).unwrap();
        assert!(none.is_none());
    }
}
