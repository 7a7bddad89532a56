//! A desktop's portal that never answers, that ends, or whose bus ends while its file dialog is open: the window goes
//! on, offers a field for the path, and closes. And one that works, for comparison.

use std::collections::HashMap;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use zbus::blocking::{Connection, MessageIterator, connection};
use zbus::message::{Message, Type};
use zbus::zvariant::{ObjectPath, OwnedValue, Value};

use crate::display;
use crate::real_window::{RealDesk, Window, draft};
use crate::support::component;

const PORTAL: &str = "org.freedesktop.portal.Desktop";
/// Where *Type the path instead* stands: its card is in the middle of the foot of the window.
const TYPE_INSTEAD: (usize, usize) = (724, 729);
/// Longer than the window waits before it says that it waits, also on a machine that is busy.
const UNTIL_SAID: Duration = Duration::from_secs(6);
/// A session that was named is open by then.
const UNTIL_OPEN: Duration = Duration::from_secs(5);

/// A session bus of our own, ended with its owner.
struct Bus {
    daemon: Child,
    address: String,
}

impl Bus {
    #[expect(
        clippy::disallowed_methods,
        reason = "the test makes its own surroundings"
    )]
    fn start() -> Option<Self> {
        let found = display::are_installed(&["dbus-daemon"]).then_some(());
        component(found, "dbus-daemon (apt-get install dbus)")?;
        let mut daemon = Command::new("dbus-daemon")
            .args(["--session", "--nofork", "--print-address=1"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("dbus-daemon starts");
        let mut address = String::new();
        let said = daemon.stdout.take().expect("it writes its address");
        BufReader::new(said)
            .read_line(&mut address)
            .expect("an address");
        let address = address.trim().to_owned();
        Some(Self { daemon, address })
    }

    fn end(&mut self) {
        self.daemon.kill().expect("the bus can be killed");
        self.daemon.wait().expect("the bus ended");
    }
}

impl Drop for Bus {
    fn drop(&mut self) {
        // It may have ended already.
        drop(self.daemon.kill());
        drop(self.daemon.wait());
    }
}

/// How the portal treats a request for a dialog.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Answers {
    /// Not at all.
    Never,
    /// It shows a dialog whose user does nothing.
    Shows,
    /// Its user chooses this file.
    Chooses(PathBuf),
}

/// A portal, as long as the connection lives.
fn portal(bus: &Bus, answers: Answers) -> Connection {
    let named = connection::Builder::address(bus.address.as_str())
        .and_then(|builder| builder.name(PORTAL))
        .and_then(connection::Builder::build);
    let connection = named.expect("a connection to the bus");
    let own = connection.clone();
    thread::Builder::new()
        .name("portal".to_owned())
        .spawn(move || {
            for message in MessageIterator::from(own.clone()).map_while(Result::ok) {
                answer(&own, &message, &answers);
            }
        })
        .expect("a thread");
    connection
}

fn answer(connection: &Connection, message: &Message, answers: &Answers) {
    let header = message.header();
    let is_dialog = header
        .member()
        .is_some_and(|member| member.as_str() == "OpenFile");
    if message.message_type() != Type::MethodCall || !is_dialog || *answers == Answers::Never {
        return;
    }
    let body = message.body();
    let asked: Result<(&str, &str, HashMap<String, OwnedValue>), _> = body.deserialize();
    let (_, _, options) = asked.expect("a request as the portal's documentation has it");
    let token: &str = options["handle_token"].downcast_ref().expect("a token");
    let sender = header.sender().expect("a sender").to_string();
    let own = sender.trim_start_matches(':').replace('.', "_");
    let handle = format!("/org/freedesktop/portal/desktop/request/{own}/{token}");
    let path = ObjectPath::try_from(handle.as_str()).expect("a path");
    let reply = Message::method_return(&header).and_then(|reply| reply.build(&path));
    connection
        .send(&reply.expect("a reply"))
        .expect("the bus takes it");
    if let Answers::Chooses(file) = answers {
        let uris = vec![format!("file://{}", file.display())];
        let results = HashMap::from([("uris", Value::from(uris))]);
        let interface = "org.freedesktop.portal.Request";
        connection
            .emit_signal(
                Some(sender.as_str()),
                &path,
                interface,
                "Response",
                &(0_u32, results),
            )
            .expect("the bus takes it");
    }
}

/// A desk with a bus, and a session that can be opened.
fn desk() -> Option<(RealDesk, Bus, PathBuf)> {
    let mut desk = RealDesk::find()?;
    let bus = Bus::start()?;
    desk.bus = Some(bus.address.clone());
    desk.plan(&draft());
    let example =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("sessions/densenet121-graph-optimisations.ron");
    let session = desk.home.path("a session.ron");
    fs::copy(example, &session).expect("a copy");
    Some((desk, bus, session))
}

/// Waits for the field for a path, whose button is in the middle of the window.
fn has_field(window: &Window<'_>) {
    window.until("the field for a path", |picture| {
        let button = picture.button()?;
        (250..550).contains(&button.middle().1).then_some(())
    });
}

#[test]
fn a_portal_that_never_answers_holds_up_nothing() {
    let Some((desk, bus, session)) = desk() else {
        return;
    };
    let _portal = portal(&bus, Answers::Never);
    let window = desk.open();
    window.drawn();
    desk.keys("ctrl+o");
    thread::sleep(UNTIL_SAID);
    // Another screen, although the dialog is due.
    desk.keys("ctrl+2");
    window.until("the plan", |picture| {
        picture.button().filter(|button| button.middle().1 < 100)
    });
    desk.click(TYPE_INSTEAD);
    has_field(&window);
    desk.types(&session.display().to_string());
    desk.keys("Return");
    thread::sleep(UNTIL_OPEN);
    // A second question, unanswered while the window closes.
    desk.keys("ctrl+o");
    thread::sleep(UNTIL_SAID);
    desk.keys("ctrl+q");
    window.ends_well();
    assert_eq!(desk.remembered().open, [session]);
}

#[test]
fn a_portal_or_a_bus_that_ends_leaves_a_field() {
    for ends_bus in [false, true] {
        let Some((desk, mut bus, session)) = desk() else {
            return;
        };
        let portal = portal(&bus, Answers::Shows);
        let window = desk.open();
        window.drawn();
        desk.keys("ctrl+o");
        thread::sleep(UNTIL_SAID);
        if ends_bus {
            bus.end();
        } else {
            portal.release_name(PORTAL).expect("the name is ours");
        }
        has_field(&window);
        desk.types(&session.display().to_string());
        desk.keys("Return");
        thread::sleep(UNTIL_OPEN);
        desk.keys("ctrl+q");
        window.ends_well();
        assert_eq!(desk.remembered().open, [session], "bus: {ends_bus}");
    }
}

#[test]
fn a_file_that_is_chosen_is_opened() {
    let Some((desk, bus, session)) = desk() else {
        return;
    };
    let escaped = session.display().to_string().replace(' ', "%20");
    let _portal = portal(&bus, Answers::Chooses(escaped.into()));
    let window = desk.open();
    window.drawn();
    desk.keys("ctrl+o");
    thread::sleep(UNTIL_OPEN);
    desk.keys("ctrl+q");
    window.ends_well();
    assert_eq!(desk.remembered().open, [session]);
}
