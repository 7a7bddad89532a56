//! The menus of series, points, rows and sessions: by the right button, by the menu key, and the same in the
//! palette for what is selected.

use std::path::PathBuf;
use std::sync::Arc;

use eframe::egui::{Pos2, vec2};
use powerband_app::App;
use powerband_app::action::{Action, Kernels, Network, Timeline};
use powerband_app::items::{self, MenuTarget};
use powerband_app::palette_entries;
use powerband_app::screen::Screen;
use powerband_app::tables::action::TableChange;

use super::Desk;
use super::pictures::{PictureState, desk};
use crate::support::Home;
use powerband_core::domain::case::CaseKey;
use powerband_findings::analysis::breakdown::BreakdownLevel;

fn titles(app: &App, item: &MenuTarget) -> Vec<String> {
    let groups = items::menu(app, item).into_iter().flatten();
    groups.map(|offered| offered.title).collect()
}

/// A place of the throughput chart where a point is.
fn some_point(desk: &mut Desk) -> Pos2 {
    desk.press("Ctrl+4");
    desk.reach("Throughput");
    let corner = desk.get("Throughput").rect().left_bottom();
    for down in 1..12 {
        for along in 1..16 {
            let at = corner + vec2(along as f32 * 18.0, down as f32 * 18.0);
            desk.harness.hover_at(at);
            desk.steps(1);
            if desk.sees("Beside it at batch") {
                return at;
            }
        }
    }
    panic!("no point of the chart is under the pointer anywhere");
}

#[test]
fn a_series_is_hidden_shown_alone_and_compared_from_its_menu() {
    let mut desk = desk(PictureState::Full, 1.0);
    desk.press("Ctrl+4");
    let entry = desk.app().curves.drawn.legend[1].clone();
    let name = format!("Series {}", entry.name);
    desk.right_click(&name);
    desk.click("Show this series only");
    let shown = desk.app().curves.drawn.legend.iter();
    let shown: Vec<_> = shown.filter(|one| one.shown).map(|one| one.id).collect();
    assert_eq!(shown, [entry.id]);
    desk.right_click(&name);
    desk.click("Show every series");
    assert!(desk.app().curves.hidden.is_empty());
    desk.right_click(&name);
    desk.click("Set as after");
    assert_eq!(desk.app().shared.screen, Screen::Compare);
    let after = desk.app().compare.sides.after.expect("a side");
    let side = powerband_app::sessions::series(after.session, after.setup);
    assert_eq!(side, entry.id);
}

#[test]
fn a_point_has_the_menu_of_its_case() {
    let mut desk = desk(PictureState::Full, 1.0);
    let at = some_point(&mut desk);
    desk.right_click_at(at);
    desk.see("Set as before");
    // The pointer goes to an entry, and so over other points.
    desk.click("Pin: show its samples");
    let pin = desk.app().curves.pin.expect("it is pinned");
    let entries = titles(desk.app(), &MenuTarget::Case(pin));
    assert!(entries.contains(&"Unpin".to_owned()), "{entries:?}");
}

#[test]
fn the_menu_key_opens_the_menu_of_a_row_and_enter_takes_its_first_entry() {
    let mut desk = desk(PictureState::Full, 1.0);
    desk.press("Ctrl+4");
    desk.reach("Copy Cases");
    let rows = desk.names().into_iter();
    let row = rows.filter(|name| name.starts_with("Case of ")).nth(1);
    let row = row.expect("a row");
    desk.reach(&row);
    desk.get(&row).focus();
    desk.steps(2);
    desk.press("Shift+F10");
    desk.steps(2);
    desk.see("Set as before");
    desk.press("Enter");
    desk.steps(2);
    desk.hear("Copied to the clipboard");
    assert!(desk.find("Set as before").is_none(), "the menu is closed");
}

