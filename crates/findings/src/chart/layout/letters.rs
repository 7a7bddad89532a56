//! How large words are in the figure that is laid out.

use super::{Anchor, Font};
use crate::chart::area::Position;
use crate::chart::sketch::{Ink, SketchShape};

/// Sizes of type, lines and markers of a painter, and how wide words are.
#[derive(Clone, Copy)]
pub struct Letters<'a> {
    /// The size of type.
    pub size: f64,
    /// The size of type of names in bars and legends.
    pub body: f64,
    /// Half the width of a marker.
    pub marker: f64,
    /// The width of a line.
    pub line: f64,
    /// The width of a hairline.
    pub hair: f64,
    /// Whether it is for paper, where lines differ without colours.
    pub is_print: bool,
    /// The width of words in a size of type.
    pub measure: &'a dyn Fn(&str, Font, f64) -> f64,
}

impl Letters<'_> {
    /// The same with type of another size.
    #[must_use]
    pub fn sized(self, size: f64) -> Self {
        Self { size, ..self }
    }

    pub fn width(&self, text: &str, font: Font) -> f64 {
        (self.measure)(text, font, self.size)
    }

    /// A text without rotation.
    pub fn text(
        &self,
        anchor: Anchor,
        text: impl Into<String>,
        font: Font,
        ink: Ink,
    ) -> SketchShape {
        SketchShape::Text {
            anchor,
            text: text.into(),
            font,
            size: self.size,
            ink,
            angle: 0.0,
            class: "",
        }
    }

    pub fn hairline(&self, ends: (Position, Position), ink: Ink) -> SketchShape {
        SketchShape::line(ends, self.hair / self.line, ink)
    }

    /// A text cut with an ellipsis, so that it fits.
    pub fn cut(&self, text: &str, font: Font, room: f64) -> String {
        cut(text, room, |text| self.width(text, font))
    }

    /// A text in at most so many lines, as `broken` breaks it.
    pub fn broken(&self, text: &str, font: Font, room: f64, most: usize) -> Vec<String> {
        broken(text, room, most, |text| self.width(text, font))
    }
}

fn letter_width(letter: char, width: impl Fn(&str) -> f64) -> f64 {
    width(letter.encode_utf8(&mut [0; 4]))
}

/// A text cut with an ellipsis, so that it fits.
pub(crate) fn cut(text: &str, room: f64, width: impl Fn(&str) -> f64) -> String {
    if width(text) <= room {
        return text.to_owned();
    }
    let mut left = room - letter_width('…', &width);
    let fits = |letter: &char| {
        left -= letter_width(*letter, &width);
        left >= 0.0
    };
    let short: String = text.chars().take_while(fits).collect();
    format!("{}…", short.trim_end())
}

/// A text in at most so many lines, broken between words or, where one is too long, within it.
pub(crate) fn broken(
    text: &str,
    room: f64,
    most: usize,
    width: impl Fn(&str) -> f64,
) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() && lines.len() + 1 < most.max(1) {
        let (line, after) = rest.split_at(fitting(rest, room, &width));
        lines.push(line.trim_end().to_owned());
        rest = after.trim_start();
    }
    if !rest.is_empty() {
        lines.push(cut(rest, room, width));
    }
    lines
}

/// Where to break a text: after the last word that fits, or within the first; at least one letter.
fn fitting(text: &str, room: f64, width: impl Fn(&str) -> f64) -> usize {
    let mut left = room;
    let mut after_word = None;
    for (at, letter) in text.char_indices() {
        left -= letter_width(letter, &width);
        if left < 0.0 {
            let first = text.chars().next().map_or(0, char::len_utf8);
            return after_word.unwrap_or_else(|| at.max(first));
        }
        if matches!(letter, ' ' | '_' | ',' | '-' | '/' | '.' | ':' | ';') {
            after_word = Some(at + letter.len_utf8());
        }
    }
    text.len()
}

#[cfg(test)]
pub(crate) mod testing {
    use super::Letters;

    /// Type of 10 in which every letter is 6 wide.
    pub(crate) fn letters() -> Letters<'static> {
        Letters {
            size: 10.0,
            body: 10.0,
            marker: 3.6,
            line: 2.0,
            hair: 1.0,
            is_print: false,
            measure: &|text, _, _| 6.0 * text.chars().count() as f64,
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
