//! How large words are in the figure that is laid out.

use super::Font;

/// Sizes of type, lines and markers of a painter, and how wide words are.
pub struct Letters<'a> {
    /// The size of type.
    pub size: f64,
    /// Half the width of a marker.
    pub marker: f64,
    /// The width of a line.
    pub line: f64,
    /// The width of words.
    pub width: &'a dyn Fn(&str, Font) -> f64,
}

impl Letters<'_> {
    /// A text cut with an ellipsis, so that it fits.
    pub fn cut(&self, text: &str, font: Font, room: f64) -> String {
        if (self.width)(text, font) <= room {
            return text.to_owned();
        }
        let mut bytes = [0; 4];
        let mut width = |letter: char| (self.width)(letter.encode_utf8(&mut bytes), font);
        let mut left = room - width('…');
        let fits = |letter: &char| {
            left -= width(*letter);
            left >= 0.0
        };
        let short: String = text.chars().take_while(fits).collect();
        format!("{}…", short.trim_end())
    }
}

#[cfg(test)]
pub(crate) mod testing {
    use super::Letters;

    /// Type of 10 in which every letter is 6 wide.
    pub(crate) fn letters() -> Letters<'static> {
        Letters {
            size: 10.0,
            marker: 3.6,
            line: 2.0,
            width: &|text, _| 6.0 * text.chars().count() as f64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Font;
    use super::testing::letters;

    #[test]
    fn a_text_is_cut_to_its_room() {
        let cut = |room| letters().cut("a long name", Font::Words, room);
        assert_eq!(cut(66.0), "a long name");
        assert_eq!(cut(60.0), "a long na…");
        assert_eq!(cut(18.0), "a…");
        assert_eq!(cut(0.0), "…");
    }
}
