//! The tables of marks, and what the statements that save marks in them have in common.

use diesel::backend::Backend;
use diesel::query_builder::AstPass;

/// The tables of marks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum MarkTable {
    /// The mark that counts.
    Counting,
    /// The marks beside it.
    Beside,
}

/// The beginning of an insert, up to the names of the columns.
pub(super) fn push_columns<DB: Backend>(table: MarkTable, out: &mut AstPass<'_, '_, DB>) {
    out.push_sql(match table {
        MarkTable::Counting => "INSERT INTO marks (prism_id, ",
        MarkTable::Beside => "INSERT INTO other_marks (prism_id, marker, ",
    });
    out.push_sql(
        "result_id, question, outcome, marked_by, marked_at, source, note, person_id, marked_as) ",
    );
}

/// The end of an insert: a mark replaces the saved one of its key.
pub(super) fn push_conflict<DB: Backend>(table: MarkTable, out: &mut AstPass<'_, '_, DB>) {
    out.push_sql(match table {
        MarkTable::Counting => "ON CONFLICT (result_id, question) ",
        MarkTable::Beside => "ON CONFLICT (result_id, question, marker) ",
    });
    out.push_sql(
        "DO UPDATE SET outcome = excluded.outcome, marked_by = excluded.marked_by, \
         marked_at = excluded.marked_at, source = excluded.source, note = excluded.note, \
         person_id = excluded.person_id, marked_as = excluded.marked_as",
    );
}
