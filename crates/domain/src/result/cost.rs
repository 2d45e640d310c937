//! What asking a model cost, as the model's host reports it.

use std::fmt;
use std::iter::Sum;

/// Decimals of a cost.
const DECIMALS: u32 = 18;
/// Billionths of a billionth in a billionth.
const ATTOS_IN_NANO: u128 = 1_000_000_000;
/// A cost of 1.
const ONE: u128 = 10_u128.pow(DECIMALS);
/// No request costs as much as this: such a number is a mistake of the host.
const IMPLAUSIBLE: u128 = 1_000_000 * ONE;

/// A cost in the currency of the host, exact to 18 decimals.
///
/// ```
/// # use refract_domain::result::cost::Cost;
/// let costs = ["0.1", "2e-1"].into_iter().filter_map(Cost::parse);
/// assert_eq!(costs.sum::<Cost>().to_string(), "0.3");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cost {
    /// Billionths of a billionth.
    attos: u128,
}

impl Cost {
    /// Reads a decimal, also with an exponent, and rounds it to 18 decimals. `None` for anything
    /// else, for negative numbers and from a million on.
    pub fn parse(written: &str) -> Option<Self> {
        let (number, exponent) = match written.split_once(['e', 'E']) {
            Some((number, exponent)) => (number, exponent.parse::<i32>().ok()?),
            None => (written, 0),
        };
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let mut digits = whole.bytes().chain(fraction.bytes());
        if whole.is_empty() || !digits.all(|digit| digit.is_ascii_digit()) {
            return None;
        }
        // the power of ten of the first digit, in attos
        let first =
            i64::try_from(whole.len()).ok()? - 1 + i64::from(exponent) + i64::from(DECIMALS);
        let mut attos = 0_u128;
        for (place, digit) in (0_i64..).zip(whole.bytes().chain(fraction.bytes())) {
            let digit = u128::from(digit - b'0');
            let power = first - place;
            if power == -1 && digit >= 5 {
                attos += 1;
            }
            if power < 0 || digit == 0 {
                continue;
            }
            let unit = 10_u128.checked_pow(u32::try_from(power).ok()?)?;
            attos = attos.checked_add(digit.checked_mul(unit)?)?;
        }
        (attos < IMPLAUSIBLE).then_some(Self { attos })
    }

    /// The cost of this many billionths of a billionth.
    pub const fn from_attos(attos: u128) -> Self {
        Self { attos }
    }

    /// The cost of this many billionths.
    pub fn from_nanos(nanos: u128) -> Self {
        Self::from_attos(nanos.saturating_mul(ATTOS_IN_NANO))
    }

    /// The cost in billionths, rounded up.
    pub fn nanos_rounded_up(self) -> u128 {
        self.attos.div_ceil(ATTOS_IN_NANO)
    }

    /// The cost in billionths of a billionth.
    pub fn attos(self) -> u128 {
        self.attos
    }

    /// The double nearest to the cost.
    pub fn to_f64(self) -> f64 {
        self.to_string().parse().unwrap_or_default()
    }
}

impl Sum for Cost {
    fn sum<I: Iterator<Item = Self>>(costs: I) -> Self {
        let attos = costs.map(|cost| cost.attos);
        Self::from_attos(attos.fold(0, u128::saturating_add))
    }
}

/// A plain decimal: no exponent, no trailing zeros.
impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, attos) = (self.attos / ONE, self.attos % ONE);
        if attos == 0 {
            return whole.fmt(f);
        }
        let decimals = format!("{attos:018}");
        write!(f, "{whole}.{}", decimals.trim_end_matches('0'))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written(text: &str) -> Option<String> {
        Cost::parse(text).map(|cost| cost.to_string())
    }

    #[test]
    fn every_decimal_that_hosts_write_is_read_exactly() {
        for (text, exact) in [
            ("0", "0"),
            ("0.0", "0"),
            ("12", "12"),
            ("0.000123456789", "0.000123456789"),
            ("2.1e-05", "0.000021"),
            ("1E2", "100"),
            ("1.5e+3", "1500"),
            ("0e99", "0"),
            ("0.000000000000000001", "0.000000000000000001"),
            ("999999.999999999999999999", "999999.999999999999999999"),
        ] {
            assert_eq!(written(text).as_deref(), Some(exact), "{text}");
        }
    }

    #[test]
    fn further_decimals_are_rounded() {
        for (text, rounded) in [
            ("1.2345000000000001e-05", "0.000012345"),
            ("0.0000000000000000005", "0.000000000000000001"),
            ("0.00000000000000000049", "0"),
            ("1e-2147483648", "0"),
            ("0.9999999999999999999", "1"),
        ] {
            assert_eq!(written(text).as_deref(), Some(rounded), "{text}");
        }
    }

    #[test]
    fn anything_else_is_no_cost() {
        for text in [
            "",
            "-1",
            "+1",
            "-0.5",
            ".5",
            "1.2.3",
            "1e",
            "1e1.5",
            "e5",
            "NaN",
            "None",
            "free",
            "1,5",
            " 1",
            "1000000",
            "1e6",
            "9e37",
            "1e99",
            "1e2147483647",
            "1e99999999999",
        ] {
            assert_eq!(Cost::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_sum_of_decimals_has_no_rounding_error() {
        let tenth = Cost::parse("0.1").unwrap();
        let sum: Cost = [tenth; 10].into_iter().sum();
        assert_eq!(sum.to_string(), "1");
        assert!((sum.to_f64() - 1.0).abs() < f64::EPSILON);
        assert_eq!(
            [Cost::from_attos(u128::MAX), tenth]
                .into_iter()
                .sum::<Cost>()
                .attos(),
            u128::MAX
        );
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back_as_the_same_cost(attos in 0..IMPLAUSIBLE) {
            let cost = Cost::from_attos(attos);
            prop_assert_eq!(Cost::parse(&cost.to_string()), Some(cost));
        }
    }
}
