//! The arguments that select what a command reads: results by time, status, version, model, `ref` or
//! answer, and marks.

use std::collections::HashSet;

use anyhow::{Context as _, anyhow, bail};
use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime, SecondsFormat, TimeDelta, Utc};
use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use clap::{Args, ValueEnum};
use refract_domain::prism::{PrismVersion, Question, QuestionType, VersionNumber};
use refract_domain::result::mark::MarksFrom;
use refract_domain::result::whole_milliseconds;
use refract_domain::submission::Ref;
use refract_service::Refract;
use refract_service::lenses::PrismLens;
use refract_service::prisms::PrismHistory;
use refract_service::results::{AnsweredOutcome, ResultFilter, ResultOrder, ResultSearch};

use super::context::{check_version, invalid_argument};
use super::files::InputPath;
use crate::output::WrongUsage;
use crate::suggestion::did_you_mean_or_list;
use crate::terminal::{self, counted, widened};
use crate::{arguments, output};

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

/// The arguments that choose results by status, version, model, `ref` and time.
#[derive(Args)]
pub(super) struct FilterArgs {
    /// Only results that are `ok`, or only `failed` ones
    #[arg(long, value_name = "STATUS")]
    status: Option<Status>,

    /// Only results that this version answered
    #[arg(long, value_name = "N", value_parser = arguments::version)]
    version: Option<VersionNumber>,

    /// Only results of the model with this name, as its server reports it
    #[arg(long, value_name = "NAME")]
    model: Option<String>,

    /// Only results with this `ref`; repeat it for several
    #[arg(long = "ref", value_name = "REF")]
    references: Vec<String>,

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
    /// The search for the results of a prism that has these versions.
    ///
    /// # Errors
    /// The prism has no such version.
    pub(super) fn search(&self, history: &PrismHistory) -> anyhow::Result<ResultSearch> {
        if let Some(version) = self.version {
            check_version(history, version)?;
        }
        // one `ref` is found by an index, several by a look at each result
        let references = self
            .references
            .iter()
            .map(|reference| Ref::parse(reference));
        let references: Result<Vec<_>, _> = references.collect();
        let mut references = references.map_err(|errors| invalid_argument("--ref", &errors))?;
        let reference = if references.len() == 1 {
            references.pop()
        } else {
            None
        };
        Ok(ResultSearch {
            filter: ResultFilter {
                is_ok: self.status.map(Status::is_ok),
                version: self.version,
                model: self.model.clone(),
                reference,
                ..self.period.filter()
            },
            references,
            ..ResultSearch::default()
        })
    }
}

/// The further arguments that choose the results of an export.
#[derive(Args)]
pub(super) struct ExportFilterArgs {
    #[command(flatten)]
    filter: FilterArgs,

    /// A file with a `ref` on each line: only results with one of them
    #[arg(long, value_name = "FILE")]
    pub(super) ref_file: Option<InputPath>,

    /// Only results whose answer to a question is this outcome, by its key; `yes`, `no` or `unsure`
    /// by the cutoffs of the lens; repeat it for several questions
    #[arg(long = "answer", value_name = "QUESTION=OUTCOME", value_parser = answered)]
    answers: Vec<(String, String)>,
}

impl ExportFilterArgs {
    /// The search for the results of a prism that has these versions.
    ///
    /// # Errors
    /// The prism has no such version, its latest version no such question or outcome, or the file of
    /// refs cannot be used.
    pub(super) fn search(&self, history: &PrismHistory) -> anyhow::Result<ResultSearch> {
        let mut search = self.filter.search(history)?;
        if let Some(file) = &self.ref_file {
            search.references.extend(search.filter.reference.take());
            search.references.extend(read_references(file)?);
        }
        let latest = history.versions.last();
        let questions = latest.map_or(&[][..], PrismVersion::questions);
        for (key, outcome) in &self.answers {
            let found = questions
                .iter()
                .find(|question| question.key.as_str() == key);
            let Some(question) = found else {
                let keys = questions.iter().map(|question| question.key.as_str());
                bail!(WrongUsage(format!(
                    "--answer: the prism's latest version has no question '{}'{}",
                    terminal::plain(key),
                    did_you_mean_or_list(key, keys)
                )));
            };
            check_outcome(question, outcome, history)?;
            search.answers.push(AnsweredOutcome {
                question: question.key.clone(),
                outcome: outcome.clone(),
            });
        }
        Ok(search)
    }
}