#[test]
fn the_palette_offers_what_the_menu_of_the_pinned_case_offers() {
    let mut desk = desk(PictureState::Full, 1.0);
    desk.press("Ctrl+4");
    desk.press("Ctrl+ArrowRight");
    let item = MenuTarget::Case(desk.app().curves.pin.expect("a case is pinned"));
    let name = items::name(desk.app(), &item);
    let offered: Vec<String> = palette_entries::all_entries(desk.app())
        .into_iter()
        .map(|offered| offered.title)
        .collect();
    for group in items::menu(desk.app(), &item) {
        for entry in group.iter().filter(|entry| entry.why_not.is_none()) {
            let title = format!("{name}: {}", entry.title);
            assert!(offered.contains(&title), "{title}");
        }
    }
}

#[test]
fn an_open_session_has_a_menu() {
    let mut desk = desk(PictureState::Full, 1.0);
    let open = desk.app().shared.sessions.iter().next().expect("a session");
    let (id, name) = (open.id, open.session.name.clone());
    let only = titles(desk.app(), &MenuTarget::Session(id));
    assert!(only.contains(&"Save as…".to_owned()), "{only:?}");
    desk.right_click(&format!("Curves of {name}"));
    desk.see("Write a report…");
    desk.click("Close");
    assert!(desk.app().shared.sessions.get(id).is_none());
    assert!(desk.harness.unnamed_widgets().is_empty());
}

#[test]
fn a_pair_has_the_menus_of_both_its_cases() {
    let mut desk = desk(PictureState::Full, 1.0);
    desk.press("Ctrl+5");
    desk.until("a comparison is there", |app| {
        app.compare.sides.found.result.is_some()
    });
    let items = items::of_row(desk.app(), "pairs", 0);
    let [MenuTarget::Case(before), MenuTarget::Case(after)] = items[..] else {
        panic!("{items:?}");
    };
    assert_ne!(before, after);
    let sides = desk
        .app()
        .compare
        .sides
        .found
        .result
        .as_ref()
        .expect("compared");
    assert_eq!(before.session, sides.0.session);
    assert_eq!(after.session, sides.1.session);
}

/// The kernels of a training, whose timeline is open.
fn with_kernels() -> Desk {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let file = "tests/fixtures/import/kineto/resnet50-v100-train.pt.trace.json.gz";
    let mut desk = Desk::awake(Home::new(), Vec::new());
    desk.act(Action::OpenTrace(root.join(file)));
    desk.until("a timeline", |app| !app.profile.timeline.traces.is_empty());
    desk.act(Action::Go(Screen::Kernels));
    super::kernels::found(&mut desk);
    super::kernels::ask(&mut desk, Kernels::Level(BreakdownLevel::Kernel));
    desk
}

/// The whole name and the short one of a row of the kernels.
fn row(desk: &Desk, place: usize) -> (String, String) {
    let found = desk
        .app()
        .profile
        .kernels
        .found
        .result
        .as_ref()
        .expect("a result");
    let row = &found.breakdown(BreakdownLevel::Kernel).rows[place];
    (row.name.clone(), row.short.clone())
}

#[test]
fn a_selected_kernel_is_lit_on_the_timeline_and_a_selected_slice_among_the_kernels() {
    let mut desk = with_kernels();
    let (name, short) = row(&desk, 0);
    desk.click(&format!("Open {short}"));
    desk.until("its slices", |app| app.profile.timeline.hits.is_some());
    let (_, open, _) = desk.app().profile.timeline.current().expect("a trace");
    let open = Arc::clone(open);
    let slices = |name: &str| {
        let all = 0..open.trace.len();
        let is_it = |at: &usize| open.trace.names.get(open.trace.slice(*at).name) == name;
        all.filter(is_it).collect::<Vec<usize>>()
    };
    let hits = desk
        .app()
        .profile
        .timeline
        .hits
        .as_ref()
        .map(|hits| hits.all.len());
    assert_eq!(hits, Some(slices(&name).len()));
    let (other, _) = row(&desk, 2);
    let slice = slices(&other)[0];
    desk.act(Action::Go(Screen::Timeline));
    desk.act(Action::Timeline(Timeline::Select(Some(slice))));
    assert_eq!(desk.app().profile.kernels.selected_kernel(), Some(&*other));
    let entries = titles(desk.app(), &MenuTarget::Slice(slice));
    for entry in ["Find all of its name", "Open in Kernels", "Add a note"] {
        assert!(entries.contains(&entry.to_owned()), "{entries:?}");
    }
}

