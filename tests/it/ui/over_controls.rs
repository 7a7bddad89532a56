//! Notices and tooltips stand where they cover nothing that can be clicked.

use eframe::egui::epaint::ClippedShape;
use eframe::egui::{Rect, Shape, Vec2, vec2};
use powerband_app::action::{Action, Library, Shell};
use powerband_app::notices::NoticeLevel;
use powerband_app::screen::{Door, Screen};
use powerband_core::base::clock;

use super::pictures::{Album, PictureState, THEMES, desk, set_run};
use super::{Desk, PATIENCE, name_of};

/// Windows in which nothing may be covered.
const SIZES: [(f32, f32); 3] = [(1_280.0, 800.0), (900.0, 700.0), (720.0, 480.0)];

/// What went wrong, in one line and in several, with something to be done about it.
const TROUBLES: [&str; 3] = [
    "Threads is in the trash",
    "densenet121 was not changed: /home/you/.local/share/powerband/sessions/densenet121-20261004-090000.ron was changed by another program",
    "resnet50 was not saved: /home/you/.local/share/powerband/sessions/resnet50-20261004-090000.ron cannot be written: No space left on device (os error 28). It is kept in memory until the window closes.",
];

fn trouble(desk: &mut Desk) {
    let soon = clock::monotonic_ns() + 3_600_000_000_000;
    let notices = &mut desk.app_mut().shared.notices;
    for (place, text) in TROUBLES.into_iter().enumerate() {
        let undo = ("Undo".to_owned(), Action::Library(Library::Restore));
        let offer = (place == 0).then_some(undo);
        notices.add(NoticeLevel::Trouble, text, offer, soon);
    }
}

/// What is painted as words or as a sign, and where it is seen.
fn painted(desk: &Desk) -> Vec<(String, Rect)> {
    let mut found = Vec::new();
    for ClippedShape {
        clip_rect, shape, ..
    } in &desk.harness.output().shapes
    {
        collect(shape, *clip_rect, &mut found);
    }
    found
}

fn collect(shape: &Shape, clip: Rect, found: &mut Vec<(String, Rect)>) {
    match shape {
        Shape::Vec(shapes) => shapes.iter().for_each(|shape| collect(shape, clip, found)),
        Shape::Text(text) => {
            let seen = text.visual_bounding_rect().intersect(clip);
            if seen.width() > 1.0 && seen.height() > 1.0 {
                found.push((text.galley.text().to_owned(), seen));
            }
        }
        _ => {}
    }
}

/// The strip that the notices take: from the first to the last of their buttons, as wide as their words.
fn strip_of(desk: &Desk) -> Rect {
    let parts: Vec<Rect> = desk
        .nodes()
        .iter()
        .filter(|node| {
            let name = name_of(node);
            let is_words = TROUBLES.iter().any(|text| name.as_deref() == Some(text));
            is_words || matches!(name.as_deref(), Some("Dismiss" | "Copy this message"))
        })
        .filter_map(|node| node.bounding_box())
        .map(|place| {
            let min = eframe::egui::pos2(place.x0 as f32, place.y0 as f32);
            Rect::from_min_max(min, eframe::egui::pos2(place.x1 as f32, place.y1 as f32))
        })
        .collect();
    assert!(!parts.is_empty(), "notices are up");
    parts.into_iter().fold(Rect::NOTHING, Rect::union)
}

