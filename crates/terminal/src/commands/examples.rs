//! `refract examples`: the example texts of a prism, with the answers that are right for them.

use std::sync::Arc;

use anyhow::{Context as _, bail};
use clap::{Args, Subcommand};
use refract_domain::ids::ExampleId;
use refract_domain::prism::ExampleNote;
use refract_domain::submission::Ref;
use refract_file_runs::{ExampleFileProblem, GoldFile, GoldText};
use refract_identity::people::AccountActor;
use refract_service::Refract;
use refract_service::lenses::PrismLens;
use refract_service::prisms::{CheckedExample, ExampleState};

use super::context::AccountArg;
use super::files::{InputPath, SheetArg};
use super::selection::to_the_second;
use crate::output::report::{ListColumn, column, worded};
use crate::output::{self, WrongUsage, report, value};
use crate::settings::DatabaseArgs;

/// Most problems of a file that are listed.
const MOST_PROBLEMS: usize = 20;

/// The subcommands of `refract examples`.
#[derive(Subcommand)]
pub enum ExamplesCommand {
    /// Lists the examples of a prism without their texts, and how the latest version answered them
    #[command(
        after_help = "Examples:\n  refract examples list support-triage\n  refract examples list support-triage --json | jq -r 'select(.state == \"broken\") | .id'"
    )]
    List {
        #[command(flatten)]
        prism: ExamplesArg,
        /// JSON lines instead of a table
        #[arg(long)]
        json: bool,
    },
    /// Keeps the rows of a file as examples, all or none
    ///
    /// The file is as for `refract check`: fields and `expected_<question>` columns. A text that is an
    /// example already gets the outcomes of the file, so the same file changes nothing again.
    #[command(after_help = "Examples:\n  refract examples import support-triage examples.csv")]
    Import {
        #[command(flatten)]
        prism: ExamplesArg,
        /// CSV, TSV, JSON, Excel or Parquet; `-` is stdin
        file: InputPath,
        #[command(flatten)]
        sheet: SheetArg,
    },
    /// Writes the examples to stdout as a file for `examples import` and `check`
    ///
    /// CSV, or JSON Lines where a text could be taken for a formula.
    #[command(
        after_help = "Examples:\n  refract examples export support-triage > gold.csv && refract check support-triage gold.csv"
    )]
    Export(ExamplesArg),
    /// Removes an example
    #[command(
        after_help = "Examples:\n  refract examples remove support-triage 0190b8f2-0000-7000-8000-0000000000aa"
    )]
    Remove {
        #[command(flatten)]
        prism: ExamplesArg,
        /// The example's id
        id: String,
    },
}

/// The prism of a command.
#[derive(Args)]
pub struct ExamplesArg {
    /// Slug or id
    prism: String,
    #[command(flatten)]
    account: AccountArg,
}

impl ExamplesCommand {
    /// Runs a `refract examples` command.
    pub(crate) async fn run(self, database: &DatabaseArgs) -> anyhow::Result<()> {
        match self {
            Self::List { prism, json } => {
                let (refract, lens) = prism.open(database).await?;
                let examples = found(&refract, &lens).await?;
                let columns = lens.columns();
                let listed = examples.into_iter().map(|one| {
                    let state = state_name(&one.state(&lens.latest, columns.lens));
                    (one, state)
                });
                report::list(json, COLUMNS, &listed.collect::<Vec<_>>())
            }
            Self::Import { prism, file, sheet } => {
                let (refract, lens) = prism.open(database).await?;
                import(&refract, &lens, &file, &sheet).await
            }
            Self::Export(prism) => {
                let (refract, lens) = prism.open(database).await?;
                let examples = found(&refract, &lens).await?;
                export(&refract, &lens, &examples).await
            }
            Self::Remove { prism, id } => {
                let no_example = || {
                    format!("there is no example with the id '{id}': see `refract examples list`")
                };
                let example = ExampleId::parse(&id).with_context(no_example)?;
                let (refract, lens) = prism.open(database).await?;
                let actor = AccountActor::operator(lens.prism.account);
                let examples = refract.prisms().example_texts();
                let is_removed = examples.remove(&actor, &lens.prism, example).await?;
                anyhow::ensure!(is_removed, no_example());
                output::say("The example is removed.");
                Ok(())
            }
        }
    }
}

