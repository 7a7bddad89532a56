//! The window as people have it: on an X server, drawn by OpenGL, driven by real keys and clicks.
//!
//! Keys and clicks come from xdotool; pictures and the window manager's request to close go over the X
//! protocol. Where the button is that is to be clicked is read off the picture.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use x11rb::connection::Connection as _;
use x11rb::protocol::xproto::{
    AtomEnum, ClientMessageEvent, ConnectionExt as _, EventMask, ImageFormat,
};
use x11rb::rust_connection::RustConnection;

use powerband_app::plan::{Draft, DraftSetup};
use powerband_app::screen::Screen;
use powerband_app::shell::settings::{self, Placement, SavedState, Theme};
use powerband_core::domain::plan::PresetName;

use super::display::{self, Display};
use super::support::{Home, component, files};

/// Width and height of the window. The library is beside the rail from 1100 on.
const SIZE: (u16, u16) = (1280, 800);
/// Colours of the dark theme: what is behind the screens, and the one primary action.
const GROUND: [u8; 3] = [0x0e, 0x10, 0x14];
const ACCENT: [u8; 3] = [0xff, 0xb0, 0x20];
/// Longest that anything may take, on a machine that is busy with other tests.
const PATIENCE: Duration = Duration::from_mins(5);
/// Time for a frame after the hand moved: less than a person takes.
const HAND: Duration = Duration::from_millis(150);

