//! Wall-clock time as text.
//!
//! Analysis, charts and reports are handed the text, in UTC, and read no clock. People are shown
//! what their own clock showed then.

use std::sync::atomic::{AtomicBool, Ordering};

use chrono::{DateTime, Local};

use super::system;
pub use super::system::{monotonic_ns, used_by_process_ns};

/// Whether people are shown UTC, wherever they are.
static SHOWS_UTC: AtomicBool = AtomicBool::new(cfg!(test));

/// Now, as RFC 3339 in UTC to the second: `2026-11-21T06:02:03Z`.
pub fn now_utc() -> String {
    utc_from_unix(system::since_1970().as_secs())
}

/// How long this machine was suspended since it was started, in nanoseconds: by so much the clock that goes on
/// through that is ahead of the monotonic one.
pub fn suspended_ns() -> u64 {
    let since_start = system::since_start_ns();
    since_start.map_or(0, |since| since.saturating_sub(monotonic_ns()))
}

/// A number that differs from one run to the next, for seeds that the user did not choose.
pub fn entropy() -> u64 {
    system::since_1970().as_nanos() as u64
}

/// Seconds since 1970 as RFC 3339 in UTC.
pub(crate) fn utc_from_unix(seconds: u64) -> String {
    let (year, month, day) = civil_from_days((seconds / 86_400) as i64);
    let rest = seconds % 86_400;
    let (hour, minute, second) = (rest / 3600, rest % 3600 / 60, rest % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// Seconds since 1970 of a moment, RFC 3339; nothing where it is none.
pub fn unix_seconds(utc: &str) -> Option<i64> {
    let moment = DateTime::parse_from_rfc3339(utc).ok()?;
    Some(moment.timestamp())
}

/// Shows UTC from now on, for tests whose words and pictures are the same everywhere.
pub fn show_utc() {
    SHOWS_UTC.store(true, Ordering::Relaxed);
}

/// A moment in UTC as this machine's clock showed it: `2026-11-21T07:02:03` an hour east of Greenwich.
/// What is no moment stays as it is.
pub(crate) fn local_moment_text(utc: &str) -> String {
    if SHOWS_UTC.load(Ordering::Relaxed) {
        return utc.to_owned();
    }
    DateTime::parse_from_rfc3339(utc).map_or_else(
        |_| utc.to_owned(),
        |moment| shown(&moment.with_timezone(&Local)),
    )
}

fn shown<Z: chrono::TimeZone<Offset: std::fmt::Display>>(moment: &DateTime<Z>) -> String {
    moment.format("%Y-%m-%dT%H:%M:%S").to_string()
}

/// `2026-11-21T06:02:03Z` as `20261121-060203`, which sorts and is a valid file name everywhere.
pub fn file_stamp(utc: &str) -> String {
    utc.chars()
        .filter_map(|c| match c {
            'T' => Some('-'),
            c if c.is_ascii_digit() => Some(c),
            _ => None,
        })
        .collect()
}

/// Gregorian date of a day counted from 1970-01-01, in whole 400-year cycles that start on 1 March.
fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_dates() {
        assert_eq!(utc_from_unix(0), "1970-01-01T00:00:00Z");
        assert_eq!(utc_from_unix(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(utc_from_unix(1_000_000_000), "2001-09-09T01:46:40Z");
        assert_eq!(utc_from_unix(4_102_444_799), "2099-12-31T23:59:59Z");
        assert_eq!(unix_seconds("2000-02-29T00:00:00Z"), Some(951_782_400));
        assert_eq!(unix_seconds("yesterday"), None);
    }

    #[test]
    fn a_moment_elsewhere_may_be_on_another_day() {
        let utc = DateTime::parse_from_rfc3339("2026-11-21T23:30:03Z").unwrap();
        let zone = chrono::FixedOffset::east_opt(5 * 3600 + 1800).unwrap();
        assert_eq!(shown(&utc.with_timezone(&zone)), "2026-11-22T05:00:03");
        assert_eq!(
            local_moment_text("2026-11-21T23:30:03Z"),
            "2026-11-21T23:30:03Z"
        );
    }

    #[test]
    fn stamps_are_file_names() {
        assert_eq!(file_stamp("2026-11-21T06:02:03Z"), "20261121-060203");
    }
}
