//! Names for further columns of a lens.

use super::column::Column;
use super::output::Output;
use crate::key::{ColumnName, QuestionKey};
use crate::prism::field::Field;

/// A name for another column of a question: the default name of the output, or this name with the
/// first number appended that makes it unique among columns and fields. `None` only when the
/// numbered name is longer than a column name may be.
pub fn free_name(
    columns: &[Column],
    fields: &[Field],
    question: &QuestionKey,
    output: Output,
) -> Option<ColumnName> {
    let default = Column::default_name(question, output).ok()?;
    let numbered = (2_u32..).map(|number| format!("{default}_{number}"));
    // a key of 64 characters with a number fits a column name of up to 80
    let numbered = numbered.map_while(|name| ColumnName::parse(&name).ok());
    let mut names = std::iter::once(default.clone()).chain(numbered);
    let is_taken = |name: &ColumnName| {
        let by_field = |field: &Field| field.key.as_str() == name.as_str();
        columns.iter().any(|column| column.name == *name) || fields.iter().any(by_field)
    };
    names.find(|name| !is_taken(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::FieldKey;

    fn column(name: &str) -> Column {
        Column {
            name: ColumnName::parse(name).unwrap(),
            question: QuestionKey::parse("angry").unwrap(),
            output: Output::YesProbability,
        }
    }

    fn name(taken: &[&str], fields: &[&str], output: Output) -> Option<String> {
        let columns: Vec<_> = taken.iter().map(|name| column(name)).collect();
        let field = |key: &&str| Field {
            key: FieldKey::parse(key).unwrap(),
            label: "F".to_owned(),
        };
        let fields: Vec<_> = fields.iter().map(field).collect();
        let angry = QuestionKey::parse("angry").unwrap();
        let name = free_name(&columns, &fields, &angry, output);
        name.map(|name| name.as_str().to_owned())
    }

    #[test]
    fn a_name_that_a_column_or_a_field_has_gets_a_number() {
        let named = |taken, fields, output| name(taken, fields, output).unwrap();
        assert_eq!(
            named(&["angry"], &[], Output::YesProbability),
            "angry_probability"
        );
        let taken = ["angry_probability", "angry_probability_3"];
        assert_eq!(
            named(&taken, &["angry_probability_2"], Output::YesProbability),
            "angry_probability_4"
        );
        assert_eq!(
            named(&[], &["angry_all"], Output::AllOptions),
            "angry_all_2"
        );
    }
}