#[test]
fn a_run_is_planned_started_and_found_again() {
    let Some(desk) = RealDesk::find() else {
        return;
    };
    desk.plan(&Draft {
        rounds: "2".to_owned(),
        ..draft()
    });
    let window = desk.open();
    window.drawn();
    let start = window.keys_until("ctrl+2", "the button that starts the run", |picture| {
        picture.button().filter(|button| button.middle().1 < 100)
    });
    // Typed letters count: the plan's preset was another one.
    window.command("preset quick");
    // A click beside the palette would only close it.
    window.until("the button without the palette", |picture| {
        picture
            .button()
            .filter(|button| button.middle() == start.middle())
    });
    desk.click(start.middle());
    let path = window.until("a saved session", |_| desk.sessions().into_iter().next());
    let session = desk.show(&path);
    assert_eq!(session["completion"], "complete", "{session:#}");
    assert_eq!(session["plan"]["preset"], "Quick", "{session:#}");
    let cases = session["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 2, "{session:#}");
    for case in cases {
        assert_eq!(case["outcome"], "finished", "{case:#}");
        assert!(case["samples"].as_u64().unwrap() > 0, "{case:#}");
    }
    let run = window.drawn();
    window.keys_until("ctrl+4", "curves", |picture| {
        (picture.same_ink(&run) < 0.9).then_some(())
    });
    // The notice that the run is done goes, so that nothing but the session is in the picture.
    desk.keys("ctrl+d");
    thread::sleep(Duration::from_secs(1));
    let before = window.drawn();
    desk.keys("ctrl+q");
    window.ends_well();
    let remembered = desk.remembered();
    assert_eq!(remembered.open, std::slice::from_ref(&path));
    assert_eq!(remembered.screen, Screen::Curves);
    assert_eq!(remembered.draft.preset, PresetName::Quick);

    let again = desk.open();
    again.until("the session from before", |picture| {
        (picture.same_ink(&before) > 0.9).then_some(())
    });
    desk.keys("ctrl+q");
    again.ends_well();
    assert_eq!(desk.remembered().open, [path]);
}

#[test]
fn closing_in_mid_run_asks_and_keeps_what_was_measured() {
    let Some(desk) = RealDesk::find() else {
        return;
    };
    let window = desk.in_mid_run();
    window.ask_to_close();
    let stay = window.until("the question", |picture| {
        picture.button().filter(|button| button.middle().1 > 200)
    });
    // "Stop and close" is the second one to the right of "Stay".
    let stop = window.drawn().right_of(stay).nth(1).expect("three buttons");
    desk.click(stop.middle());
    window.ends_well();
    let paths = desk.sessions();
    let session = desk.show(paths.first().expect("a session"));
    assert_eq!(session["completion"], "cancelled", "{session:#}");
    let samples = |case: &Value| case["samples"].as_u64().unwrap_or(0);
    let cases = session["cases"].as_array().unwrap();
    assert!(cases.iter().any(|case| samples(case) > 0), "{session:#}");
    assert!(desk.home.journals().is_empty());
}

#[test]
fn a_signal_in_mid_run_keeps_what_was_measured() {
    use rustix::process::{Pid, Signal, kill_process};
    let Some(desk) = RealDesk::find() else {
        return;
    };
    let window = desk.in_mid_run();
    let pid = Pid::from_raw(window.program.id().cast_signed()).expect("a process number");
    kill_process(pid, Signal::TERM).expect("the signal is sent");
    window.ends_well();
    let paths = desk.sessions();
    let session = desk.show(paths.first().expect("a session"));
    assert_eq!(session["completion"], "cancelled", "{session:#}");
    assert!(desk.home.journals().is_empty());
}

#[test]
fn a_signal_closes_a_window_that_is_at_rest() {
    use rustix::process::{Pid, Signal, kill_process};
    let Some(desk) = RealDesk::find() else {
        return;
    };
    desk.plan(&draft());
    let window = desk.open();
    window.drawn();
    let pid = Pid::from_raw(window.program.id().cast_signed()).expect("a process number");
    kill_process(pid, Signal::TERM).expect("the signal is sent");
    window.ends_well();
}

/// A small real run: one engine, one network, two batch sizes.
pub(crate) fn draft() -> Draft {
    Draft {
        name: "by hand".to_owned(),
        model: "resnet18@cifar".to_owned(),
        setups: vec![DraftSetup {
            spec: "rten:cpu".to_owned(),
            ..DraftSetup::default()
        }],
        batches: "1, 2".to_owned(),
        preset: PresetName::Standard,
        ..Draft::default()
    }
}

/// A display, a home, and a hand.
pub(crate) struct RealDesk {
    display: Display,
    pub(crate) home: Home,
    /// The address of the session bus, for windows that have one.
    pub(crate) bus: Option<String>,
}

impl RealDesk {
    pub(crate) fn find() -> Option<Self> {
        let found = display::are_installed(&["Xvfb", "xdotool"]).then_some(());
        component(found, "Xvfb and xdotool (apt-get install xvfb xdotool)")?;
        Some(Self {
            display: Display::start(1400, 900).expect("Xvfb starts"),
            home: Home::new(),
            bus: None,
        })
    }

    /// Ends the display as a crash does: at once, with the window still open.
    pub(crate) fn crash_display(&self) {
        use rustix::process::{Pid, Signal, kill_process};
        let server = Pid::from_child(&self.display.server);
        kill_process(server, Signal::KILL).expect("the server can be killed");
    }

    /// Another display, after the first one ended.
    pub(crate) fn renew_display(&mut self) {
        self.display = Display::start(1400, 900).expect("Xvfb starts");
    }

    fn window_file(&self) -> PathBuf {
        self.home.path("home/window.ron")
    }

    pub(crate) fn plan(&self, draft: &Draft) {
        let remembered = SavedState {
            theme: Theme::Dark,
            draft: draft.clone(),
            placement: Some(Placement {
                position: Some((0.0, 0.0)),
                size: (f32::from(SIZE.0), f32::from(SIZE.1)),
                maximized: false,
            }),
            ..SavedState::default()
        };
        settings::write(&self.window_file(), &remembered).expect("a window.ron");
    }

    pub(crate) fn remembered(&self) -> SavedState {
        let (remembered, said) = settings::read(&self.window_file());
        assert_eq!(said, None);
        remembered
    }

    pub(crate) fn sessions(&self) -> Vec<PathBuf> {
        let all = files(&self.home.path("home/sessions")).into_iter();
        all.filter(|path| path.extension().is_some_and(|extension| extension == "ron"))
            .collect()
    }

    pub(crate) fn show(&self, path: &Path) -> Value {
        let path = path.display().to_string();
        let run = self.home.run(&["show", "--json", &path]);
        assert_eq!(run.status, Some(0), "{run:#?}");
        run.json()
    }

    /// A window in which a run goes on that does not end by itself while a test looks on; it has a round already.
    pub(crate) fn in_mid_run(&self) -> Window<'_> {
        self.plan(&Draft {
            rounds: "1000".to_owned(),
            ..draft()
        });
        let window = self.open();
        window.drawn();
        self.keys("ctrl+Return");
        window.has_a_round();
        window
    }

    pub(crate) fn open(&self) -> Window<'_> {
        let complaints = fs::File::create(self.home.path("stderr.txt")).expect("a file");
        let mut command = self.home.command(&[]);
        command
            .env("DISPLAY", self.display.name())
            .env("LIBGL_ALWAYS_SOFTWARE", "1")
            .env_remove("WAYLAND_SOCKET")
            .env_remove("DBUS_SESSION_BUS_ADDRESS")
            .stdout(Stdio::null())
            .stderr(complaints);
        if let Some(bus) = &self.bus {
            command.env("DBUS_SESSION_BUS_ADDRESS", bus);
        }
        let program = command.spawn().expect("the program starts");
        let (server, _) = x11rb::connect(Some(self.display.name())).expect("the display answers");
        let mut window = Window {
            desk: self,
            program,
            server,
            id: 0,
        };
        window.id = window.wait("the window", |_| {
            let found = self.xdotool(&["search", "--onlyvisible", "--name", "^Powerband$"]);
            found.lines().next()?.trim().parse().ok()
        });
        // No window manager is here to give it the keyboard.
        self.xdotool(&["windowfocus", &window.id.to_string()]);
        window
    }

    fn xdotool(&self, args: &[&str]) -> String {
        let mut command = self.home.command_of(Path::new("xdotool"), args);
        let output = command.env("DISPLAY", self.display.name()).output();
        String::from_utf8_lossy(&output.expect("xdotool starts").stdout).into_owned()
    }

    pub(crate) fn keys(&self, keys: &str) {
        self.xdotool(&["key", keys]);
        thread::sleep(HAND);
    }

    pub(crate) fn types(&self, words: &str) {
        thread::sleep(HAND);
        self.xdotool(&["type", "--delay", "40", words]);
        thread::sleep(HAND);
    }

    /// As a hand does it: there, down, up.
    pub(crate) fn click(&self, (x, y): (usize, usize)) {
        self.xdotool(&["mousemove", &x.to_string(), &y.to_string()]);
        for step in ["mousedown", "mouseup"] {
            thread::sleep(HAND);
            self.xdotool(&[step, "1"]);
        }
        thread::sleep(HAND);
    }
}

