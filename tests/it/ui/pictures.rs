//! A picture of every screen, light and dark, empty, small and full, painted by Mesa's Vulkan in software.
//!
//! They are for looking at: `target/pictures/NAME.png`. What a test can tell of them is that something is
//! on them, that light is not dark, and that the same state is the same picture.

use std::fs;
use std::path::{Path, PathBuf};

use eframe::egui::accesskit::Role;
use eframe::egui::{Rect, Vec2};
use powerband_app::action::{Action, Compare, Curves, Library, Sessions, Shell};
use powerband_app::compare::SideChoice;
use powerband_app::notices::NoticeLevel;
use powerband_app::plan::{Draft, DraftSetup, ModelFacts, PlanEdit, PlanField};
use powerband_app::run::Stage;
use powerband_app::screen::Screen;
use powerband_app::sessions::{Pin, SessionId};
use powerband_app::shell::settings::Theme;
use powerband_core::base::clock;
use powerband_core::domain::case::CaseKey;
use powerband_core::domain::point::Point;
use powerband_core::domain::session::Session;

use super::data::{self, SessionSpec, Speed, speed};
use super::devices;
use super::pixels::{colours, differing, share_apart};
use super::{Desk, SIZE, name_of, shelve, write};
use crate::support::{self, Home};

/// How much there is to be seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PictureState {
    Empty,
    Small,
    Full,
}

impl PictureState {
    pub(super) const ALL: [Self; 3] = [Self::Empty, Self::Small, Self::Full];

    fn name(self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::Small => "small",
            Self::Full => "full",
        }
    }
}

/// What lies over a screen.
const OVERLAYS: [&str; 5] = ["palette", "closing", "path", "log", "notices"];

const POWERS: [usize; 12] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048];

pub(super) fn sessions_of(state: PictureState) -> Vec<Session> {
    let two: [Speed; 2] = [
        speed("ort:cpu", "ONNX Runtime", 2_900.0, 4_150.0),
        Speed {
            noise: 0.02,
            ..speed("rten:cpu", "rten", 900.0, 9_800.0)
        },
    ];
    let later: [Speed; 2] = [
        speed("ort:cpu", "ONNX Runtime", 2_400.0, 3_620.0),
        speed("rten:cpu", "rten", 910.0, 9_650.0),
    ];
    let four: [Speed; 4] = [
        speed("ort:cpu,threads=1", "", 1_700.0, 21_000.0),
        speed("ort:cpu,threads=4", "", 2_100.0, 6_400.0),
        speed("ort:cpu,threads=8,opt=all", "", 2_500.0, 4_300.0),
        Speed {
            out_of_memory: Some(256),
            ..speed("rten:cpu,threads=8", "", 700.0, 5_200.0)
        },
    ];
    let made = |name, created, speeds: &[Speed], batches: &[usize]| {
        SessionSpec {
            name,
            created,
            model: "resnet50",
            speeds,
            batches,
            rounds: 5,
            samples: 140,
        }
        .session()
    };
    match state {
        PictureState::Empty => Vec::new(),
        PictureState::Small => vec![made(
            "resnet50",
            "2026-09-14T18:22:07Z",
            &two,
            &[1, 2, 4, 8, 16],
        )],
        PictureState::Full => vec![
            made("Before the upgrade", "2026-09-14T18:22:07Z", &two, &POWERS),
            made("After the upgrade", "2026-10-02T07:41:55Z", &later, &POWERS),
            made("Threads", "2026-10-03T21:05:12Z", &four, &POWERS[..10]),
        ],
    }
}

/// A window with so much to be seen, and nothing of this machine or this hour in it.
pub(super) fn desk(state: PictureState, pixels_per_point: f32) -> Desk {
    let home = Home::new();
    let sessions = sessions_of(state);
    let files: Vec<PathBuf> = sessions
        .iter()
        .enumerate()
        .map(|(place, session)| shelve(&home, &format!("resnet50-{place}"), session))
        .collect();
    if state == PictureState::Full {
        for (place, name) in ["mobilenetv2", "densenet121", "resnet18@cifar", "vit_b_16"]
            .iter()
            .enumerate()
        {
            let mut other = sessions_of(PictureState::Small).remove(0);
            (*name).clone_into(&mut other.name);
            (*name).clone_into(&mut other.model.name);
            other.created = format!("2026-08-{:02}T10:00:00Z", 20 - place);
            other.tags = vec!["published".to_owned()];
            shelve(&home, &format!("other-{place}"), &other);
        }
        support_broken(&home);
    }
    let count = sessions.len();
    let mut desk = Desk::sized(home, files, pixels_per_point);
    desk.until("everything is looked up", |app| {
        app.shared.machine.engines.is_some()
            && app.library.is_scanned
            && app.shared.sessions.len() == count
            && !matches!(app.bench.planner.facts, ModelFacts::Reading)
            && (count == 0 || app.compare.sides.found.result.is_some())
    });
    furnish(&mut desk, state);
    desk
}

