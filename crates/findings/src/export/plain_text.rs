//! What the writers of text share: characters that may be shown, and the marks that lead from a dash in
//! a table to its reason.

/// What stands in place of a character that must not be there.
const NOT_SHOWN: char = '\u{fffd}';

/// The same text with nothing in it that is not seen and yet changes how the rest is read: control
/// characters, and those that turn the direction of what follows them.
pub(super) fn shown(text: &str) -> String {
    let kept = text.chars().map(|character| match character {
        '\n' | '\t' => character,
        // The last two may stand in neither HTML nor XML.
        '\u{200e}'
        | '\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2066}'..='\u{2069}'
        | '\u{fffe}'
        | '\u{ffff}' => NOT_SHOWN,
        other if other.is_control() => NOT_SHOWN,
        other => other,
    });
    // A line of another system ends like any other.
    kept.collect::<String>().replace("\u{fffd}\n", "\n")
}

/// The marks of the reasons below a table.
pub(crate) struct ReasonMarks<'a> {
    reasons: &'a [&'a str],
}

/// Marks for reasons: none where there is a single one.
pub(crate) fn reason_marks<'a>(reasons: &'a [&'a str]) -> ReasonMarks<'a> {
    ReasonMarks { reasons }
}

impl ReasonMarks<'_> {
    /// The mark beside a dash with this reason.
    pub(super) fn mark_for(&self, why: &str) -> String {
        let place = self.reasons.iter().position(|reason| *reason == why);
        match place {
            Some(place) if self.reasons.len() > 1 => raised(place + 1),
            _ => String::new(),
        }
    }

    /// The lines below the table.
    pub(super) fn remarks(&self) -> Vec<String> {
        let lines = self.reasons.iter().map(|reason| {
            let reason = reason.trim_end_matches('.');
            format!("–{} {reason}.", self.of_place(reason))
        });
        lines.collect()
    }

    fn of_place(&self, trimmed: &str) -> String {
        let found = self
            .reasons
            .iter()
            .find(|reason| reason.trim_end_matches('.') == trimmed);
        found.map_or_else(String::new, |reason| self.mark_for(reason))
    }
}

/// A number in raised digits.
fn raised(number: usize) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let digits = number.to_string();
    let digits = digits
        .bytes()
        .filter_map(|digit| DIGITS.get(usize::from(digit - b'0')));
    digits.collect()
}

/// Texts of every odd kind, for the tests of the writers. Compiled for tests only.
#[cfg(test)]
pub(super) mod testing {
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

    /// What texts are made of.
    const PIECES: [&str; 44] = [
        "<",
        ">",
        "&",
        "\"",
        "'",
        "`",
        "``",
        "```",
        "|",
        "\\",
        "*",
        "**",
        "_",
        "~",
        "~~",
        "#",
        "- ",
        "+ ",
        "1. ",
        "1) ",
        "[x](y)",
        "![",
        "]",
        "(",
        "\n",
        "\r\n",
        "\t",
        "\u{0}",
        "\u{7}",
        "\u{202e}",
        "\u{2066}",
        "שלום",
        "مرحبا",
        "</td>",
        "<script>alert(1)</script>",
        "<!--",
        "&lt;",
        "&#60;",
        "$x$",
        "@name",
        "https://a.b",
        "===",
        " ",
        "word",
    ];

    /// So many texts, the same each time.
    pub(crate) fn odd_texts(count: usize) -> Vec<String> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(8);
        let mut text = || {
            let length = random.next_u64() as usize % 12;
            let pieces = (0..length).map(|_| PIECES[random.next_u64() as usize % PIECES.len()]);
            pieces.collect::<String>()
        };
        (0..count).map(|_| text()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_unseen_is_left() {
        assert_eq!(shown("a\u{202e}b\r\nc\u{0}"), "a\u{fffd}b\nc\u{fffd}");
        assert_eq!(shown("שלום"), "שלום");
    }

    #[test]
    fn reasons_are_marked_where_there_are_several() {
        let one = ["it crashed."];
        assert_eq!(reason_marks(&one).mark_for("it crashed."), "");
        assert_eq!(reason_marks(&one).remarks(), ["– it crashed."]);
        let two = ["it crashed.", "too few"];
        assert_eq!(reason_marks(&two).mark_for("too few"), "²");
        assert_eq!(
            reason_marks(&two).remarks(),
            ["–¹ it crashed.", "–² too few."]
        );
    }
}
