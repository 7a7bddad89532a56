//! Numbers as people read them: thin groups, sensible digits, units a space away.
//!
//! Every number that a person sees goes through here; documents for machines do not.

use super::clock;

/// What stands for a value that is not known.
pub const UNKNOWN: &str = "–";
/// What stands for an interval that says nothing of its ratio.
pub const NOT_KNOWN: &str = "not known";

/// Groups of three: `25,557,032`.
pub fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// A count and what is counted, in the right number: `1 setup`, `3 setups`, `2 copies`.
pub fn pluralised(number: u64, what: &str) -> String {
    let number_text = count(number);
    match what.strip_suffix('y') {
        _ if number == 1 => format!("{number_text} {what}"),
        Some(stem) if !stem.ends_with(['a', 'e', 'i', 'o', 'u']) => {
            format!("{number_text} {stem}ies")
        }
        _ => format!("{number_text} {what}s"),
    }
}

/// A list with `or` before its last word: `none, basic or all`.
pub fn or_list(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [all @ .., last] => format!("{} or {last}", all.join(", ")),
    }
}

/// Names as a sentence has them: `one, two and three`.
pub fn list(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [all @ .., last] => format!("{} and {last}", all.join(", ")),
    }
}

/// Significant digits of a value.
const DIGITS: usize = 3;
/// The same of an uncertainty that stands beside one.
const LEADING: usize = 2;
/// Smaller values have an exponent, or their zeros would hide them.
const SMALLEST_PLAIN: f64 = 1e-4;

/// A value to `digits` significant digits, grouped; with an exponent where it is very small: `3.10e-7`.
pub fn significant(value: f64, digits: usize) -> String {
    if !value.is_finite() {
        return UNKNOWN.to_owned();
    }
    if value == 0.0 {
        return "0".to_owned();
    }
    if value.abs() < SMALLEST_PLAIN {
        return format!("{value:.*e}", digits.saturating_sub(1));
    }
    let magnitude = value.abs().log10().floor() as i32;
    let decimals = digits as i32 - 1 - magnitude;
    if decimals > 0 {
        let text = format!("{value:.*}", decimals as usize);
        // Rounding may carry into one more whole digit: 9.996 → 10.00 becomes 10.0.
        let carried = text
            .parse::<f64>()
            .is_ok_and(|v| v.abs().log10().floor() as i32 > magnitude);
        if !carried {
            return text;
        }
        if decimals > 1 {
            return format!("{value:.*}", decimals as usize - 1);
        }
    }
    let sign = if value < 0.0 { "-" } else { "" };
    format!("{sign}{}", count(value.abs().round() as u64))
}

/// A value with three significant digits, however sure it is: what is known of that stands beside it.
pub fn value(value: f64) -> String {
    significant(value, DIGITS)
}

/// A ratio: `6.71 ×`, `0.604 ×`.
pub fn ratio(ratio: f64) -> String {
    format!("{} ×", value(ratio))
}

/// A share in percent: `41.9 %`, `−3.04 %`.
pub fn percent(share: f64) -> String {
    format!("{} %", value(share * 100.0)).replace('-', "−")
}

/// A difference of times in nanoseconds with its sign: `+1.20 ms`, `−340 µs`.
pub fn time_change(nanoseconds: f64) -> String {
    let sign = match nanoseconds {
        0.0 => "",
        loss if loss < 0.0 => "−",
        _ => "+",
    };
    format!("{sign}{}", duration_ns(nanoseconds.abs()))
}

/// How far a value may be off, as a share of it: the leading digits in percent, `0.83 %`, `150 %`.
pub fn uncertainty(share: f64) -> String {
    let percent = share * 100.0;
    if !percent.is_finite() || percent.abs() < 10.0 {
        return format!("{} %", significant(percent, LEADING));
    }
    let step = 10_f64.powi(percent.abs().log10().floor() as i32 + 1 - LEADING as i32);
    format!(
        "{} %",
        significant((percent / step).round() * step, LEADING)
    )
}

/// A time in the unit that suits it: `12.4 µs`, `6.75 ms`, `1.20 s`.
pub fn duration_ns(nanoseconds: f64) -> String {
    let (ns, unit) = unit_of(nanoseconds);
    format!("{} {unit}", value(nanoseconds / ns))
}

/// The unit that suits a time, in nanoseconds and by name.
pub fn unit_of(nanoseconds: f64) -> (f64, &'static str) {
    match nanoseconds.abs() {
        n if n < 1e3 => (1.0, "ns"),
        n if n < 1e6 => (1e3, "µs"),
        n if n < 1e9 => (1e6, "ms"),
        _ => (1e9, "s"),
    }
}

