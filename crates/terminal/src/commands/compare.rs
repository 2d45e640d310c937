//! `refract compare`: two versions or models on the texts that both answered.

use std::collections::HashMap;
use std::fmt::Write as _;

use anyhow::{Context as _, bail, ensure};
use clap::Args;
use refract_domain::ids::{AccountId, ResultId};
use refract_domain::key::OutcomeKey;
use refract_domain::prism::VersionNumber;
use refract_domain::result::mark::MarksFrom;
use refract_service::Refract;
use refract_service::measures::{ComparedQuestion, ComparedSide, ComparedSides, DifferingText};
use serde_json::json;

use super::context::{self, AccountArg};
use super::selection::MarksArgs;
use crate::output::{self, report, value};
use crate::settings::DatabaseArgs;
use crate::terminal::{self, Palette, Progress, counted, widened};

/// The arguments of `refract compare`.
#[derive(Args)]
pub struct CompareCommand {
    /// Slug or id
    prism: String,

    /// One side: version=N, model=NAME, or version=N,model=NAME
    #[arg(long, value_name = "SIDE", value_parser = side)]
    a: ComparedSide,

    /// The other side
    #[arg(long, value_name = "SIDE", value_parser = side)]
    b: ComparedSide,

    /// Only this question
    #[arg(long, value_name = "QUESTION")]
    question: Option<String>,

    #[command(flatten)]
    marks: MarksArgs,

    /// One JSON object a line for each question
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    account: AccountArg,
}

impl CompareCommand {
    /// Runs `refract compare`: reads the results of both sides and prints the comparison.
    pub(crate) async fn run(self, database: &DatabaseArgs) -> anyhow::Result<()> {
        ensure!(
            self.a != self.b,
            "--a and --b are both {}: name two different sides",
            named(&self.a)
        );
        let (refract, prism) = self.account.open_prism(database, &self.prism).await?;
        let history = refract.prisms().with_versions(prism.id).await?;
        for version in [self.a.version, self.b.version].into_iter().flatten() {
            context::check_version(&history, version)?;
        }
        let question = self.question.as_ref();
        let question = question.map(|key| context::question(&history, key));
        let question = question.transpose()?.map(|question| &question.key);
        let progress = Progress::begin("results", None);
        let show = |read| progress.show(u64::try_from(read).unwrap_or(u64::MAX), "");
        let sides = [&self.a, &self.b];
        let measures = refract.measures();
        let marks = self.marks.from;
        let comparing = measures.compare(&history, sides, question, marks, show);
        let compared = comparing.await;
        progress.end();
        let compared = compared?;
        self.check(&compared)?;
        self.marks.say(compared.left_out);
        let latest = history.versions.last();
        let is_shown = |it: &&ComparedQuestion| {
            let is_latest =
                latest.is_some_and(|latest| latest.question(&it.question.key).is_some());
            is_latest || it.comparison.rows > 0
        };
        let mut shown = compared.questions.iter().filter(is_shown);
        if self.json {
            return shown.try_for_each(|question| print_json(question, marks));
        }
        let mut words = format!(
            "a is {}, b is {}; texts that both answered: {}\n",
            named(&self.a),
            named(&self.b),
            compared.texts
        );
        for question in shown {
            let references = references(&refract, prism.account, question).await?;
            let lines = lines(question, &references, terminal::width());
            writeln!(words, "\n{}", lines.join("\n"))?;
        }
        output::text(&words)
    }

    /// Refuses sides without anything to compare.
    fn check(&self, compared: &ComparedSides) -> anyhow::Result<()> {
        for (side, results) in [&self.a, &self.b].into_iter().zip(compared.results) {
            ensure!(
                results > 0,
                "there are no answered results of {}",
                named(side)
            );
        }
        ensure!(
            compared.texts > 0,
            "{} and {} answered no text in common: a text is known by its `ref`, or by equal fields \
             and context",
            named(&self.a),
            named(&self.b)
        );
        let is_unmarked =
            |question: &ComparedQuestion| question.comparison.rows == 0 && question.unanswered == 0;
        if compared.questions.iter().all(is_unmarked) {
            let texts = match compared.texts {
                1 => "the one text that both sides answered is not marked".to_owned(),
                texts => format!("none of the {texts} texts that both sides answered is marked"),
            };
            self.marks.say(compared.left_out);
            bail!(
                "{texts}: mark the results of one side with `refract marks import {} FILE`",
                self.prism
            );
        }
        Ok(())
    }
}

