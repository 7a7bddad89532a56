//! Which known word a misspelt one may mean.

/// Letters that may be wrong, missing, swapped or too many.
const LETTERS: usize = 2;

/// The known word that is written almost like this one.
pub fn near_miss<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let distances = known
        .iter()
        .map(|known| (strsim::damerau_levenshtein(word, known), *known));
    let (letters, nearest) = distances.min_by_key(|(letters, _)| *letters)?;
    // Of a short word, few letters would be everything.
    let is_near = letters <= LETTERS.min(word.chars().count() / 3);
    is_near.then_some(nearest)
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