/// A large amount with the prefix of its unit: `811 GFLOP/s`, `12.4 GB/s`.
pub fn with_prefix(amount: f64, unit: &str) -> String {
    let prefixes = [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")];
    let fits = prefixes.iter().find(|(size, _)| amount.abs() >= *size);
    let (size, prefix) = fits.copied().unwrap_or((1.0, ""));
    format!("{} {prefix}{unit}", value(amount / size))
}

/// Items or runs a second: `25.7 /s`.
pub fn rate(per_s: f64) -> String {
    format!("{} /s", value(per_s))
}

/// A length of time as a clock shows it: `48 s`, `3 min 20 s`, `1 h 05 min`.
pub fn clock_time(seconds: f64) -> String {
    let whole = seconds.max(0.0).round() as u64;
    match whole {
        0..60 => format!("{whole} s"),
        60..3600 => format!("{} min {:02} s", whole / 60, whole % 60),
        _ => format!("{} h {:02} min", whole / 3600, whole % 3600 / 60),
    }
}

/// A length of time as a stopwatch shows it: `0:04`, `3:20`, `1:05:00`.
pub fn stopwatch(seconds: f64) -> String {
    let whole = seconds.max(0.0) as u64;
    let (hours, minutes, seconds) = (whole / 3600, whole / 60 % 60, whole % 60);
    if hours > 0 {
        format!("{hours}:{minutes:02}:{seconds:02}")
    } else {
        format!("{minutes}:{seconds:02}")
    }
}

/// `2026-11-21T06:02:03Z` as `2026-11-21 06:02 UTC`, for what is read elsewhere.
pub fn utc_moment(utc: &str) -> String {
    format!("{} UTC", to_the_minute(utc))
}

/// `2026-11-21T06:02:03Z` as `2026-11-21 07:02`, where the clock on the wall is an hour ahead.
pub fn moment(utc: &str) -> String {
    to_the_minute(&clock::local_moment_text(utc))
}

fn to_the_minute(moment: &str) -> String {
    moment.get(..16).unwrap_or(moment).replace('T', " ")
}

/// `2026-11-21T06:02:03Z` as `21 Nov 07:02`, for lists whose years are plain.
pub fn short_moment(utc: &str) -> String {
    let utc = &clock::local_moment_text(utc);
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let part =
        |range: std::ops::Range<usize>| utc.get(range).and_then(|text| text.parse::<usize>().ok());
    let month = part(5..7).and_then(|month| MONTHS.get(month.checked_sub(1)?));
    match (part(8..10), month, utc.get(11..16)) {
        (Some(day), Some(month), Some(time)) => format!("{day} {month} {time}"),
        _ => utc.to_owned(),
    }
}

/// Bytes in binary units: `97.5 MiB`.
pub fn bytes(value: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut scaled = value as f64;
    let mut unit = 0;
    while scaled >= 1024.0 && unit + 1 < UNITS.len() {
        scaled /= 1024.0;
        unit += 1;
    }
    if unit == 0 {
        return format!("{value} B");
    }
    format!("{} {}", significant(scaled, 3), UNITS[unit])
}

/// Multiply-accumulates: `4.09 GMACs`, `0 MACs`.
pub fn macs(value: u64) -> String {
    let text = decimal(value);
    let is_prefixed = text.ends_with(char::is_alphabetic);
    format!("{text}{}MACs", if is_prefixed { "" } else { " " })
}

/// A count of operations in decimal units, two decimals: `4.09 G`.
pub fn decimal(value: u64) -> String {
    let scaled = value as f64;
    match scaled {
        v if v >= 1e12 => format!("{:.2} T", v / 1e12),
        v if v >= 1e9 => format!("{:.2} G", v / 1e9),
        v if v >= 1e6 => format!("{:.2} M", v / 1e6),
        v if v >= 1e3 => format!("{:.2} k", v / 1e3),
        _ => count(value),
    }
}

/// A time written by a person, in nanoseconds: `250ns`, `1.2 ms`, `3s`, `5min`.
pub fn parse_duration_ns(text: &str) -> Option<f64> {
    let text = text.trim();
    let split = text.find(|c: char| c.is_alphabetic())?;
    let (number, unit) = text.split_at(split);
    let scale = match unit {
        "ns" => 1.0,
        "us" | "µs" | "μs" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        "min" => 6e10,
        _ => return None,
    };
    let number: f64 = number.trim().parse().ok()?;
    (number.is_finite() && number >= 0.0).then_some(number * scale)
}

/// Bytes written by a person: `512`, `256MiB`, `4GiB`, `2G`.
pub fn parse_bytes(text: &str) -> Option<u64> {
    let text = text.trim();
    let split = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let scale: f64 = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1.0,
        "k" | "kib" => 1024.0,
        "kb" => 1e3,
        "m" | "mib" => 1024.0 * 1024.0,
        "mb" => 1e6,
        "g" | "gib" => 1024.0 * 1024.0 * 1024.0,
        "gb" => 1e9,
        _ => return None,
    };
    number.parse::<f64>().ok().map(|n| (n * scale) as u64)
}

