//! Times on the command line.

use crate::text::Moment;
use hedgerow_formats::timestamp_of_text;

const SECOND: i64 = 1_000_000;
const DAY: i64 = 24 * 60 * 60 * SECOND;

/// The units of ages, in microseconds.
const UNITS: [(char, i64); 5] =
    [('s', SECOND), ('m', 60 * SECOND), ('h', 60 * 60 * SECOND), ('d', DAY), ('w', 7 * DAY)];

/// Parses the time of an edge: microseconds since 1970, in UTC, or a number up to 2^64 - 1.
pub fn edge_time(text: &str) -> Result<i128, String> {
    let number = text.parse::<u64>().map(i128::from);
    number.or_else(|_| time(text).map(i128::from))
}

/// Parses a time from 1970 on, in microseconds.
pub fn past_time(text: &str) -> Result<u64, String> {
    u64::try_from(time(text)?).map_err(|_| "expected a time from 1970 on".into())
}

/// Parses a time: microseconds since 1970, in UTC, as a number, as a date with or without a time of
/// day, or relative to the present.
pub fn time(text: &str) -> Result<i64, String> {
    time_at(text, i64::try_from(Moment::now().0).unwrap_or(i64::MAX)).ok_or_else(|| {
        "expected an age such as 90s, 15m, 12h, 7d or 2w, `now`, `today`, `yesterday`, a date such as 2026-01-31, a time such as \
         2026-01-31T12:00:00Z, or microseconds since 1970"
            .to_owned()
    })
}

fn time_at(text: &str, now: i64) -> Option<i64> {
    let midnight = now - now.rem_euclid(DAY);
    match text {
        "now" => Some(now),
        "today" => Some(midnight),
        "yesterday" => Some(midnight - DAY),
        _ => age(text).and_then(|age| now.checked_sub(age)).or_else(|| timestamp_of_text(text).ok()),
    }
}

/// Parses an age: a whole number with a unit.
fn age(text: &str) -> Option<i64> {
    let (_, unit) = UNITS.into_iter().find(|(letter, _)| text.ends_with(*letter))?;
    let digits = &text[..text.len() - 1];
    let number = Some(digits).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))?;
    number.parse::<i64>().ok()?.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-01-31T12:00:00Z
    const NOON: i64 = 1_769_860_800 * SECOND;

    #[test]
    fn times_are_numbers_dates_and_relative_to_the_present() {
        for (text, microseconds) in [
            ("now", NOON),
            ("today", NOON - DAY / 2),
            ("yesterday", NOON - DAY / 2 - DAY),
            ("90s", NOON - 90 * SECOND),
            ("15m", NOON - 15 * 60 * SECOND),
            ("12h", NOON - DAY / 2),
            ("7d", NOON - 7 * DAY),
            ("2w", NOON - 14 * DAY),
            ("0s", NOON),
            ("2026-01-31", NOON - DAY / 2),
            ("2026-01-31 12:00:00", NOON),
            ("2026-01-31T12:00", NOON),
            ("2026-01-31T12:00:00.5", NOON + SECOND / 2),
            ("2026-01-31 14:00:00+02:00", NOON),
            ("2026-01-31T12:00:00Z", NOON),
            ("1769860800000000", NOON),
            ("-5", -5),
        ] {
            assert_eq!(time_at(text, NOON), Some(microseconds), "{text}");
        }
    }

    #[test]
    fn other_words_are_refused() {
        for text in [
            "",
            "d",
            "-7d",
            "+7d",
            "1.5h",
            "7 d",
            "7y",
            "7dd",
            "9223372036854775807w",
            "tomorrow",
            "Today",
            "2026-02-30",
            "2026-01-31T25:00",
            "12:00",
            "2026-01",
            "ü",
        ] {
            assert_eq!(time_at(text, NOON), None, "{text}");
        }
        assert!(past_time("-5").is_err(), "before 1970");
        assert_eq!(edge_time("18446744073709551615"), Ok(i128::from(u64::MAX)));
    }
}
