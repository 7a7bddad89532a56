//! A timeline's ruler, and which colour a slice has.

use super::axis::TimeUnit;
use super::spec::Tick;
use crate::analysis::timeline::SHADES;
use crate::analysis::timeline::detail::LEVELS;
use crate::analysis::timeline::stretch::TimeRange;
use powerband_core::domain::trace::SliceKind;

/// Pixels between two labels of the ruler, at least.
const APART: f64 = 96.0;
/// With more digits than this, labels are counted from a time that stands at the left.
const DIGITS: f64 = 20_000.0;

/// The ruler above a timeline.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ruler {
    /// What the labels are counted from, in words; nothing where that is the first slice.
    pub base: Option<String>,
    /// Labels, with their times.
    pub ticks: Vec<Tick>,
    /// Time between two of them.
    pub step: f64,
}

/// A ruler over a stretch of time.
pub fn ruler(stretch: TimeRange, pixels: f32) -> Ruler {
    let least = stretch.length() * APART / f64::from(pixels).max(1.0);
    let step = round_up(least.max(1.0));
    let furthest = stretch.from.abs().max(stretch.to.abs());
    let base = if furthest / step > DIGITS {
        (stretch.from / (step * 100.0)).floor() * step * 100.0
    } else {
        0.0
    };
    let unit = TimeUnit::for_largest((stretch.from - base).abs().max((stretch.to - base).abs()));
    let sign = if base == 0.0 { "" } else { "+" };
    let decimals = decimals(step, unit);
    let first = (stretch.from / step).ceil() as i64;
    let last = (stretch.to / step).floor() as i64;
    let ticks = (first..=last.min(first.saturating_add(200))).map(|n| {
        let at = n as f64 * step;
        // Zero has no sign.
        let value = (at - base) / unit.ns + 0.0;
        let minus = if value < 0.0 { "−" } else { sign };
        Tick {
            at,
            text: format!("{minus}{:.decimals$} {}", value.abs(), unit.name),
        }
    });
    Ruler {
        base: (base != 0.0).then(|| exact(base, step * 100.0)),
        ticks: ticks.collect(),
        step,
    }
}

/// A time with as many digits as a step needs.
pub fn exact(time_ns: f64, step: f64) -> String {
    let unit = TimeUnit::for_largest(time_ns.abs());
    let decimals = decimals(step, unit);
    let minus = if time_ns < 0.0 { "−" } else { "" };
    format!(
        "{minus}{:.decimals$} {}",
        time_ns.abs() / unit.ns,
        unit.name
    )
}

fn decimals(step: f64, unit: TimeUnit) -> usize {
    (unit.ns / step.max(1.0)).log10().ceil().clamp(0.0, 9.0) as usize
}

/// 1, 2 or 5 of some power of ten, not below a value.
fn round_up(least: f64) -> f64 {
    let power = 10_f64.powf(least.log10().floor());
    let of = |times: f64| times * power;
    [of(1.0), of(2.0), of(5.0)]
        .into_iter()
        .find(|step| *step >= least * (1.0 - 1e-9))
        .unwrap_or_else(|| of(10.0))
}

/// How strong the colour of a slice is, from its weakest shade to its strongest.
pub const TONES: (f32, f32) = (0.24, 0.40);

/// How strong the colour of a shade is.
pub fn strength(shade: u8) -> f32 {
    TONES.0 + (TONES.1 - TONES.0) / f32::from(SHADES - 1) * f32::from(shade)
}

/// How strong that of several slices is, which ran for little of the time or for most of it.
pub fn strength_of_several(level: u8) -> f32 {
    TONES.1 * (0.3 + 0.7 * f32::from(level) / f32::from(LEVELS))
}

/// The hue of a slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hue {
    /// A colour of the series.
    Series(usize),
    /// Grey.
    Grey,
}

