//! Names of 120 characters on every screen, in windows of every size from 900 × 600 at 100 to 150 %: nothing is cut
//! that has no way to be seen. Text wraps, is scrolled into sight, or is on hover.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use eframe::egui::accesskit::Role;
use eframe::egui::epaint::TextShape;
use eframe::egui::{Pos2, Rect, Shape, vec2};
use powerband_app::action::{Action, Compare};
use powerband_app::compare::SideChoice;
use powerband_app::plan::{Draft, DraftSetup};
use powerband_app::screen::Screen;
use powerband_app::sessions::SessionId;
use powerband_core::domain::plan::SetupStyle;
use powerband_core::domain::session::Session;

use super::narrow::{live, resize};
use super::pictures::{PictureState, furnish, sessions_of};
use super::{Desk, fleet, kernels, scaled, shelve, timeline, why};
use crate::support::Home;

/// Windows of 900 × 600 and 1280 × 800 at 100, 125 and 150 %, in points.
const SIZES: [(f32, f32); 6] = [
    (900.0, 600.0),
    (720.0, 480.0),
    (600.0, 400.0),
    (1_280.0, 800.0),
    (1_024.0, 640.0),
    (853.0, 533.0),
];
/// Characters of a long name.
const LETTERS: usize = 120;
/// What a long name begins and ends with.
const ENDS: (&str, &str) = ("Long", "end");
/// What is measured in pixels is not exact to a fraction of one.
const EDGE: f32 = 1.5;
/// Width of the rail, which the screens stand beside.
const RAIL: f32 = 56.0;
/// Height of the words along an axis.
const AXIS: f32 = 40.0;

/// A long name, with words that can stand on lines of their own or as one word.
fn long(kind: &str, number: usize, is_one_word: bool) -> String {
    let between = if is_one_word { '_' } else { ' ' };
    let words = ["measured", "before", "and", "after", "an", "upgrade"];
    let mut name = format!("{} {kind} {number}", ENDS.0);
    let mut words = words.iter().cycle();
    while let Some(word) = words.next()
        && name.len() + 1 + word.len() + 1 + ENDS.1.len() < LETTERS
    {
        name = format!("{name} {word}");
    }
    let filling = LETTERS - name.len() - 1 - ENDS.1.len();
    let name = format!("{name}{} {}", "x".repeat(filling), ENDS.1);
    name.replace(' ', &between.to_string())
}

/// Every name of a session and of what is in it is long.
fn lengthen(session: &mut Session, number: usize) {
    session.name = long("session", number, false);
    session.model.name = long("model", 0, true);
    session.environment.cpu.model = long("processor", number, false);
    session.tags.push(long("tag", 0, true));
    session.notes = long("note", number, false);
    session.warnings.push(long("warning", number, false));
    let setups = 0..session.plan.setups.len();
    session.plan.looks = setups
        .map(|setup| SetupStyle {
            label: Some(long("setup", setup, setup % 2 == 0)),
            colour: None,
        })
        .collect();
    for (place, profile) in session.profiles.iter_mut().enumerate() {
        profile.name = long("profile", place, place % 2 == 0);
        let totals = profile.totals.iter_mut().take(4).enumerate();
        totals.for_each(|(place, total)| total.name = long("kernel", place, true));
    }
}

/// A window in which everything that has a name has a long one.
fn desk() -> Desk {
    let home = Home::new();
    let mut sessions = sessions_of(PictureState::Full);
    sessions.truncate(2);
    sessions.extend([fleet::session(), kernels::session(), why::session()]);
    let shelved = sessions.iter_mut().enumerate().map(|(place, session)| {
        lengthen(session, place);
        shelve(&home, &format!("long-{place}"), session)
    });
    let files: Vec<PathBuf> = shelved.collect();
    let count = files.len();
    let mut desk = Desk::awake(home, files);
    desk.until("all of them are open", |app| {
        app.shared.sessions.len() == count
    });
    furnish(&mut desk, PictureState::Small);
    desk.app_mut().bench.planner.draft = plan();
    desk.app_mut().bench.planner.kept = vec![(PathBuf::from("/kept.ron"), plan())];
    timeline::open(&mut desk, &long("trace", 0, true), timeline::made_up());
    compare(&mut desk, false);
    desk
}

