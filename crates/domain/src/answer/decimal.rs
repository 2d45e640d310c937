//! Numbers as people write them: plain decimals without an exponent (readings).

use std::fmt;
use std::io::Write as _;

/// Digits of the largest `u64`.
const MOST_CHARS: usize = 20;

/// A number without an exponent and without trailing zeros: `1`, `0`, `0.25`, `0.000001`. Every
/// number of a result is formatted here.
///
/// ```
/// # use refract_domain::answer::decimal::Decimal;
/// assert_eq!(Decimal::new(620_000, 6).to_string(), "0.62");
/// ```
#[derive(Clone, Copy)]
pub struct Decimal {
    /// ASCII characters; the bytes after `length` are zero.
    text: [u8; MOST_CHARS],
    length: usize,
}

impl Decimal {
    /// The number `units` × 10^-`decimals`; up to 9 decimals.
    #[inline]
    pub fn new(units: u32, decimals: u32) -> Self {
        let (mut rest, mut decimals) = (units, decimals);
        while decimals > 0 && rest.is_multiple_of(10) {
            rest /= 10;
            decimals -= 1;
        }
        // packs the characters in a register, the first one lowest: a copy of bytes that were
        // stored one by one would stall until all stores are done
        let mut packed = 0;
        let mut length = 0;
        let mut push = |character: u32| {
            packed = (packed << 8) | u128::from(character);
            length += 1;
        };
        if decimals > 0 {
            for _ in 0..decimals {
                push(u32::from(b'0') + rest % 10);
                rest /= 10;
            }
            push(u32::from(b'.'));
        }
        push(u32::from(b'0') + rest % 10);
        while rest >= 10 {
            rest /= 10;
            push(u32::from(b'0') + rest % 10);
        }
        let mut text = [0; MOST_CHARS];
        if let Some(beginning) = text.first_chunk_mut() {
            *beginning = packed.to_le_bytes();
        }
        Self { text, length }
    }

    /// The number in ASCII.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        self.text.get(..self.length).unwrap_or_default()
    }
}

impl From<u32> for Decimal {
    fn from(number: u32) -> Self {
        Self::new(number, 0)
    }
}

impl From<u64> for Decimal {
    fn from(number: u64) -> Self {
        let mut text = [0; MOST_CHARS];
        let mut rest = text.as_mut_slice();
        // twenty characters hold any `u64`
        write!(rest, "{number}").ok();
        let length = MOST_CHARS - rest.len();
        Self { text, length }
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(std::str::from_utf8(self.as_bytes()).unwrap_or_default())
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
            (u32::MAX, 0, "4294967295"),
            (u32::MAX, 9, "4.294967295"),
            (1, 9, "0.000000001"),
        ];
        for (units, decimals, written) in cases {
            assert_eq!(Decimal::new(units, decimals).to_string(), written);
        }
    }

    #[test]
    fn a_whole_number_has_all_its_digits() {
        for number in [0, 7, 412, u64::from(u32::MAX) + 1, u64::MAX] {
            assert_eq!(Decimal::from(number).to_string(), number.to_string());
        }
    }

    proptest! {
        #[test]
        fn it_reads_back_as_the_same_number(units in any::<u32>(), decimals in 0..=9_u32) {
            let written = Decimal::new(units, decimals).to_string();
            let (whole, fraction) = written.split_once('.').unwrap_or((&written, ""));
            let decimals = usize::try_from(decimals).unwrap();
            prop_assert!(fraction.len() <= decimals && !fraction.ends_with('0'));
            let padded = format!("{whole}{fraction:0<decimals$}");
            prop_assert_eq!(padded.parse::<u32>().unwrap(), units);
            prop_assert!(whole == "0" || !whole.starts_with('0'));
        }
    }
}
