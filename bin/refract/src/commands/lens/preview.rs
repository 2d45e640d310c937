//! `refract lens preview`: what another lens would make of stored results, before it is set.

use std::fmt::Write as _;
use std::num::NonZeroU64;
use std::path::PathBuf;

use clap::Args;
use indicatif::HumanCount;
use refract_answering::{CellTally, ColumnPreview, Counted, LensPreview, PrismResults, prisms};
use refract_domain::lens_file;
use refract_persistence::{ResultFilter, ResultOrder};
use serde::Serialize;

use super::super::operator::{self, AccountArg};
use super::share::share;
use crate::output;
use crate::settings::DatabaseArgs;
use crate::terminal::{self, Palette, Progress};

/// Columns that labels take at most.
const LABELS: usize = 32;
/// Columns of a bar.
const BAR: usize = 20;

/// Another lens, looked through and not set.
#[derive(Args)]
pub(crate) struct PreviewCommand {
    /// Slug or id
    prism: String,

    /// The lens file, JSON
    file: PathBuf,

    /// Looks at the newest N answered results only
    #[arg(long, value_name = "N")]
    sample: Option<NonZeroU64>,

    /// One JSON object instead of words and bars
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    account: AccountArg,
}

impl PreviewCommand {
    /// Carries it out.
    pub(crate) async fn run(self, database: &DatabaseArgs) -> anyhow::Result<()> {
        let file = operator::read_file(&self.file)?;
        let database = operator::open(&database.settings()).await?;
        let account = self.account.find(&database).await?;
        let prism = operator::find_prism(&database, account, &self.prism).await?;
        let lens = prisms::find_lens(&database, account, &prism).await?;
        let columns = lens_file::read(&file, &lens.latest)?;
        let mut preview = LensPreview::new(lens.columns().lens, &columns, &lens.latest);
        let answered = ResultFilter {
            is_ok: Some(true),
            ..ResultFilter::default()
        };
        let newest_first = ResultOrder::NewestFirst;
        let mut results = PrismResults::new(&database, lens, answered, newest_first);
        let most = self.sample.map_or(u64::MAX, NonZeroU64::get);
        let progress = Progress::begin("results", None);
        while preview.results < most {
            let page = results.next_page().await?;
            if page.is_empty() {
                break;
            }
            let left = usize::try_from(most - preview.results).unwrap_or(usize::MAX);
            for result in page.iter().take(left) {
                preview.add(&result.view());
            }
            progress.show(preview.results, "");
        }
        progress.end();
        if self.json {
            return output::json(&ShownPreview::of(&preview));
        }
        output::data(words(&preview)?.as_bytes())
    }
}

fn words(preview: &LensPreview) -> anyhow::Result<String> {
    let palette = Palette::of_stdout();
    let mut words = format!(
        "{} answered results: {} of {} cells would change.\n",
        HumanCount(preview.results),
        HumanCount(preview.changed()),
        HumanCount(preview.cells()),
    );
    for column in &preview.columns {
        let what = match column.changed {
            None => "a new column".to_owned(),
            Some(0) => "no cell changes".to_owned(),
            Some(changed) => format!(
                "{} cells change ({:.1} %)",
                HumanCount(changed),
                100.0 * share(changed, preview.results)
            ),
        };
        let heading = palette.heading.apply_to(&column.column.name);
        let output = column.column.output.name();
        let question = &column.column.question;
        writeln!(words, "\n{heading} ({output} of {question}): {what}")?;
        words.push_str(&distribution(column, preview.results)?);
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

/// A line for each thing that stands in cells, with what stands there now where that differs.
fn distribution(column: &ColumnPreview, results: u64) -> anyhow::Result<String> {
    let before = |value: &Counted| {
        let tally = column.before.as_ref()?;
        let same = tally.values.iter().find(|other| other.key == value.key);
        Some(same.map_or(0, Counted::cells))
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

/// A preview for programs.
#[derive(Serialize)]
struct ShownPreview<'a> {
    results: u64,
    cells: u64,
    changed: u64,
    columns: Vec<ShownColumn<'a>>,
    dropped: Vec<&'a str>,
}

#[derive(Serialize)]
struct ShownColumn<'a> {
    name: &'a str,
    question: &'a str,
    output: &'static str,
    /// Null for a new column.
    changed: Option<u64>,
    after: ShownTally<'a>,
    /// Null where it shows another kind of thing now, or is not there.
    before: Option<ShownTally<'a>>,
}

#[derive(Serialize)]
struct ShownTally<'a> {
    values: Vec<ShownValue<'a>>,
    empty: u64,
}

#[derive(Serialize)]
struct ShownValue<'a> {
    value: &'a str,
    label: &'a str,
    cells: u64,
}

impl<'a> ShownPreview<'a> {
    fn of(preview: &'a LensPreview) -> Self {
        let columns = preview.columns.iter().map(|preview| ShownColumn {
            name: preview.column.name.as_str(),
            question: preview.column.question.as_str(),
            output: preview.column.output.name(),
            changed: preview.changed,
            after: ShownTally::of(&preview.after),
            before: preview.before.as_ref().map(ShownTally::of),
        });
        let dropped = preview.dropped.iter().map(|column| column.name.as_str());
        Self {
            results: preview.results,
            cells: preview.cells(),
            changed: preview.changed(),
            columns: columns.collect(),
            dropped: dropped.collect(),
        }
    }
}

impl<'a> ShownTally<'a> {
    fn of(tally: &'a CellTally) -> Self {
        let values = tally.values.iter().map(|value| ShownValue {
            value: &value.key,
            label: &value.label,
            cells: value.cells(),
        });
        Self {
            values: values.collect(),
            empty: tally.empty,
        }
    }
}