/// Compares two setups of two sessions, or both sessions as a whole.
fn compare(desk: &mut Desk, is_whole: bool) {
    let side = |session, setup| SideChoice {
        whole: is_whole,
        ..SideChoice::of_setup(SessionId(session), if is_whole { 0 } else { setup })
    };
    desk.act(Action::Compare(Compare::Before(side(1, 0))));
    desk.act(Action::Compare(Compare::After(side(2, 1))));
    desk.until("two sides are compared", |app| {
        app.compare.sides.found.result.is_some()
    });
}

fn plan() -> Draft {
    let specs = ["ort:cpu", "tract:cpu", "ort:cpu,threads=2"];
    let setups = specs.iter().enumerate().map(|(place, spec)| DraftSetup {
        spec: (*spec).to_owned(),
        label: long("setup", place, place % 2 == 0),
        colour: None,
    });
    Draft {
        name: long("plan", 0, false),
        setups: setups.collect(),
        ..Draft::default()
    }
}

/// Text as it is painted.
struct Painted {
    text: String,
    rect: Rect,
    clip: Rect,
    /// Whether egui left its end out.
    is_elided: bool,
}

impl Painted {
    /// Whether one of its sides is beyond what is painted of it.
    fn is_cut(&self) -> bool {
        let lies = self.rect.bottom() > self.clip.top() && self.rect.top() < self.clip.bottom();
        let left = self.rect.left() < self.clip.left() - EDGE;
        lies && (left || self.rect.right() > self.clip.right() + EDGE)
    }

    /// What the whole text may be, where a part of it is left out.
    fn left_out(&self, all: &BTreeSet<String>) -> Vec<String> {
        if self.is_elided {
            // What a hover says beside it need not begin alike.
            let (_, name) = self.text.rsplit_once(" · ").unwrap_or(("", &self.text));
            return vec![name.to_owned()];
        }
        let begin = self.text.find(ENDS.0).map(|begin| &self.text[begin..]);
        let Some((kept, _)) = begin.and_then(|text| text.split_once('…')) else {
            return Vec::new();
        };
        let may_be = all.iter().filter(|name| name.starts_with(kept.trim_end()));
        may_be.cloned().collect()
    }
}

fn painted(desk: &Desk) -> Vec<Painted> {
    let mut found = Vec::new();
    for clipped in &desk.harness.output().shapes {
        texts_in(&clipped.shape, &mut |text| {
            // Words along an axis stand upright.
            if text.angle == 0.0 {
                found.push(Painted {
                    text: text.galley.text().to_owned(),
                    rect: text.galley.rect.translate(text.pos.to_vec2()),
                    clip: clipped.clip_rect,
                    is_elided: text.galley.elided,
                });
            }
        });
    }
    found
}

fn texts_in(shape: &Shape, take: &mut impl FnMut(&TextShape)) {
    match shape {
        Shape::Vec(shapes) => shapes.iter().for_each(|shape| texts_in(shape, take)),
        Shape::Text(text) => take(text),
        _ => {}
    }
}

/// What has a name, with its role and its place.
fn named(desk: &Desk) -> Vec<(Role, String, Rect)> {
    let numbered = scaled::named(desk).into_iter();
    numbered
        .map(|(_, role, name, rect)| (role, name, rect))
        .collect()
}

/// Whether the text is in a field, in which the cursor moves it.
fn is_typed(text: &Painted, named: &[(Role, String, Rect)]) -> bool {
    named.iter().any(|(role, _, rect)| {
        let takes_text = matches!(role, Role::TextInput | Role::MultilineTextInput);
        takes_text
            && rect
                .expand(EDGE)
                .contains_rect(text.clip.intersect(text.rect))
    })
}

