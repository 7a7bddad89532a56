//! Searches titles for words in any order. Where no title has all words, it searches for their letters in
//! this order and close to each other.

/// Largest distance of neighbouring letters; with a larger one nearly every title matches.
const LOOSEST: usize = 4;

/// The items whose titles match, the best first. Without words, all of them in their order.
pub fn by_words<T>(things: Vec<T>, title: impl Fn(&T) -> &str, wanted: &str) -> Vec<T> {
    let wanted = wanted.to_lowercase();
    let words: Vec<&str> = wanted.split_whitespace().collect();
    if words.is_empty() {
        return things;
    }
    let titles: Vec<String> = things
        .iter()
        .map(|thing| title(thing).to_lowercase())
        .collect();
    let mut ranks: Vec<Option<usize>> = titles.iter().map(|title| rank(title, &words)).collect();
    if ranks.iter().all(Option::is_none) {
        let letters: Vec<char> = words.concat().chars().collect();
        ranks = titles
            .iter()
            .map(|title| distance(title, &letters))
            .collect();
    }
    let ranked = ranks.into_iter().zip(titles).zip(things);
    let mut found: Vec<((usize, usize), T)> = ranked
        .filter_map(|((rank, title), thing)| Some(((rank?, title.len()), thing)))
        .collect();
    // Of two equal matches the shorter title comes first, else the order stays.
    found.sort_by_key(|(key, _)| *key);
    found.into_iter().map(|(_, thing)| thing).collect()
}

/// How well the title matches all words; the lowest is best.
fn rank(title: &str, words: &[&str]) -> Option<usize> {
    words.iter().map(|word| place(title, word)).sum()
}

/// Whole words are better than beginnings of words, and those are better than pieces.
fn place(title: &str, word: &str) -> Option<usize> {
    let ranks = title.match_indices(word).map(|(at, _)| {
        let begins = !title[..at].ends_with(char::is_alphanumeric);
        let ends = !title[at + word.len()..].starts_with(char::is_alphanumeric);
        match (begins, ends) {
            (true, true) => 0,
            (true, false) => 1,
            (false, _) => 4,
        }
    });
    ranks.min()
}

/// Distance of the letters in the title; `None` where they are missing, out of order or too far apart.
fn distance(title: &str, letters: &[char]) -> Option<usize> {
    let title: Vec<char> = title.chars().filter(|c| !c.is_whitespace()).collect();
    let mut place = 0;
    let mut gaps = 0;
    for (index, letter) in letters.iter().enumerate() {
        let skipped = title[place..].iter().position(|c| c == letter)?;
        gaps += if index == 0 {
            usize::from(skipped > 0) * 3 + skipped / 4
        } else {
            skipped * 2
        };
        place += skipped + 1;
    }
    (gaps <= LOOSEST * letters.len()).then_some(gaps)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TITLES: [&str; 6] = [
        "Curves: ort:cuda batch over 8 alone, or all again",
        "Theme: light",
        "Recover interrupted runs",
        "Open the example Published: a training baseline",
        "Curves: hide tract",
        "Go to Curves",
    ];

    fn found(words: &str) -> Vec<&'static str> {
        by_words(TITLES.to_vec(), |title| *title, words)
    }

    #[test]
    fn words_are_found_in_any_order() {
        assert_eq!(found("light theme"), ["Theme: light"]);
        assert_eq!(found("tract hide"), ["Curves: hide tract"]);
        assert_eq!(found("LIGHT th"), ["Theme: light"]);
        assert_eq!(found(" "), TITLES);
    }

    #[test]
    fn whole_words_come_first_and_short_titles_before_long_ones() {
        let titles = ["Overtime", "The time it takes", "Timeline", "One time"];
        let found = by_words(titles.to_vec(), |title| *title, "time");
        let expected = ["One time", "The time it takes", "Timeline", "Overtime"];
        assert_eq!(found, expected);
    }

    #[test]
    fn letters_are_only_looked_for_where_no_title_has_the_words() {
        assert_eq!(found("hide"), ["Curves: hide tract"]);
        assert_eq!(found("recover"), ["Recover interrupted runs"]);
        assert_eq!(found("gocurv"), ["Go to Curves"]);
    }

    #[test]
    fn letters_all_over_a_title_are_not_found() {
        // The fourth title has the letters in order, but across its whole length.
        assert!(found("oeepa").is_empty());
        assert!(found("qqqq").is_empty());
    }
}
