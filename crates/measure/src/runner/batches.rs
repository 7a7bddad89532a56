//! Batch sizes as people write them.

use powerband_core::base::humanize;

/// Beyond this a batch size is a slip of the finger.
const LARGEST_BATCH: usize = 1 << 20;
/// So many powers of two in a row are shown as a range.
const LONG_RUN: usize = 6;

/// Batch sizes that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BatchError {
    /// A part is no number from 1, and no two of them.
    #[error("\"{0}\" is no batch size; {hint}", hint = hint())]
    NoSize(String),
    /// Nothing is written where a batch size belongs.
    #[error("no batch size is written in a part of \"{0}\"; {hint}", hint = hint())]
    Missing(String),
    /// A range runs downwards.
    #[error("the first batch size of \"{0}\" must not be larger than the last; {hint}", hint = hint())]
    Downwards(String),
}

impl BatchError {
    /// The same for a field of the window, where there are no flags.
    pub fn in_a_field(&self) -> String {
        let largest = humanize::count(LARGEST_BATCH as u64);
        match self {
            Self::NoSize(part) => format!(
                "\"{part}\" is no batch size. Write whole numbers from 1 to {largest}, such as 1, 2, 4, or a range such as 1..64."
            ),
            Self::Missing(text) if text.trim().is_empty() => {
                "Write at least one batch size, such as 1, 2, 4.".to_owned()
            }
            Self::Missing(_) => {
                "A batch size is missing beside a comma. Write it, or take the comma out."
                    .to_owned()
            }
            Self::Downwards(part) => format!(
                "The first batch size of \"{part}\" is larger than the last. Write the smaller one first."
            ),
        }
    }
}

/// What may be written.
fn hint() -> String {
    let largest = humanize::count(LARGEST_BATCH as u64);
    format!(
        "write whole numbers from 1 to {largest}, for example --batch 1,2,4,8, or a range such as 1..64"
    )
}

/// `1,2,4` or `1..16` (the powers of two between), in any mixture; ascending, each once.
pub fn parse(text: &str) -> Result<Vec<usize>, BatchError> {
    let mut batches = Vec::new();
    for part in text.split(',').map(str::trim) {
        if part.is_empty() {
            return Err(BatchError::Missing(text.to_owned()));
        }
        // What is quoted is the whole part, not the end of a range that is missing or wrong.
        let size =
            |written: &str| parse_batch(written).ok_or_else(|| BatchError::NoSize(part.to_owned()));
        match part.split_once("..") {
            Some((from, to)) => {
                let (from, to) = (size(from)?, size(to)?);
                if from > to {
                    return Err(BatchError::Downwards(part.to_owned()));
                }
                let powers = powers_of_two()
                    .skip_while(|&b| b < from)
                    .take_while(|&b| b <= to);
                batches.extend(powers.chain([from, to]));
            }
            None => batches.push(size(part)?),
        }
    }
    batches.sort_unstable();
    batches.dedup();
    Ok(batches)
}

fn parse_batch(text: &str) -> Option<usize> {
    let batch: usize = text.trim().parse().ok()?;
    (1..=LARGEST_BATCH).contains(&batch).then_some(batch)
}

fn powers_of_two() -> impl Iterator<Item = usize> {
    (0..usize::BITS).map(|power| 1_usize << power)
}

/// Batch sizes as they may be written: `1, 3, 8`, and `1..64` for many powers of two.
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
    parts.join(", ")
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
    fn what_is_wrong_is_quoted_whole() {
        for (text, says) in [
            ("1..", "\"1..\" is no batch size"),
            ("2, ..8", "\"..8\" is no batch size"),
            ("1,,2", "no batch size is written in a part of \"1,,2\""),
            ("", "no batch size is written in a part of \"\""),
            ("8..1", "\"8..1\" must not be larger than the last"),
        ] {
            let said = parse(text).unwrap_err().to_string();
            assert!(said.contains(says) && said.contains("1..64"), "{said}");
        }
        assert_eq!(parse("4..4").unwrap(), [4]);
    }

    #[test]
    fn a_field_is_told_of_no_flags() {
        for (text, says) in [
            ("0", "\"0\" is no batch size. Write whole numbers from 1"),
            ("", "Write at least one batch size, such as 1, 2, 4."),
            ("  ", "Write at least one batch size"),
            ("1,,2", "missing beside a comma"),
            ("8..1", "The first batch size of \"8..1\" is larger"),
        ] {
            let said = parse(text).unwrap_err().in_a_field();
            assert!(said.contains(says) && !said.contains("--"), "{said}");
        }
    }

    #[test]
    fn batches_are_written_as_they_are_read() {
        for (batches, text) in [
            (vec![], ""),
            (vec![1], "1"),
            (vec![1, 2, 4, 8, 16], "1, 2, 4, 8, 16"),
            (vec![1, 2, 4, 8, 16, 32], "1..32"),
            (
                vec![1, 3, 4, 8, 16, 32, 64, 128, 256, 300],
                "1, 3, 4..256, 300",
            ),
            (vec![1, 2, 4, 16, 32, 64, 128], "1, 2, 4, 16, 32, 64, 128"),
        ] {
            assert_eq!(show(&batches), text);
            if !batches.is_empty() {
                assert_eq!(parse(text).unwrap(), batches);
            }
        }
    }
}
