//! Suggests which column of a file holds which field: by an earlier match of columns, else by names.

use refract_domain::prism::PrismVersion;

use super::column_mapping::{CONTEXT, ColumnMapping, REF};

/// What a column may be called that holds a field, `ref` or `context`.
struct WantedName<'a> {
    key: &'a str,
    label: &'a str,
}

/// Why a column may hold a field.
#[derive(Clone, Copy)]
enum NameRule {
    /// A person chose it before.
    Chosen,
    /// It has the name of the key.
    Key,
    /// Its name has the letters of the key.
    LikeKey,
    /// Its name has the letters of the label.
    LikeLabel,
}

impl NameRule {
    const BEST_FIRST: [Self; 4] = [Self::Chosen, Self::Key, Self::LikeKey, Self::LikeLabel];

    fn fits(self, wanted: &WantedName<'_>, column: &str, remembered: &[ColumnMapping]) -> bool {
        match self {
            Self::Chosen => remembered
                .iter()
                .any(|mapping| mapping.field == wanted.key && mapping.column == column),
            Self::Key => wanted.key == column,
            Self::LikeKey => is_alike(wanted.key, column),
            Self::LikeLabel => is_alike(wanted.label, column),
        }
    }
}

/// Suggests a column for each field, `ref` and `context`, and leaves out those without one. A column
/// that a person chose before is suggested first, then one of the same name as the field's key or
/// label, regardless of case, spaces and punctuation. No column is suggested twice.
pub fn suggest_columns(
    version: &PrismVersion,
    header: &[String],
    remembered: &[ColumnMapping],
) -> Vec<ColumnMapping> {
    let fields = version.fields().iter();
    let fields = fields.map(|field| WantedName {
        key: field.key.as_str(),
        label: &field.label,
    });
    let others = [REF, CONTEXT].map(|key| WantedName { key, label: key });
    let wanted: Vec<_> = fields.chain(others).collect();
    // a column that the file has twice cannot be read
    let once = |name: &&String| header.iter().filter(|other| other == name).count() == 1;
    let mut free: Vec<&String> = header.iter().filter(once).collect();
    let mut suggested: Vec<(usize, ColumnMapping)> = Vec::new();
    // better matches of any field come before worse ones of all others
    for rule in NameRule::BEST_FIRST {
        for (index, names) in wanted.iter().enumerate() {
            if suggested.iter().any(|(taken, _)| *taken == index) {
                continue;
            }
            let found = free
                .iter()
                .position(|column| rule.fits(names, column, remembered));
            if let Some(found) = found {
                let mapping = ColumnMapping {
                    column: free.remove(found).clone(),
                    field: names.key.to_owned(),
                };
                suggested.push((index, mapping));
            }
        }
    }
    suggested.sort_by_key(|(index, _)| *index);
    suggested.into_iter().map(|(_, mapping)| mapping).collect()
}

/// Whether names have the same letters and digits, and at least one.
fn is_alike(name: &str, other: &str) -> bool {
    let letters = |name: &str| {
        let letters = name.chars().filter(|c| c.is_alphanumeric());
        letters.flat_map(char::to_lowercase).collect::<String>()
    };
    let name = letters(name);
    !name.is_empty() && name == letters(other)
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
