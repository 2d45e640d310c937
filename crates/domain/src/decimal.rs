//! Numbers as people write them: plain decimals without an exponent (readings).

use std::fmt;

/// Enough for every `u64` and a point.
const CAPACITY: usize = 21;

/// A number written out: no exponent, no zeros at the end of the decimals (`1`, `0`, `0.25`,
/// `0.000001`). The one formatter of numbers that readers of results see.
///
/// ```
/// # use refract_domain::decimal::Decimal;
/// assert_eq!(Decimal::new(620_000, 6).to_string(), "0.62");
/// ```
#[derive(Clone, Copy)]
pub struct Decimal {
    /// Digits at the end, from `start`; ASCII.
    text: [u8; CAPACITY],
    start: usize,
}

impl Decimal {
    /// Writes `units`, which counts units of 10^-`decimals`; up to 19 decimals.
    pub fn new(units: u64, decimals: usize) -> Self {
        let mut text = [b'0'; CAPACITY];
        let (mut rest, mut decimals) = (units, decimals);
        while decimals > 0 && rest.is_multiple_of(10) {
            rest /= 10;
            decimals -= 1;
        }
        let mut free = text.iter_mut().rev();
        if decimals > 0 {
            for place in free.by_ref().take(decimals) {
                *place = take_digit(&mut rest);
            }
            if let Some(place) = free.next() {
                *place = b'.';
            }
        }
        for place in free.by_ref() {
            *place = take_digit(&mut rest);
            if rest == 0 {
                break;
            }
        }
        let start = free.len();
        Self { text, start }
    }

    /// The number in ASCII.
    pub fn as_bytes(&self) -> &[u8] {
        self.text.get(self.start..).unwrap_or_default()
    }

    /// The number as text.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(self.as_bytes()).unwrap_or_default()
    }
}

/// Takes the last digit off a number, as ASCII.
fn take_digit(number: &mut u64) -> u8 {
    let digit = u8::try_from(*number % 10).unwrap_or_default();
    *number /= 10;
    b'0' + digit
}

impl From<u64> for Decimal {
    fn from(number: u64) -> Self {
        Self::new(number, 0)
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn it_has_no_exponent_and_no_zeros_at_the_end() {
        let cases = [
            (0, 6, "0"),
            (1, 6, "0.000001"),
            (250_000, 6, "0.25"),
            (1_000_000, 6, "1"),
            (1_005, 2, "10.05"),
            (1_000, 2, "10"),
            (7, 0, "7"),
            (100, 0, "100"),
            (u64::MAX, 0, "18446744073709551615"),
            (u64::MAX, 19, "1.8446744073709551615"),
        ];
        for (units, decimals, written) in cases {
            assert_eq!(Decimal::new(units, decimals).to_string(), written);
        }
    }

    proptest! {
        #[test]
        fn it_reads_back_as_the_same_number(units in any::<u64>(), decimals in 0..=19_usize) {
            let written = Decimal::new(units, decimals).to_string();
            let (whole, fraction) = written.split_once('.').unwrap_or((&written, ""));
            prop_assert!(fraction.len() <= decimals && !fraction.ends_with('0'));
            let padded = format!("{whole}{fraction:0<decimals$}");
            prop_assert_eq!(padded.parse::<u64>().unwrap(), units);
            prop_assert!(whole == "0" || !whole.starts_with('0'));
        }
    }
}
