//! Text that does nothing: names from files may hold characters that a terminal or a screen obeys.

use std::borrow::Cow;

/// What stands where a character is not shown.
pub const REPLACED: &str = "\u{fffd}";

/// Whether a terminal would do something at a character, or text after it would be shown in another order.
pub fn is_obeyed(letter: char) -> bool {
    let turns = matches!(letter, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    turns || (letter.is_control() && !matches!(letter, '\n' | '\t'))
}

/// A text with nothing in it that is obeyed.
pub fn harmless(text: &str) -> Cow<'_, str> {
    if text.contains(is_obeyed) {
        Cow::Owned(text.replace(is_obeyed, REPLACED))
    } else {
        Cow::Borrowed(text)
    }
}