/// Whether it stands within a chart or along its axis: its points say their names on hover.
fn is_on_chart(seen: Rect, named: &[(Role, String, Rect)]) -> bool {
    named.iter().any(|(_, name, rect)| {
        let is_chart = name.contains(" chart, ") || name.starts_with("Plot of ");
        is_chart && rect.expand2(vec2(EDGE, AXIS)).contains(seen.center())
    })
}

/// Moves tables across, to the columns at these places and those behind them, until something holds.
fn scroll_until(
    desk: &mut Desk,
    across: eframe::egui::Rangef,
    holds: impl Fn(&Desk) -> bool,
) -> bool {
    let heads = scaled::named(desk).into_iter();
    let mut heads: Vec<(f32, u128)> = heads
        .filter(|(_, _, name, rect)| {
            let is_head = name.starts_with("Sort by ") || name == "Outcome";
            is_head && rect.right() >= across.min
        })
        .map(|(id, _, _, rect)| (rect.left(), id))
        .collect();
    heads.sort_by(|a, b| a.0.total_cmp(&b.0));
    for (_, id) in heads {
        if let Some(head) = scaled::by_id(desk, id) {
            head.scroll_to_me();
        }
        desk.steps(3);
        if holds(desk) {
            return true;
        }
    }
    false
}

/// Texts of which a side is cut and that nothing moves into sight.
fn cut(desk: &mut Desk) -> Vec<String> {
    let nodes = named(desk);
    let cut = painted(desk).into_iter();
    let cut = cut.filter(|text| text.is_cut() && !is_typed(text, &nodes));
    // What stands below each other is moved together.
    let mut columns = BTreeMap::new();
    for text in cut {
        columns.insert((text.rect.left() as i32, text.clip.right() as i32), text);
    }
    let mut faults = Vec::new();
    for text in columns.into_values() {
        // Others may say the same.
        let own = scaled::named(desk).into_iter();
        let mut own = own.filter(|(_, _, name, rect)| {
            *name == text.text && rect.expand(EDGE).intersects(text.rect)
        });
        let own = own.next().map(|(id, ..)| id);
        if let Some(node) = own.and_then(|id| scaled::by_id(desk, id)) {
            node.scroll_to_me();
        }
        desk.steps(3);
        let is_still_cut = |desk: &Desk| {
            let mut same = painted(desk)
                .into_iter()
                .filter(|now| now.text == text.text);
            same.all(|now| now.is_cut())
        };
        let is_whole = |desk: &Desk| !is_still_cut(desk);
        if !is_whole(desk) && !scroll_until(desk, text.rect.x_range(), is_whole) {
            faults.push(format!(
                "{:?} is cut: {} in {}",
                text.text, text.rect, text.clip
            ));
        }
    }
    faults
}

/// What stands beyond a side of the window and is not moved into it.
fn out_of_sight(desk: &mut Desk) -> Vec<String> {
    let window = desk.harness.ctx.content_rect().expand(EDGE);
    let is_out = |rect: &Rect| rect.left() < window.left() || rect.right() > window.right();
    let far = scaled::named(desk).into_iter();
    // Rows of a table are as wide as all its columns.
    let far = far.filter(|(.., rect)| is_out(rect) && rect.width() < window.width() - RAIL);
    let mut columns = BTreeMap::new();
    for (id, _, name, rect) in far {
        columns.insert((rect.left() as i32, rect.right() as i32), (id, name, rect));
    }
    let mut faults = Vec::new();
    for (id, name, rect) in columns.into_values() {
        if let Some(node) = scaled::by_id(desk, id) {
            node.scroll_to_me();
        }
        desk.steps(3);
        let is_still_out =
            |desk: &Desk| scaled::by_id(desk, id).is_some_and(|node| is_out(&node.rect()));
        let is_in = |desk: &Desk| !is_still_out(desk);
        if !is_in(desk) && !scroll_until(desk, rect.x_range(), is_in) {
            faults.push(format!("{name:?} is beyond the side: {rect}"));
        }
    }
    faults
}

