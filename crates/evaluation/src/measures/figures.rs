//! Measures as text, the same wherever people read them: three decimals, with the interval.

use crate::measures::proportion::Interval;

/// A measure with three decimals; a dash if undefined.
pub fn number(value: Option<f64>) -> String {
    value.map_or_else(|| "–".to_owned(), |value| format!("{value:.3}"))
}

/// A measure with its interval: `0.913 (0.871 to 0.942)`.
pub fn range(value: Option<f64>, interval: Option<Interval>) -> String {
    let value = number(value);
    match interval {
        Some(Interval { low, high }) => format!("{value} ({low:.3} to {high:.3})"),
        None => value,
    }
}

/// A difference with its sign and interval: `+0.042 (-0.010 to +0.095)`.
pub fn signed(difference: Option<f64>, interval: Option<Interval>) -> String {
    match (difference, interval) {
        (Some(difference), Some(Interval { low, high })) => {
            format!("{difference:+.3} ({low:+.3} to {high:+.3})")
        }
        (Some(_) | None, _) => "–".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_measure_that_is_not_defined_is_a_dash() {
        assert_eq!(number(Some(0.912_6)), "0.913");
        assert_eq!(number(None), "–");
        let interval = Interval {
            low: 0.8,
            high: 1.0,
        };
        assert_eq!(range(Some(0.9), Some(interval)), "0.900 (0.800 to 1.000)");
        assert_eq!(range(None, None), "–");
        assert_eq!(
            signed(Some(0.9), Some(interval)),
            "+0.900 (+0.800 to +1.000)"
        );
        assert_eq!(signed(Some(0.9), None), "–");
    }
}
