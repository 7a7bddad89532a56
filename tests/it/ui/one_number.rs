//! One number, one name, in the window: what its tables and cards say is what the commands print. Read from the
//! accessibility tree, as a screen reader has it.

use eframe::egui::Rect;
use eframe::egui::accesskit::Role;
use egui_kittest::kittest::NodeT as _;

use powerband_app::action::Action;
use powerband_app::screen::Screen;

use super::{Desk, name_of, narrow, shapes, write};
use crate::one_number::documents::WrittenTable;
use crate::one_number::{printed, sessions};
use crate::support::Home;

/// Names with their edges.
type Placed = Vec<(String, Rect)>;

/// Names and edges of what is on the screen: heads of tables by their buttons, cells by their labels.
fn placed(desk: &Desk) -> (Placed, Placed) {
    let (mut heads, mut labels) = (Vec::new(), Vec::new());
    for node in desk.harness.root().children_recursive() {
        let known = node.accesskit_node();
        let Some(name) = name_of(&known).filter(|_| !known.is_hidden()) else {
            continue;
        };
        if let Some(title) = name.strip_prefix("Sort by ") {
            heads.push((title.to_owned(), node.rect()));
        } else if known.role() == Role::Label {
            labels.push((name, node.rect()));
        }
    }
    (heads, labels)
}

/// A table from its first column to its last, as it is seen: a cell belongs to the column with whose head it shares an
/// edge, and to the row of its height.
fn seen(desk: &Desk, first: &str, last: &str) -> WrittenTable {
    let (heads, labels) = placed(desk);
    let find = |heads: &[(String, Rect)], title: &str| {
        let place = heads.iter().rposition(|(known, _)| known == title);
        place.unwrap_or_else(|| panic!("no {title}: {heads:?}"))
    };
    let to = find(&heads, last);
    let from = find(&heads[..to], first);
    let heads = &heads[from..=to];
    let below = heads[0].1.bottom();
    let mut rows: Vec<(f32, Vec<String>)> = Vec::new();
    for (text, rect) in labels.iter().filter(|(_, rect)| rect.top() >= below) {
        let shares_edge = |head: &(String, Rect)| {
            let (left, right) = (head.1.left() - rect.left(), head.1.right() - rect.right());
            left.abs() < 1.5 || right.abs() < 1.5
        };
        let Some(column) = heads.iter().position(shares_edge) else {
            continue;
        };
        let middle = rect.center().y;
        let known = rows.iter().position(|(y, _)| (y - middle).abs() < 4.0);
        let row = known.unwrap_or_else(|| {
            rows.push((middle, vec![String::new(); heads.len()]));
            rows.len() - 1
        });
        rows[row].1[column].clone_from(text);
    }
    let is_whole = |cells: &Vec<String>| cells.iter().all(|cell| !cell.is_empty());
    WrittenTable {
        // The column follows the statistic that is chosen above the charts, which is the median at first.
        heads: heads
            .iter()
            .map(|head| head.0.replace("Latency", "Median"))
            .collect(),
        rows: rows
            .into_iter()
            .map(|(_, cells)| cells)
            .filter(is_whole)
            .collect(),
    }
}

/// The value of a card, which follows its title.
fn card(desk: &Desk, title: &str) -> String {
    let names = desk.names();
    let place = names.iter().position(|name| name == title);
    let place = place.unwrap_or_else(|| panic!("no card {title}: {names:?}"));
    names[place + 1].clone()
}

#[test]
fn the_window_says_what_the_commands_print() {
    let home = Home::new();
    let files = sessions(&home);
    let mut rows = 0;
    for file in files {
        let path = file.to_string_lossy().into_owned();
        let mut written = printed(&home, &path);
        let mut desk = Desk::awake(Home::new(), vec![file]);
        desk.until("it is open", |app| app.shared.sessions.len() == 1);
        let open = desk.app().shared.sessions.iter().next().expect("a session");
        let session = std::sync::Arc::clone(&open.session);
        if !session.cases.is_empty() {
            desk.press("Ctrl+4");
            desk.reach("Sort by Samples");
            let sheet = seen(&desk, "Setup", "Samples");
            rows += sheet.rows.len();
            written.facts.add_sheets("Curves", &[sheet]);
        }
        if session.plan.setups.len() == 2 && session.imported.is_none() {
            desk.press("Ctrl+5");
            desk.until("the sides are compared", |app| {
                app.compare.sides.found.result.is_some()
            });
            desk.reach("Sort by Verdict");
            let mut sheet = seen(&desk, "Batch", "Interval");
            rows += sheet.rows.len();
            // The sides stand above the table.
            for (head, setup) in [("Before", 0), ("After", 1)] {
                sheet.heads.insert(setup, head.to_owned());
                for row in &mut sheet.rows {
                    row.insert(setup, session.setup_label(setup));
                }
            }
            written.facts.add_sheets("Compare", &[sheet]);
        }
        if !session.profiles.is_empty() {
            desk.press("Ctrl+8");
            desk.until("it is added up", |app| {
                app.profile.kernels.found.result.is_some()
            });
            desk.steps(2);
            let (_, printed) = written
                .texts
                .iter()
                .find(|(place, _)| place == "kernels")
                .expect("kernels");
            let kind = session.profiles[0].device_kind();
            for title in ["Kernel time (sum)".to_owned(), format!("{kind} idle")] {
                let value = card(&desk, &title);
                assert!(
                    printed.contains(&value),
                    "{title}: {value} in {path}\n{printed}"
                );
            }
        }
        let contradictions = written.facts.contradictions();
        assert!(
            contradictions.is_empty(),
            "{path}:\n{}",
            contradictions.join("\n")
        );
    }
    assert!(rows > 10, "{rows} rows were seen");
}

#[test]
fn a_point_has_all_its_sizes_and_the_batch_is_named_once() {
    let home = Home::new();
    let file = home.path("home/sessions/grid.ron");
    std::fs::create_dir_all(home.path("home/sessions")).expect("the library's folder");
    write(
        &file,
        &shapes::session("grid", "2026-10-01T08:00:00Z", false),
    );
    let mut desk = Desk::awake(home, vec![file]);
    desk.until("it is open", |app| app.shared.sessions.len() == 1);
    desk.act(Action::Go(Screen::History));
    desk.see("2 setups × 5 × 5 points");
    desk.until("it is followed", |app| {
        app.compare.history.found.result.is_some()
    });
    desk.steps(2);
    assert_eq!(desk.value("Batch size to follow"), "Batch 1, sequence 32");

    let mut run = narrow::live();
    let (case, _) = run.current.as_mut().expect("a case under way");
    case.point = case.point.with("sequence", 128);
    let words = format!("Batch {}, sequence 128", case.point.batch());
    run.skipped = vec![*case];
    desk.app_mut().bench.run = Some(run);
    desk.act(Action::Go(Screen::Run));
    desk.see(&words);
    desk.see("Skipped after this round.");
    for name in desk.names() {
        assert!(
            !name.contains("atch batch") && !name.contains("eft out"),
            "{name}"
        );
    }
}
