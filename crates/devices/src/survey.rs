//! Which sources are available here: each is opened once, and a slow one does not delay the rest.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use super::ALL;
use super::replay::Replay;
use super::source::{DeviceReader, TelemetrySource};
use powerband_core::domain::telemetry::{MissingSource, WatchedDevice};
use powerband_core::domain::telemetry_paths::TelemetryPaths;

/// A library that has not found its cards by then has a driver that hangs.
const PATIENCE: Duration = Duration::from_secs(5);

/// An available telemetry source and the devices that it reads.
pub struct OpenedSource {
    /// What people call it.
    pub title: &'static str,
    /// It.
    pub watch: Box<dyn DeviceReader>,
    /// The places of its devices in the survey's list; nothing for one that another source reads.
    pub places: Vec<Option<usize>>,
}

/// The sources that are available.
#[derive(Default)]
pub struct Survey {
    /// Sources that are here.
    pub opened: Vec<OpenedSource>,
    /// Their devices.
    pub devices: Vec<WatchedDevice>,
    /// Sources that are not here, and why.
    pub missing: Vec<MissingSource>,
}

/// Asks every source; or plays back what was recorded, where that is wanted.
pub fn survey(places: &TelemetryPaths) -> Survey {
    if places.replay.is_some() {
        return survey_sources(&[&Replay], places, PATIENCE);
    }
    survey_sources(ALL, places, PATIENCE)
}

/// Asks these sources, all at once, each for at most so long.
pub fn survey_sources(
    sources: &[&'static dyn TelemetrySource],
    places: &TelemetryPaths,
    patience: Duration,
) -> Survey {
    let asked: Vec<_> = sources.iter().map(|source| ask(*source, places)).collect();
    let deadline = Instant::now() + patience;
    let mut survey = Survey::default();
    for (source, answer) in sources.iter().zip(asked) {
        let left = deadline.saturating_duration_since(Instant::now());
        match answer.and_then(|answer| heard(*source, answer.recv_timeout(left), patience)) {
            Ok(watch) => survey.add(*source, watch),
            Err(missing) => survey.missing.push(missing),
        }
    }
    survey
}

type OpenResult = Result<Box<dyn DeviceReader>, MissingSource>;

/// A driver may hang, so each source is asked in a thread of its own, which is left to itself then.
fn ask(
    source: &'static dyn TelemetrySource,
    places: &TelemetryPaths,
) -> Result<mpsc::Receiver<OpenResult>, MissingSource> {
    let (sender, receiver) = mpsc::sync_channel(1);
    let places = places.clone();
    let started = thread::Builder::new()
        .name(format!("open {}", source.id()))
        .spawn(move || {
            // The receiver is gone where it took too long.
            drop(sender.send(source.open(&places)));
        });
    match started {
        Ok(_) => Ok(receiver),
        Err(error) => Err(MissingSource {
            source: source.title().to_owned(),
            why: format!("no thread could be started for it: {error}"),
            remedy: "end other programs of this user".to_owned(),
        }),
    }
}

fn heard(
    source: &dyn TelemetrySource,
    answer: Result<OpenResult, RecvTimeoutError>,
    patience: Duration,
) -> OpenResult {
    answer.unwrap_or_else(|error| {
        let why = match error {
            RecvTimeoutError::Timeout => format!(
                "it did not answer within {:.0} s, so its driver seems to hang",
                patience.as_secs_f64()
            ),
            RecvTimeoutError::Disconnected => {
                "its library broke down while it was asked".to_owned()
            }
        };
        Err(MissingSource {
            source: source.title().to_owned(),
            why,
            remedy: "look into the system's log with sudo dmesg, and restart the machine"
                .to_owned(),
        })
    })
}

impl Survey {
    fn add(&mut self, source: &dyn TelemetrySource, watch: Box<dyn DeviceReader>) {
        let mut known_from = None;
        let mut places = Vec::new();
        for device in watch.devices() {
            let known = self.devices.iter().find(|known| known.id == device.id);
            if let Some(known) = known {
                known_from = Some(known.source.clone());
                places.push(None);
            } else {
                places.push(Some(self.devices.len()));
                self.devices.push(device.clone());
            }
        }
        if let Some(other) = known_from.filter(|_| places.iter().all(Option::is_none)) {
            self.missing.push(MissingSource {
                source: source.title().to_owned(),
                why: format!("not needed: {other} tells of the same devices"),
                remedy: String::new(),
            });
            return;
        }
        self.opened.push(OpenedSource {
            title: source.title(),
            watch,
            places,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{DeviceGone, Values};
    use powerband_core::domain::telemetry::DeviceKind;

    struct FakeCards(Vec<WatchedDevice>);

    impl DeviceReader for FakeCards {
        fn devices(&self) -> &[WatchedDevice] {
            &self.0
        }

        fn read(&mut self, _device: usize, _workers: &[u32]) -> Result<Values, DeviceGone> {
            Ok(Values::new())
        }
    }

    fn cards(source: &str, ids: &[&str]) -> Box<dyn DeviceReader> {
        let cards = ids.iter().enumerate();
        let card = |(number, id): (usize, &&str)| {
            WatchedDevice::new(source, DeviceKind::Amd, number, id, "Card")
        };
        Box::new(FakeCards(cards.map(card).collect()))
    }

    struct First;

    impl TelemetrySource for First {
        fn id(&self) -> &'static str {
            "first"
        }
        fn title(&self) -> &'static str {
            "First"
        }
        fn open(&self, _places: &TelemetryPaths) -> OpenResult {
            Ok(cards("first", &["0000:43:00.0", "0000:53:00.0"]))
        }
    }

    struct Second;

    impl TelemetrySource for Second {
        fn id(&self) -> &'static str {
            "second"
        }
        fn title(&self) -> &'static str {
            "Second"
        }
        fn open(&self, _places: &TelemetryPaths) -> OpenResult {
            Ok(cards("second", &["0000:53:00.0"]))
        }
    }

    struct Hanging;

    impl TelemetrySource for Hanging {
        fn id(&self) -> &'static str {
            "hanging"
        }
        fn title(&self) -> &'static str {
            "Hanging"
        }
        fn open(&self, _places: &TelemetryPaths) -> OpenResult {
            thread::sleep(Duration::from_hours(1));
            Ok(cards("hanging", &[]))
        }
    }

    struct Panicking;

    impl TelemetrySource for Panicking {
        fn id(&self) -> &'static str {
            "panicking"
        }
        fn title(&self) -> &'static str {
            "Panicking"
        }
        fn open(&self, _places: &TelemetryPaths) -> OpenResult {
            panic!("on purpose")
        }
    }

    #[test]
    fn a_card_is_watched_once() {
        let survey = survey_sources(&[&First, &Second], &TelemetryPaths::default(), PATIENCE);
        assert_eq!(survey.devices.len(), 2);
        assert_eq!(survey.opened.len(), 1);
        assert_eq!(survey.opened[0].places, [Some(0), Some(1)]);
        assert!(survey.missing[0].why.contains("first tells of the same"));
    }

    #[test]
    fn neither_a_hang_nor_a_crash_keeps_the_others_from_telling() {
        let patience = Duration::from_millis(200);
        let survey = survey_sources(
            &[&Hanging, &Panicking, &Second],
            &TelemetryPaths::default(),
            patience,
        );
        assert_eq!(survey.devices.len(), 1);
        let whys: Vec<&str> = survey.missing.iter().map(|m| m.why.as_str()).collect();
        assert!(whys[0].contains("did not answer"), "{whys:?}");
        assert!(whys[1].contains("broke down"), "{whys:?}");
    }
}