/// The hue of a kind. Work, calls that launch it and ranges that describe it have different hues.
pub fn hue(kind: SliceKind) -> Hue {
    match kind {
        SliceKind::Kernel => Hue::Series(0),
        SliceKind::Copy | SliceKind::Set => Hue::Series(4),
        SliceKind::Operator => Hue::Series(2),
        SliceKind::Call => Hue::Series(3),
        SliceKind::Range => Hue::Series(1),
        SliceKind::Wait | SliceKind::Script | SliceKind::Overhead | SliceKind::Other => Hue::Grey,
    }
}

/// What the hues of these kinds mean: each hue once, with the first of its kinds. Kinds that share one are
/// named together.
pub fn legend(kinds: impl Iterator<Item = SliceKind>) -> Vec<(SliceKind, String)> {
    let mut entries: Vec<(SliceKind, String)> = Vec::new();
    for kind in kinds {
        let known = entries
            .iter_mut()
            .find(|(first, _)| hue(*first) == hue(kind));
        match known {
            Some((_, words)) => {
                words.push_str(", ");
                words.push_str(kind.title());
            }
            None => entries.push((kind, kind.title().to_owned())),
        }
    }
    entries
}

/// What a kernel is called in short: without its result, its arguments and where it is declared.
pub fn short(name: &str, kind: SliceKind) -> &str {
    if kind != SliceKind::Kernel {
        return name;
    }
    let name = name.strip_prefix("void ").unwrap_or(name);
    let end = name.find(['<', '(']).filter(|end| *end > 0);
    let Some(end) = end else {
        return name;
    };
    let head = &name[..end];
    let own = head.rsplit("::").next().unwrap_or(head);
    // What is left of operators and of anonymous namespaces says nothing.
    if own.len() < 3 { name } else { own }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(from: f64, to: f64, pixels: f32) -> (Option<String>, Vec<String>) {
        let ruler = ruler(TimeRange { from, to }, pixels);
        let texts = ruler.ticks.into_iter().map(|tick| tick.text);
        (ruler.base, texts.collect())
    }

    #[test]
    fn labels_are_round() {
        let (base, labels) = texts(0.0, 1e6, 500.0);
        assert_eq!(base, None);
        assert_eq!(
            labels,
            ["0.0 ms", "0.2 ms", "0.4 ms", "0.6 ms", "0.8 ms", "1.0 ms"]
        );
        let (_, labels) = texts(-3e9, 3e9, 300.0);
        assert_eq!(labels, ["−2 s", "0 s", "2 s"]);
    }

    #[test]
    fn far_from_the_beginning_labels_count_from_a_time_near_by() {
        let (base, labels) = texts(3_214_567_030.0, 3_214_567_530.0, 500.0);
        assert_eq!(base.as_deref(), Some("3.21456 s"));
        assert_eq!(labels.first().map(String::as_str), Some("+7.1 µs"));
        assert!(labels.len() <= 6);
    }

    #[test]
    fn a_legend_has_every_hue_once_and_every_kind() {
        let entries = legend(SliceKind::ALL.into_iter());
        for (place, (one, _)) in entries.iter().enumerate() {
            let mut others = entries[place + 1..].iter();
            assert!(others.all(|(other, _)| hue(*other) != hue(*one)));
        }
        let words: Vec<&str> = entries.iter().map(|(_, words)| words.as_str()).collect();
        let all = "kernel; copy, set; operator; call; wait, script, overhead, other; range";
        assert_eq!(words.join("; "), all);
    }

    #[test]
    fn kernels_have_short_names() {
        let kernel = |name| short(name, SliceKind::Kernel);
        assert_eq!(
            kernel("void at::native::vectorized_elementwise_kernel<4, X>(int)"),
            "vectorized_elementwise_kernel"
        );
        assert_eq!(
            kernel("Cijk_Ailk_Bljk_SB_MT64x64"),
            "Cijk_Ailk_Bljk_SB_MT64x64"
        );
        assert_eq!(kernel("(anonymous)"), "(anonymous)");
        let script = "module.py(1532): _call_impl";
        assert_eq!(short(script, SliceKind::Script), script);
    }
}
