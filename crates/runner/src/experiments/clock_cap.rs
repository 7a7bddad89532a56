//! A capped clock, which the user sets: Powerband changes no setting of the machine.

use super::derivation::Derivation;
use super::subject::{DerivedSetup, ExperimentSubject};
use powerband_core::domain::experiment::ExperimentChange;

/// Never derived: the command is shown.
pub(super) const CLOCK_CAP: Derivation = Derivation {
    change: ExperimentChange::ClockCap,
    derive,
};

/// The cap where the highest clock is unknown, in MHz.
const USUAL_CAP: f64 = 1_500.0;

fn derive(subject: &ExperimentSubject<'_>) -> Result<DerivedSetup, String> {
    let number = subject.setup.device.split(':').nth(1).unwrap_or("0");
    let (cap, release) = match subject.setup.device.split(':').next() {
        Some("cuda") => (
            format!("sudo nvidia-smi -i {number} -lgc 0,1000"),
            format!("sudo nvidia-smi -i {number} -rgc"),
        ),
        Some("rocm") => (
            format!("sudo amd-smi set -g {number} --clk-limit sclk max 1000"),
            format!("sudo amd-smi reset -g {number} --clocks"),
        ),
        Some("cpu") => {
            let cap = subject.here.max_mhz.map_or(USUAL_CAP, |most| most / 2.0);
            let release = subject.here.max_mhz.map_or_else(
                || "the highest clock that cpupower frequency-info shows sets it back".to_owned(),
                |most| format!("sudo cpupower frequency-set -u {most:.0}MHz"),
            );
            (
                format!("sudo cpupower frequency-set -u {cap:.0}MHz"),
                release,
            )
        }
        _ => {
            return Err(format!(
                "no command is known that caps the clock of {}",
                subject.setup.device
            ));
        }
    };
    let back = if release.starts_with("sudo") {
        format!("{release} sets it back")
    } else {
        release
    };
    Err(format!(
        "Powerband changes no setting of the machine; cap the clock with {cap}, measure again and compare: computing slows down in proportion, waiting for memory hardly; {back}"
    ))
}