#[test]
fn notices_cover_nothing() {
    let mut desk = desk(PictureState::Full, 1.0);
    trouble(&mut desk);
    let mut faults = Vec::new();
    for size in SIZES {
        desk.harness.set_size(Vec2::from(size));
        for screen in Screen::ALL {
            if screen == Screen::Run {
                set_run(&mut desk, PictureState::Full);
            }
            desk.act(Action::Go(screen));
            desk.steps(3);
            let strip = strip_of(&desk);
            let of_notices = |words: &str| {
                TROUBLES.contains(&words)
                    || ["Undo", "1 more in the log", "2 more in the log"].contains(&words)
            };
            let is_sign = |words: &str| {
                words
                    .chars()
                    .all(|c| ('\u{e000}'..='\u{f8ff}').contains(&c))
            };
            for (words, seen) in painted(&desk) {
                let shared = seen.intersect(strip);
                let covers = shared.width() > 1.0 && shared.height() > 1.0;
                // Signs of the notices themselves stand between their words and at their right.
                let is_own = of_notices(&words) || (is_sign(&words) && strip.contains_rect(seen));
                if covers && !is_own {
                    faults.push(format!("{screen:?} at {size:?}: {words:?} at {seen:?}"));
                }
            }
            let window = Rect::from_min_size(Default::default(), Vec2::from(size));
            if !window.contains_rect(strip) || strip.height() > size.1 / 2.5 {
                faults.push(format!(
                    "{screen:?} at {size:?}: the notices take {strip:?}"
                ));
            }
        }
        desk.app_mut().bench.run = None;
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn the_last_case_of_a_run_stands_clear_of_notices() {
    let mut desk = desk(PictureState::Full, 1.0);
    set_run(&mut desk, PictureState::Full);
    desk.act(Action::Go(Screen::Run));
    trouble(&mut desk);
    for size in SIZES {
        desk.harness.set_size(Vec2::from(size));
        desk.steps(3);
        let skips: Vec<String> = desk
            .names()
            .into_iter()
            .filter(|name| name.starts_with("Skip "))
            .collect();
        let last = skips.last().expect("a case to skip").clone();
        desk.get(&last).scroll_to_me();
        desk.steps(4);
        let place = desk.get(&last).rect();
        assert!(!place.intersects(strip_of(&desk)), "{last} at {place:?}");
    }
}

#[test]
fn the_rail_says_its_words_beside_itself() {
    let mut desk = desk(PictureState::Small, 1.0);
    for size in SIZES {
        desk.harness.set_size(Vec2::from(size));
        desk.steps(2);
        let rail = if size.0 < 760.0 { 56.0 } else { 112.0 };
        for door in Door::ALL {
            // A label of the screen may be called the same; the rail's entry is a button.
            let entry = desk.get(door.title()).rect();
            if entry.center().x > rail || !entry.is_positive() {
                continue;
            }
            desk.harness.hover_at(entry.center());
            desk.steps(3);
            let purpose = door.purpose();
            desk.step_until("its words are there", PATIENCE, |desk| {
                painted(desk)
                    .iter()
                    .any(|(words, _)| words.contains(purpose))
            });
            let all = painted(&desk);
            let words = all.iter().find(|(words, _)| words.contains(purpose));
            let (_, place) = words.expect("the words");
            assert!(place.left() >= rail, "{door:?} at {size:?}: {place:?}");
            desk.harness
                .hover_at(eframe::egui::Pos2::ZERO + vec2(600.0, 20.0));
            desk.steps(2);
        }
    }
}

#[test]
fn notices_are_painted() {
    let Some(mut album) = Album::open() else {
        return;
    };
    let mut desk = desk(PictureState::Full, 1.0);
    trouble(&mut desk);
    for (theme, word) in THEMES {
        desk.act(Action::Shell(Shell::Theme(theme)));
        for screen in [
            Screen::Run,
            Screen::Curves,
            Screen::Timeline,
            Screen::Library,
        ] {
            for (size, name) in [((1_280.0, 800.0), "1280"), ((900.0, 700.0), "900")] {
                set_run(&mut desk, PictureState::Full);
                desk.harness.set_size(Vec2::from(size));
                desk.act(Action::Go(screen));
                desk.steps(4);
                let title = format!("{screen:?}").to_lowercase();
                album.paint(&mut desk, Some(&format!("notices-{title}-{name}-{word}")));
            }
        }
    }
    album.close();
}
