//! Times in files.

use jiff::SignedDuration;
use jiff::civil::{Date, DateTime, Time};
use jiff::fmt::temporal::Pieces;
use jiff::tz::{AmbiguousOffset, TimeZone};
use std::fmt;

/// The time zone of times that are written without an offset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Zone(TimeZone);

/// The beginning of 1970, in UTC.
const UNIX_EPOCH: DateTime = DateTime::constant(1970, 1, 1, 0, 0, 0, 0);

impl Zone {
    /// Finds a time zone by its name in the database of the operating system, such as
    /// `Europe/Zurich`.
    ///
    /// # Errors
    /// There is no such time zone; the text says why.
    pub fn named(name: &str) -> Result<Self, String> {
        TimeZone::get(name).map(Zone).map_err(|error| error.to_string())
    }

    /// Microseconds since 1970, in UTC, of a date or a time, rounded down; `None` if it is neither,
    /// or does not exist in 64 bits.
    ///
    /// The date and time are taken as they are written, and the offset is subtracted:
    /// `jiff::Timestamp` ends on 9999-12-30.
    pub(super) fn microseconds(&self, text: &str) -> Option<i64> {
        if let Some((seconds, has_offset)) = plain(text)
            && (has_offset || self.0 == TimeZone::UTC)
        {
            return Some(seconds * 1_000_000);
        }
        self.microseconds_of_any(text)
    }

    fn microseconds_of_any(&self, text: &str) -> Option<i64> {
        let pieces = Pieces::parse(text).ok()?;
        let written = pieces.date().to_datetime(pieces.time().unwrap_or(Time::midnight()));
        let offset = match pieces.to_numeric_offset() {
            Some(offset) => offset,
            None if pieces.time_zone_annotation().is_some() => return None,
            None => match self.0.to_ambiguous_timestamp(written).offset() {
                AmbiguousOffset::Unambiguous { offset } => offset,
                AmbiguousOffset::Gap { before, .. } | AmbiguousOffset::Fold { before, .. } => before,
            },
        };
        let since =
            written.duration_since(UNIX_EPOCH).as_nanos() - i128::from(offset.seconds()) * 1_000_000_000;
        i64::try_from(since.div_euclid(1000)).ok()
    }

    /// Returns true if the text is a date or a time without an offset, false if it has one; `None`
    /// if it is neither date nor time.
    pub(super) fn is_needed(text: &str) -> Option<bool> {
        if let Some((_, has_offset)) = plain(text) {
            return Some(!has_offset);
        }
        Zone::is_needed_by_any(text)
    }

    fn is_needed_by_any(text: &str) -> Option<bool> {
        let pieces = Pieces::parse(text).ok()?;
        match pieces.to_numeric_offset() {
            Some(_) => Some(false),
            None => pieces.time_zone_annotation().is_none().then_some(true),
        }
    }
}

/// Seconds since 1970, as in UTC, of a time as programs usually write it, `2026-01-31`, `2026-01-31
/// 12:00:00` or `2026-01-31T12:00:00Z`, and true if it ends in this Z; `None` for others. Several
/// times as fast as the parser of all times.
fn plain(text: &str) -> Option<(i64, bool)> {
    let bytes = text.as_bytes();
    let (date, time) = bytes.split_at_checked(10)?;
    let number = |digits: &[u8]| {
        let digit =
            |number: i16, byte: &u8| byte.is_ascii_digit().then(|| number * 10 + i16::from(byte - b'0'));
        digits.iter().try_fold(0, digit)
    };
    let [year @ .., b'-', month1, month2, b'-', day1, day2] = date else { return None };
    let (month, day) = (number(&[*month1, *month2])?, number(&[*day1, *day2])?);
    let date = Date::new(number(year)?, month as i8, day as i8).ok()?;
    let (time, has_offset) = match time {
        [] => (0, false),
        [b'T' | b' ', time @ ..] => {
            let (time, has_offset) = time.strip_suffix(b"Z").map_or((time, false), |time| (time, true));
            let [hour1, hour2, b':', minute1, minute2, b':', second1, second2] = time else { return None };
            let parts = [[hour1, hour2], [minute1, minute2], [second1, second2]];
            let [hour, minute, second] = parts.map(|[tens, ones]| number(&[*tens, *ones]));
            let is_below = |part: Option<i16>, most| part.filter(|part| *part < most).map(i64::from);
            let (hour, minute, second) = (is_below(hour, 24)?, is_below(minute, 60)?, is_below(second, 60)?);
            (hour * 3600 + minute * 60 + second, has_offset)
        }
        _ => return None,
    };
    Some((date.duration_since(UNIX_EPOCH.date()).as_secs() + time, has_offset))
}

