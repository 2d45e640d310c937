//! `refract evaluate`: measures over marked answers, and advice on cutoffs for a goal.

mod advice;
mod agreement;
mod goal;
mod plan_text;

use std::path::PathBuf;

use anyhow::ensure;
use clap::Args;
use refract_domain::prism::{Question, VersionNumber};
use refract_domain::result::mark::MarksFrom;
use refract_service::Refract;
use refract_service::measures::EvaluatedQuestion;
use refract_service::prisms::{Prism, PrismHistory};
use refract_service::results::{ResultFilter, UsageDimension, UsageScope};

use self::goal::AdviceArgs;
use super::context::{self, AccountArg};
use super::measures::{self, HtmlFile, HtmlReport, MeasuredQuestion, WrongLine};
use super::output_files::{self, is_stdout};
use super::selection::{MarksArgs, PeriodArgs};
use crate::settings::DatabaseArgs;
use crate::terminal::{self, Progress};
use crate::{arguments, output};

/// The arguments of `refract evaluate`.
#[derive(Args)]
pub struct EvaluateCommand {
    /// Slug or id
    prism: String,

    /// Only this question
    #[arg(long, value_name = "QUESTION")]
    question: Option<String>,

    /// Only results of this version
    #[arg(long, value_name = "N", value_parser = arguments::version)]
    version: Option<VersionNumber>,

    /// Only results of the model that its server calls so
    #[arg(long, value_name = "NAME")]
    model: Option<String>,

    #[command(flatten)]
    period: PeriodArgs,

    #[command(flatten)]
    marks: MarksArgs,

    /// How far people agree who marked the same texts, instead of how right the answers are
    #[arg(long, conflicts_with_all = ["advise", "html"])]
    agreement: bool,

    /// One JSON object a line for each question, or for the advice
    #[arg(long)]
    json: bool,

    /// Writes a report with tables, plots and wrong answers as one HTML file; `-` is stdout
    #[arg(long, value_name = "FILE", conflicts_with = "advise")]
    html: Option<PathBuf>,

    #[command(flatten)]
    advice: AdviceArgs,

    #[command(flatten)]
    account: AccountArg,
}

impl EvaluateCommand {
    /// Runs `refract evaluate`: reads the marked answers and prints their measures, or advice.
    pub(crate) async fn run(self, database: &DatabaseArgs) -> anyhow::Result<()> {
        let outputs = [
            ("--html", self.html.as_deref()),
            ("--write", self.advice.write()),
        ];
        output_files::check(&outputs, &[], database)?;
        output_files::check_json(self.json, &outputs)?;
        let (refract, prism) = self.account.open_prism(database, &self.prism).await?;
        let history = refract.prisms().with_versions(prism.id).await?;
        let filter = self.filter(&history)?;
        let only = match self.advice.question.as_ref().or(self.question.as_ref()) {
            Some(key) => Some(context::question(&history, key)?),
            None => None,
        };
        let html = self.html.as_deref().map(HtmlFile::create).transpose()?;
        let marks = self.marks.from;
        if self.agreement {
            let key = only.map(|question| &question.key);
            return agreement::print(&refract, &history, key, filter, marks, self.json).await;
        }
        let advised = only.map(|question| self.advice.of(question, marks));
        let advised = advised.transpose()?.flatten();
        let key = only.map(|question| &question.key);
        let progress = Progress::begin("results", None);
        let show = |read| progress.show(read, "");
        let measures = refract.measures();
        let evaluating = measures.evaluate(&history, key, filter.clone(), marks, show);
        let read = evaluating.await;
        progress.end();
        let evaluated = read?;
        let left_out = evaluated.iter().map(|question| question.left_out).sum();
        if evaluated.iter().all(|question| question.marked.is_empty()) {
            self.check_model(&refract, &history.prism).await?;
            self.say_no_marks(&filter, only, left_out);
            match &advised {
                // says how many marks are needed
                Some(advised) if advised.needs_no_marks() => {}
                Some(advised) => return advised.refuse_to_write(),
                None => return Ok(()),
            }
        } else {
            self.marks.say(left_out);
        }
        if let (Some(advised), Some(evaluated)) = (advised, evaluated.first()) {
            return advised.print(&self.prism, evaluated, &history, marks, self.json);
        }
        let shown = shown(&evaluated, &history);
        // the file is written also where a reader of stdout stopped early
        let printed = self.print(&shown);
        let Some(html) = html else { return printed };
        let answers = MeasuredAnswers {
            history: &history,
            filter,
            evaluated: &evaluated,
        };
        let wrong = answers.wrong(&refract, marks).await?;
        html.write(&HtmlReport {
            title: &format!("Quality of {}", history.prism.slug),
            measured: &shown,
            requirements: &[],
            wrong: &wrong,
            all_wrong: shown.iter().map(wrong_of).sum(),
        })?;
        printed
    }

