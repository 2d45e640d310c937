//! Ids and moments as ASCII on the stack. No format needs to quote or escape them.

use chrono::{DateTime, Datelike as _, Timelike as _, Utc};
use refract_domain::ids::ResultId;

/// A result's id as 8-4-4-4-12 hexadecimal digits in lower case.
pub(crate) fn id_text(id: ResultId) -> [u8; 36] {
    let mut text = [0; 36];
    id.uuid().hyphenated().encode_lower(&mut text);
    text
}

/// A moment in ISO 8601, UTC, with milliseconds (spec 2.6), up to the year 9999.
pub(crate) fn iso_8601(moment: DateTime<Utc>) -> [u8; 24] {
    let moment = moment.naive_utc();
    let [y1, y2, y3, y4] = digits(moment.year().unsigned_abs());
    let [mo1, mo2] = digits(moment.month());
    let [d1, d2] = digits(moment.day());
    let [h1, h2] = digits(moment.hour());
    let [mi1, mi2] = digits(moment.minute());
    let [s1, s2] = digits(moment.second());
    let [ms1, ms2, ms3] = digits(moment.nanosecond() / 1_000_000);
    [
        y1, y2, y3, y4, b'-', mo1, mo2, b'-', d1, d2, b'T', h1, h2, b':', mi1, mi2, b':', s1, s2,
        b'.', ms1, ms2, ms3, b'Z',
    ]
}

/// The last digits of a number, in ASCII.
fn digits<const N: usize>(number: u32) -> [u8; N] {
    let mut rest = number;
    let mut digits = [b'0'; N];
    for digit in digits.iter_mut().rev() {
        *digit += u8::try_from(rest % 10).unwrap_or_default();
        rest /= 10;
    }
    digits
}
