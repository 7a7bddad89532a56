//! The desktop's portal: colour scheme and motion, and the connection that `file_chooser` uses.
//!
//! It is asked over the session bus. Without a bus or portal there is no answer, which is no error: every
//! caller has a fallback. All calls here but the check for a bus may block, so they belong on background
//! threads.

use std::path::Path;
use std::time::Duration;

use zbus::blocking::{Connection, MessageIterator, connection};
use zbus::message::{self, Message};
use zbus::zvariant::Value;

use super::setting::{DesktopSetting, Scheme};

/// Name and object of the portal on the bus.
pub(super) const PORTAL: &str = "org.freedesktop.portal.Desktop";
pub(super) const OBJECT: &str = "/org/freedesktop/portal/desktop";
/// Its interfaces.
const SETTINGS: &str = "org.freedesktop.portal.Settings";
pub(super) const DIALOGS: &str = "org.freedesktop.portal.FileChooser";
/// The settings that are read here.
const APPEARANCE: &str = "org.freedesktop.appearance";
const SCHEME: &str = "color-scheme";
const MOTION: &str = "reduced-motion";
/// The call starts a portal that is not running; the bus itself waits about this long.
pub(super) const STARTING: Duration = Duration::from_secs(30);
/// The bus itself.
pub(super) const BUS: &str = "org.freedesktop.DBus";
pub(super) const BUS_OBJECT: &str = "/org/freedesktop/DBus";

/// Whether there is a session bus to reach the portal over.
pub(crate) fn has_session_bus() -> bool {
    let named =
        std::env::var_os("DBUS_SESSION_BUS_ADDRESS").is_some_and(|address| !address.is_empty());
    let usual = std::env::var_os("XDG_RUNTIME_DIR")
        .is_some_and(|folder| Path::new(&folder).join("bus").exists());
    named || usual
}

/// Reports the desktop's settings, now and whenever they change. Returns where there is no portal, or
/// once the bus is gone.
pub(crate) fn follow_settings(mut tell: impl FnMut(DesktopSetting)) {
    let Some(connection) = connect(STARTING) else {
        return;
    };
    // Subscribes before it reads, so that no change is lost.
    let Ok(mut changes) = changes(&connection) else {
        return;
    };
    let asked = [SCHEME, MOTION].map(|key| ask(&connection, key));
    let actions: Vec<DesktopSetting> = asked.into_iter().flatten().collect();
    if actions.is_empty() {
        return;
    }
    actions.into_iter().for_each(&mut tell);
    while let Some(Ok(signal)) = changes.next() {
        changed(&signal).into_iter().for_each(&mut tell);
    }
}

pub(super) fn connect(patience: Duration) -> Option<Connection> {
    let session = connection::Builder::session().ok()?;
    session.method_timeout(patience).build().ok()
}

fn changes(connection: &Connection) -> zbus::Result<MessageIterator> {
    let rule = zbus::MatchRule::builder()
        .msg_type(message::Type::Signal)
        .sender(PORTAL)?
        .path(OBJECT)?
        .interface(SETTINGS)?
        .member("SettingChanged")?
        .add_arg(APPEARANCE)?
        .build();
    MessageIterator::for_match_rule(rule, connection, None)
}

/// Older portals do not know `ReadOne`.
fn ask(connection: &Connection, key: &str) -> Option<DesktopSetting> {
    let setting = (APPEARANCE, key);
    ["ReadOne", "Read"].into_iter().find_map(|method| {
        let reply = connection.call_method(Some(PORTAL), OBJECT, Some(SETTINGS), method, &setting);
        answered(key, &reply.ok()?)
    })
}

fn answered(key: &str, reply: &Message) -> Option<DesktopSetting> {
    let body = reply.body();
    let value: Value<'_> = body.deserialize().ok()?;
    request(key, &value)
}

fn changed(signal: &Message) -> Option<DesktopSetting> {
    let body = signal.body();
    let (group, key, value): (&str, &str, Value<'_>) = body.deserialize().ok()?;
    (group == APPEARANCE)
        .then(|| request(key, &value))
        .flatten()
}

/// `Read` wraps its answer once more than `ReadOne`. The portal's documentation says that numbers which
/// it does not list mean the same as 0.
fn request(key: &str, value: &Value<'_>) -> Option<DesktopSetting> {
    match (key, value) {
        (_, Value::Value(inner)) => request(key, inner),
        (SCHEME, Value::U32(number)) => Some(DesktopSetting::Scheme(match number {
            1 => Scheme::Dark,
            2 => Scheme::Light,
            _ => Scheme::Any,
        })),
        (MOTION, Value::U32(number)) => Some(DesktopSetting::ReducedMotion(*number == 1)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A message as it comes over the bus, with this answer.
    fn reply(value: &Value<'_>) -> Message {
        let message = Message::method_call(OBJECT, "Answer").unwrap();
        message.build(value).unwrap()
    }

    fn signal(group: &str, key: &str, value: Value<'_>) -> Message {
        let message = Message::signal(OBJECT, SETTINGS, "SettingChanged").unwrap();
        message.build(&(group, key, value)).unwrap()
    }

    #[test]
    fn answers_are_read_however_they_are_wrapped() {
        for (number, wanted) in [
            (0, Scheme::Any),
            (1, Scheme::Dark),
            (2, Scheme::Light),
            (3, Scheme::Any),
        ] {
            let once = reply(&Value::U32(number));
            assert_eq!(once.body().signature().to_string(), "v");
            let wanted = Some(DesktopSetting::Scheme(wanted));
            assert_eq!(answered(SCHEME, &once), wanted, "ReadOne {number}");
            let twice = reply(&Value::Value(Box::new(Value::U32(number))));
            assert_ne!(once.body().data().bytes(), twice.body().data().bytes());
            assert_eq!(answered(SCHEME, &twice), wanted, "Read {number}");
            let moves = Some(DesktopSetting::ReducedMotion(number == 1));
            assert_eq!(answered(MOTION, &twice), moves, "Read {number}");
        }
    }

    #[test]
    fn answers_of_another_kind_are_none() {
        assert_eq!(answered(SCHEME, &reply(&Value::from("dark"))), None);
        assert_eq!(answered(MOTION, &reply(&Value::I32(1))), None);
        let empty = Message::method_call(OBJECT, "Answer").unwrap();
        assert_eq!(answered(SCHEME, &empty.build(&()).unwrap()), None);
    }

    #[test]
    fn only_changes_of_scheme_and_motion_count() {
        let light = || Value::U32(2);
        let change = signal(APPEARANCE, SCHEME, light());
        assert_eq!(
            changed(&change),
            Some(DesktopSetting::Scheme(Scheme::Light))
        );
        let change = signal(APPEARANCE, MOTION, Value::U32(1));
        assert_eq!(changed(&change), Some(DesktopSetting::ReducedMotion(true)));
        assert_eq!(changed(&signal(APPEARANCE, "contrast", light())), None);
        assert_eq!(changed(&signal("org.kde", SCHEME, light())), None);
        assert_eq!(changed(&reply(&light())), None);
    }
}