/// The program in its window, ended with its owner.
pub(crate) struct Window<'a> {
    desk: &'a RealDesk,
    pub(crate) program: Child,
    server: RustConnection,
    id: u32,
}

impl Window<'_> {
    /// Waits, and fails with what the program said.
    pub(crate) fn wait<T>(
        &mut self,
        what: &str,
        mut found: impl FnMut(&mut Self) -> Option<T>,
    ) -> T {
        let begin = Instant::now();
        loop {
            if let Some(found) = found(self) {
                return found;
            }
            let ended = self.program.try_wait().expect("a child can be asked");
            let said = fs::read_to_string(self.desk.home.path("stderr.txt")).unwrap_or_default();
            assert!(ended.is_none(), "no {what}: it ended, {ended:?}\n{said}");
            assert!(begin.elapsed() < PATIENCE, "no {what}\n{said}");
            thread::sleep(HAND);
        }
    }

    /// Waits until the picture, or whatever else, has what is looked for.
    pub(crate) fn until<T>(&self, what: &str, found: impl Fn(&ScreenPixels) -> Option<T>) -> T {
        self.within(PATIENCE, &found).unwrap_or_else(|| {
            let said = fs::read_to_string(self.desk.home.path("stderr.txt")).unwrap_or_default();
            panic!("no {what}\n{said}")
        })
    }

    /// Presses keys until the picture has what they lead to: a window that has just come up does not have the
    /// keyboard yet.
    fn keys_until<T>(
        &self,
        keys: &str,
        what: &str,
        found: impl Fn(&ScreenPixels) -> Option<T>,
    ) -> T {
        for _ in 0..5 {
            self.desk.keys(keys);
            if let Some(found) = self.within(Duration::from_secs(20), &found) {
                return found;
            }
        }
        self.until(what, found)
    }

    fn within<T>(&self, time: Duration, found: impl Fn(&ScreenPixels) -> Option<T>) -> Option<T> {
        let begin = Instant::now();
        loop {
            let found = self.picture().as_ref().and_then(&found);
            if found.is_some() || begin.elapsed() >= time {
                return found;
            }
            thread::sleep(HAND);
        }
    }

    /// Does what the command palette lists first for these words. Letters that are typed before it is open are lost.
    pub(crate) fn command(&self, words: &str) {
        let before = self.drawn();
        self.keys_until("ctrl+k", "the palette", |picture| {
            (picture.same_ink(&before) < 0.99).then_some(())
        });
        self.desk.types(words);
        self.desk.keys("Return");
    }

    /// Waits until a run has measured something.
    pub(crate) fn has_a_round(&self) {
        self.until("a round in the journal", |_| {
            self.desk.home.journals().into_iter().find(|journal| {
                fs::read_to_string(journal).is_ok_and(|text| text.contains("RoundFinished"))
            })
        });
    }

    /// A picture with something on it.
    pub(crate) fn drawn(&self) -> ScreenPixels {
        self.until("picture that is not blank", |picture| {
            (picture.ink() > 0.01).then(|| picture.clone())
        })
    }

    /// What is seen; nothing while the window is not there.
    fn picture(&self) -> Option<ScreenPixels> {
        let (width, height) = SIZE;
        let asked = self.server.get_image(
            ImageFormat::Z_PIXMAP,
            self.id,
            0,
            0,
            width,
            height,
            u32::MAX,
        );
        let image = asked.ok()?.reply().ok()?;
        // Xvfb of depth 24 has four bytes a pixel, blue first.
        let pixels = image.data.as_chunks::<4>().0.iter();
        Some(ScreenPixels {
            pixels: pixels
                .map(|&[blue, green, red, _]| [red, green, blue])
                .collect(),
        })
    }

    /// What a window manager says when its cross is clicked.
    fn ask_to_close(&self) {
        let atom = |name: &str| {
            let asked = self.server.intern_atom(false, name.as_bytes());
            asked
                .expect("the display answers")
                .reply()
                .expect("the display answers")
                .atom
        };
        let data = [atom("WM_DELETE_WINDOW"), AtomEnum::NONE.into(), 0, 0, 0];
        let message = ClientMessageEvent::new(32, self.id, atom("WM_PROTOCOLS"), data);
        let sent = self
            .server
            .send_event(false, self.id, EventMask::NO_EVENT, message);
        sent.expect("the display answers")
            .check()
            .expect("the display answers");
        self.server.flush().expect("the display answers");
    }

    /// Waits for the end, which is to be a good one.
    pub(crate) fn ends_well(self) {
        let (status, said) = self.ends();
        assert_eq!(status, Some(0), "{said}");
    }

    /// Waits for the end: the exit status, and what was written to standard error.
    pub(crate) fn ends(mut self) -> (Option<i32>, String) {
        let begin = Instant::now();
        let status = loop {
            if let Some(status) = self.program.try_wait().expect("a child can be asked") {
                break status;
            }
            assert!(begin.elapsed() < PATIENCE, "it does not close");
            thread::sleep(HAND);
        };
        let said = fs::read_to_string(self.desk.home.path("stderr.txt")).unwrap_or_default();
        assert!(!said.contains("panicked"), "{said}");
        (status.code(), said)
    }
}

