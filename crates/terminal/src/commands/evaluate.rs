//! `refract evaluate`: measures over marked answers, and advice on cutoffs for a goal.

mod advice;
mod advice_json;
mod advice_text;
mod agreement;
mod goal;

use clap::Args;
use refract_domain::prism::VersionNumber;
use refract_domain::prism::question::Question;
use refract_service::measures::EvaluatedQuestion;
use refract_service::prisms::PrismHistory;
use refract_service::results::ResultFilter;

use self::goal::{AdviceArgs, RequestedAdvice};
use super::context::{self, AccountArg};
use super::measures::{self, MeasuredQuestion};
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
    #[arg(long, conflicts_with = "advise")]
    agreement: bool,

    /// One JSON object a line for each question, or for the advice
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    advice: AdviceArgs,

    #[command(flatten)]
    account: AccountArg,
}

impl EvaluateCommand {
    /// Runs `refract evaluate`: reads the marked answers and prints their measures, or advice.
    pub(crate) async fn run(self, database: &DatabaseArgs) -> anyhow::Result<()> {
        let (refract, prism) = self.account.open_prism(database, &self.prism).await?;
        let history = refract.prisms().with_versions(prism.id).await?;
        let filter = self.filter(&history)?;
        let only = match self.advice.question.as_ref().or(self.question.as_ref()) {
            Some(key) => Some(context::question(&history, key)?),
            None => None,
        };
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
            self.say_no_marks(&filter, only, left_out);
            match &advised {
                // says how many marks are needed
                Some(RequestedAdvice::Certified(_)) => {}
                Some(RequestedAdvice::Plain(advised)) => return advised.refuse_to_write(),
                None => return Ok(()),
            }
        } else {
            self.marks.say(left_out);
        }
        match (advised, evaluated.first()) {
            (Some(RequestedAdvice::Plain(advised)), Some(evaluated)) => {
                advised.print(&self.prism, evaluated, &history, marks, self.json)
            }
            (Some(RequestedAdvice::Certified(certified)), Some(evaluated)) => {
                certified.print(&self.prism, evaluated, &history, marks, self.json)
            }
            (Some(_), None) | (None, _) => self.print(&evaluated, &history),
        }
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

    /// Prints the measures of the questions: all of the latest version, and those of older versions
    /// with marks.
    fn print(&self, evaluated: &[EvaluatedQuestion], history: &PrismHistory) -> anyhow::Result<()> {
        let latest = history.versions.last();
        let is_shown = |it: &&EvaluatedQuestion| {
            let is_latest =
                latest.is_some_and(|latest| latest.question(&it.question.key).is_some());
            is_latest || !it.marked.is_empty()
        };
        for (number, evaluated) in evaluated.iter().filter(is_shown).enumerate() {
            let version = evaluated.version();
            let newest = &evaluated.question;
            let asked =
                version.and_then(|version| context::question_in(history, version, &newest.key));
            let measured = MeasuredQuestion::new(
                asked.unwrap_or(newest).clone(),
                version,
                evaluated.model().map(ToOwned::to_owned),
                &evaluated.marked,
            );
            if self.json {
                let marks = Some(self.marks.from);
                output::json(&measures::json(&measured, marks))?;
                continue;
            }
            if number > 0 {
                output::text("\n")?;
            }
            output::text(&measures::render(&measured, terminal::width()))?;
        }
        Ok(())
    }
}
