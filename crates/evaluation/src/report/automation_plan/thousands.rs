//! Shares of a thousand and numbers of marks in words.

pub(super) fn more_of(more: u64, noun: &str) -> String {
    let plural = if more == 1 { "" } else { "s" };
    format!("{more} more {noun}{plural}")
}

/// A share of 1,000, rounded.
pub(super) fn of_thousand(share: f64) -> String {
    thousand(share * 1000.0)
}

/// A share of 1,000, rounded up: a limit stays one.
pub(super) fn of_thousand_at_most(share: f64) -> String {
    // what is a whole number but for the double's last digits stays that
    thousand((share * 1000.0 - 1e-9).ceil())
}

fn thousand(number: f64) -> String {
    match format!("{number:.0}") {
        all if all == "1000" => "1,000".to_owned(),
        text => text,
    }
}
