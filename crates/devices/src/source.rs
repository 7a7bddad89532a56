//! The trait behind which every source of telemetry is.

use powerband_core::domain::telemetry::{MissingSource, Quantity, WatchedDevice};
use powerband_core::domain::telemetry_paths::TelemetryPaths;

/// A kind of source. [`super::ALL`] lists them.
pub trait TelemetrySource: Sync {
    /// Its name in messages and sessions.
    fn id(&self) -> &'static str;

    /// Its name on the screen.
    fn title(&self) -> &'static str;

    /// Whether it reads cards, and so can say why there is none.
    fn tells_of_cards(&self) -> bool {
        true
    }

    /// Opens the source; or says why it is not available, and what would help.
    fn open(&self, places: &TelemetryPaths) -> Result<Box<dyn DeviceReader>, MissingSource>;

    /// Why it is not available, and what would help.
    fn missing(&self, why: impl Into<String>, remedy: &str) -> MissingSource
    where
        Self: Sized,
    {
        MissingSource {
            source: self.title().to_owned(),
            why: why.into(),
            remedy: remedy.to_owned(),
        }
    }
}

/// What was read of a device, each quantity in its unit.
pub type Values = Vec<(Quantity, f64)>;

/// The reason why a device is lost for good; a single failed reading is only a gap.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct DeviceGone(pub String);

/// Reads the devices of a source. Belongs to one thread, which may wait.
pub trait DeviceReader: Send {
    /// The devices that it reads.
    fn devices(&self) -> &[WatchedDevice];

    /// What could be read of one of them, by its place in that list. `workers` are the run's processes on this
    /// machine; the first one is measuring now.
    fn read(&mut self, device: usize, workers: &[u32]) -> Result<Values, DeviceGone>;
}
