//! Moments in readable form: as short as they can be, and whole in the tooltip, in UTC.

use chrono::{DateTime, Datelike as _, SecondsFormat, Utc};
use maud::{Markup, html};

/// A moment: `14:02` today, `Mon 14:02` in the last six days, `4 Mar 14:02` in the last months, and
/// `4 Mar 2025` before. The `datetime` attribute and the tooltip have it to the millisecond.
pub(crate) fn moment(moment: DateTime<Utc>) -> Markup {
    let exact = moment.to_rfc3339_opts(SecondsFormat::Millis, true);
    let whole = moment.format("%A, %-d %B %Y, %H:%M:%S UTC").to_string();
    html! {
        time datetime=(exact) title=(whole) { (short(moment, Utc::now())) }
    }
}

fn short(moment: DateTime<Utc>, now: DateTime<Utc>) -> String {
    let days = (now.date_naive() - moment.date_naive()).num_days();
    let format = match days {
        0 => "%H:%M",
        1..=6 => "%a %H:%M",
        7..300 => "%-d %b %H:%M",
        _ if moment.year() == now.year() => "%-d %b %H:%M",
        _ => "%-d %b %Y",
    };
    moment.format(format).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> DateTime<Utc> {
        text.parse().unwrap()
    }

    #[test]
    fn a_moment_is_as_short_as_it_can_be() {
        let now = at("2026-03-04T12:00:00Z");
        for (moment, expected) in [
            ("2026-03-04T00:00:00Z", "00:00"),
            ("2026-03-03T23:59:00Z", "Tue 23:59"),
            ("2026-02-26T14:02:00Z", "Thu 14:02"),
            ("2026-02-25T14:02:00Z", "25 Feb 14:02"),
            ("2025-12-31T23:59:00Z", "31 Dec 23:59"),
            ("2025-03-04T12:00:00Z", "4 Mar 2025"),
            ("2026-03-05T01:00:00Z", "5 Mar 01:00"),
            ("2027-01-05T01:00:00Z", "5 Jan 2027"),
        ] {
            assert_eq!(short(at(moment), now), expected, "{moment}");
        }
    }
}
