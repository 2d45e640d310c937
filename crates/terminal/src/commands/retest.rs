//! `refract retest`: asks stored texts again, of another model or another version, saves nothing, and
//! reports which answers flip.

mod answers_file;
mod asking;
mod flips;

use std::cell::RefCell;
use std::collections::HashMap;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context as _, bail, ensure};
use chrono::Utc;
use clap::Args;
use indicatif::HumanCount;
use refract_domain::answer::Answers;
use refract_domain::ids::ResultId;
use refract_domain::result::mark::MarksFrom;
use refract_file_runs::{OutputFormat, format_of_name};
use refract_identity::people::AccountActor;
use refract_lens_rendering::{FlipRowWriter, RowFormat};
use refract_service::Refract;
use refract_service::measures::{
    DrawnFrom, FlippedAnswer, Retest, RetestError, RetestOrder, RetestProgress, RetestReport,
    SAMPLED_NEWEST, retest_fingerprint,
};
use refract_service::model::ModelGateway;
use refract_service::results::ResultFilter;
use refract_service::runs::AskingPace;

use self::answers_file::{AnswersFile, AnswersHead};
use self::asking::RetestAskingArgs;
use super::context::{self, AccountArg};
use super::file_run::{pace, report};
use super::output_files::{self, is_stdout};
use super::selection::MarksArgs;
use super::signals::StopSignals;
use crate::output;
use crate::output::file::OutputFile;
use crate::settings::DatabaseArgs;
use crate::terminal::{self, Progress, counted, widened};

/// The arguments of `refract retest`.
#[derive(Args)]
pub struct RetestCommand {
    /// Slug or id
    prism: String,

    /// A file for the answers that flip, the surest first: csv, tsv or jsonl, as its name ends; `-`
    /// is stdout. With it, a retest that was stopped goes on when it is started again
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    #[command(flatten)]
    marks: MarksArgs,

    /// One JSON object a line for each question
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    account: AccountArg,

    #[command(flatten)]
    asking: RetestAskingArgs,
}

impl RetestCommand {
    /// Runs `refract retest`. A text without a new answer gives exit status 1.
    pub(crate) async fn run(self, database: &DatabaseArgs) -> anyhow::Result<ExitCode> {
        let format = self.format()?;
        let outputs = [("--output", self.output.as_deref())];
        let prism_file = self.asking.prism_file.as_ref();
        output_files::check(&outputs, &[prism_file], database)?;
        output_files::check_json(self.json, &outputs)?;
        let settings = self.asking.model.settings()?;
        let pace = self.asking.pace(settings.concurrency);
        let (refract, prism) = self.account.open_prism(database, &self.prism).await?;
        let version = self.asking.version(&refract, &prism).await?;
        let fingerprint = retest_fingerprint(prism.id, version.as_deref(), &settings);
        let mut gateway = ModelGateway::new(settings)?;
        let refract = refract.with_gateway(&mut gateway).await?;
        let mut kept = self.answers_file(fingerprint)?;
        let until = kept.as_ref().map(|kept| kept.head.until);
        let lens = Arc::new(refract.lenses().of(prism).await?);
        let order = RetestOrder {
            version,
            filter: ResultFilter {
                since: self.asking.since,
                until,
                ..ResultFilter::default()
            },
            sample: self.asking.sample.get().into(),
            from: self.asking.drawn_from(),
            marks: self.marks.from,
            lens: &lens,
        };
        let retest = refract.measures().draw_retest(order).await?;
        self.say_drawn(&retest)?;
        let known = kept.as_mut().map(|kept| std::mem::take(&mut kept.known));
        let known = known.unwrap_or_default();
        self.say_price(&refract, &retest, &known)?;
        context::say_if_for_trying_only(&refract);
        let (from, version) = (self.asking.drawn_from(), self.asking.version);
        let actor = AccountActor::operator(lens.prism.account);
        let saving = refract.measures();
        saving
            .save_retest_started(&actor, &retest, from, version)
            .await?;
        let report = ask(&refract, &retest, &known, pace, kept.as_mut()).await?;
        refract.keep_server_facts().await;
        for (error, failures) in &report.asked.failed {
            output::say(&format!("failed, {}: {error}", texts(*failures)));
        }
        self.write(&report, format)?;
        self.end(&report, kept)
    }