/// Parses one side of a comparison.
fn side(text: &str) -> anyhow::Result<ComparedSide> {
    let expected = "expected version=N, model=NAME or version=N,model=NAME";
    let mut side = ComparedSide::default();
    for part in text.split(',') {
        let (name, value) = part.split_once('=').context(expected)?;
        ensure!(!value.is_empty(), expected);
        match name {
            "version" if side.version.is_none() => {
                let version = value.parse().ok().and_then(VersionNumber::new);
                side.version = Some(version.context(expected)?);
            }
            "model" if side.model.is_none() => side.model = Some(value.to_owned()),
            _ => bail!(expected),
        }
    }
    Ok(side)
}

/// A side in the syntax of the command line.
fn named(side: &ComparedSide) -> String {
    let version = side.version.map(|version| format!("version={version}"));
    let model = side.model.as_ref();
    let model = model.map(|model| format!("model={}", terminal::plain(model)));
    let parts: Vec<_> = version.into_iter().chain(model).collect();
    parts.join(",")
}

/// Prints the object of a question; undefined measures are null.
fn print_json(compared: &ComparedQuestion, marks: MarksFrom) -> anyhow::Result<()> {
    let comparison = &compared.comparison;
    let interval = comparison.interval;
    let mcnemar_p = (comparison.rows > 0).then_some(comparison.mcnemar_p);
    output::object(&[
        ("question", value(&compared.question.key.as_str())),
        ("rows", value(&comparison.rows)),
        ("a", value(&json!({"accuracy": comparison.a.value()}))),
        ("b", value(&json!({"accuracy": comparison.b.value()}))),
        ("difference", value(&comparison.difference)),
        ("difference_low", value(&interval.map(|it| it.low))),
        ("difference_high", value(&interval.map(|it| it.high))),
        ("only_a_right", value(&comparison.only_a_right)),
        ("only_b_right", value(&comparison.only_b_right)),
        ("mcnemar_p", value(&mcnemar_p)),
        ("marks_from", value(&marks.name())),
    ])
}

/// Terminal columns of a result's id.
const ID: usize = 36;
/// The fewest terminal columns of an outcome.
const SHORTEST: usize = 6;
/// The most terminal columns of an outcome.
const OUTCOME: usize = 24;
/// The most terminal columns of a `ref`.
const REFERENCE: usize = 24;

/// The `ref` of each listed result that has one.
async fn references(
    refract: &Refract,
    account: AccountId,
    compared: &ComparedQuestion,
) -> anyhow::Result<HashMap<ResultId, String>> {
    let mut references = HashMap::new();
    for id in compared.listed.iter().flat_map(|text| text.results) {
        let result = refract.results().find(account, id).await?;
        if let Some(reference) = result.view().reference {
            references.insert(id, terminal::plain(reference));
        }
    }
    Ok(references)
}

/// The lines about a question.
fn lines(
    compared: &ComparedQuestion,
    references: &HashMap<ResultId, String>,
    width: usize,
) -> Vec<String> {
    let palette = Palette::of_stdout();
    let heading = report::heading(&compared.question, "", &palette, width);
    let found = compared.comparison.report(compared.unanswered);
    let mut lines = vec![heading];
    lines.extend(report::lines(&found, &palette, width));
    lines.extend(differing(compared, references, &palette, width));
    lines
}

