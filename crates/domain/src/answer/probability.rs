//! Probabilities as whole millionths, which are exact. And numbers as people write them: plain
//! decimals without an exponent (readings).

use std::fmt;
use std::io::Write as _;
use std::iter::Sum;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The millionths in 1.
pub const ONE: u32 = 1_000_000;
/// The millionths in a percent.
pub const PERCENT: u32 = ONE / 100;

/// A number from 0 to 1 with six decimals (readings).
///
/// It is stored in whole millionths, so that comparisons with a cutoff and sums are exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Probability(u32);

impl Probability {
    /// Probability 0.
    pub const ZERO: Self = Self(0);
    /// The least probability above 0 that is stored.
    pub const LEAST: Self = Self(1);
    /// Probability 1.
    pub const CERTAIN: Self = Self(ONE);

    /// The probability of the opposite.
    #[must_use]
    pub fn complement(self) -> Self {
        Self(ONE - self.0)
    }

    /// Rounds a double to the nearest millionth, half away from zero; `None` outside 0 to 1 and for
    /// NaN.
    pub fn from_f64(value: f64) -> Option<Self> {
        if !(0.0..=1.0).contains(&value) {
            return None;
        }
        #[expect(
            clippy::as_conversions,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "0 to 1,000,000 after the check above"
        )]
        let millionths = (value * f64::from(ONE)).round() as u32;
        Some(Self(millionths))
    }

    /// A probability from millionths; `None` above a million.
    pub fn from_millionths(millionths: u32) -> Option<Self> {
        (millionths <= ONE).then_some(Self(millionths))
    }

    /// The probability in millionths, 0 to 1,000,000.
    pub fn millionths(self) -> u32 {
        self.0
    }

    /// The probability in whole percents, rounded down, 0 to 100. The probability reaches a cutoff
    /// at a whole percent exactly when this number does.
    pub fn percent(self) -> u8 {
        u8::try_from(self.0 / PERCENT).unwrap_or(u8::MAX)
    }

    /// The probability as a decimal number.
    #[inline]
    pub fn decimal(self) -> Decimal {
        Decimal::new(self.0, 6)
    }

    /// The double nearest to the probability.
    pub fn to_f64(self) -> f64 {
        f64::from(self.0) / f64::from(ONE)
    }
}

impl Sum<Probability> for u64 {
    fn sum<I: Iterator<Item = Probability>>(probabilities: I) -> Self {
        probabilities.map(|p| Self::from(p.0)).sum()
    }
}

/// A plain decimal: no exponent, no trailing zeros (`1`, `0`, `0.25`, `0.000001`).
impl fmt::Display for Probability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.decimal().fmt(f)
    }
}

impl Serialize for Probability {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.to_f64())
    }
}

impl<'de> Deserialize<'de> for Probability {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = f64::deserialize(deserializer)?;
        Self::from_f64(value).ok_or_else(|| serde::de::Error::custom("not a probability"))
    }
}

/// Digits of the largest `u64`.
const MOST_CHARS: usize = 20;

/// A number without an exponent and without trailing zeros: `1`, `0`, `0.25`, `0.000001`. Every
/// number of a result is formatted here.
///
/// ```
/// # use refract_domain::answer::probability::Decimal;
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
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn it_is_written_as_a_plain_decimal() {
        let cases = [
            (0.0, "0"),
            (1.0, "1"),
            (0.25, "0.25"),
            (0.000_001, "0.000001"),
            (0.000_000_4, "0"),
            (0.123_456_5, "0.123457"),
            (0.1, "0.1"),
        ];
        for (value, written) in cases {
            assert_eq!(Probability::from_f64(value).unwrap().to_string(), written);
        }
    }

    #[test]
    fn what_is_no_probability_is_refused() {
        for value in [-0.000_001, 1.000_001, f64::NAN, f64::INFINITY] {
            assert_eq!(Probability::from_f64(value), None, "{value}");
        }
        assert_eq!(Probability::from_millionths(1_000_001), None);
    }

    proptest! {
        #[test]
        fn it_reads_back_from_its_decimal_and_from_json(millionths in 0..=ONE) {
            let probability = Probability(millionths);
            let decimal: f64 = probability.to_string().parse().unwrap();
            prop_assert_eq!(Probability::from_f64(decimal), Some(probability));
            let json = serde_json::to_string(&probability).unwrap();
            prop_assert_eq!(serde_json::from_str::<Probability>(&json).unwrap(), probability);
        }
    }

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
