//! What an account may spend in a calendar month.

use std::fmt;

use crate::problem::ValidationError;
use crate::result::Cost;

/// Most digits before the decimal point, and most decimals.
const MOST_DIGITS: usize = 9;

/// What an account may spend in a calendar month in UTC, in the currency of the costs: over 0 and
/// below a billion, exact to 9 decimals.
///
/// ```
/// # use refract_domain::account::month_budget::MonthBudget;
/// assert_eq!(MonthBudget::parse("200.50").unwrap().to_string(), "200.5");
/// assert!(MonthBudget::parse("0").is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MonthBudget {
    nanos: u64,
}

impl MonthBudget {
    /// Reads a plain decimal, such as `200` or `12.50`.
    ///
    /// # Errors
    /// The rule that the text breaks.
    pub fn parse(typed: &str) -> Result<Self, ValidationError> {
        let read = || {
            let (whole, decimals) = typed.split_once('.').unwrap_or((typed, "0"));
            let is_number = |digits: &str| {
                (1..=MOST_DIGITS).contains(&digits.len())
                    && digits.bytes().all(|digit| digit.is_ascii_digit())
            };
            if !is_number(whole) || !is_number(decimals) {
                return None;
            }
            let nanos = format!("{whole}{decimals:0<9}").parse().ok()?;
            Self::from_nanos(nanos)
        };
        read().ok_or_else(|| {
            ValidationError::rule(
                "must be a decimal over 0 with at most 9 digits before the point and 9 after it",
            )
        })
    }

    /// The budget of this many billionths; `None` for 0.
    pub fn from_nanos(nanos: u64) -> Option<Self> {
        (nanos > 0).then_some(Self { nanos })
    }

    /// The budget in billionths.
    pub fn nanos(self) -> u64 {
        self.nanos
    }

    /// The budget as a cost.
    pub fn as_cost(self) -> Cost {
        Cost::from_nanos(self.nanos.into())
    }

    /// The whole percents of the budget that this much is.
    pub fn percent(self, spent: Cost) -> u128 {
        spent.attos().saturating_mul(100) / self.as_cost().attos()
    }

    /// The part of the budget that this much is; 1 for all of it.
    pub fn used_ratio(self, spent: Cost) -> f64 {
        spent.to_f64() / self.as_cost().to_f64()
    }
}

/// A plain decimal without trailing zeros.
impl fmt::Display for MonthBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_cost().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_a_plain_decimal_over_zero() {
        for (typed, exact) in [
            ("200", "200"),
            ("12.50", "12.5"),
            ("0.000000001", "0.000000001"),
            ("999999999.999999999", "999999999.999999999"),
            ("007", "7"),
        ] {
            let budget = MonthBudget::parse(typed).unwrap();
            assert_eq!(budget.to_string(), exact, "{typed}");
            assert_eq!(MonthBudget::from_nanos(budget.nanos()), Some(budget));
        }
        for typed in [
            "",
            "0",
            "0.0",
            "-1",
            "+1",
            "1.",
            ".5",
            "1,5",
            "1e3",
            " 1",
            "1.0000000001",
            "1000000000",
            "1.2.3",
            "none",
            "١",
        ] {
            assert!(MonthBudget::parse(typed).is_err(), "{typed}");
        }
    }

    #[test]
    fn the_used_part_is_rounded_down() {
        let budget = MonthBudget::parse("0.3").unwrap();
        let percent = |spent: &str| budget.percent(Cost::parse(spent).unwrap());
        assert_eq!(percent("0"), 0);
        assert_eq!(percent("0.239999999999999999"), 79);
        assert_eq!(percent("0.24"), 80);
        assert_eq!(percent("0.299999999999999999"), 99);
        assert_eq!(percent("0.3"), 100);
        assert_eq!(percent("3"), 1_000);
        assert!(budget.percent(Cost::from_attos(u128::MAX)) > 100);
        let ratio = budget.used_ratio(Cost::parse("0.15").unwrap());
        assert!((ratio - 0.5).abs() < 1e-12);
    }
}
