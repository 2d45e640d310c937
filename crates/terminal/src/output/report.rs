//! A report as text: shares with three decimals, outcomes by their keys, tables in columns. Lists:
//! one description of the columns makes each row a JSON line or a row of a table.

use std::iter;

use indicatif::HumanCount;
use refract_domain::key::OutcomeKey;
use refract_domain::prism::Question;
use refract_evaluation::report::{
    Cell, Report, ReportPart, ReportTable, Weight, number, range, signed,
};
use serde_json::value::RawValue;

use super::{object, table};
use crate::terminal::{self, Palette, counted};

/// Terminal columns between two columns of a table.
const GAP: usize = 2;
/// The fewest terminal columns of a table's first column.
const SHORTEST: usize = 7;

/// The key of a question with `kind`, then its wording as far as the width allows.
pub(crate) fn heading(question: &Question, kind: &str, palette: &Palette, width: usize) -> String {
    let key = question.key.as_str();
    let left = width.saturating_sub(key.len() + kind.len() + 2);
    let text = terminal::fit(&question.text, left);
    let key = palette.heading.apply_to(key);
    format!("{key}{kind}: {}", text.trim_end())
}

/// The lines of the sentences and tables. The first column of a table is cut so that its lines fit
/// into `width` terminal columns.
pub(crate) fn lines(report: &Report<'_>, palette: &Palette, width: usize) -> Vec<String> {
    let parts = report.parts.iter();
    let lines = parts.flat_map(|part| match part {
        ReportPart::Sentence(weight, pieces) => vec![weighted(*weight, &sentence(pieces), palette)],
        ReportPart::Table(table) => table_lines(table, palette, width),
    });
    lines.collect()
}

fn weighted(weight: Weight, words: &str, palette: &Palette) -> String {
    match weight {
        Weight::Plain => words.to_owned(),
        Weight::Strong => palette.heading.apply_to(words).to_string(),
        Weight::Warning => palette.bad.apply_to(words).to_string(),
    }
}

