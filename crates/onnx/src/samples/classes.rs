//! From the names of classes to the numbers that the model has for them.
//!
//! Whole numbers are the model's numbers; `classes.txt` gives names in the model's order; without
//! either the order is alphabetical, as torchvision's `ImageFolder` has it, and a note says so.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::SampleError;
use powerband_core::base::regular_file;

/// Names the classes in the model's order, one a line.
const LIST: &str = "classes.txt";
/// No network has so many classes; what is larger is a date or a serial number.
const MOST_CLASSES: usize = 100_000;

/// The number of each file's class, and what the classes are called.
#[derive(Debug, Default)]
pub(super) struct Numbered {
    /// In the order of the files.
    pub labels: Vec<Option<usize>>,
    /// By number.
    pub names: Vec<String>,
}

/// Numbers the classes of files. `all` are the classes there are, where that is known apart from the
/// files.
pub(super) fn number(
    beside: &Path,
    files: &[(PathBuf, Option<String>)],
    all: &[String],
    notes: &mut Vec<String>,
) -> Result<Numbered, SampleError> {
    let mut names: BTreeSet<&str> = files
        .iter()
        .filter_map(|(_, label)| label.as_deref())
        .collect();
    let used = names.len();
    names.extend(all.iter().map(String::as_str));
    let path = beside.join(LIST);
    let (numbers, titles) = if names.is_empty() {
        return Ok(unlabelled(files.len()));
    } else if let Some(titles) = read_list(&path)? {
        (listed(&names, &titles, &path)?, titles)
    } else if let Some(numbers) = numeric_classes(&names) {
        let largest = numbers.values().max().copied().unwrap_or_default();
        if largest >= MOST_CLASSES {
            let over = numbers.iter().find(|(_, number)| **number == largest);
            let label = over.map(|(name, _)| name.clone()).unwrap_or_default();
            return Err(SampleError::ClassNumber { label });
        }
        let titles = (0..=largest).map(|number| number.to_string());
        (numbers, titles.collect())
    } else if !all.is_empty() && names.len() == 1 {
        notes.push("There is one sub-folder only, so the files in it have no class".to_owned());
        return Ok(unlabelled(files.len()));
    } else {
        let titles: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        if let (Some(first), Some(last)) = (titles.first(), titles.last()) {
            notes.push(format!(
                "Classes are numbered in alphabetical order, from {first:?} as 0 to {last:?} as {}. \
                 If the model has another order, write it to {LIST} beside them, a class a line",
                titles.len() - 1
            ));
        }
        (places(&titles), titles)
    };
    if used < names.len() {
        notes.push(format!(
            "{} of {} classes have no files",
            names.len() - used,
            names.len()
        ));
    }
    let labels = files.iter().map(|(_, label)| {
        let label = label.as_ref()?;
        numbers.get(label).copied()
    });
    Ok(Numbered {
        labels: labels.collect(),
        names: titles,
    })
}

fn unlabelled(count: usize) -> Numbered {
    Numbered {
        labels: vec![None; count],
        names: Vec::new(),
    }
}

fn places(titles: &[String]) -> BTreeMap<String, usize> {
    let numbered = titles.iter().enumerate();
    numbered
        .map(|(number, title)| (title.clone(), number))
        .collect()
}

/// Classes by number, where all names are whole numbers.
fn numeric_classes(names: &BTreeSet<&str>) -> Option<BTreeMap<String, usize>> {
    let is_whole = |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
    if !names.iter().all(|name| is_whole(name)) {
        return None;
    }
    // One that does not even fit is larger than any.
    let numbers = names
        .iter()
        .map(|&name| (name.to_owned(), name.parse().unwrap_or(usize::MAX)));
    Some(numbers.collect())
}

/// The lines of the list of classes, where there is one.
fn read_list(path: &Path) -> Result<Option<Vec<String>>, SampleError> {
    let text = match regular_file::read_to_string(path) {
        Ok(text) => text,
        Err(why) if why.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(why) => {
            let path = path.to_owned();
            return Err(SampleError::Read { path, why });
        }
    };
    let lines = text.trim_start_matches('\u{feff}').lines().map(str::trim);
    let titles = lines.filter(|line| !line.is_empty()).map(str::to_owned);
    Ok(Some(titles.collect()))
}

