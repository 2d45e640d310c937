//! Changes of a lens: the cutoffs of a question's labels, which apply and how they are changed, and
//! names for further columns.

use super::column::Column;
use super::output::Output;
use crate::key::{ColumnName, QuestionKey};
use crate::lens::cutoffs::Cutoffs;
use crate::prism::Field;

/// The cutoffs that decide a Yes / No question: those of the first column that shows its `label`,
/// or those of the automatic lens without such a column.
pub fn cutoffs_of(columns: &[Column], question: &QuestionKey) -> Cutoffs {
    let of_question = columns.iter().filter(|column| column.question == *question);
    let mut labels = of_question.filter_map(|column| column.output.cutoffs());
    labels.next().unwrap_or(Cutoffs::AUTOMATIC)
}

/// The columns with these cutoffs in every column that shows the `label` of a Yes / No question.
/// Without such a column, one is added at the end under a [free name](free_name). `fields` are
/// those of the latest version.
pub fn with_cutoffs(
    columns: &[Column],
    fields: &[Field],
    question: &QuestionKey,
    cutoffs: Cutoffs,
) -> Vec<Column> {
    let mut columns = columns.to_vec();
    let mut is_shown = false;
    for column in &mut columns {
        if column.question == *question && column.output.cutoffs().is_some() {
            column.output = Output::Label(cutoffs);
            is_shown = true;
        }
    }
    if !is_shown {
        let name = free_name(&columns, fields, question, Output::Label(cutoffs));
        columns.extend(name.map(|name| Column {
            name,
            question: question.clone(),
            output: Output::Label(cutoffs),
        }));
    }
    columns
}

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

    /// Columns of yes/no questions; one without a name is named after its question.
    fn columns(text: &str) -> Vec<Column> {
        let mut lens: serde_json::Value = serde_json::from_str(text).unwrap();
        for column in lens["columns"].as_array_mut().unwrap() {
            column["type"] = "yes_no".into();
            if column.get("name").is_none() {
                column["name"] = column["question"].clone();
            }
        }
        serde_json::from_value(lens["columns"].take()).unwrap()
    }

    fn key(text: &str) -> QuestionKey {
        QuestionKey::parse(text).unwrap()
    }

    #[test]
    fn the_first_label_of_a_question_decides() {
        let lens = columns(
            r#"{"columns": [
                {"name": "p", "question": "angry", "output": "probability"},
                {"name": "strict", "question": "angry", "output": "label", "no_below": 0.2, "yes_from": 0.9},
                {"name": "mild", "question": "angry", "output": "label"}]}"#,
        );
        let strict = Cutoffs::new(Some(0.2), Some(0.9)).unwrap();
        assert_eq!(cutoffs_of(&lens, &key("angry")), strict);
        assert_eq!(cutoffs_of(&lens, &key("rude")), Cutoffs::AUTOMATIC);
    }

    #[test]
    fn cutoffs_go_to_every_label_of_the_question_and_to_nothing_else() {
        let lens = columns(
            r#"{"columns": [
                {"name": "p", "question": "angry", "output": "probability"},
                {"name": "a", "question": "angry", "output": "label", "no_below": 0.2},
                {"question": "rude", "output": "label"},
                {"name": "b", "question": "angry", "output": "label"}]}"#,
        );
        let changed = with_cutoffs(
            &lens,
            &[],
            &key("angry"),
            Cutoffs::new(Some(0.62), None).unwrap(),
        );
        let expected = columns(
            r#"{"columns": [
                {"name": "p", "question": "angry", "output": "probability"},
                {"name": "a", "question": "angry", "output": "label", "no_below": 0.62},
                {"question": "rude", "output": "label"},
                {"name": "b", "question": "angry", "output": "label", "no_below": 0.62}]}"#,
        );
        assert_eq!(changed, expected);
    }

    #[test]
    fn a_question_without_a_label_gets_one_under_a_free_name() {
        let lens = columns(
            r#"{"columns": [
                {"name": "angry", "question": "angry", "output": "probability"},
                {"name": "angry_2", "question": "rude", "output": "label"}]}"#,
        );
        let cutoffs = Cutoffs::new(Some(0.3), Some(0.7)).unwrap();
        let changed = with_cutoffs(&lens, &[], &key("angry"), cutoffs);
        assert_eq!(changed[..2], lens[..]);
        assert_eq!(changed[2].name.as_str(), "angry_3");
        assert_eq!(changed[2].output, Output::Label(cutoffs));
        assert_eq!(changed.len(), 3);
    }

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