/// The words of a sentence.
pub(crate) fn sentence(pieces: &[Cell<'_>]) -> String {
    pieces.iter().map(cell).collect()
}

/// The words of a cell.
pub(crate) fn cell(cell: &Cell<'_>) -> String {
    match cell {
        Cell::Words(words) => words.to_string(),
        Cell::Count(count) => HumanCount(*count).to_string(),
        Cell::Counted(count, noun) => counted(*count, noun),
        Cell::Outcome(outcome) => outcome.map_or("–", OutcomeKey::as_str).to_owned(),
        Cell::Share(figure) => range(figure.value, figure.interval),
        Cell::Difference(figure) => signed(figure.value, figure.interval),
        Cell::Number(figure) => number(figure.value),
    }
}

/// Counts and numbers stand at the right of their columns, all else at the left.
fn table_lines(table: &ReportTable<'_>, palette: &Palette, width: usize) -> Vec<String> {
    let headings = table.headings.iter().map(|heading| heading.to_uppercase());
    let rows = table.rows.iter().map(|row| row.iter().map(cell).collect());
    let lines: Vec<Vec<String>> = iter::once(headings.collect()).chain(rows).collect();
    let numbers: Vec<_> = table
        .rows
        .first()
        .into_iter()
        .flatten()
        .map(Cell::is_number)
        .collect();
    let widest = |column: usize| {
        let cells = lines.iter().filter_map(|line| line.get(column));
        cells
            .map(|cell| terminal::columns_of(cell))
            .max()
            .unwrap_or(0)
    };
    let mut columns: Vec<_> = (0..table.headings.len()).map(widest).collect();
    if let Some((first, others)) = columns.split_first_mut() {
        let others: usize = others.iter().map(|columns| columns + GAP).sum();
        *first = (*first).min(width.saturating_sub(others).max(SHORTEST));
    }
    let line = |cells: &Vec<String>| {
        let cells = cells.iter().zip(&columns).zip(&numbers);
        let cells = cells.map(|((cell, columns), is_number)| match is_number {
            true => format!("{cell:>columns$}"),
            false => terminal::fit(cell, *columns),
        });
        let cells: Vec<_> = cells.collect();
        cells.join(&" ".repeat(GAP)).trim_end().to_owned()
    };
    let mut lines: Vec<_> = lines.iter().map(line).collect();
    if let Some(headings) = lines.first_mut() {
        *headings = palette.faint.apply_to(&*headings).to_string();
    }
    lines
}

/// A column of a list.
pub(crate) struct ListColumn<Row> {
    /// The name in a JSON line; `None` for what only tables have.
    name: Option<&'static str>,
    /// The header in a table; `None` for what only JSON lines have.
    header: Option<&'static str>,
    value: fn(&Row) -> Box<RawValue>,
    /// The cell of a table, where it is not the value.
    cell: Option<fn(&Row) -> String>,
}

/// A column whose cells are its values: nothing for null.
pub(crate) const fn column<Row>(
    name: &'static str,
    header: &'static str,
    value: fn(&Row) -> Box<RawValue>,
) -> ListColumn<Row> {
    ListColumn {
        name: Some(name),
        header: Some(header),
        value,
        cell: None,
    }
}

/// A column whose cells are worded otherwise than its values.
pub(crate) const fn worded<Row>(
    name: &'static str,
    header: &'static str,
    value: fn(&Row) -> Box<RawValue>,
    cell: fn(&Row) -> String,
) -> ListColumn<Row> {
    ListColumn {
        cell: Some(cell),
        ..column(name, header, value)
    }
}

/// What only JSON lines have.
pub(crate) const fn json_only<Row>(
    name: &'static str,
    value: fn(&Row) -> Box<RawValue>,
) -> ListColumn<Row> {
    ListColumn {
        header: None,
        ..column(name, "", value)
    }
}

/// What only tables have.
pub(crate) const fn table_only<Row>(
    header: &'static str,
    value: fn(&Row) -> Box<RawValue>,
) -> ListColumn<Row> {
    ListColumn {
        name: None,
        ..column("", header, value)
    }
}

/// Writes rows under the headers, or each row as a JSON line.
pub(crate) fn list<Row>(
    as_json: bool,
    columns: &[ListColumn<Row>],
    rows: &[Row],
) -> anyhow::Result<()> {
    if as_json {
        let mut rows = rows.iter();
        return rows.try_for_each(|row| object(&members(columns, row)));
    }
    let shown: Vec<_> = columns.iter().filter(|it| it.header.is_some()).collect();
    let headers: Vec<_> = shown.iter().filter_map(|it| it.header).collect();
    let cells = |row| shown.iter().map(|it| it.cell_of(row)).collect();
    table(&headers, rows.iter().map(cells))
}

impl<Row> ListColumn<Row> {
    /// The cell of a table: nothing for null.
    fn cell_of(&self, row: &Row) -> String {
        if let Some(cell) = self.cell {
            return cell(row);
        }
        let value = (self.value)(row);
        match value.get() {
            "null" => String::new(),
            json => serde_json::from_str(json).unwrap_or_else(|_| json.to_owned()),
        }
    }
}

/// A row as the members of a JSON object.
pub(crate) fn members<Row>(
    columns: &[ListColumn<Row>],
    row: &Row,
) -> Vec<(&'static str, Box<RawValue>)> {
    let members = columns.iter();
    let members = members.filter_map(|it| Some((it.name?, (it.value)(row))));
    members.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_stand_at_the_right_and_the_first_column_is_cut() {
        let key = OutcomeKey::parse("a_long_outcome").unwrap();
        let row = |outcome, count| vec![Cell::Outcome(outcome), Cell::Count(count)];
        let table = ReportTable {
            caption: "",
            headings: &["Outcome", "Marked"],
            rows: vec![row(Some(&key), 1_200), row(None, 7)],
        };
        let palette = Palette::of_stdout();
        let whole = table_lines(&table, &palette, 80).join("\n");
        let expected = "OUTCOME         MARKED\na_long_outcome   1,200\n–                    7";
        assert_eq!(console::strip_ansi_codes(&whole), expected);
        let cut = table_lines(&table, &palette, 16).join("\n");
        assert!(cut.contains("a_long_…   1,200"), "{cut}");
    }
}