fn support_broken(home: &Home) {
    let path = home.path("home/sessions/cut-off.ron");
    fs::write(path, "(version: 1, session: (name: \"half").expect("a broken file");
}

/// The same machine, plan and pins everywhere.
pub(super) fn furnish(desk: &mut Desk, state: PictureState) {
    let app = desk.app_mut();
    app.shared.machine.environment = Some(data::environment());
    app.shared.machine.devices = Some(devices::found());
    app.shared.machine.engines = Some(data::engines(state != PictureState::Empty));
    app.settings.roofs.kept = Some(data::roofs(state != PictureState::Empty));
    app.shared.place.paths.library = PathBuf::from("/home/you/.local/share/powerband/sessions");
    app.shared.screen = Screen::Home;
    if state == PictureState::Empty {
        return;
    }
    let setup = |spec: &str, label: &str| DraftSetup {
        spec: spec.to_owned(),
        label: label.to_owned(),
        colour: None,
    };
    let mut draft = Draft {
        setups: vec![setup("ort:cpu", ""), setup("rten:cpu", "the other")],
        ..Draft::default()
    };
    if state == PictureState::Full {
        "Threads and optimisation levels".clone_into(&mut draft.name);
        draft.setups.extend([
            setup("ort:cpu,threads=1", "one thread"),
            setup("ort:cpu,threads=2", ""),
            setup("ort:cpu,threads=4", ""),
            setup("ort:cpu,threads=8,opt=all", "everything on"),
            setup("rten:cpu,threads=8", ""),
            setup("ort:cpu,thread=8", "a slip"),
        ]);
        "1..2048".clone_into(&mut draft.batches);
    }
    // Not on the screen of what is pinned below, so that its top is what is seen.
    desk.act(Action::Go(Screen::Home));
    desk.act(Action::Plan(PlanEdit::Text(PlanField::Name, String::new())));
    desk.app_mut().bench.planner.draft = draft;
    if state == PictureState::Small {
        return;
    }
    let kept = ["Nightly", "Publish"].map(|name| {
        let draft = Draft {
            name: name.to_owned(),
            ..Draft::default()
        };
        (PathBuf::from(format!("/{name}.ron")), draft)
    });
    desk.app_mut().bench.planner.kept = kept.into();
    desk.act(Action::Curves(Curves::Limit(Some(400e6))));
    let case = CaseKey {
        setup: 0,
        point: Point::of_batch(64),
    };
    let session = SessionId(1);
    desk.act(Action::Curves(Curves::Pin(Some(Pin { session, case }))));
    desk.until("the pinned case is drawn", |app| {
        app.curves.pinned.is_some()
    });
    let first = desk
        .app()
        .library
        .listed_at(0)
        .map(|(path, _)| path.clone());
    desk.act(Action::Library(Library::Select(first)));
    let after = SideChoice {
        session: SessionId(2),
        setup: 0,
        point: None,
        whole: false,
        profile: None,
    };
    desk.act(Action::Compare(Compare::After(after)));
    desk.until("two sides are compared", |app| {
        app.compare.sides.found.result.is_some()
    });
}

/// A run as it stands at one moment for ever; only the Run screen has it.
pub(super) fn set_run(desk: &mut Desk, state: PictureState) {
    let made = SessionSpec {
        name: "resnet50",
        created: "2026-10-04T09:00:00Z",
        model: "resnet50",
        speeds: &[
            speed("ort:cpu", "ONNX Runtime", 2_900.0, 4_150.0),
            Speed {
                out_of_memory: Some(32),
                ..speed("rten:cpu", "rten", 900.0, 9_800.0)
            },
        ],
        batches: &POWERS[..6],
        rounds: 5,
        samples: 130,
    };
    let mut run = made.live();
    if state == PictureState::Small {
        let path = PathBuf::from("/home/you/.local/share/powerband/sessions/resnet50.ron");
        run.stage = Stage::Saved(path);
        run.current = None;
    }
    let now = clock::monotonic_ns();
    run.began_ns = now.saturating_sub(SINCE_ITS_BEGIN_NS);
    desk.app_mut().bench.run = Some(run);
    // Each picture is of the same moment, however long frames take.
    desk.app_mut().shared.window.stopped_at_ns = Some(now);
}

