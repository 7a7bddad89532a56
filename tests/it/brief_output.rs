//! What a command prints without `--verbose` fits a screen: its tables, and a line for each kind of warning.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::support::Home;

/// Lines of a tall terminal.
const SCREEN: usize = 60;

#[test]
fn show_fits_a_screen_and_has_a_line_for_each_kind_of_warning() {
    let home = Home::new();
    let sessions = Path::new(env!("CARGO_MANIFEST_DIR")).join("sessions");
    let mut flagged = 0;
    for entry in fs::read_dir(sessions).expect("sessions") {
        let path = entry.expect("a file").path();
        if path.extension().is_none_or(|extension| extension != "ron") {
            continue;
        }
        let path = path.display().to_string();
        let brief = home.run(&["show", &path]).out;
        assert!(brief.lines().count() <= SCREEN, "{brief}");
        let full = home.run(&["show", &path, "--verbose"]).out;
        assert!(full.lines().count() >= brief.lines().count());
        let kinds: Vec<&str> = full
            .lines()
            .filter_map(|line| Some(line.strip_prefix("! ")?.split_once(". What to do: ")?.0))
            .collect();
        flagged += kinds.len();
        for kind in kinds {
            let lines: BTreeSet<&str> = brief
                .lines()
                .filter(|line| line.starts_with(&format!("! {kind}: ")))
                .collect();
            assert_eq!(lines.len(), 1, "{kind}:\n{brief}");
        }
    }
    assert!(flagged > 3, "the example sessions have flags");
}

#[test]
fn the_names_of_all_keys_fit_a_screen_and_what_they_do_is_one_option_away() {
    let home = Home::new();
    let brief = home.run(&["engines"]).out;
    assert!(brief.lines().count() <= SCREEN, "{brief}");
    assert!(
        brief
            .lines()
            .all(|line| line.chars().count() < 100 || !line.contains("keep_float"))
    );
    let full = home.run(&["engines", "--verbose"]).out;
    for line in full.lines().filter(|line| line.contains("=…  ")) {
        let mut words = line.split_whitespace();
        let (owner, key) = (
            words.next().expect("an owner"),
            words.next().expect("a key"),
        );
        let key = key.trim_end_matches("=…");
        let named = brief.split_whitespace().any(|word| word == key);
        assert!(named, "{owner} {key} is not in\n{brief}");
    }
}
