//! The text of a cell, as a person sees it in a spreadsheet with plain settings.

use std::fmt::Write as _;

use calamine::{DataRef, ExcelDateTime};

use crate::input::raw_row::OddCell;

/// The serial number of the day after 9999-12-31, the last date of a spreadsheet.
const AFTER_LAST_DAY: f64 = 2_958_466.0;
/// Seconds of a day.
const DAY_SECONDS: f64 = 24.0 * 60.0 * 60.0;

/// The largest number up to which a spreadsheet holds every whole number: 2^53.
const LAST_EXACT: f64 = 9_007_199_254_740_992.0;

impl OddCell {
    /// What is odd about a cell with this value.
    pub(super) fn of(value: &DataRef<'_>, is_formula: bool) -> Option<Self> {
        match value {
            DataRef::Error(_) => Some(Self::Error),
            DataRef::Float(number) if !number.is_finite() => Some(Self::Error),
            DataRef::Empty if is_formula => Some(Self::Uncalculated),
            DataRef::Float(number)
                if number.fract() == 0.0 && (LAST_EXACT..1e21).contains(&number.abs()) =>
            {
                Some(Self::Inexact)
            }
            DataRef::Empty
            | DataRef::Int(_)
            | DataRef::Float(_)
            | DataRef::String(_)
            | DataRef::SharedString(_)
            | DataRef::Bool(_)
            | DataRef::DateTime(_)
            | DataRef::DateTimeIso(_)
            | DataRef::DurationIso(_) => None,
        }
    }
}

/// The text of a cell: whole numbers exactly, others to 15 digits, dates and times in ISO 8601, an error as its code.
pub(super) fn cell_text(value: &DataRef<'_>) -> String {
    match value {
        DataRef::Empty => String::new(),
        DataRef::Int(number) => number.to_string(),
        DataRef::Float(number) => number_text(*number),
        DataRef::String(text) | DataRef::DateTimeIso(text) | DataRef::DurationIso(text) => {
            text.clone()
        }
        DataRef::SharedString(text) => (*text).to_owned(),
        DataRef::Bool(true) => "TRUE".to_owned(),
        DataRef::Bool(false) => "FALSE".to_owned(),
        DataRef::DateTime(moment) => moment_text(moment),
        DataRef::Error(error) => error.to_string(),
    }
}

/// A number to 15 significant digits: a spreadsheet shows no more, so that 0.1 + 0.2 is 0.3. Whole
/// numbers, which may be ids, are exact as far as the file is.
fn number_text(number: f64) -> String {
    // over the largest double
    if !number.is_finite() {
        return "#NUM!".to_owned();
    }
    if number.fract() == 0.0 && number.abs() <= LAST_EXACT && number != 0.0 {
        return number.to_string();
    }
    let rounded = format!("{number:.14e}").parse::<f64>();
    // the largest numbers would be rounded up to infinity
    let rounded = rounded.ok().filter(|rounded| rounded.is_finite());
    let rounded = rounded.unwrap_or(number);
    match rounded.abs() {
        0.0 => "0".to_owned(),
        1e-9..1e21 => rounded.to_string(),
        _ => format!("{rounded:e}"),
    }
}

/// A date, a time of day, both, or a duration.
fn moment_text(moment: &ExcelDateTime) -> String {
    let days = moment.as_f64();
    if !(0.0..AFTER_LAST_DAY).contains(&days) {
        return number_text(days);
    }
    if moment.is_duration() {
        return duration_text((days * DAY_SECONDS).round());
    }
    let (year, month, day, hour, minute, second, milli) = moment.to_ymd_hms_milli();
    let date = format!("{year:04}-{month:02}-{day:02}");
    let mut time = format!("{hour:02}:{minute:02}:{second:02}");
    if milli > 0 {
        // writing into memory cannot fail
        let _ = write!(time, ".{milli:03}");
    }
    if days < 1.0 {
        time
    } else if (hour, minute, second, milli) == (0, 0, 0, 0) {
        date
    } else {
        format!("{date}T{time}")
    }
}

/// Hours, minutes and seconds; `seconds` is whole.
fn duration_text(seconds: f64) -> String {
    let hours = (seconds / 3600.0).floor();
    let minutes = (seconds / 60.0).floor() % 60.0;
    let seconds = seconds % 60.0;
    format!("{hours}:{minutes:02}:{seconds:02}")
}

#[cfg(test)]
mod tests {
    use calamine::{CellErrorType, ExcelDateTimeType};

    use super::*;

    #[test]
    fn numbers_are_as_a_spreadsheet_shows_them() {
        for (number, text) in [
            (5.0, "5"),
            (-0.0, "0"),
            (0.1 + 0.2, "0.3"),
            (1_234_567.891, "1234567.891"),
            (4_915_112_345_678.0, "4915112345678"),
            (1_234_567_890_123_457.0, "1234567890123457"),
            (-9_007_199_254_740_991.0, "-9007199254740991"),
            (-2.5, "-2.5"),
            (0.000_001, "0.000001"),
            (1e300, "1e300"),
            (f64::MAX, "1.7976931348623157e308"),
            (f64::INFINITY, "#NUM!"),
            (1.5e-12, "1.5e-12"),
        ] {
            assert_eq!(cell_text(&DataRef::Float(number)), text);
        }
    }

    #[test]
    fn a_cell_whose_value_is_not_what_a_person_wrote_is_odd() {
        for (value, is_formula, odd) in [
            (
                DataRef::Error(CellErrorType::NA),
                true,
                Some(OddCell::Error),
            ),
            (DataRef::Float(f64::INFINITY), false, Some(OddCell::Error)),
            (DataRef::Empty, true, Some(OddCell::Uncalculated)),
            (DataRef::Empty, false, None),
            (DataRef::Float(1_234_567_890_123_457.0), false, None),
            (DataRef::Float(1e16), false, Some(OddCell::Inexact)),
            (DataRef::Float(0.5), true, None),
        ] {
            assert_eq!(OddCell::of(&value, is_formula), odd, "{value:?}");
        }
    }

    #[test]
    fn moments_are_in_iso_8601() {
        let text = |value, kind| {
            let moment = ExcelDateTime::new(value, kind, false);
            cell_text(&DataRef::DateTime(moment))
        };
        let moment = |value| text(value, ExcelDateTimeType::DateTime);
        assert_eq!(moment(46_146.0), "2026-05-04");
        assert_eq!(moment(46_146.5), "2026-05-04T12:00:00");
        assert_eq!(moment(0.25), "06:00:00");
        assert_eq!(moment(46_146.000_001_5), "2026-05-04T00:00:00.130");
        assert_eq!(moment(-1.0), "-1");
        assert_eq!(moment(1e300), "1e300");
        assert_eq!(text(1.5, ExcelDateTimeType::TimeDelta), "36:00:00");
        assert_eq!(cell_text(&DataRef::Bool(true)), "TRUE");
        assert_eq!(cell_text(&DataRef::Error(CellErrorType::NA)), "#N/A");
    }
}
