//! Suggests which column of a file holds which field: by an earlier match of columns, else by names.

use std::collections::HashMap;

use refract_domain::prism::PrismVersion;

use super::column_mapping::{CONTEXT, ColumnMapping, REF};

/// Why a column may hold a field, the best reason first: a person chose it before, it has the name of
/// the key, the letters of the key, or the letters of the label.
const RULES: usize = 4;

/// The columns of a file that a name finds.
struct NamedColumns<'a> {
    /// The only column of a name; `None` for a name that the file has twice, which cannot be read.
    exact: HashMap<&'a str, Option<usize>>,
    /// The columns whose names have these letters, the last first.
    alike: HashMap<String, Vec<usize>>,
    is_taken: Vec<bool>,
}

impl<'a> NamedColumns<'a> {
    fn of(header: &'a [String]) -> Self {
        let mut exact = HashMap::new();
        for (place, name) in header.iter().enumerate() {
            let known = exact.entry(name.as_str());
            known.and_modify(|it| *it = None).or_insert(Some(place));
        }
        let mut alike: HashMap<String, Vec<usize>> = HashMap::new();
        for (place, name) in header.iter().enumerate().rev() {
            if exact.get(name.as_str()) == Some(&Some(place)) {
                alike.entry(letters(name)).or_default().push(place);
            }
        }
        alike.remove("");
        Self {
            exact,
            alike,
            is_taken: vec![false; header.len()],
        }
    }

    /// Takes the column of this name, unless it is taken.
    fn take_exact(&mut self, name: &str) -> Option<usize> {
        let place = self.exact.get(name).copied().flatten()?;
        let is_taken = self.is_taken.get_mut(place)?;
        (!std::mem::replace(is_taken, true)).then_some(place)
    }

    /// Takes the first column whose name has the letters of this one.
    fn take_alike(&mut self, name: &str) -> Option<usize> {
        let places = self.alike.get_mut(&letters(name))?;
        while let Some(place) = places.pop() {
            let is_taken = self.is_taken.get_mut(place)?;
            if !std::mem::replace(is_taken, true) {
                return Some(place);
            }
        }
        None
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
    let fields = fields.map(|field| (field.key.as_str(), field.label.as_str()));
    let wanted: Vec<_> = fields.chain([(REF, REF), (CONTEXT, CONTEXT)]).collect();
    let mut columns = NamedColumns::of(header);
    let mut found: Vec<Option<usize>> = vec![None; wanted.len()];
    // better matches of any field come before worse ones of all others
    for rule in 0..RULES {
        for ((key, label), found) in wanted.iter().zip(&mut found) {
            if found.is_some() {
                continue;
            }
            let mut chosen = remembered.iter().filter(|it| it.field == *key);
            *found = match rule {
                0 => chosen.find_map(|it| columns.take_exact(&it.column)),
                1 => columns.take_exact(key),
                2 => columns.take_alike(key),
                _ => columns.take_alike(label),
            };
        }
    }
    let suggested = wanted.iter().zip(found);
    let suggested = suggested.filter_map(|((key, _), place)| {
        let column = header.get(place?)?.clone();
        let field = (*key).to_owned();
        Some(ColumnMapping { column, field })
    });
    suggested.collect()
}

/// The letters and digits of a name in lower case.
fn letters(name: &str) -> String {
    let letters = name.chars().filter(|c| c.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
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
