//! Roofs of arithmetic: for each kind of numbers, the best loop with so many threads.

use std::io;

use super::together::{self, BRIEF, FULL};
use crate::roofs::code::ComputeCode;
use powerband_core::base::humanize;
use powerband_core::domain::roofs::ComputeRoof;
use powerband_core::domain::work::Numbers;

/// Kinds of numbers that this processor has loops for, in their order.
pub(super) fn kinds(codes: &[&ComputeCode]) -> Vec<Numbers> {
    let has = |numbers: &Numbers| codes.iter().any(|code| code.numbers == *numbers);
    Numbers::ALL.into_iter().filter(has).collect()
}

/// What a step is called: `f32, 2 threads`.
pub(super) fn title(numbers: Numbers, threads: usize) -> String {
    format!(
        "{numbers} peak, {}",
        humanize::of_many(threads as u64, "thread")
    )
}

/// The best loop for these numbers with a thread on each of these cores.
pub(super) fn roof(
    codes: &[&'static ComputeCode],
    numbers: Numbers,
    cores: &[usize],
) -> io::Result<Option<ComputeRoof>> {
    let codes = codes.iter().copied();
    let codes: Vec<&ComputeCode> = codes.filter(|code| code.numbers == numbers).collect();
    let best = together::best_of(&codes, |code| {
        let timed = together::timed(cores, BRIEF, |_| |passes| code.run(passes))?;
        Ok(timed.best(of_a_pass(code, cores)))
    })?;
    let Some(code) = best else {
        return Ok(None);
    };
    let timed = together::timed(cores, FULL, |_| |passes| code.run(passes))?;
    Ok(Some(ComputeRoof {
        numbers,
        threads: cores.len(),
        vector_bits: code.vector_bits,
        code: code.name.to_owned(),
        per_s: together::faster_half(timed.rates(of_a_pass(code, cores))),
    }))
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
            let roof = roof(&codes, numbers, &[core]).unwrap().unwrap();
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
        assert!(roof(&[], Numbers::F32, &[0]).unwrap().is_none());
    }
}