    fn filter(&self, history: &PrismHistory) -> anyhow::Result<ResultFilter> {
        if let Some(version) = self.version {
            context::check_version(history, version)?;
        }
        Ok(ResultFilter {
            is_ok: Some(true),
            version: self.version,
            model: self.model.clone(),
            ..self.period.filter()
        })
    }

    /// Refuses a model of which the prism has no result.
    async fn check_model(&self, refract: &Refract, prism: &Prism) -> anyhow::Result<()> {
        let Some(model) = &self.model else {
            return Ok(());
        };
        let scope = UsageScope {
            by: [UsageDimension::Model].into(),
            prism: Some(prism.id),
            key: None,
            since: None,
            until: None,
        };
        let listed = refract.results().usage(prism.account, scope).await?;
        let models = listed.iter().filter_map(|listed| listed.model.as_deref());
        let models: Vec<_> = models.collect();
        ensure!(
            models.contains(&model.as_str()),
            "no result is of the model '{}': there are {}",
            terminal::plain(model),
            if models.is_empty() {
                "none".to_owned()
            } else {
                models.join(", ")
            }
        );
        Ok(())
    }

    fn say_no_marks(&self, filter: &ResultFilter, question: Option<&Question>, left_out: u64) {
        let every = ResultFilter {
            is_ok: Some(true),
            ..ResultFilter::default()
        };
        let of = question.map(|question| format!(" of question '{}'", question.key));
        let of = of.unwrap_or_default();
        let among = if *filter == every {
            ""
        } else {
            " among the results that were chosen"
        };
        if left_out > 0 {
            output::say(&format!(
                "There are no marks{of}{among} that are a fair sample."
            ));
            return self.marks.say(left_out);
        }
        output::say(&format!(
            "There are no marks{of}{among}: mark results with `refract marks import {} FILE`, where \
             FILE has a column `result_id` or `ref` and a column for each question.",
            self.prism
        ));
    }

    fn print(&self, measured: &[MeasuredQuestion]) -> anyhow::Result<()> {
        if is_stdout(self.html.as_deref()) {
            return Ok(());
        }
        for (number, measured) in measured.iter().enumerate() {
            if self.json {
                let marks = Some(self.marks.from);
                measures::print_json(measured, marks)?;
                continue;
            }
            if number > 0 {
                output::text("\n")?;
            }
            output::text(&measures::render(measured, terminal::width()))?;
        }
        Ok(())
    }
}

/// The measures of the questions: all of the latest version, and those of older versions with
/// marks.
fn shown(evaluated: &[EvaluatedQuestion], history: &PrismHistory) -> Vec<MeasuredQuestion> {
    let latest = history.versions.last();
    let is_shown = |it: &&EvaluatedQuestion| {
        let is_latest = latest.is_some_and(|latest| latest.question(&it.question.key).is_some());
        is_latest || !it.marked.is_empty()
    };
    let measured = |evaluated: &EvaluatedQuestion| {
        let version = evaluated.version();
        let newest = &evaluated.question;
        let asked = version.and_then(|version| context::question_in(history, version, &newest.key));
        MeasuredQuestion::new(
            asked.unwrap_or(newest).clone(),
            version,
            evaluated.model().map(ToOwned::to_owned),
            &evaluated.marked,
        )
    };
    evaluated.iter().filter(is_shown).map(measured).collect()
}

/// The marked answers of which wrong ones are listed.
struct MeasuredAnswers<'a> {
    history: &'a PrismHistory,
    filter: ResultFilter,
    evaluated: &'a [EvaluatedQuestion],
}

impl MeasuredAnswers<'_> {
    /// The newest wrong answers of each marked outcome.
    async fn wrong(&self, refract: &Refract, marks: MarksFrom) -> anyhow::Result<Vec<WrongLine>> {
        let mut lines = Vec::new();
        for evaluated in self.evaluated.iter().filter(|it| !it.marked.is_empty()) {
            let question = &evaluated.question;
            let filter = self.filter.clone();
            let measures = refract.measures();
            let quality = measures.quality(self.history, question, filter, marks, None);
            let quality = quality.await?;
            for outcome in &quality.evaluated.marked.measures().outcomes {
                lines.extend(quality.wrong.of(&outcome.key).map(|wrong| WrongLine {
                    row: String::new(),
                    result: wrong.result,
                    question: question.key.to_string(),
                    marked: outcome.key.to_string(),
                    answered: wrong.predicted.to_string(),
                }));
            }
        }
        Ok(lines)
    }
}

fn wrong_of(measured: &MeasuredQuestion) -> u64 {
    let accuracy = measured.measures.accuracy;
    accuracy.of - accuracy.count
}