/// The listed texts that the sides answer differently: one line for each, or two if the width is
/// too small for the results' ids.
fn differing(
    compared: &ComparedQuestion,
    references: &HashMap<ResultId, String>,
    palette: &Palette,
    width: usize,
) -> Vec<String> {
    let listed = &compared.listed;
    if listed.is_empty() {
        return Vec::new();
    }
    let outcomes = listed.iter().flat_map(|text| {
        let [a, b] = text.predicted.each_ref().map(Option::as_ref);
        [text.mark.as_str(), outcome(a), outcome(b)]
    });
    let refs: Vec<_> = listed
        .iter()
        .map(|text| reference(text, references))
        .collect();
    let of_refs = refs.iter().map(|reference| terminal::columns_of(reference));
    let of_refs = of_refs.max().unwrap_or(0).min(REFERENCE);
    let room = width.saturating_sub(of_refs + 6) / 3;
    let columns = outcomes.map(str::len).max().unwrap_or(0);
    let columns = columns.clamp(SHORTEST, OUTCOME).min(room.max(SHORTEST));
    let is_wide = 3 * (columns + 2) + 2 * (ID + 2) + of_refs <= width;
    let of_sides = format!("{:columns$}  {:columns$}  {:columns$}", "MARKED", "A", "B");
    let of_ids = format!("  {:ID$}  {:ID$}", "RESULT OF A", "RESULT OF B");
    let of_ids = if is_wide { of_ids.as_str() } else { "" };
    let header = format!(
        "{of_sides}{of_ids}{}",
        if of_refs > 0 { "  REF" } else { "" }
    );
    let mut lines = vec![palette.faint.apply_to(header.trim_end()).to_string()];
    for (text, reference) in listed.iter().zip(refs) {
        let mut line = answers(text, columns, palette);
        let [a, b] = text.results;
        let ids = format!("  {a}  {b}");
        if is_wide {
            line.push_str(&ids);
        }
        if !reference.is_empty() {
            line.push_str("  ");
            line.push_str(terminal::fit(&reference, of_refs).trim_end());
        }
        lines.push(line.trim_end().to_owned());
        if !is_wide {
            lines.push(palette.faint.apply_to(ids).to_string());
        }
    }
    let rest = compared.differing.saturating_sub(listed.len());
    if rest > 0 {
        lines.push(format!(
            "and {} that a and b answer differently",
            counted(widened(rest), "more text")
        ));
    }
    lines
}

/// The marked outcome and each side's prediction.
fn answers(text: &DifferingText, columns: usize, palette: &Palette) -> String {
    let side = |predicted: Option<&OutcomeKey>| {
        let cell = terminal::fit(outcome(predicted), columns);
        if predicted == Some(&text.mark) {
            palette.chosen.apply_to(cell).to_string()
        } else {
            cell
        }
    };
    let [a, b] = text.predicted.each_ref().map(|it| side(it.as_ref()));
    format!("{}  {a}  {b}", terminal::fit(text.mark.as_str(), columns))
}

/// The `ref` of both results, or both refs if they differ.
fn reference(text: &DifferingText, references: &HashMap<ResultId, String>) -> String {
    let [a, b] = text.results.map(|result| references.get(&result));
    match (a, b) {
        (Some(a), Some(b)) if a != b => format!("{a} / {b}"),
        (Some(one), _) | (None, Some(one)) => one.clone(),
        (None, None) => String::new(),
    }
}

fn outcome(predicted: Option<&OutcomeKey>) -> &str {
    predicted.map_or("–", OutcomeKey::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_side_is_a_version_a_model_or_both() {
        let sides = [
            ("version=3", Some(3), None),
            ("model=gpt", None, Some("gpt")),
            ("version=3,model=a=b", Some(3), Some("a=b")),
            ("model=a:7b,version=12", Some(12), Some("a:7b")),
        ];
        for (text, version, model) in sides {
            let read = side(text).unwrap();
            let version = version.and_then(VersionNumber::new);
            assert_eq!((read.version, read.model.as_deref()), (version, model));
        }
        for wrong in [
            "",
            "3",
            "version=",
            "version=0",
            "version=-1",
            "version=x",
            "model=",
            "version=1,version=2",
            "prompt=1",
            "version=1,",
        ] {
            assert!(side(wrong).is_err(), "{wrong}");
        }
    }
}
