//! Which known word a misspelt one may mean.

/// Letters that may be wrong, missing or too many.
const LETTERS: usize = 2;

/// The known word that is written almost like this one.
pub fn near_miss<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let distances = known.iter().map(|known| (distance(word, known), *known));
    let (letters, nearest) = distances.min_by_key(|(letters, _)| *letters)?;
    // Of a short word, few letters would be everything.
    let is_near = letters <= LETTERS.min(word.chars().count() / 3);
    is_near.then_some(nearest)
}

/// Letters to change, add or take away until one word is the other (Levenshtein).
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (place, letter) in from.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = place + 1;
        for (column, other) in to.iter().enumerate() {
            let changed = diagonal + usize::from(letter != *other);
            diagonal = row[column + 1];
            row[column + 1] = changed.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_recognised_and_other_words_are_not() {
        let known = ["onnxruntime", "python", "categories"];
        for (word, meant) in [
            ("onxruntime", Some("onnxruntime")),
            ("pyhton", Some("python")),
            ("category", None),
            ("categorys", Some("categories")),
            ("categorie", Some("categories")),
            ("theme", None),
            ("", None),
        ] {
            assert_eq!(near_miss(word, &known), meant, "{word}");
        }
        assert_eq!(near_miss("python", &[]), None);
    }
}
