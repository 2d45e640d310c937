//! The cutoffs of a question's labels in a lens: which ones apply, and how they are changed.

use super::column::Column;
use super::free_name::free_name;
use super::output::Output;
use crate::key::QuestionKey;
use crate::lens::cutoffs::Cutoffs;
use crate::prism::field::Field;

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

#[cfg(test)]
mod tests {
    use super::*;

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
}
