//! Words in a picture: how wide they are, how they are cut and broken, and how they are made safe.

use ttf_parser::Face;

use crate::chart::layout;
use powerband_core::base::fonts;

/// The width of a letter that no font has, in ems.
const UNKNOWN_WIDTH: f64 = 0.6;
/// Begins text that has its own direction, so that it does not turn what is around it.
const ISOLATE: char = '\u{2068}';
/// Ends it.
const END_OF_ISOLATE: char = '\u{2069}';

/// Which font.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Typeface {
    /// For words.
    Words,
    /// For titles.
    Title,
    /// For numbers.
    Numbers,
}

/// The fonts, for measuring.
pub(super) struct TextMetrics {
    words: Option<Face<'static>>,
    title: Option<Face<'static>>,
    numbers: Option<Face<'static>>,
}

impl TextMetrics {
    pub(super) fn new() -> Self {
        let face = |bytes: &'static [u8]| Face::parse(bytes, 0).ok();
        Self {
            words: face(fonts::TEXT),
            title: face(fonts::TEXT_SEMIBOLD),
            numbers: face(fonts::MONO),
        }
    }

    fn face(&self, kind: Typeface) -> Option<&Face<'static>> {
        match kind {
            Typeface::Words => self.words.as_ref(),
            Typeface::Title => self.title.as_ref(),
            Typeface::Numbers => self.numbers.as_ref(),
        }
    }

    fn letter(&self, letter: char, kind: Typeface) -> f64 {
        let own = self.face(kind).into_iter();
        // The second font stands in for missing letters.
        let faces = own.chain(&self.words).chain(&self.numbers);
        let mut widths = faces.filter_map(|face| {
            let glyph = face.glyph_index(letter)?;
            let width = face.glyph_hor_advance(glyph)?;
            Some(f64::from(width) / f64::from(face.units_per_em()))
        });
        widths.next().unwrap_or(UNKNOWN_WIDTH)
    }

    /// Whether the fonts have every letter of a text.
    pub(super) fn has_all(&self, text: &str) -> bool {
        let faces = || self.words.iter().chain(&self.numbers);
        text.chars()
            .filter(|letter| !letter.is_whitespace() && !is_invisible(*letter))
            .all(|letter| faces().any(|face| face.glyph_index(letter).is_some()))
    }

    /// How wide a text is, in pixels.
    pub(super) fn width(&self, text: &str, kind: Typeface, size: f64) -> f64 {
        let letters = text.chars().filter(|letter| !is_invisible(*letter));
        letters.map(|letter| self.letter(letter, kind)).sum::<f64>() * size
    }

    /// A text cut with an ellipsis, so that it fits.
    pub(super) fn cut(&self, text: &str, kind: Typeface, size: f64, room: f64) -> String {
        layout::cut(text, room, |text| self.width(text, kind, size))
    }

    /// A text in at most so many lines, broken between words or, where one is too long, within it.
    pub(super) fn broken(
        &self,
        text: &str,
        kind: Typeface,
        size: f64,
        room: f64,
        most: usize,
    ) -> Vec<String> {
        layout::broken(text, room, most, |text| self.width(text, kind, size))
    }
}

/// Marks that steer the direction of text or take no room.
fn is_invisible(letter: char) -> bool {
    matches!(letter, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// Whether a letter is written from right to left.
fn is_right_to_left(letter: char) -> bool {
    matches!(letter,
        '\u{0590}'..='\u{08ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefe}'
        | '\u{10800}'..='\u{10fff}' | '\u{1e800}'..='\u{1efff}')
}

/// A text on one line, without letters that no document may hold or that would turn others around;
/// what is written from right to left is kept to itself.
pub(super) fn clean(text: &str) -> String {
    let letters = text.chars().filter_map(|letter| match letter {
        '\n' | '\r' | '\t' => Some(' '),
        '\u{fffe}' | '\u{ffff}' => None,
        letter if letter.is_control() || is_invisible(letter) => None,
        letter => Some(letter),
    });
    let clean: String = letters.collect();
    if clean.chars().any(is_right_to_left) {
        format!("{ISOLATE}{clean}{END_OF_ISOLATE}")
    } else {
        clean
    }
}

/// A clean text as it stands in a document.
pub(super) fn escaped(text: &str) -> String {
    let clean = clean(text);
    let mut escaped = String::with_capacity(clean.len());
    for letter in clean.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            letter => escaped.push(letter),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_are_those_of_the_fonts() {
        let letters = TextMetrics::new();
        let width = |text: &str, kind| letters.width(text, kind, 10.0);
        // Every figure is equally wide, and every letter of the numbers' font is 0.6 em.
        assert_eq!(width("111", Typeface::Words), width("888", Typeface::Words));
        assert!((width("ab.", Typeface::Numbers) - 18.0).abs() < 1e-9);
        assert!(width("W", Typeface::Title) > width("i", Typeface::Title));
        assert!(letters.has_all("ort:cpu µ × – Ж"));
        assert!(!letters.has_all("名"));
    }

    #[test]
    fn text_is_cut_and_broken_to_its_room() {
        let letters = TextMetrics::new();
        let text = "a rather long name of a setup";
        let cut = letters.cut(text, Typeface::Words, 10.0, 60.0);
        assert!(cut.ends_with('…') && letters.width(&cut, Typeface::Words, 10.0) <= 60.0);
        assert_eq!(letters.cut("ab", Typeface::Words, 10.0, 60.0), "ab");
        let lines = letters.broken(text, Typeface::Words, 10.0, 60.0, 3);
        assert_eq!(lines.len(), 3, "{lines:?}");
        for line in &lines {
            assert!(letters.width(line, Typeface::Words, 10.0) <= 60.0, "{line}");
        }
        assert_eq!(lines[0], "a rather");
        let unbroken = letters.broken(&"x".repeat(50), Typeface::Words, 10.0, 60.0, 2);
        assert_eq!(unbroken.len(), 2);
        assert_eq!(letters.broken("", Typeface::Words, 10.0, 60.0, 2).len(), 0);
        assert!(
            !letters
                .broken("abc", Typeface::Words, 10.0, 0.0, 9)
                .is_empty()
        );
    }

    #[test]
    fn markup_control_and_direction_are_harmless() {
        assert_eq!(
            escaped("<b>\"a\" & 'b'</b>\n\u{0}\u{1b}\u{202e}c"),
            "&lt;b&gt;&quot;a&quot; &amp; &#39;b&#39;&lt;/b&gt; c"
        );
        assert_eq!(clean("שלום"), "\u{2068}שלום\u{2069}");
        assert_eq!(clean("plain"), "plain");
    }
}