impl Drop for Window<'_> {
    fn drop(&mut self) {
        // It has ended by itself, unless the test failed.
        drop(self.program.kill());
        drop(self.program.wait());
    }
}

/// Pixels in rows from the top, red first.
#[derive(Clone)]
pub(crate) struct ScreenPixels {
    pixels: Vec<[u8; 3]>,
}

/// Part of one row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PixelRun {
    y: usize,
    from: usize,
    to: usize,
}

impl PixelRun {
    pub(crate) fn middle(self) -> (usize, usize) {
        (usize::midpoint(self.from, self.to), self.y)
    }
}

impl ScreenPixels {
    fn width() -> usize {
        usize::from(SIZE.0)
    }

    /// Whether two colours are one: OpenGL dithers by a step or two.
    fn is_near(a: [u8; 3], b: [u8; 3]) -> bool {
        a.iter().zip(b).all(|(&a, b)| a.abs_diff(b) <= 4)
    }

    /// Whether a pixel is brighter than any background of the dark theme.
    fn is_ink(pixel: [u8; 3]) -> bool {
        pixel.iter().any(|&part| part > 0x50)
    }

    /// The share of the picture that is words, lines and markers.
    fn ink(&self) -> f64 {
        let ink = self.pixels.iter().filter(|&&pixel| Self::is_ink(pixel));
        ink.count() as f64 / self.pixels.len() as f64
    }

