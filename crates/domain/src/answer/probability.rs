//! Probabilities as whole millionths, which are exact.

use std::fmt;
use std::iter::Sum;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::answer::decimal::Decimal;

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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
}