/// Text cut to `width` characters with an ellipsis, so that a column stays a column.
pub fn shorten(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(width.saturating_sub(1)).collect();
    short.push('…');
    short
}

/// Text cut to `width` characters in its middle: names often differ at their end.
pub fn shorten_middle(text: &str, width: usize) -> String {
    let length = text.chars().count();
    if length <= width {
        return text.to_owned();
    }
    let tail = width.saturating_sub(1) / 2;
    let head = width.saturating_sub(1) - tail;
    let start: String = text.chars().take(head).collect();
    let end: String = text.chars().skip(length - tail).collect();
    format!("{start}…{end}")
}

/// Letters that are kept of what names begin with alike, where that has to be cut.
const ALIKE: usize = 8;

/// Names cut to `width` characters so that different ones still read differently, where that can be.
pub fn shorten_apart(names: &[&str], width: usize) -> Vec<String> {
    let short: Vec<String> = names
        .iter()
        .map(|name| shorten_middle(name, width))
        .collect();
    let cut = |(place, name): (usize, &&str)| {
        let twins = names
            .iter()
            .zip(&short)
            .filter(|(other, cut)| *other != name && **cut == short[place]);
        let Some(alike) = twins.map(|(other, _)| common_start(name, other)).min() else {
            return short[place].clone();
        };
        // A little of what is alike is kept before what differs.
        let start: String = name.chars().take(ALIKE).collect();
        let from = alike.saturating_sub(ALIKE).max(ALIKE);
        let rest: String = name.chars().skip(from).collect();
        let room = width.saturating_sub(ALIKE + 1);
        // What differs stands at the beginning of the rest.
        format!("{start}…{}", shorten(&rest, room))
    };
    names.iter().enumerate().map(cut).collect()
}

/// How many characters two texts have in common at their beginning.
fn common_start(one: &str, other: &str) -> usize {
    let pairs = one.chars().zip(other.chars());
    pairs.take_while(|(a, b)| a == b).count()
}

/// Lines of a table with columns aligned: the first `left` columns to the left, the rest to the right.
pub fn table(header: &[&str], rows: &[Vec<String>], left: usize) -> String {
    let heads = header.iter().enumerate();
    let heads: Vec<(&str, bool)> = heads.map(|(place, head)| (*head, place >= left)).collect();
    aligned(&heads, rows)
}

/// Lines of a table with columns aligned, below heads with whether their column stands to the right.
pub fn aligned(heads: &[(&str, bool)], rows: &[Vec<String>]) -> String {
    let mut widths: Vec<usize> = heads.iter().map(|(head, _)| head.chars().count()).collect();
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        let cells = cells.zip(&widths).zip(heads);
        let padded: Vec<String> = cells
            .map(|((cell, &width), (_, is_right))| {
                if *is_right {
                    format!("{cell:>width$}")
                } else {
                    format!("{cell:<width$}")
                }
            })
            .collect();
        format!("{}\n", padded.join("  ").trim_end())
    };
    let mut text = line(&mut heads.iter().map(|(head, _)| *head));
    for row in rows {
        text.push_str(&line(&mut row.iter().map(String::as_str)));
    }
    text
}