impl ExamplesArg {
    async fn open(&self, database: &DatabaseArgs) -> anyhow::Result<(Refract, PrismLens)> {
        let (refract, prism) = self.account.open_prism(database, &self.prism).await?;
        let lens = refract.lenses().of(prism).await?;
        Ok((refract, lens))
    }
}

async fn found(refract: &Refract, lens: &PrismLens) -> anyhow::Result<Vec<CheckedExample>> {
    let examples = refract.prisms().example_texts();
    Ok(examples.checked(&lens.prism, &lens.latest).await?)
}

/// An example with the name of its state.
type ListedExample = (CheckedExample, &'static str);

/// The columns of the list.
const COLUMNS: &[ListColumn<ListedExample>] = &[
    column("id", "id", |(it, _)| value(&it.example.id.to_string())),
    column("ref", "ref", |(it, _)| {
        value(&it.example.reference.as_ref().map(Ref::as_str))
    }),
    column("state", "state", |(_, state)| value(state)),
    worded(
        "expected",
        "expected",
        |(it, _)| value(&it.example.expected),
        |(it, _)| {
            let expected = it.example.expected.0.iter();
            let expected = expected.map(|(question, outcome)| format!("{question}={outcome}"));
            expected.collect::<Vec<_>>().join(" ")
        },
    ),
    column("note", "note", |(it, _)| {
        value(&it.example.note.as_ref().map(ExampleNote::as_str))
    }),
    column("changed_at", "changed", |(it, _)| {
        value(&to_the_second(it.example.changed_at))
    }),
];

fn state_name(state: &ExampleState) -> &'static str {
    match state {
        ExampleState::Broken => "broken",
        ExampleState::Failed(_) => "failed",
        ExampleState::LacksFields(_) => "lacks_fields",
        ExampleState::NotChecked => "not_checked",
        ExampleState::NothingExpected => "nothing_expected",
        ExampleState::Holds => "holds",
    }
}

async fn import(
    refract: &Refract,
    lens: &PrismLens,
    file: &InputPath,
    sheet: &SheetArg,
) -> anyhow::Result<()> {
    let version = Arc::clone(&lens.latest);
    let read = file.open(sheet, |source| GoldFile::read(source, &version));
    let read = read.map_err(|error| WrongUsage(format!("{file}: {error}")))?;
    let inputs = match read.examples(&lens.latest) {
        Ok(inputs) => inputs,
        Err(problems) => bail!("{file}: no example was kept: {}", described(&problems)),
    };
    let rows = inputs.len();
    let actor = AccountActor::operator(lens.prism.account);
    let examples = refract.prisms().example_texts();
    let saved = examples.upload(&actor, &lens.prism, inputs).await?;
    let unchanged = rows.saturating_sub(saved.added + saved.changed);
    output::object(&[
        ("added", value(&saved.added)),
        ("changed", value(&saved.changed)),
        ("unchanged", value(&unchanged)),
    ])
}

fn described(problems: &[ExampleFileProblem]) -> String {
    let shown = problems.iter().take(MOST_PROBLEMS);
    let mut words: Vec<String> = shown
        .map(|problem| match problem.line {
            Some(line) => format!("line {line}: {}", problem.words),
            None => problem.words.clone(),
        })
        .collect();
    if problems.len() > MOST_PROBLEMS {
        words.push(format!("and {} more", problems.len() - MOST_PROBLEMS));
    }
    words.join("; ")
}

async fn export(
    refract: &Refract,
    lens: &PrismLens,
    examples: &[CheckedExample],
) -> anyhow::Result<()> {
    let texts = GoldText::of_examples(examples, &lens.latest);
    let actor = AccountActor::operator(lens.prism.account);
    let recording = refract
        .prisms()
        .example_texts()
        .record_download(&actor, &lens.prism);
    recording.await?;
    let mut bytes = Vec::new();
    GoldFile::write(&lens.latest, &texts, &mut bytes).context(output::NOT_WRITTEN)?;
    output::data(&bytes)?;
    let left_out = examples.len() - texts.len();
    if left_out > 0 {
        output::say(&format!(
            "{left_out} left out: their texts lack a field of the latest version."
        ));
    }
    Ok(())
}
