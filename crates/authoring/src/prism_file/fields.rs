//! The fields of a prism file.

use std::collections::BTreeSet;

use refract_domain::json::Object;
use refract_domain::key::FieldKey;
use refract_domain::limits::{FIELDS, LABEL_CHARS};
use refract_domain::prism::field::Field;
use refract_domain::problem::ValidationError;

use crate::earlier_versions::EarlierVersions;
use crate::file_reader::{FileReader, ROOT, join};

/// Reads the fields by position; a wrong field is `None`.
pub(super) fn read_fields(
    reader: &mut FileReader,
    file: &Object<'_>,
    earlier: Option<&EarlierVersions>,
) -> Vec<Option<Field>> {
    let mut seen = BTreeSet::new();
    let elements = reader
        .list(ROOT, file, "fields", &FIELDS)
        .unwrap_or_default();
    let fields = elements.into_iter().enumerate().map(|(index, json)| {
        let path = join("fields", index);
        let object = reader.object(&path, json)?;
        reader.refuse_keys_besides(&path, &object, &["key", "label"]);
        let key = reader.key(&path, &object, FieldKey::parse);
        if let Some(key) = &key {
            let was_question = earlier.is_some_and(|earlier| earlier.keys.has_question_named(key));
            if !seen.insert(key.clone()) {
                reader
                    .problems
                    .add(join(&path, "key"), ValidationError::rule("is used twice"));
            } else if was_question {
                let rule = "was a question's key in an earlier version, so it cannot be a field's";
                reader
                    .problems
                    .add(join(&path, "key"), ValidationError::rule(rule));
            }
        }
        let label = reader.label(&path, &object, "label", &LABEL_CHARS);
        Some(Field {
            key: key?,
            label: label?,
        })
    });
    fields.collect()
}