    /// The share of the ink of the other picture that is here too.
    fn same_ink(&self, other: &Self) -> f64 {
        let pairs = self.pixels.iter().zip(&other.pixels);
        let ink = pairs.filter(|&(_, &theirs)| Self::is_ink(theirs));
        let (mut all, mut same) = (0, 0);
        for (ours, theirs) in ink {
            all += 1;
            same += u32::from(Self::is_near(*ours, *theirs));
        }
        f64::from(same) / f64::from(all.max(1))
    }

    /// Spans of one colour in a row, from the left.
    fn spans(&self, y: usize, is_it: impl Fn([u8; 3]) -> bool) -> Vec<PixelRun> {
        let mut spans: Vec<PixelRun> = Vec::new();
        let row = self.pixels.chunks(Self::width()).nth(y).unwrap_or_default();
        for (x, _) in row.iter().enumerate().filter(|&(_, &pixel)| is_it(pixel)) {
            match spans.last_mut().filter(|span| span.to == x) {
                Some(span) => span.to = x + 1,
                None => spans.push(PixelRun {
                    y,
                    from: x,
                    to: x + 1,
                }),
            }
        }
        spans
    }

    /// The primary button: the first row with enough of the accent in one piece, a little below it.
    pub(crate) fn button(&self) -> Option<PixelRun> {
        let rows = self.pixels.len() / Self::width();
        let top = (0..rows).find_map(|y| {
            let spans = self
                .spans(y, |pixel| Self::is_near(pixel, ACCENT))
                .into_iter();
            spans
                .filter(|span| (36..300).contains(&(span.to - span.from)))
                .max_by_key(|span| span.to)
        })?;
        // Its corners are round, so that further down it is wider.
        let y = top.y + 6;
        let mut spans = self
            .spans(y, |pixel| Self::is_near(pixel, ACCENT))
            .into_iter();
        let first = spans.find(|span| span.to > top.from)?;
        Some(PixelRun {
            y,
            from: first.from,
            to: first.to.max(top.to),
        })
    }

    /// Buttons in the same row, further right, by their fill; between them is nothing but the card.
    fn right_of(&self, button: PixelRun) -> impl Iterator<Item = PixelRun> {
        let row = self
            .pixels
            .chunks(Self::width())
            .nth(button.y)
            .unwrap_or_default();
        let card = row.get(button.to + 4).copied().unwrap_or(GROUND);
        let spans = self.spans(button.y, move |pixel| !Self::is_near(pixel, card));
        spans
            .into_iter()
            .filter(move |span| span.from > button.to && span.to - span.from > 60)
    }
}