#[test]
fn a_row_of_the_kernels_has_a_menu() {
    let mut desk = with_kernels();
    let (name, short) = row(&desk, 1);
    desk.right_click(&format!("Open {short}"));
    desk.click("Filter by this name");
    assert_eq!(desk.app().profile.kernels.filter().words, name);
    desk.right_click(&format!("Open {short}"));
    desk.click("Longest on the timeline");
    desk.until("it is found", |app| app.shared.screen == Screen::Timeline);
}

#[test]
fn a_node_of_the_graph_leads_to_its_kernels() {
    let home = Home::new();
    let mut session = super::accuracy::judged();
    let setup = *session.examinations.keys().next().expect("a graph");
    let mut profile = super::kernels::session().profiles.remove(0);
    profile.case = Some(CaseKey {
        setup,
        point: session.plan.points[0],
    });
    session.profiles.push(profile);
    let path = home.path("examined.ron");
    super::write(&path, &session);
    let mut desk = Desk::awake(home, vec![path]);
    desk.until("it is open", |app| app.shared.sessions.len() == 1);
    desk.act(Action::Go(Screen::Network));
    desk.act(Action::Network(Network::Tables(true)));
    desk.steps(2);
    let Some(MenuTarget::Node(_, name, _)) = items::of_row(desk.app(), "slowest", 0).pop() else {
        panic!("a node");
    };
    desk.reach("Copy Slowest nodes");
    desk.click(&format!("Kernels of {name}"));
    let app = desk.app();
    assert_eq!(app.shared.screen, Screen::Kernels);
    assert_eq!(
        app.profile.kernels.looking.map(|pick| pick.profile),
        Some(0)
    );
    assert_eq!(app.profile.kernels.filter().words, name);
}

#[test]
fn closing_all_others_keeps_a_session_whose_file_is_gone() {
    let mut desk = desk(PictureState::Full, 1.0);
    let open = desk.app().shared.sessions.iter().next().expect("a session");
    let (id, name, path) = (open.id, open.session.name.clone(), open.path.clone());
    std::fs::remove_file(path.expect("a file")).expect("it goes");
    desk.right_click(&format!("Curves of {name}"));
    desk.click("Close all others");
    let left: Vec<_> = desk
        .app()
        .shared
        .sessions
        .iter()
        .map(|open| open.id)
        .collect();
    assert_eq!(left, [id]);
}

#[test]
fn a_menu_closes_where_another_row_comes_to_stand() {
    let mut desk = desk(PictureState::Full, 1.0);
    desk.press("Ctrl+9");
    let mut rows = desk.names().into_iter();
    let row = rows.find(|name| name.starts_with("Session "));
    desk.right_click(&row.expect("a row"));
    desk.see("Details in the library");
    let sort = TableChange::Sort("name".to_owned());
    desk.act(Action::Table("sessions", sort.clone()));
    desk.act(Action::Table("sessions", sort));
    desk.steps(3);
    assert!(!desk.sees("Details in the library"), "{:?}", desk.names());
}

#[test]
fn a_session_of_a_trace_that_is_open_leads_to_its_timeline() {
    let desk = with_kernels();
    let id = desk
        .app()
        .shared
        .sessions
        .iter()
        .next()
        .expect("a session")
        .id;
    let groups = items::menu(desk.app(), &MenuTarget::Session(id));
    let mut all = groups.into_iter().flatten();
    let way = all.find(|offered| offered.title == "Show its timeline");
    assert_eq!(way.expect("an entry").why_not, None);
}
