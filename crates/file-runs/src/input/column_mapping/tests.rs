use super::*;

fn version() -> PrismVersion {
    serde_json::from_str(
        r#"{ "fields": [{ "key": "subject", "label": "S" }, { "key": "text", "label": "T" }],
             "questions": [{ "key": "angry", "type": "yes_no", "text": "?" }] }"#,
    )
    .unwrap()
}

fn mapping(column: &str, field: &str) -> ColumnMapping {
    ColumnMapping {
        column: column.to_owned(),
        field: field.to_owned(),
    }
}

fn names(mappings: &[ColumnMapping]) -> Result<Vec<(String, bool)>, String> {
    let columns =
        InputColumns::new(&version(), &[], mappings).map_err(|error| error.to_string())?;
    let wanted = columns.wanted.0.into_iter();
    Ok(wanted
        .map(|column| (column.name, column.is_required))
        .collect())
}

#[test]
fn fields_are_required_and_ref_and_context_are_not_unless_they_are_named() {
    let of = |names: &[(&str, bool)]| -> Vec<(String, bool)> {
        names
            .iter()
            .map(|(name, required)| ((*name).to_owned(), *required))
            .collect()
    };
    assert_eq!(
        names(&[]).unwrap(),
        of(&[
            ("subject", true),
            ("text", true),
            ("ref", false),
            ("context", false)
        ])
    );
    assert_eq!(
        names(&[mapping("Body", "text"), mapping("Ticket", "ref")]).unwrap(),
        of(&[
            ("subject", true),
            ("Body", true),
            ("Ticket", true),
            ("context", false)
        ])
    );
}

#[test]
fn a_mapping_names_something_that_there_is_and_names_it_once() {
    assert_eq!(
        names(&[mapping("Body", "body")]).unwrap_err(),
        "'body' is no field of the prism: it has subject, text, and ref and context"
    );
    assert_eq!(
        names(&[mapping("a", "text"), mapping("b", "text")]).unwrap_err(),
        "'text' is named twice"
    );
    assert_eq!(
        names(&[mapping("a", "text"), mapping("a", "subject")]).unwrap_err(),
        "'a' is named twice"
    );
}

fn suggested(header: &[&str], remembered: &[(&str, &str)]) -> Vec<(String, String)> {
    let version = serde_json::from_str(
        r#"{ "fields": [{ "key": "subject", "label": "Betreff" },
                        { "key": "body_text", "label": "Message" }],
             "questions": [{ "key": "angry", "type": "yes_no", "text": "?" }] }"#,
    )
    .unwrap();
    let header: Vec<_> = header.iter().map(|name| (*name).to_owned()).collect();
    let remembered: Vec<_> = remembered
        .iter()
        .map(|(column, field)| ColumnMapping {
            column: (*column).to_owned(),
            field: (*field).to_owned(),
        })
        .collect();
    let suggested = suggest_columns(&version, &header, &remembered);
    let pairs = suggested.into_iter();
    pairs
        .map(|mapping| (mapping.column, mapping.field))
        .collect()
}

#[track_caller]
fn assert_suggested(header: &[&str], remembered: &[(&str, &str)], pairs: &[(&str, &str)]) {
    let found = suggested(header, remembered);
    let found: Vec<_> = found
        .iter()
        .map(|(c, f)| (c.as_str(), f.as_str()))
        .collect();
    assert_eq!(found, pairs);
}

#[test]
fn columns_are_found_by_key_and_label() {
    assert_suggested(
        &["Ref", "BETREFF", "Body Text", "Context:", "other"],
        &[],
        &[
            ("BETREFF", "subject"),
            ("Body Text", "body_text"),
            ("Ref", "ref"),
            ("Context:", "context"),
        ],
    );
    // the exact key is better than the label, and than another case
    assert_suggested(
        &["Message", "Subject", "body_text", "subject"],
        &[],
        &[("subject", "subject"), ("body_text", "body_text")],
    );
    assert_suggested(&["", "-", "x"], &[], &[]);
    assert_suggested(&["message", "message"], &[], &[]);
}

#[test]
fn what_a_person_chose_before_comes_first() {
    let before = [("Text", "body_text"), ("Message", "subject"), ("Id", "ref")];
    assert_suggested(
        &["Message", "Text", "subject", "ref"],
        &before,
        &[
            ("Message", "subject"),
            ("Text", "body_text"),
            ("ref", "ref"),
        ],
    );
    assert_suggested(&["subject"], &before, &[("subject", "subject")]);
}
