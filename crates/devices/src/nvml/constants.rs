//! What of a card does not change while it is watched.

use nvml_wrapper::Device;
use nvml_wrapper::bitmasks::device::ThrottleReasons;
use nvml_wrapper::enum_wrappers::device::{Clock, ComputeMode};

use powerband_core::domain::telemetry::{DeviceKind, Setting, WatchedDevice};

/// A card that cannot be opened: reading it gives the reason.
pub(super) fn unknown(source: &str, number: usize) -> WatchedDevice {
    let id = format!("nvidia-{number}");
    WatchedDevice::new(
        source,
        DeviceKind::Nvidia,
        number,
        &id,
        "NVIDIA card that does not answer",
    )
}

/// What of a card does not change.
pub(super) fn described(card: &Device<'_>, source: &str, number: usize) -> WatchedDevice {
    let unknown = unknown(source, number);
    let mhz = |clock| card.max_clock_info(clock).ok().map(f64::from);
    WatchedDevice {
        id: card
            .pci_info()
            .map_or(unknown.id, |pci| address(&pci.bus_id)),
        name: card.name().unwrap_or_else(|_| "NVIDIA card".to_owned()),
        memory_bytes: card.memory_info().ok().map(|memory| memory.total),
        max_clock_mhz: mhz(Clock::SM).or_else(|| mhz(Clock::Graphics)),
        max_memory_clock_mhz: mhz(Clock::Memory),
        power_limit_w: card.enforced_power_limit().ok().map(watts),
        settings: settings(card, number),
        ..unknown
    }
}

/// `0000:65:00.0`, as the kernel writes an address, of NVIDIA's `00000000:65:00.0`.
fn address(bus_id: &str) -> String {
    let bus_id = bus_id.to_ascii_lowercase();
    let parts = bus_id.split_once(':');
    let parts =
        parts.and_then(|(domain, rest)| Some((u32::from_str_radix(domain, 16).ok()?, rest)));
    match parts {
        Some((domain, rest)) => format!("{domain:04x}:{rest}"),
        None => bus_id,
    }
}

/// NVIDIA counts in thousandths.
pub(super) fn watts(milliwatts: u32) -> f64 {
    f64::from(milliwatts) / 1e3
}

/// A setting's value, and the options of `nvidia-smi` that change it.
type SettingText = Option<(String, Option<&'static str>)>;

/// What decides over a card's speed, as far as the card reports it.
fn settings(card: &Device<'_>, number: usize) -> Vec<Setting> {
    let all = [
        ("Power limit", power_limit(card)),
        ("Clocks", clocks(card)),
        ("Persistence mode", persistence(card)),
        ("ECC mode", ecc(card)),
        ("MIG mode", mig(card)),
        ("Compute mode", compute_mode(card)),
    ];
    let told = all
        .into_iter()
        .filter_map(|(name, told)| Some((name, told?)));
    let setting = |(name, (value, options)): (&str, (String, Option<&str>))| Setting {
        name: name.to_owned(),
        value,
        command: options.map(|options| format!("sudo nvidia-smi -i {number} {options}")),
    };
    told.map(setting).collect()
}

fn power_limit(card: &Device<'_>) -> SettingText {
    let limit = watts(card.enforced_power_limit().ok()?);
    let value = card.power_management_limit_constraints().map_or_else(
        |_| format!("{limit} W"),
        |bounds| format!("{limit} W of at most {} W", watts(bounds.max_limit)),
    );
    Some((value, Some("-pl WATTS")))
}

/// No card reports a lock. It shows in what slows the card down, once it computes.
fn clocks(card: &Device<'_>) -> SettingText {
    let highest = card.max_clock_info(Clock::SM).ok()?;
    let asked = card.applications_clock(Clock::Graphics).ok();
    let usual = card.default_applications_clock(Clock::Graphics).ok();
    let reasons = card
        .current_throttle_reasons()
        .unwrap_or(ThrottleReasons::NONE);
    let value = match asked.zip(usual) {
        Some((asked, usual)) if asked != usual => {
            format!("set to {asked} MHz, of at most {highest} MHz")
        }
        _ if reasons.contains(ThrottleReasons::APPLICATIONS_CLOCKS_SETTING) => {
            format!("held down by a setting, of at most {highest} MHz")
        }
        _ => format!("no lock seen, up to {highest} MHz"),
    };
    Some((value, Some("-lgc MHZ,MHZ")))
}

fn persistence(card: &Device<'_>) -> SettingText {
    let on = card.is_in_persistent_mode().ok()?;
    Some((on_or_off([on, on]), Some("-pm 1")))
}

fn ecc(card: &Device<'_>) -> SettingText {
    let state = card.is_ecc_enabled().ok()?;
    let other = if state.currently_enabled {
        "-e 0"
    } else {
        "-e 1"
    };
    Some((
        on_or_off([state.currently_enabled, state.pending_enabled]),
        Some(other),
    ))
}

/// Without a command that changes it: a card is divided on purpose.
fn mig(card: &Device<'_>) -> SettingText {
    let mode = card.mig_mode().ok()?;
    Some((on_or_off([mode.current == 1, mode.pending == 1]), None))
}

fn compute_mode(card: &Device<'_>) -> SettingText {
    Some(match card.compute_mode().ok()? {
        ComputeMode::Default => ("any process may compute".to_owned(), None),
        ComputeMode::Prohibited => ("no process may compute".to_owned(), Some("-c DEFAULT")),
        ComputeMode::ExclusiveProcess | ComputeMode::ExclusiveThread => (
            "one process may compute at a time".to_owned(),
            Some("-c DEFAULT"),
        ),
    })
}

fn on_or_off([now, later]: [bool; 2]) -> String {
    let word = |on| if on { "on" } else { "off" };
    if now == later {
        word(now).to_owned()
    } else {
        format!("{}, {} after the next start", word(now), word(later))
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn addresses_are_those_of_the_kernel() {
        for (told, address) in [
            ("00000000:65:00.0", "0000:65:00.0"),
            ("00000001:AF:1F.0", "0001:af:1f.0"),
            ("00010000:01:00.0", "10000:01:00.0"),
            ("0000:02:00.0", "0000:02:00.0"),
            ("somewhere", "somewhere"),
        ] {
            assert_eq!(super::address(told), address);
        }
    }
}
