//! Moments in readable form, always labelled as UTC.

use chrono::{DateTime, SecondsFormat, Utc};
use maud::{Markup, html};

/// A moment to the minute. The `datetime` attribute and the tooltip have it to the millisecond.
pub(crate) fn moment(moment: DateTime<Utc>) -> Markup {
    let exact = moment.to_rfc3339_opts(SecondsFormat::Millis, true);
    html! {
        time datetime=(exact) title=(exact) { (moment.format("%Y-%m-%d %H:%M")) " UTC" }
    }
}
