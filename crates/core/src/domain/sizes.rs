//! Sizes of a dimension as people write them: batch sizes, lengths of a sequence.

use super::point::BATCH;
use crate::base::humanize;

/// Beyond this a size is a slip of the finger.
const LARGEST: usize = 1 << 20;
/// So many powers of two in a row are shown as a range.
const LONG_RUN: usize = 6;

/// Sizes that cannot be read, each with what they are sizes of.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SizeError {
    /// A part is no number, and no two of them.
    #[error(
        "\"{part}\" is no {}. Write whole numbers from {} to {}, such as 1, 2, 4, or a range such as 1..64.",
        noun(of),
        smallest(of),
        humanize::count(LARGEST as u64)
    )]
    NoSize { of: String, part: String },
    /// Nothing is written.
    #[error("Write at least one {}, such as 1, 2, 4.", noun(of))]
    Empty { of: String },
    /// Nothing is written where a size belongs.
    #[error(
        "A {} is missing beside a comma. Write it, or take the comma out.",
        noun(of)
    )]
    Missing { of: String },
    /// A range runs downwards.
    #[error(
        "The first {} of \"{part}\" is larger than the last. Write the smaller one first.",
        noun(of)
    )]
    Downwards { of: String, part: String },
}

/// What a size of the dimension is called.
fn noun(of: &str) -> String {
    if of == BATCH {
        "batch size".to_owned()
    } else {
        format!("size of {of}")
    }
}

/// The smallest size that makes sense: a cache may be empty, a batch may not.
fn smallest(of: &str) -> usize {
    usize::from(of == BATCH)
}

/// `1,2,4` or `1..16` (the powers of two between), in any mixture; ascending, each once.
pub fn parse(of: &str, text: &str) -> Result<Vec<usize>, SizeError> {
    let mut sizes = in_order(of, text)?;
    sizes.sort_unstable();
    sizes.dedup();
    Ok(sizes)
}

/// The same as written: in their order, and again where they are repeated.
pub fn in_order(of: &str, text: &str) -> Result<Vec<usize>, SizeError> {
    let mut sizes = Vec::new();
    for part in text.split(',').map(str::trim) {
        if part.is_empty() {
            let of = of.to_owned();
            return Err(match text.trim() {
                "" => SizeError::Empty { of },
                _ => SizeError::Missing { of },
            });
        }
        // What is quoted is the whole part, not the end of a range that is missing or wrong.
        let size = |written: &str| {
            parse_size(of, written).ok_or_else(|| SizeError::NoSize {
                of: of.to_owned(),
                part: part.to_owned(),
            })
        };
        match part.split_once("..") {
            Some((from, to)) => {
                let (from, to) = (size(from)?, size(to)?);
                if from > to {
                    return Err(SizeError::Downwards {
                        of: of.to_owned(),
                        part: part.to_owned(),
                    });
                }
                let powers = powers_of_two().skip_while(|&power| power <= from);
                sizes.push(from);
                sizes.extend(powers.take_while(|&power| power < to));
                sizes.extend((to > from).then_some(to));
            }
            None => sizes.push(size(part)?),
        }
    }
    Ok(sizes)
}

fn parse_size(of: &str, text: &str) -> Option<usize> {
    let size: usize = text.trim().parse().ok()?;
    (smallest(of)..=LARGEST).contains(&size).then_some(size)
}

fn powers_of_two() -> impl Iterator<Item = usize> {
    (0..usize::BITS).map(|power| 1_usize << power)
}

/// Ascending sizes as they may be written: `1, 3, 8`, and `1..64` for many powers of two.
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
        assert_eq!(parse(BATCH, "8,1, 2,2").unwrap(), [1, 2, 8]);
        assert_eq!(parse(BATCH, "1..16").unwrap(), [1, 2, 4, 8, 16]);
        assert_eq!(parse(BATCH, "3..9,64").unwrap(), [3, 4, 8, 9, 64]);
        for bad in ["", "0", "-1", "x", "1,,2", "99999999999", "1.5", "..4"] {
            let said = parse(BATCH, bad).unwrap_err().to_string();
            assert!(said.contains("batch size"), "{bad}: {said}");
        }
    }

    #[test]
    fn what_is_wrong_is_quoted_whole() {
        for (text, says) in [
            ("0", "\"0\" is no batch size. Write whole numbers from 1"),
            ("1..", "\"1..\" is no batch size"),
            ("2, ..8", "\"..8\" is no batch size"),
            ("1,,2", "A batch size is missing beside a comma"),
            ("", "Write at least one batch size, such as 1, 2, 4."),
            ("  ", "Write at least one batch size"),
            (
                "8..1",
                "The first batch size of \"8..1\" is larger than the last",
            ),
        ] {
            let said = parse(BATCH, text).unwrap_err().to_string();
            // The window shows it, too.
            assert!(said.contains(says) && !said.contains("--"), "{said}");
        }
        assert_eq!(parse(BATCH, "4..4").unwrap(), [4]);
        let said = parse("seq", "1..").unwrap_err().to_string();
        assert!(
            said.contains("is no size of seq") && said.contains("from 0"),
            "{said}"
        );
        assert_eq!(
            parse("past", "0,128..1024").unwrap(),
            [0, 128, 256, 512, 1024]
        );
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
                assert_eq!(parse(BATCH, text).unwrap(), batches);
            }
        }
    }
}
