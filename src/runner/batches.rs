//! Batch sizes as people write them.

use crate::base::humanize;

/// Beyond this a batch size is a slip of the finger.
const LARGEST_BATCH: usize = 1 << 20;
/// So many powers of two in a row are shown as a range.
const LONG_RUN: usize = 6;

/// A batch size that is no number from 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "\"{0}\" is no batch size; write whole numbers from 1 to {largest}, for example --batch 1,2,4,8",
    largest = humanize::count(LARGEST_BATCH as u64)
)]
pub struct BatchError(String);

/// `1,2,4` or `1..16` (the powers of two between), in any mixture; ascending, each once.
pub fn parse(text: &str) -> Result<Vec<usize>, BatchError> {
    let mut batches = Vec::new();
    for part in text.split(',').map(str::trim) {
        match part.split_once("..") {
            Some((from, to)) => {
                let (from, to) = (parse_batch(from)?, parse_batch(to)?);
                let powers = powers_of_two()
                    .skip_while(|&b| b < from)
                    .take_while(|&b| b <= to);
                batches.extend(powers.chain([from, to]));
            }
            None => batches.push(parse_batch(part)?),
        }
    }
    batches.sort_unstable();
    batches.dedup();
    Ok(batches)
}

fn parse_batch(text: &str) -> Result<usize, BatchError> {
    match text.trim().parse::<usize>() {
        Ok(batch @ 1..=LARGEST_BATCH) => Ok(batch),
        _ => Err(BatchError(text.to_owned())),
    }
}

fn powers_of_two() -> impl Iterator<Item = usize> {
    (0..usize::BITS).map(|power| 1_usize << power)
}

/// Batch sizes as they may be written: `1,3,8`, and `1..64` for many powers of two.
pub fn show(batches: &[usize]) -> String {
    let mut parts = Vec::new();
    let mut left = batches;
    while let [first, rest @ ..] = left {
        let length = run_of_powers(left);
        if length >= LONG_RUN
            && let (Some(last), Some(after)) = (left.get(length - 1), left.get(length..))
        {
            parts.push(format!("{first}..{last}"));
            left = after;
        } else {
            parts.push(first.to_string());
            left = rest;
        }
    }
    parts.join(",")
}

/// How many powers of two follow one another at the start.
fn run_of_powers(batches: &[usize]) -> usize {
    let Some(&first) = batches.first().filter(|first| first.is_power_of_two()) else {
        return 0;
    };
    let expected = powers_of_two().skip_while(|&power| power < first);
    batches
        .iter()
        .zip(expected)
        .take_while(|(batch, power)| *batch == power)
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_are_read() {
        assert_eq!(parse("8,1, 2,2").unwrap(), [1, 2, 8]);
        assert_eq!(parse("1..16").unwrap(), [1, 2, 4, 8, 16]);
        assert_eq!(parse("3..9,64").unwrap(), [3, 4, 8, 9, 64]);
        for bad in ["", "0", "-1", "x", "1,,2", "99999999999", "1.5", "..4"] {
            assert!(
                parse(bad)
                    .unwrap_err()
                    .to_string()
                    .contains("no batch size"),
                "{bad}"
            );
        }
    }

    #[test]
    fn batches_are_written_as_they_are_read() {
        for (batches, text) in [
            (vec![], ""),
            (vec![1], "1"),
            (vec![1, 2, 4, 8, 16], "1,2,4,8,16"),
            (vec![1, 2, 4, 8, 16, 32], "1..32"),
            (
                vec![1, 3, 4, 8, 16, 32, 64, 128, 256, 300],
                "1,3,4..256,300",
            ),
            (vec![1, 2, 4, 16, 32, 64, 128], "1,2,4,16,32,64,128"),
        ] {
            assert_eq!(show(&batches), text);
            if !batches.is_empty() {
                assert_eq!(parse(text).unwrap(), batches);
            }
        }
    }
}