/// Words as they stand at the beginning of a line. A symbol such as p99 is no word.
pub fn capitalised(words: &str) -> String {
    let first = words.split(' ').next().unwrap_or_default();
    let mut letters = words.chars();
    match letters.next() {
        Some(letter) if !first.contains(|c: char| c.is_ascii_digit()) => {
            letter.to_uppercase().chain(letters).collect()
        }
        _ => words.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_amounts_have_a_prefix() {
        assert_eq!(with_prefix(811.4e9, "FLOP/s"), "811 GFLOP/s");
        assert_eq!(with_prefix(1.2345e12, "OP/s"), "1.23 TOP/s");
        assert_eq!(with_prefix(12.0, "B/s"), "12.0 B/s");
    }

    #[test]
    fn names_are_listed_as_in_a_sentence() {
        assert_eq!(list(&[]), "");
        assert_eq!(list(&["one"]), "one");
        assert_eq!(list(&["one", "two"]), "one and two");
        assert_eq!(list(&["one", "two", "three"]), "one, two and three");
    }

    #[test]
    fn uncertainty_stands_beside_a_number_and_takes_none_of_its_digits() {
        assert_eq!(value(14.57), "14.6");
        assert_eq!(value(137.4), "137");
        assert_eq!(
            (ratio(1.2167), ratio(0.604)),
            ("1.22 ×".to_owned(), "0.604 ×".to_owned())
        );
        assert_eq!(
            (ratio(10.39), ratio(1234.5)),
            ("10.4 ×".to_owned(), "1,235 ×".to_owned())
        );
        let shares = [0.0083, 0.1234, 0.996, 1.534, 12.34, 0.0].map(uncertainty);
        assert_eq!(
            shares,
            ["0.83 %", "12 %", "100 %", "150 %", "1,200 %", "0 %"]
        );
        assert_eq!(percent(0.4187), "41.9 %");
    }

    #[test]
    fn very_small_numbers_have_an_exponent() {
        assert_eq!(significant(3.104e-19, 3), "3.10e-19");
        assert_eq!(significant(-2.5e-5, 3), "-2.50e-5");
        assert_eq!(significant(0.000_123_4, 3), "0.000123");
    }

    #[test]
    fn operations_have_a_space_before_their_unit() {
        assert_eq!(macs(4_089_184_256), "4.09 GMACs");
        assert_eq!(
            (macs(0), macs(20)),
            ("0 MACs".to_owned(), "20 MACs".to_owned())
        );
    }

    #[test]
    fn groups() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(25_557_032), "25,557,032");
        assert_eq!(
            (pluralised(1, "round"), pluralised(1200, "round")),
            ("1 round".to_owned(), "1,200 rounds".to_owned())
        );
    }

    #[test]
    fn digits_follow_the_size() {
        assert_eq!(significant(6.7512, 3), "6.75");
        assert_eq!(significant(9.996, 3), "10.0");
        assert_eq!(significant(0.012_345, 3), "0.0123");
        assert_eq!(significant(14_936.4, 3), "14,936");
        assert_eq!(significant(f64::NAN, 3), UNKNOWN);
    }

    #[test]
    fn times_take_their_unit() {
        assert_eq!(duration_ns(1140.0), "1.14 µs");
        assert_eq!(duration_ns(20.4e6), "20.4 ms");
        assert_eq!(duration_ns(1.2e9), "1.20 s");
        assert_eq!(clock_time(200.0), "3 min 20 s");
        assert_eq!(clock_time(3900.0), "1 h 05 min");
        assert_eq!(
            (stopwatch(4.9), stopwatch(3900.0)),
            ("0:04".to_owned(), "1:05:00".to_owned())
        );
    }

    #[test]
    fn moments_are_short() {
        assert_eq!(moment("2026-11-21T06:02:03Z"), "2026-11-21 06:02");
        assert_eq!(utc_moment("2026-11-21T06:02:03Z"), "2026-11-21 06:02 UTC");
        assert_eq!(short_moment("2026-11-21T06:02:03Z"), "21 Nov 06:02");
        assert_eq!(short_moment("once upon a time"), "once upon a time");
    }

    #[test]
    fn bytes_both_ways() {
        assert_eq!(bytes(102_228_128), "97.5 MiB");
        assert_eq!(parse_bytes("4GiB"), Some(4 << 30));
        assert_eq!(parse_bytes("1.5k"), Some(1536));
        assert_eq!(parse_bytes("4 parsecs"), None);
    }

    #[test]
    fn long_names_are_cut_where_they_are_alike() {
        assert_eq!(shorten_middle("short", 5), "short");
        assert_eq!(shorten_middle("abcdefghij", 5), "ab…ij");
        let setup = "A very long label for ONNX Runtime on this machine";
        let names: Vec<String> = ["Monday", "Tuesday"]
            .iter()
            .map(|session| format!("{setup} · {session}"))
            .collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let short = shorten_apart(&names, 30);
        assert!(short[0].ends_with("· Monday"), "{short:?}");
        assert!(short[1].ends_with("· Tuesday"), "{short:?}");
        // Alike at both ends, and different in the middle.
        let middle = ["one", "two"].map(|word| format!("{setup}, {word}, {setup}"));
        let middle: Vec<&str> = middle.iter().map(String::as_str).collect();
        let short = shorten_apart(&middle, 30);
        assert_ne!(short[0], short[1]);
        assert!(short[0].contains("one"), "{short:?}");
        assert!(short.iter().all(|name| name.chars().count() <= 30));
        assert_eq!(shorten_apart(&["a", "a"], 30), ["a", "a"]);
    }

    #[test]
    fn tables_align() {
        let rows = vec![
            vec!["a".to_owned(), "1.0".to_owned()],
            vec!["bcd".to_owned(), "10.25".to_owned()],
        ];
        assert_eq!(
            table(&["x", "ms"], &rows, 1),
            "x       ms\na      1.0\nbcd  10.25\n"
        );
    }

    #[test]
    fn lines_begin_with_a_capital() {
        assert_eq!(capitalised("of best"), "Of best");
        assert_eq!(capitalised("p99 of ten"), "p99 of ten");
        assert_eq!(capitalised("at 99 %"), "At 99 %");
        assert_eq!(capitalised(""), "");
    }
}