impl ExportFilterArgs {
    /// Refuses a file with a `ref` that no result of the prism has.
    pub(super) async fn check_references(
        &self,
        refract: &Refract,
        lens: &PrismLens,
        search: &ResultSearch,
    ) -> anyhow::Result<()> {
        let Some(file) = &self.ref_file else {
            return Ok(());
        };
        let mut unknown = Vec::new();
        // those of `--ref` come first, and may have none
        let of_file = search.references.iter().skip(self.filter.references.len());
        for reference in of_file {
            let filter = ResultFilter {
                reference: Some(reference.clone()),
                ..ResultFilter::default()
            };
            let order = ResultOrder::NewestFirst;
            let results = refract.results().of_prism(lens.clone(), filter, order);
            if results.count().await? == 0 {
                unknown.push(terminal::plain(reference.as_str()));
            }
        }
        let Some(first) = unknown.first() else {
            return Ok(());
        };
        bail!(WrongUsage(format!(
            "--ref-file: {file} has {} that no result of the prism has, such as {first}",
            counted(widened(unknown.len()), "ref")
        )))
    }
}

fn answered(text: &str) -> anyhow::Result<(String, String)> {
    let (question, outcome) = text
        .split_once('=')
        .context("expected QUESTION=OUTCOME, such as topic=billing")?;
    Ok((question.to_owned(), outcome.to_owned()))
}

/// Refuses an outcome with which no version of a question can be answered.
fn check_outcome(question: &Question, outcome: &str, history: &PrismHistory) -> anyhow::Result<()> {
    let versions = history.versions.iter().rev();
    let keys: Vec<_> = match question.question_type() {
        QuestionType::YesNo => vec!["yes", "no", "unsure"],
        QuestionType::Choice | QuestionType::Scale => {
            let mut listed = HashSet::new();
            versions
                .filter_map(|version| version.question(&question.key))
                .flat_map(|question| question.outcomes().map(|outcome| outcome.key))
                .filter(|key| listed.insert(*key))
                .collect()
        }
    };
    if keys.contains(&outcome) {
        return Ok(());
    }
    bail!(WrongUsage(format!(
        "--answer: {} has no outcome '{}'{}",
        question.key,
        terminal::plain(outcome),
        did_you_mean_or_list(outcome, keys)
    )))
}

/// The refs of a file, one on each line; empty lines do not count.
fn read_references(file: &InputPath) -> anyhow::Result<Vec<Ref>> {
    let bytes = file.read();
    let bytes = bytes.map_err(|error| WrongUsage(format!("--ref-file: {error:#}")))?;
    let text = String::from_utf8(bytes);
    let text = text.map_err(|_| WrongUsage(format!("--ref-file: {file} is not UTF-8")))?;
    let text = text.trim_start_matches('\u{feff}');
    let lines = (1_u64..).zip(text.lines());
    let filled = lines.filter(|(_, line)| !line.trim().is_empty());
    let mut references = Vec::new();
    for (number, line) in filled {
        let read = Ref::parse(line).map_err(|errors| {
            let errors: Vec<_> = errors.iter().map(ToString::to_string).collect();
            let errors = errors.join("; ");
            WrongUsage(format!("--ref-file: {file}, line {number}: {errors}"))
        });
        references.push(read?);
    }
    if references.is_empty() {
        bail!(WrongUsage(format!("--ref-file: {file} has no ref")));
    }
    Ok(references)
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