    /// The format of the rows; `None` without `--output`.
    fn format(&self) -> anyhow::Result<Option<RowFormat>> {
        let Some(file) = &self.output else {
            return Ok(None);
        };
        let named = format_of_name(file);
        let named = named.with_context(|| format!("--output {}", file.display()))?;
        match named.unwrap_or(OutputFormat::Rows(RowFormat::Csv)) {
            OutputFormat::Rows(format) => Ok(Some(format)),
            format @ (OutputFormat::Parquet | OutputFormat::Workbook) => {
                bail!(
                    "a retest is not written as {}: name a csv, tsv or jsonl file",
                    format.name()
                )
            }
        }
    }

    fn is_on_stdout(&self) -> bool {
        is_stdout(self.output.as_deref())
    }

    /// The file beside the output; `None` without an output file.
    fn answers_file(&self, fingerprint: String) -> anyhow::Result<Option<AnswersFile>> {
        let output = self.output.as_deref().filter(|_| !self.is_on_stdout());
        let head = AnswersHead {
            retest: fingerprint,
            sample: self.asking.sample.get(),
            marked: self
                .asking
                .marked
                .then(|| self.marks.from.name().to_owned()),
            since: self.asking.since,
            until: Utc::now(),
        };
        let open = |output| AnswersFile::open(output, head);
        output.map(open).transpose()
    }

    /// Reports what is left out of the retest. Refuses a retest without texts.
    fn say_drawn(&self, retest: &Retest) -> anyhow::Result<()> {
        if retest.is_of_newest {
            output::say(&format!(
                "The texts are drawn from the newest {} results.",
                HumanCount(widened(SAMPLED_NEWEST))
            ));
        }
        for (number, why) in [
            (retest.lacking_fields, "lack a field of the version"),
            (retest.too_large, "are too large for the version"),
        ] {
            if number > 0 {
                output::say(&format!("left out: {} that {why}", texts(number)));
            }
        }
        for (question, number) in &retest.not_compared {
            output::say(&format!(
                "not compared: {question} on {}, whose version lacks it or has other outcomes",
                texts(*number)
            ));
        }
        let which = match (self.asking.drawn_from(), self.marks.from) {
            (DrawnFrom::Answered, _) => "",
            (DrawnFrom::Marked, MarksFrom::Random) => " with a random or imported mark",
            (DrawnFrom::Marked, MarksFrom::All) => " with a mark",
        };
        ensure!(
            !retest.is_empty(),
            "there is no answered result{which} that can be asked about again"
        );
        self.marks.say(retest.marks_left_out);
        Ok(())
    }

    fn say_price(
        &self,
        refract: &Refract,
        retest: &Retest,
        known: &HashMap<ResultId, Answers>,
    ) -> anyhow::Result<()> {
        let before = widened(retest.count_known(known));
        let to_ask = widened(retest.len()).saturating_sub(before);
        let cost = refract.measures().retest_cost(retest, known)?;
        let asked_before = match before {
            0 => String::new(),
            before => format!(" ({} were asked before)", texts(before)),
        };
        output::say(&format!(
            "asking {} about {} again{asked_before}{}; no result is saved",
            self.asking.describe_version(),
            match self.asking.drawn_from() {
                DrawnFrom::Answered => texts(to_ask),
                DrawnFrom::Marked => counted(to_ask, "marked text"),
            },
            report::cost(
                widened(cost.tokens),
                widened(cost.requests),
                refract.token_price()
            )
        ));
        Ok(())
    }