fn overlay(desk: &mut Desk, which: &str) {
    match which {
        "palette" => desk.act(Action::Shell(Shell::Palette(true))),
        "closing" => {
            desk.app_mut().shared.window.closing = true;
        }
        "path" => desk.act(Action::Sessions(Sessions::Choose)),
        "log" => {
            set_run(desk, PictureState::Full);
            desk.act(Action::Shell(Shell::Log(true)));
        }
        _ => notices(desk),
    }
    desk.steps(3);
}

fn notices(desk: &mut Desk) {
    // From the future, so that none comes down while it is painted.
    let soon = clock::monotonic_ns() + 3_600_000_000_000;
    let notices = &mut desk.app_mut().shared.notices;
    let undo = ("Undo".to_owned(), Action::Library(Library::Restore));
    let save = ("Save as…".to_owned(), Action::Sessions(Sessions::Choose));
    notices.add(
        NoticeLevel::Done,
        "Threads is in the trash",
        Some(undo),
        soon,
    );
    let text = "Another program changed the file of After the upgrade.";
    notices.add(NoticeLevel::Info, text, None, soon);
    let text = "resnet50 was not saved: /home/you/.local/share/powerband/sessions/resnet50-20261004-090000.ron cannot be written: No space left on device (os error 28)";
    notices.add(NoticeLevel::Trouble, text, Some(save), soon);
}

/// A picture of the guide with more different pixels than this share is stale.
const MOST_APART: f64 = 0.01;

/// How long ago a run in a picture began: half a second beyond a full one, so that a few milliseconds change no
/// text.
const SINCE_ITS_BEGIN_NS: u64 = 92_500_000_000;

/// A place for pictures, and the means to paint them.
pub(super) struct Album {
    folder: PathBuf,
    faults: Vec<String>,
}

/// A picture as it was painted.
pub(super) struct Screenshot {
    name: String,
    pixels: Vec<u8>,
}

impl Album {
    pub(super) fn open() -> Option<Self> {
        let found = std::panic::catch_unwind(egui_kittest::wgpu::WgpuTestRenderer::new).ok();
        support::component(
            found,
            "a Vulkan driver (apt-get install mesa-vulkan-drivers)",
        )?;
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/pictures");
        fs::create_dir_all(&folder).expect("a folder for pictures");
        Some(Self {
            folder,
            faults: Vec::new(),
        })
    }

    /// Paints what is on the desk, and looks at it.
    pub(super) fn take(&mut self, desk: &mut Desk, name: &str) -> Screenshot {
        let pixels = self.paint(desk, Some(name));
        let colours = colours(&pixels);
        self.note(colours > 40, name, || {
            format!("{colours} colours are all there is")
        });
        for clash in desk.clashes() {
            self.note(false, name, || clash.clone());
        }
        for fault in misplaced(desk) {
            self.note(false, name, || fault.clone());
        }
        Screenshot {
            name: name.to_owned(),
            pixels,
        }
    }

    /// The guide has some of the pictures, and they must be what the window looks like.
    fn hold_guide_against(&mut self, name: &str, painted: &Path, pixels: &[u8]) {
        let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("docs/pictures/{name}.png"));
        if !guide.is_file() {
            return;
        }
        if std::env::var_os("POWERBAND_RENEW_PICTURES").is_some() {
            fs::copy(painted, &guide).expect("a new picture for the guide");
        }
        let known = image::open(&guide)
            .expect("a picture of the guide")
            .into_rgba8();
        let apart = share_apart(known.as_raw(), pixels);
        self.note(apart <= MOST_APART, name, || {
            format!(
                "docs/pictures/{name}.png differs in {:.1} % of its pixels from what the window looks like; POWERBAND_RENEW_PICTURES=1 takes the new one",
                apart * 100.0
            )
        });
    }

    pub(super) fn paint(&mut self, desk: &mut Desk, name: Option<&str>) -> Vec<u8> {
        desk.step();
        let image = desk.harness.render().expect("a picture");
        if let Some(name) = name {
            let path = self.folder.join(format!("{name}.png"));
            image.save(&path).expect("a picture's file");
            self.hold_guide_against(name, &path, image.as_raw());
        }
        image.into_raw()
    }

    fn note(&mut self, is_good: bool, name: &str, what: impl FnOnce() -> String) {
        if !is_good {
            self.faults.push(format!("{name}: {}", what()));
        }
    }

    pub(super) fn close(self) {
        assert!(self.faults.is_empty(), "{}", self.faults.join("\n"));
    }
}

