//! Sizes that are worked out from others, as exporters write them into the name of a dimension:
//! `past_sequence_length + 1`, `2*batch`.
//!
//! The names come from a model's ports, the sizes of the names from `shapes`.

/// What an expression comes to, where every name in it has a size: whole numbers, names, `+`, `-`, `*`,
/// `//` or `/` that leaves no rest, and parentheses.
pub(super) fn evaluate(text: &str, size_of: &dyn Fn(&str) -> Option<usize>) -> Option<usize> {
    let mut reader = ExpressionParser {
        rest: text.trim(),
        size_of,
    };
    let value = reader.sum()?;
    usize::try_from(value)
        .ok()
        .filter(|_| reader.rest.is_empty())
}

/// The names that an expression is worked out from; only itself where it is a plain name.
pub(super) fn names(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !is_in_name(c));
    words.filter(|word| word.starts_with(|c: char| !c.is_ascii_digit()))
}

/// Whether a name is worked out from others.
pub(super) fn is_expression(text: &str) -> bool {
    names(text).next() != Some(text)
}

fn is_in_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '.')
}

struct ExpressionParser<'a> {
    rest: &'a str,
    size_of: &'a dyn Fn(&str) -> Option<usize>,
}

impl ExpressionParser<'_> {
    fn sum(&mut self) -> Option<i64> {
        let mut value = self.product()?;
        loop {
            if self.take("+") {
                value = value.checked_add(self.product()?)?;
            } else if self.take("-") {
                value = value.checked_sub(self.product()?)?;
            } else {
                return Some(value);
            }
        }
    }

    fn product(&mut self) -> Option<i64> {
        let mut value = self.atom()?;
        loop {
            if self.take("*") {
                value = value.checked_mul(self.atom()?)?;
            } else if self.take("//") {
                value = value.checked_div(self.atom()?)?;
            } else if self.take("/") {
                let divisor = self.atom()?;
                value = Some(value).filter(|v| v.checked_rem(divisor) == Some(0))? / divisor;
            } else {
                return Some(value);
            }
        }
    }

    fn atom(&mut self) -> Option<i64> {
        if self.take("(") {
            let value = self.sum()?;
            return self.take(")").then_some(value);
        }
        let length = self
            .rest
            .find(|c| !is_in_name(c))
            .unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(length);
        self.rest = rest.trim_start();
        match word.parse() {
            Ok(number) => Some(number),
            Err(_) if word.is_empty() => None,
            Err(_) => i64::try_from((self.size_of)(word)?).ok(),
        }
    }

    fn take(&mut self, sign: &str) -> bool {
        match self.rest.strip_prefix(sign) {
            Some(rest) => {
                self.rest = rest.trim_start();
                true
            }
            None => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_worked_out() {
        let size_of = |name: &str| match name {
            "past_sequence_length" => Some(127),
            "batch" => Some(4),
            _ => None,
        };
        for (text, expect) in [
            ("past_sequence_length + 1", Some(128)),
            ("2*batch", Some(8)),
            ("(batch + 2) * 3 - 1", Some(17)),
            ("batch//3", Some(1)),
            ("batch/2", Some(2)),
            ("batch/3", None),
            ("batch/0", None),
            ("batch - 5", None),
            ("other + 1", None),
            ("floor(batch)", None),
            ("batch batch", None),
            ("batch +", None),
            ("", None),
            ("9999999999999999999*batch", None),
        ] {
            assert_eq!(evaluate(text, &size_of), expect, "{text}");
        }
        assert!(is_expression("2*batch") && !is_expression("past_sequence_length"));
        assert_eq!(names("(a + 2*b_c)").collect::<Vec<_>>(), ["a", "b_c"]);
    }
}
