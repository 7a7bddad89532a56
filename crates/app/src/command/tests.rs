//! The list of commands: no two alike, and found by their letters.

use super::*;
use std::collections::BTreeSet;

#[test]
fn no_two_commands_share_a_name_or_keys() {
    let ids: BTreeSet<&str> = ALL.iter().map(|command| command.id).collect();
    assert_eq!(ids.len(), ALL.len());
    let with_keys: Vec<Shortcut> = ALL
        .iter()
        .filter_map(|command| keys(command, &BTreeMap::new()))
        .collect();
    let distinct: BTreeSet<&Shortcut> = with_keys.iter().collect();
    assert_eq!(distinct.len(), with_keys.len());
    for command in ALL.iter().filter(|command| !command.keys.is_empty()) {
        assert!(command.keys.parse::<Shortcut>().is_ok(), "{}", command.keys);
    }
}

#[test]
fn every_plan_that_comes_ready_has_a_command() {
    for ladder in crate::plan::ladders() {
        let id = format!("plan-{}", ladder.id);
        let command = ALL.iter().find(|command| command.id == id).unwrap();
        assert_eq!(command.title, format!("Plan: {}", ladder.title));
    }
}

#[test]
fn the_closest_comes_first() {
    assert_eq!(find("go cur")[0].id, "go-curves");
    assert_eq!(find("swap")[0].id, "swap");
    assert_eq!(find("stop run")[0].id, "stop");
    assert_eq!(find("light theme")[0].id, "theme-light");
    assert_eq!(find("gcur")[0].id, "go-curves");
    assert!(find("qqqq").is_empty());
    assert_eq!(find("").len(), ALL.len());
}

#[test]
fn the_users_keys_win() {
    let mut changed = BTreeMap::new();
    changed.insert("palette".to_owned(), Some("Ctrl+P".parse().unwrap()));
    changed.insert("back".to_owned(), None);
    let by_id = |id: &str| ALL.iter().find(|command| command.id == id).unwrap();
    assert_eq!(
        keys(by_id("palette"), &changed).unwrap().to_string(),
        "Ctrl+P"
    );
    assert_eq!(keys(by_id("back"), &changed), None);
    assert_eq!(
        holder(&"Ctrl+P".parse().unwrap(), &changed).unwrap().id,
        "palette"
    );
}