/// Names that reach over the window's edge, and controls that lie on one another.
fn misplaced(desk: &Desk) -> Vec<String> {
    let mut faults = Vec::new();
    let scale = desk.harness.ctx.pixels_per_point();
    let window = desk.harness.ctx.content_rect().expand(0.6);
    let mut controls: Vec<(String, Rect, Option<_>)> = Vec::new();
    for node in desk.nodes() {
        let (Some(name), Some(place)) = (name_of(&node), node.bounding_box()) else {
            continue;
        };
        let rect = Rect::from_min_max(
            eframe::egui::pos2(place.x0 as f32, place.y0 as f32) / scale,
            eframe::egui::pos2(place.x1 as f32, place.y1 as f32) / scale,
        );
        // What is scrolled away lies below or above, never beside.
        if rect.left() < window.left() || rect.right() > window.right() {
            faults.push(format!("\"{name}\" reaches over the side: {rect:?}"));
        }
        let is_control = matches!(
            node.role(),
            Role::Button | Role::TextInput | Role::MultilineTextInput | Role::ComboBox
        );
        if is_control {
            controls.push((name, rect, node.parent().map(|parent| parent.id())));
        }
    }
    for (index, (name, rect, parent)) in controls.iter().enumerate() {
        for (other, over, whose) in &controls[index + 1..] {
            let shared = rect.intersect(*over);
            if parent == whose && shared.width() > 1.0 && shared.height() > 1.0 {
                faults.push(format!("\"{name}\" and \"{other}\" lie on one another"));
            }
        }
    }
    faults
}

pub(super) const THEMES: [(Theme, &str); 2] = [(Theme::Dark, "dark"), (Theme::Light, "light")];

/// Every screen of a state in both themes, and once more in one, with everything else in between.
fn paint_screens(album: &mut Album, desk: &mut Desk, state: PictureState, suffix: &str) {
    let mut pictures: Vec<Screenshot> = Vec::new();
    let shots: Vec<(Screen, Theme, &str)> = Screen::ALL
        .into_iter()
        .flat_map(|screen| THEMES.map(|(theme, word)| (screen, theme, word)))
        .collect();
    // Most letters are in the fonts' texture before the first picture.
    for (screen, theme, _) in &shots {
        go(desk, state, *screen, *theme);
    }
    for (screen, theme, word) in &shots {
        go(desk, state, *screen, *theme);
        let name = format!("{screen:?}-{}-{word}{suffix}", state.name());
        pictures.push(album.take(desk, &name.to_lowercase()));
    }
    // Once more, in one theme: what a screen shows does not depend on what was seen before.
    let once_more = shots.iter().zip(&pictures);
    let once_more = once_more.filter(|((_, theme, _), _)| *theme == THEMES[0].0);
    for ((screen, theme, _), picture) in once_more {
        go(desk, state, *screen, *theme);
        let again = album.paint(desk, None);
        let where_to = differing(&again, &picture.pixels);
        album.note(where_to.is_none(), &picture.name, || {
            format!("a second time it is another picture at {where_to:?}")
        });
    }
    for pair in pictures.chunks_exact(2) {
        let differs = pair[0].pixels != pair[1].pixels;
        album.note(differs, &pair[0].name, || "light is as dark".to_owned());
    }
}

/// A profile for the screen of profiles, which would be one session too many on others, and a trace.
pub(super) fn open_for(desk: &mut Desk, screen: Screen) {
    let path = desk.path("profiles.ron");
    let sessions = &desk.app().shared.sessions;
    let open = sessions.by_path(&path).map(|open| open.id);
    match open {
        None if screen == Screen::Kernels => {
            write(&path, &super::kernels::session());
            desk.act(Action::Sessions(Sessions::Open(vec![path.clone()])));
            desk.until("profiles are open", |app| {
                app.shared.sessions.by_path(&path).is_some()
            });
        }
        Some(id) if screen != Screen::Kernels => desk.act(Action::Sessions(Sessions::Close(id))),
        _ => {}
    }
    if screen == Screen::Timeline && desk.app().profile.timeline.traces.is_empty() {
        super::timeline::open(desk, "resnet50-infer.json", super::timeline::made_up());
    }
}