/// Texts of which a part is left out and that no hover shows whole.
fn not_on_hover(desk: &mut Desk, all: &BTreeSet<String>) -> Vec<String> {
    let mut columns = BTreeMap::new();
    let nodes = named(desk);
    for text in painted(desk) {
        let seen = text.rect.intersect(text.clip);
        let whole = text.left_out(all);
        // Names on a chart stand in its legend or its table too.
        let is_told = is_typed(&text, &nodes) || is_on_chart(seen, &nodes);
        if !whole.is_empty() && seen.is_positive() && !is_told {
            let place = (seen.left() as i32, seen.right() as i32);
            columns.entry(place).or_insert((whole, seen));
        }
    }
    let mut faults = Vec::new();
    for (whole, seen) in columns.into_values() {
        desk.harness.hover_at(seen.center());
        desk.steps(4);
        let is_whole =
            |text: &Painted| !text.is_elided && whole.iter().any(|whole| text.text.contains(whole));
        if !painted(desk).iter().any(is_whole) {
            faults.push(format!("{whole:?} is shortened and not on hover: {seen}"));
        }
        desk.harness.hover_at(Pos2::new(1.0, 1.0));
        desk.steps(2);
    }
    faults
}

/// Goes to a screen, with what it shows.
fn go(desk: &mut Desk, screen: Screen) {
    desk.app_mut().bench.run = (screen == Screen::Run).then(|| {
        let mut run = live();
        if let Some(session) = &mut run.session {
            lengthen(Arc::make_mut(session), 9);
        }
        run
    });
    desk.act(Action::Go(screen));
    match screen {
        Screen::Kernels => kernels::found(desk),
        Screen::Fleet => desk.until("machines are compared", fleet::is_compared),
        _ => {}
    }
    desk.steps(3);
}

/// Every long name that [`desk`] has.
fn all_names() -> BTreeSet<String> {
    let kinds = [
        "session",
        "model",
        "processor",
        "tag",
        "note",
        "warning",
        "setup",
        "profile",
        "kernel",
        "plan",
        "trace",
    ];
    let mut all = BTreeSet::new();
    for kind in kinds {
        for number in 0..10 {
            all.extend([true, false].map(|is_one_word| long(kind, number, is_one_word)));
        }
    }
    assert!(all.iter().all(|name| name.len() == LETTERS));
    all
}

#[test]
fn long_names_are_cut_nowhere_for_good() {
    let mut desk = desk();
    let mut found = Vec::new();
    let mut look = |desk: &mut Desk, screen: Screen, size: (f32, f32)| {
        go(desk, screen);
        // Tables are moved to what is out of sight, so what is cut is looked for before.
        let faults = [cut(desk), out_of_sight(desk)].concat();
        let at = |fault| format!("{screen:?}, {size:?}: {fault}");
        found.extend(faults.into_iter().map(at));
    };
    for size in SIZES {
        resize(&mut desk, size);
        for screen in Screen::ALL {
            look(&mut desk, screen, size);
        }
    }
    compare(&mut desk, true);
    for size in SIZES {
        resize(&mut desk, size);
        look(&mut desk, Screen::Compare, size);
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn long_names_that_are_shortened_are_whole_on_hover() {
    let mut desk = desk();
    let all = all_names();
    let mut found = Vec::new();
    for size in [SIZES[0], SIZES[3]] {
        resize(&mut desk, size);
        for screen in Screen::ALL {
            go(&mut desk, screen);
            let faults = not_on_hover(&mut desk, &all).into_iter();
            found.extend(faults.map(|fault| format!("{screen:?}, {size:?}: {fault}")));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}