    /// Writes the rows, and what was found.
    fn write(&self, report: &RetestReport, format: Option<RowFormat>) -> anyhow::Result<()> {
        if let (Some(file), Some(format)) = (&self.output, format) {
            let mut out = OutputFile::create(file)?;
            let written = write_rows(&report.flipped(), format, &mut out);
            written.with_context(|| format!("cannot write {}", file.display()))?;
            out.finish()?;
        }
        if self.is_on_stdout() {
            return Ok(());
        }
        if self.json {
            return report.questions.iter().try_for_each(flips::print_json);
        }
        output::text(&flips::render(report, terminal::width()))
    }

    /// The exit status. A retest that answered everything deletes the kept answers.
    fn end(&self, report: &RetestReport, kept: Option<AnswersFile>) -> anyhow::Result<ExitCode> {
        let cause = match (&report.asked.end, report.asked.failures()) {
            (Some(end), _) => format!("not all texts were asked: {end}"),
            (None, 0) => {
                kept.map(AnswersFile::delete).transpose()?;
                if let Some(file) = self.output.as_deref().filter(|_| !self.is_on_stdout()) {
                    let flips = counted(widened(report.flipped().len()), "flip");
                    output::say(&format!("{flips} written to {}.", file.display()));
                }
                return Ok(ExitCode::SUCCESS);
            }
            (None, failures) => format!("{} failed", texts(failures)),
        };
        let advice = match kept {
            None => "with --output FILE a retest can go on".to_owned(),
            Some(kept) => format!(
                "the new answers so far are in {}: run the same command again to go on",
                kept.path().display()
            ),
        };
        Ok(output::fail_with(&format!("error: {cause}; {advice}")))
    }
}

/// Asks about the texts whose new answers are not known, keeps each new answer in the file, and shows
/// the progress.
async fn ask(
    refract: &Refract,
    retest: &Retest,
    known: &HashMap<ResultId, Answers>,
    asking: AskingPace,
    kept: Option<&mut AnswersFile>,
) -> anyhow::Result<RetestReport> {
    let signals = StopSignals::watch()?;
    let path = kept.as_ref().map(|kept| kept.path().to_owned());
    let progress = Progress::begin("texts", Some(widened(retest.len())));
    let stopping = stop(signals, &progress);
    let kept = RefCell::new(kept);
    let keep = |result, answers: Option<&Answers>| match (&mut *kept.borrow_mut(), answers) {
        (Some(kept), Some(answers)) => kept.keep(result, answers),
        _ => Ok(()),
    };
    let show = |at: &RetestProgress<'_>| {
        let asked = &at.report.asked;
        let failed = match asked.failures() {
            0 => String::new(),
            failures => format!(", {} failed", HumanCount(failures)),
        };
        let done = at.report.known + asked.answered + asked.failures();
        progress.show(done, &(failed + &pace(at.learned_per_minute)));
    };
    let ended = refract.measures().retest(
        retest,
        known,
        asking,
        stopping,
        async |result, outcome| keep(result, outcome.ok()),
        show,
    );
    let ended = ended.await;
    progress.end();
    match ended {
        Err(RetestError::Keep(error)) => {
            let path = path.unwrap_or_default();
            Err(error).with_context(|| format!("cannot write {}", path.display()))
        }
        ended => Ok(ended?),
    }
}

/// Waits for the first signal. A second signal ends the program.
async fn stop(mut signals: StopSignals, progress: &Progress) {
    signals.next().await;
    let words = "Stopping: calls under way are finished. Once more stops at once.";
    progress.beside(|| output::say(words));
    tokio::spawn(async move {
        signals.next().await;
        output::say("error: stopped at once");
        std::process::exit(1);
    });
}

fn write_rows(
    flipped: &[&FlippedAnswer],
    format: RowFormat,
    out: &mut OutputFile,
) -> std::io::Result<()> {
    let mut rows = FlipRowWriter::new(format, &mut *out);
    rows.write_header()?;
    for flip in flipped {
        rows.write_row(&flip.row())?;
    }
    rows.finish()?.flush()
}

fn texts(number: u64) -> String {
    counted(number, "text")
}