pub(super) fn go(desk: &mut Desk, state: PictureState, screen: Screen, theme: Theme) {
    desk.app_mut().bench.run = None;
    desk.app_mut().shared.window.stopped_at_ns = None;
    if screen == Screen::Run && state != PictureState::Empty {
        set_run(desk, state);
    }
    desk.act(Action::Shell(Shell::Theme(theme)));
    if state == PictureState::Full {
        open_for(desk, screen);
    }
    desk.act(Action::Go(screen));
    if state == PictureState::Full && screen == Screen::Kernels {
        super::kernels::found(desk);
    }
    if screen == Screen::History && state != PictureState::Empty {
        desk.until("a case is followed", |app| {
            app.compare.history.found.result.is_some() && app.compare.history.found.busy().is_none()
        });
    }
    if screen == Screen::Fleet {
        desk.until("machines are compared", |app| {
            app.compare.fleet.found.busy().is_none()
        });
    }
    if screen == Screen::Network && state != PictureState::Empty {
        super::network::drawn(desk);
    }
    if screen == Screen::Why && state != PictureState::Empty {
        super::why::explained(desk);
    }
    if screen == Screen::Journey && state != PictureState::Empty {
        desk.until("steps are compared", |app| {
            app.compare.journey.found.result.is_some()
        });
    }
    desk.steps(3);
}

fn every_screen_is_painted(state: PictureState) {
    let Some(mut album) = Album::open() else {
        return;
    };
    let mut desk = desk(state, 1.0);
    paint_screens(&mut album, &mut desk, state, "");
    // As tall as it takes to see what is scrolled away.
    desk.harness.set_size(Vec2::new(SIZE.0, 1_700.0));
    for screen in Screen::ALL {
        go(&mut desk, state, screen, Theme::Dark);
        let name = format!("{screen:?}-{}-tall", state.name());
        album.take(&mut desk, &name.to_lowercase());
    }
    album.close();
}

#[test]
fn every_screen_is_painted_without_sessions() {
    every_screen_is_painted(PictureState::Empty);
}

#[test]
fn every_screen_is_painted_with_a_session() {
    every_screen_is_painted(PictureState::Small);
}

#[test]
fn every_screen_is_painted_with_many_sessions() {
    every_screen_is_painted(PictureState::Full);
}

#[test]
fn every_screen_is_painted_on_a_large_display() {
    let Some(mut album) = Album::open() else {
        return;
    };
    for state in [PictureState::Empty, PictureState::Full] {
        let mut desk = desk(state, 1.0);
        desk.harness.set_size(Vec2::new(1_920.0, 1_080.0));
        for screen in Screen::ALL {
            go(&mut desk, state, screen, Theme::Light);
            let name = format!("{screen:?}-{}-large", state.name());
            album.take(&mut desk, &name.to_lowercase());
        }
    }
    album.close();
}

#[test]
fn every_screen_is_painted_where_a_point_is_two_pixels() {
    let Some(mut album) = Album::open() else {
        return;
    };
    let mut desk = desk(PictureState::Full, 2.0);
    paint_screens(&mut album, &mut desk, PictureState::Full, "-at-2");
    album.close();
}

#[test]
fn what_lies_over_a_screen_is_painted() {
    let Some(mut album) = Album::open() else {
        return;
    };
    for which in OVERLAYS {
        let mut desk = desk(PictureState::Full, 1.0);
        for (theme, word) in THEMES {
            go(&mut desk, PictureState::Full, Screen::Curves, theme);
            overlay(&mut desk, which);
            album.take(&mut desk, &format!("over-{which}-{word}"));
        }
    }
    album.close();
}

/// A session outside the library, for tests that open one.
pub(super) fn small_session(home: &Home, name: &str) -> PathBuf {
    let mut session = sessions_of(PictureState::Small).remove(0);
    name.clone_into(&mut session.name);
    let path = home.path(&format!("{name}.ron"));
    write(&path, &session);
    path
}