/// The numbers of classes by a list: a whole line, or else the first word of one, or else the number
/// of one.
fn listed(
    names: &BTreeSet<&str>,
    titles: &[String],
    list: &Path,
) -> Result<BTreeMap<String, usize>, SampleError> {
    let mut lines: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    let mut words: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (number, title) in titles.iter().enumerate() {
        lines.entry(title).or_default().push(number);
        let word = title.split_whitespace().next().unwrap_or_default();
        let word = word.trim_end_matches([',', ':', ';']);
        words.entry(word).or_default().push(number);
    }
    let find = |name: &str| lines.get(name).or_else(|| words.get(name));
    let numbers = numeric_classes(names).filter(|_| !names.iter().any(|name| find(name).is_some()));
    let place = |name: &str| {
        let unknown = || SampleError::UnknownClass {
            label: name.to_owned(),
            list: list.to_owned(),
            count: titles.len(),
        };
        if let Some(numbers) = &numbers {
            let number = numbers.get(name).copied();
            return number.filter(|&n| n < titles.len()).ok_or_else(unknown);
        }
        match find(name).map(Vec::as_slice) {
            Some([number]) => Ok(*number),
            None | Some([]) => Err(unknown()),
            Some(_) => Err(SampleError::TwiceClass {
                label: name.to_owned(),
                list: list.to_owned(),
            }),
        }
    };
    names
        .iter()
        .map(|&name| Ok((name.to_owned(), place(name)?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers of classes, with the lines of a list where there is one.
    fn numbered(names: &[&str], list: Option<&str>) -> Result<(Numbered, Vec<String>), String> {
        let folder = tempfile::tempdir().unwrap();
        if let Some(list) = list {
            std::fs::write(folder.path().join(LIST), list).unwrap();
        }
        let files: Vec<_> = names
            .iter()
            .map(|name| (PathBuf::from("x"), Some((*name).to_owned())))
            .collect();
        let mut notes = Vec::new();
        let numbered = number(folder.path(), &files, &[], &mut notes);
        numbered
            .map(|numbered| (numbered, notes))
            .map_err(|error| error.to_string())
    }

    #[track_caller]
    fn check(names: &[&str], list: Option<&str>, expect: &[usize], n_classes: usize) {
        let (numbered, _) = numbered(names, list).unwrap();
        let labels: Vec<usize> = numbered.labels.into_iter().flatten().collect();
        assert_eq!(
            (labels.as_slice(), numbered.names.len()),
            (expect, n_classes)
        );
    }

    #[test]
    fn classes_are_numbered() {
        check(&["dog", "cat", "dog"], None, &[1, 0, 1], 2);
        check(&["10", "9", "007"], None, &[10, 9, 7], 11);
        check(&["10", "9", "a"], None, &[0, 1, 2], 3);
        let synsets = "n02 tench, Tinca tinca\nn01 goldfish\n\nn03 white shark\n";
        check(&["n01", "n03"], Some(synsets), &[1, 2], 3);
        check(&["1", "2"], Some(synsets), &[1, 2], 3);
        check(&["7", "3"], Some("3\n7\n"), &[1, 0], 2);
        check(
            &["great dane"],
            Some("great shark\r\ngreat dane\r\n"),
            &[1],
            2,
        );
        check(&["tench"], Some("tench, Tinca tinca\n"), &[0], 1);
    }

    #[test]
    fn alphabetical_order_is_said() {
        let (_, notes) = numbered(&["dog", "cat"], None).unwrap();
        assert!(
            notes[0].contains("from \"cat\" as 0 to \"dog\" as 1"),
            "{notes:?}"
        );
        assert!(numbered(&["1", "2"], None).unwrap().1.is_empty());
    }

    #[test]
    fn classes_that_are_none_are_named() {
        for (names, list, expect) in [
            (
                &["dog", "cow"][..],
                Some("dog\ncat"),
                "class \"cow\" is not in",
            ),
            (&["2"], Some("dog\ncat"), "which names 2 classes"),
            (&["dog"], Some("dog a\ndog b"), "more than once"),
            (&["1", "20240131"], None, "20240131 is larger than any"),
            (&["99999999999999999999999"], None, "is larger than any"),
        ] {
            let message = numbered(names, list).unwrap_err();
            assert!(message.contains(expect), "{message}");
        }
    }
}
