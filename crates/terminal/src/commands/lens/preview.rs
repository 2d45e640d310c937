//! `refract lens preview`: the effect of another lens on stored results, before it is saved.

use std::fmt::Write as _;
use std::num::NonZeroUsize;

use clap::Args;
use indicatif::HumanCount;
use refract_authoring::lens_file;
use refract_evaluation::counting::{ColumnPreview, LensPreview, ValueCount};
use serde_json::value::RawValue;

use super::super::context::AccountArg;
use crate::arguments;
use crate::commands::files::InputPath;
use crate::output::{self, NamedMembers, value};
use crate::settings::DatabaseArgs;
use crate::terminal::{self, Palette, Progress, counted};

/// Upper bound on the terminal columns of a label.
const LABELS: usize = 32;
/// Terminal columns of a bar.
const BAR: usize = 20;

/// Arguments of `refract lens preview`.
#[derive(Args)]
pub struct PreviewCommand {
    /// Slug or id
    prism: String,

    /// The lens file, JSON; `-` is stdin
    file: InputPath,

    /// Looks at the newest N answered results only
    #[arg(long, value_name = "N", value_parser = arguments::from_1::<NonZeroUsize>)]
    sample: Option<NonZeroUsize>,

    /// One JSON object instead of words and bars
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    account: AccountArg,
}

impl PreviewCommand {
    /// Runs `refract lens preview`: reads answered results and prints what would change.
    pub(crate) async fn run(self, database: &DatabaseArgs) -> anyhow::Result<()> {
        let file = self.file.read()?;
        let (refract, prism) = self.account.open_prism(database, &self.prism).await?;
        let lens = refract.lenses().of(prism).await?;
        let columns = lens_file::read(&file, &lens.latest)?;
        let most = self.sample.map_or(usize::MAX, NonZeroUsize::get);
        let progress = Progress::begin("results", None);
        let show = |read| progress.show(read, "");
        let preview = refract.lenses().preview(&lens, &columns, most, show).await;
        progress.end();
        let preview = preview?;
        if self.json {
            return print_json(&preview);
        }
        output::text(&render(&preview)?)
    }
}

fn render(preview: &LensPreview) -> anyhow::Result<String> {
    let palette = Palette::of_stdout();
    let mut words = format!(
        "{}: {} of {} would change.\n",
        counted(preview.results, "answered result"),
        HumanCount(preview.changed()),
        counted(preview.cells(), "cell"),
    );
    for column in &preview.columns {
        let what = match column.changed {
            None => "a new column".to_owned(),
            Some(0) => "no cell changes".to_owned(),
            Some(changed) => format!(
                "{} ({:.1} %)",
                if changed == 1 {
                    "1 cell changes".to_owned()
                } else {
                    format!("{} cells change", HumanCount(changed))
                },
                100.0 * share(changed, preview.results)
            ),
        };
        let heading = palette.heading.apply_to(&column.after.column.name);
        let output = column.after.column.output.name();
        let question = &column.after.column.question;
        writeln!(words, "\n{heading} ({output} of {question}): {what}")?;
        words.push_str(&value_lines(column, preview.results)?);
    }
    for column in &preview.dropped {
        writeln!(
            words,
            "\n{} would be gone.",
            palette.heading.apply_to(&column.name)
        )?;
    }
    Ok(words)
}

/// A line for each value, with its current number of cells if that differs.
fn value_lines(column: &ColumnPreview, results: u64) -> anyhow::Result<String> {
    let before = |value: &ValueCount| {
        let tally = column.before.as_ref()?;
        let found = tally.values.iter().find(|other| other.key == value.key);
        Some(found.map_or(0, ValueCount::cells))
    };
    let values = column.after.values.iter();
    let values = values.map(|value| (value.label.as_str(), value.cells(), before(value)));
    let empty = column.before.as_ref().map(|tally| tally.empty);
    let values = values.chain([("(empty)", column.after.empty, empty)]);
    let shown: Vec<_> = values
        .filter(|(_, after, before)| *after > 0 || before.is_some_and(|before| before > 0))
        .collect();
    let widths = shown.iter().map(|(label, ..)| terminal::columns_of(label));
    let width = widths.max().unwrap_or(0).min(LABELS);
    let mut lines = String::new();
    for (label, after, before) in shown {
        let part = share(after, results);
        write!(
            lines,
            "  {} {} {:>5.1} %  {}",
            terminal::fit(label, width),
            terminal::bar(part, &[], BAR),
            100.0 * part,
            HumanCount(after),
        )?;
        match before.filter(|before| *before != after) {
            Some(before) => writeln!(lines, ", now {}", HumanCount(before))?,
            None => lines.push('\n'),
        }
    }
    Ok(lines)
}

fn print_json(preview: &LensPreview) -> anyhow::Result<()> {
    let columns: Vec<_> = preview.columns.iter().map(column).collect();
    let dropped = preview.dropped.iter().map(|column| &column.name);
    output::object(&[
        ("results", value(&preview.results)),
        ("cells", value(&preview.cells())),
        ("changed", value(&preview.changed())),
        ("columns", value(&columns)),
        ("dropped", value(&dropped.collect::<Vec<_>>())),
    ])
}

fn column(preview: &ColumnPreview) -> Box<RawValue> {
    let column = &preview.after.column;
    value(&NamedMembers(&[
        ("name", value(&column.name)),
        ("question", value(&column.question)),
        ("output", value(&column.output.name())),
        // null for a new column
        ("changed", value(&preview.changed)),
        ("after", value(&preview.after)),
        // null if there is no column of this name now, or it cannot be compared
        ("before", value(&preview.before)),
    ]))
}

/// The share of `part` in `whole`, from 0 to 1; 0 when `whole` is 0.
pub(super) fn share(part: u64, whole: u64) -> f64 {
    let millionths = part.saturating_mul(1_000_000) / whole.max(1);
    f64::from(u32::try_from(millionths).unwrap_or(u32::MAX)) / 1e6
}
