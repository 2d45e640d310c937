//! Lists: one description of the columns makes each row a JSON line or a row of a table.

use serde_json::value::RawValue;

use super::{object, table};

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
