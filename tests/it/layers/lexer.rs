//! Just enough of Rust's lexical grammar to tell code from text.
//!
//! Comments, strings and characters become blanks, lines and columns stay where they were, and what is
//! left is cut into words and signs. Macros are not expanded: what only a macro writes goes unseen.

/// One word or sign of the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token<'a> {
    /// The word (an identifier, keyword or number) or the sign itself.
    pub text: &'a str,
    /// Its line, counted from 1.
    pub line: usize,
    /// Whether it touches the token before it.
    pub touches: bool,
}

impl Token<'_> {
    /// Whether it is an identifier or keyword.
    pub(super) fn is_word(&self) -> bool {
        self.text.starts_with(starts_word)
    }
}

/// The same text with comments, strings, characters, lifetimes and raw identifiers blanked.
pub(super) fn code_only(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut code = String::with_capacity(text.len());
    let mut at = 0;
    while at < chars.len() {
        let (end, is_code) = piece(&chars, at);
        for &c in &chars[at..end] {
            code.push(if is_code || c == '\n' { c } else { ' ' });
        }
        at = end;
    }
    code
}

/// The words and signs of text that went through [`code_only`].
pub(super) fn tokens(code: &str) -> Vec<Token<'_>> {
    const SIGNS: [&str; 4] = ["::", "->", "=>", ".."];
    let mut found = Vec::new();
    let (mut at, mut line, mut touches) = (0, 1, false);
    while let Some(c) = code[at..].chars().next() {
        let rest = &code[at..];
        let length = if in_word(c) {
            rest.find(|c: char| !in_word(c)).unwrap_or(rest.len())
        } else {
            let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign));
            sign.map_or_else(|| c.len_utf8(), |sign| sign.len())
        };
        if c.is_whitespace() {
            line += usize::from(c == '\n');
        } else {
            found.push(Token {
                text: &rest[..length],
                line,
                touches,
            });
        }
        touches = !c.is_whitespace();
        at += length;
    }
    found
}

/// Where the piece that begins at `at` ends, and whether it is code.
fn piece(chars: &[char], at: usize) -> (usize, bool) {
    let next = chars.get(at + 1).copied();
    match chars[at] {
        '/' if next == Some('/') => (line_end(chars, at), false),
        '/' if next == Some('*') => (comment_end(chars, at), false),
        '"' => (string_end(chars, at), false),
        '\'' => (quote_end(chars, at), false),
        c if in_word(c) => word_end(chars, at),
        _ => (at + 1, true),
    }
}

fn line_end(chars: &[char], at: usize) -> usize {
    chars[at..]
        .iter()
        .position(|&c| c == '\n')
        .map_or(chars.len(), |n| at + n)
}

/// Block comments nest.
fn comment_end(chars: &[char], mut at: usize) -> usize {
    let mut depth = 0;
    while at < chars.len() {
        match (chars[at], chars.get(at + 1)) {
            ('/', Some('*')) => {
                depth += 1;
                at += 2;
            }
            ('*', Some('/')) => {
                depth -= 1;
                at += 2;
            }
            _ => at += 1,
        }
        if depth == 0 {
            return at;
        }
    }
    chars.len()
}

fn string_end(chars: &[char], at: usize) -> usize {
    let mut at = at + 1;
    while at < chars.len() {
        match chars[at] {
            '\\' => at += 2,
            '"' => return at + 1,
            _ => at += 1,
        }
    }
    chars.len()
}

/// A quote begins a character, or a lifetime, which is blanked as well.
fn quote_end(chars: &[char], at: usize) -> usize {
    let after = |n: usize| chars.get(at + n).copied();
    if after(1) == Some('\\') {
        let close = chars.iter().skip(at + 3).position(|&c| c == '\'');
        return close.map_or(chars.len(), |n| at + 3 + n + 1);
    }
    if after(2) == Some('\'') {
        return at + 3;
    }
    let name = chars[at + 1..].iter().take_while(|&&c| in_word(c)).count();
    at + 1 + name
}

/// A word is code, unless it opens a raw string or a raw identifier.
fn word_end(chars: &[char], at: usize) -> (usize, bool) {
    let length = |from: usize| chars[from..].iter().take_while(|&&c| in_word(c)).count();
    let end = at + length(at);
    let is_raw = matches!(chars[at..end], ['r'] | ['b' | 'c', 'r']);
    if !is_raw {
        return (end, true);
    }
    let n_hashes = chars[end..].iter().take_while(|&&c| c == '#').count();
    let body = end + n_hashes;
    match chars.get(body) {
        Some('"') => (raw_string_end(chars, body + 1, n_hashes), false),
        Some(&c) if n_hashes == 1 && starts_word(c) => (body + length(body), false),
        _ => (end, true),
    }
}

fn raw_string_end(chars: &[char], body: usize, n_hashes: usize) -> usize {
    let closes = |at: usize| {
        let hashes = chars[at + 1..]
            .iter()
            .take(n_hashes)
            .take_while(|&&c| c == '#')
            .count();
        chars[at] == '"' && hashes == n_hashes
    };
    (body..chars.len())
        .find(|&at| closes(at))
        .map_or(chars.len(), |at| at + 1 + n_hashes)
}

fn starts_word(c: char) -> bool {
    c == '_' || c.is_alphabetic()
}

fn in_word(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

/// What is left as code, words and signs parted by one space.
fn code_words(text: &str) -> String {
    let code = code_only(text);
    let words: Vec<&str> = tokens(&code).iter().map(|token| token.text).collect();
    words.join(" ")
}

#[test]
fn comments_are_not_code() {
    assert_eq!(code_words("a // b\nc"), "a c");
    assert_eq!(code_words("a /* b /* c */ d */ e"), "a e");
    assert_eq!(code_words("/// [`crate::cli`]\nx / y"), "x / y");
    assert_eq!(code_words("a /* never closed"), "a");
}

#[test]
fn strings_are_not_code() {
    assert_eq!(code_words(r#"a("b // c", d)"#), "a ( , d )");
    assert_eq!(code_words(r#"a("b \" c \\", d)"#), "a ( , d )");
    assert_eq!(
        code_words(r##"a(r"\", b, br#"c " d"#, e)"##),
        "a ( , b , , e )"
    );
    assert_eq!(code_words("a(r##\"b \"# c\"##, d)"), "a ( , d )");
    assert_eq!(
        code_words("for_r#type(r#fn, our)"),
        "for_r # type ( , our )"
    );
}

#[test]
fn characters_and_lifetimes_are_told_apart() {
    assert_eq!(
        code_words(r#"a('"', '\'', '\\', '\u{1F}', 'é', b'"', c)"#),
        "a ( , , , , , b , c )"
    );
    assert_eq!(
        code_words("fn f<'a>(x: &'a str, y: &'static str)"),
        "fn f < > ( x : & str , y : & str )"
    );
    assert_eq!(
        code_words("'outer: loop { break 'outer; }"),
        ": loop { break ; }"
    );
}

#[test]
fn lines_stay_in_place() {
    let text = "a\n/* b\nc */ d\n\"e\nf\" g\n// h\ni";
    let code = code_only(text);
    assert_eq!(code.lines().count(), text.lines().count());
    let lines: Vec<(&str, usize)> = tokens(&code).iter().map(|t| (t.text, t.line)).collect();
    assert_eq!(lines, [("a", 1), ("d", 3), ("g", 5), ("i", 7)]);
}

#[test]
fn signs_of_two_characters_stay_whole() {
    assert_eq!(
        code_words("a::b->c=>d..e 0..9"),
        "a :: b -> c => d .. e 0 .. 9"
    );
}
