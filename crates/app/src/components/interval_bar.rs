//! A measured share with its interval, as text and as a bar.

use maud::{Markup, html};
use refract_evaluation::measures::proportion::{Interval, Proportion};

use super::number::measured_percent;

/// A share in percent with its 95 % interval: `86.3 % (81.0 to 90.2)`.
pub(crate) fn share_range(value: Option<f64>, interval: Option<Interval>) -> String {
    let percent = |share| measured_percent(Some(share));
    match (value, interval) {
        (None, _) => "–".to_owned(),
        (Some(value), None) => format!("{} %", percent(value)),
        (Some(value), Some(Interval { low, high })) => {
            format!(
                "{} % ({} to {})",
                percent(value),
                percent(low),
                percent(high)
            )
        }
    }
}

/// A measured proportion in percent, with its interval.
pub(crate) fn proportion_range(proportion: Proportion) -> String {
    share_range(proportion.value(), proportion.interval())
}

/// A bar from 0 to 100 % with the interval as a band and the share as a line. The text beside it
/// has the numbers.
pub(crate) fn interval_bar(proportion: Proportion) -> Markup {
    let at = |share: f64| format!("{:.1}%", share * 100.0);
    html! {
        @if let (Some(share), Some(interval)) = (proportion.value(), proportion.interval()) {
            svg.bar.interval aria-hidden="true" focusable="false" {
                rect.track width="100%" height="100%" {}
                rect.value x=(at(interval.low)) width=(at(interval.high - interval.low)) height="100%" {}
                line.cutoff x1=(at(share)) x2=(at(share)) y1="0" y2="100%" {}
            }
        }
    }
}