/// Writes microseconds since 1970, in UTC, as an RFC 3339 time that
/// [`timestamp_of_text`](crate::timestamp_of_text) reads back, with six digits of fraction unless
/// they are zero; `None` outside of the years 0 to 9999.
#[must_use]
pub fn text_of_timestamp(microseconds: i64) -> Option<String> {
    let time = UNIX_EPOCH.checked_add(SignedDuration::from_micros(microseconds)).ok()?;
    let (year, fraction) = (u16::try_from(time.year()).ok()?, time.subsec_nanosecond() / 1000);
    let (month, day, hour, minute, second) =
        (time.month(), time.day(), time.hour(), time.minute(), time.second());
    let mut text = format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}");
    if fraction != 0 {
        text += &format!(".{fraction:06}");
    }
    Some(text + "Z")
}

impl Default for Zone {
    fn default() -> Self {
        Zone(TimeZone::UTC)
    }
}

impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.iana_name().unwrap_or("UTC"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn dates_and_times_are_microseconds_of_their_zone() {
        let utc = Zone::default();
        for (text, microseconds) in [
            ("1970-01-02", Some(86_400_000_000)),
            ("1970-01-01 00:00:01", Some(1_000_000)),
            ("1970-01-01T00:00:01.5Z", Some(1_500_000)),
            ("1970-01-01 02:00:00+02:00", Some(0)),
            ("1969-12-31T23:59:59.9999999Z", Some(-1)),
            ("9999-12-31 23:59:59", Some(253_402_300_799_000_000)),
            ("1970-01-01T00:00:00[Europe/Zurich]", None),
            ("1970-13-01", None),
            ("12:00", None),
            ("soon", None),
        ] {
            assert_eq!(utc.microseconds(text), microseconds, "{text}");
        }
        assert_eq!(Zone::is_needed("1970-01-01 00:00:01"), Some(true));
        assert_eq!(Zone::is_needed("1970-01-01T00:00:01Z"), Some(false));
        assert_eq!(Zone::is_needed("12:00"), None);
    }

    proptest! {
        #[test]
        fn plain_times_are_read_as_by_the_parser_of_all(
            text in "[0-9]{4}-[01][0-9]-[0-3][0-9]|[12][09][0-9]{2}-[01][0-9]-[0-3][0-9][T t]?[0-2][0-9]:[0-6][0-9]:[0-6][0-9][Zz. ]?",
        ) {
            let utc = Zone::default();
            prop_assert_eq!(utc.microseconds(&text), utc.microseconds_of_any(&text));
            prop_assert_eq!(Zone::is_needed(&text), Zone::is_needed_by_any(&text));
        }
    }

    #[test]
    fn a_zone_counts_only_where_no_offset_is_written() {
        let Ok(zurich) = Zone::named("Europe/Zurich") else {
            return; // The operating system has no time zones.
        };
        let hours = |text| zurich.microseconds(text).map(|time| time / 3_600_000_000);
        assert_eq!(hours("1990-01-01 01:00"), zurich_hours("1990-01-01T00:00Z"));
        assert_eq!(hours("1990-07-01 02:00"), zurich_hours("1990-07-01T00:00Z"));
        assert_eq!(zurich.to_string(), "Europe/Zurich");
        assert!(Zone::named("Europe/Nowhere").is_err());
    }

    fn zurich_hours(text: &str) -> Option<i64> {
        Zone::default().microseconds(text).map(|time| time / 3_600_000_000)
    }
}
