//! The arguments that select what a command reads: results by time or status, and marks.

use anyhow::{Context as _, anyhow};
use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime, SecondsFormat, TimeDelta, Utc};
use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use clap::{Args, ValueEnum};
use refract_domain::result::mark::source::MarksFrom;
use refract_domain::result::whole_milliseconds;
use refract_service::results::ResultFilter;

use crate::output;
use crate::terminal::counted;

/// The arguments that choose results by time.
#[derive(Args)]
pub(super) struct PeriodArgs {
    /// Only results saved at this time or later: a date such as 2026-05-04, which begins at midnight
    /// UTC, or a time such as 2026-05-04T09:00:00Z
    #[arg(long, value_name = "TIME", value_parser = moment)]
    since: Option<DateTime<Utc>>,

    /// Only results saved before this time
    #[arg(long, value_name = "TIME", value_parser = moment)]
    until: Option<DateTime<Utc>>,
}

impl PeriodArgs {
    pub(super) fn filter(&self) -> ResultFilter {
        ResultFilter {
            since: self.since,
            until: self.until,
            ..ResultFilter::default()
        }
    }
}

/// Parses a date, as its midnight in UTC, or a time in RFC 3339, rounded up to whole milliseconds.
/// Results and events have whole milliseconds, so the rounding does not change the effect of
/// `--since`, `--until` and `--before`; a key expires at a whole millisecond.
pub(super) fn moment(text: &str) -> anyhow::Result<DateTime<Utc>> {
    if let Ok(date) = NaiveDate::parse_from_str(text, "%Y-%m-%d") {
        return Ok(date.and_time(NaiveTime::MIN).and_utc());
    }
    let read = DateTime::parse_from_rfc3339(text);
    let moment = read.map_err(|_| no_moment(text))?.to_utc();
    let whole = whole_milliseconds(moment);
    if whole == moment {
        return Ok(moment);
    }
    whole
        .checked_add_signed(TimeDelta::milliseconds(1))
        .context("expected an earlier time")
}

/// A moment in RFC 3339, in UTC and to the second.
pub(super) fn to_the_second(moment: DateTime<Utc>) -> String {
    moment.to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// The error for a text that is not a moment.
fn no_moment(text: &str) -> anyhow::Error {
    if text.parse::<NaiveDateTime>().is_ok() {
        return anyhow!("a time needs its zone: {text}Z in UTC, or an offset such as {text}+02:00");
    }
    anyhow!(
        "expected a date such as 2026-05-04, which begins at midnight UTC, or a time with its zone \
         such as 2026-05-04T09:00:00Z or 2026-05-04T11:00:00+02:00"
    )
}

/// The argument of every command that measures by marks.
#[derive(Args)]
pub(super) struct MarksArgs {
    /// random: those of randomly drawn results, and imported ones; all: also those of results that
    /// somebody chose, which are no fair sample
    #[arg(
        id = "marks",
        long = "marks",
        value_name = "WHICH",
        default_value = MarksFrom::Random.name(),
        value_parser = PossibleValuesParser::new(MarksFrom::ALL.map(MarksFrom::name))
            .map(|name| MarksFrom::named(&name).unwrap_or_default())
    )]
    pub(super) from: MarksFrom,
}

impl MarksArgs {
    /// Says on stderr which marks the measures do not count, or that they are no fair sample.
    pub(super) fn say(&self, left_out: u64) {
        if let Some(words) = self.describe(left_out) {
            output::say(&words);
        }
    }

    fn describe(&self, left_out: u64) -> Option<String> {
        match (self.from, left_out) {
            (MarksFrom::Random, 0) => None,
            (MarksFrom::Random, left_out) => Some(format!(
                "{} left out: only marks of randomly drawn results and imported ones are a fair \
                 sample. `--marks all` counts all.",
                counted(left_out, "mark")
            )),
            (MarksFrom::All, _) => Some(
                "All marks count, also those of results that somebody chose: they are no fair \
                 sample of all results."
                    .to_owned(),
            ),
        }
    }
}

/// The arguments that choose results by status and time.
#[derive(Args)]
pub(super) struct FilterArgs {
    /// Only results that are `ok`, or only `failed` ones
    #[arg(long, value_name = "STATUS")]
    status: Option<Status>,

    #[command(flatten)]
    period: PeriodArgs,
}

/// The status of results.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Status {
    /// The model answered every question.
    Ok,
    /// The model gave no usable answer.
    Failed,
}

impl Status {
    pub(super) fn is_ok(self) -> bool {
        self == Self::Ok
    }
}

impl FilterArgs {
    pub(super) fn filter(&self) -> ResultFilter {
        ResultFilter {
            is_ok: self.status.map(Status::is_ok),
            ..self.period.filter()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_between_two_milliseconds_counts_from_the_later_one() {
        let read = |text| moment(text).unwrap().to_rfc3339();
        assert_eq!(read("2026-05-04T09:00:00Z"), "2026-05-04T09:00:00+00:00");
        assert_eq!(
            read("2026-05-04T11:00:00.123+02:00"),
            "2026-05-04T09:00:00.123+00:00"
        );
        assert_eq!(
            read("2026-05-04T09:00:00.1230001Z"),
            "2026-05-04T09:00:00.124+00:00"
        );
        assert_eq!(
            read("1969-12-31T23:59:59.9999Z"),
            "1970-01-01T00:00:00+00:00"
        );
        for wrong in ["yesterday", ""] {
            let message = moment(wrong).unwrap_err().to_string();
            assert!(
                message.starts_with("expected a date such as 2026-05-04"),
                "{message}"
            );
        }
        let message = moment("2026-05-04T09:00:00").unwrap_err().to_string();
        assert!(message.contains("2026-05-04T09:00:00Z in UTC"), "{message}");
    }

    #[test]
    fn a_date_is_its_midnight_in_utc() {
        let read = |text| moment(text).unwrap().to_rfc3339();
        assert_eq!(read("2026-05-04"), "2026-05-04T00:00:00+00:00");
        assert_eq!(read("2024-02-29"), "2024-02-29T00:00:00+00:00");
        for wrong in [
            "2026-02-29",
            "2026-13-01",
            "04.05.2026",
            "2026-05",
            "20260504",
            "2026-5-4 ",
        ] {
            assert!(moment(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn marks_that_do_not_count_are_reported() {
        let words = |from, left_out| MarksArgs { from }.describe(left_out);
        assert_eq!(words(MarksFrom::Random, 0), None);
        assert!(
            words(MarksFrom::Random, 1)
                .unwrap()
                .starts_with("1 mark left")
        );
        assert!(words(MarksFrom::All, 0).unwrap().contains("no fair sample"));
    }
}
