//! Reads hand-written files, key by key, and collects every problem of the file.

use std::ops::RangeInclusive;

use refract_domain::json::{Json, JsonString, Object};
use refract_domain::problem::text;
use refract_domain::problem::{Problems, ValidationError};

/// The path of the whole file.
pub(crate) const ROOT: &str = "file";

/// The key of a comment, allowed in any object of a file. Its value is ignored, as in a JSON
/// Schema: JSON has no comments, and with a key the file stays valid JSON for every other program.
const COMMENT: &str = "$comment";

/// The key of the whole file that names its JSON Schema, for editors.
const SCHEMA: &str = "$schema";

/// Joins a path and a key or position with a dot; a key of the root stands for itself.
pub(crate) fn join(path: &str, key: impl std::fmt::Display) -> String {
    if path == ROOT {
        key.to_string()
    } else {
        format!("{path}.{key}")
    }
}

/// Reads values and collects their problems; a wrong value reads as `None`.
#[derive(Default)]
pub(crate) struct FileReader {
    pub(crate) problems: Problems,
}

impl FileReader {
    /// The whole file as an object. A byte order mark before the object is ignored.
    pub(crate) fn root<'a>(&mut self, bytes: &'a [u8]) -> Option<Object<'a>> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        match Json::parse(bytes) {
            Ok(json) => {
                let file = self.object(ROOT, json)?;
                // a name that is no string would confuse the editor that it is for
                self.optional_string(ROOT, &file, SCHEMA);
                Some(file)
            }
            Err(malformed) => {
                self.problems
                    .add(ROOT, ValidationError::rule(malformed.to_string()));
                None
            }
        }
    }

    pub(crate) fn object<'a>(&mut self, path: &str, json: Json<'a>) -> Option<Object<'a>> {
        self.parsed(path, json.into_object())
    }

    pub(crate) fn refuse_keys_besides(&mut self, path: &str, object: &Object<'_>, known: &[&str]) {
        let mut unknown = object.keys_besides(known);
        unknown.retain(|key| key != COMMENT && !(path == ROOT && key == SCHEMA));
        if !unknown.is_empty() {
            self.problems
                .add(path, ValidationError::UnrecognizedKeys(unknown));
        }
    }

    /// The list under a required key; the number of elements must be allowed.
    pub(crate) fn list<'a>(
        &mut self,
        path: &str,
        object: &Object<'a>,
        key: &str,
        sizes: &RangeInclusive<usize>,
    ) -> Option<Vec<Json<'a>>> {
        let path = join(path, key);
        let json = self.required(&path, object.get(key))?;
        let elements = self.parsed(&path, json.into_array())?;
        if elements.len() < *sizes.start() {
            self.problems
                .add(&path, ValidationError::ArrayTooShort(*sizes.start()));
        }
        if elements.len() > *sizes.end() {
            // the elements are not read: there may be millions
            self.problems
                .add(&path, ValidationError::ArrayTooLong(*sizes.end()));
            return None;
        }
        Some(elements.into_iter().map(Json::read).collect())
    }

    /// The string under a required key.
    pub(crate) fn required_string(
        &mut self,
        path: &str,
        object: &Object<'_>,
        key: &str,
    ) -> Option<JsonString> {
        let path = join(path, key);
        let json = self.required(&path, object.get(key))?;
        self.parsed(&path, json.into_string())
    }

    /// The string under an optional key.
    pub(crate) fn optional_string(
        &mut self,
        path: &str,
        object: &Object<'_>,
        key: &str,
    ) -> Option<JsonString> {
        self.parsed(&join(path, key), object.get(key)?.into_string())
    }

    /// The string under the required key `key`, parsed by `parse`.
    pub(crate) fn key<K>(
        &mut self,
        path: &str,
        object: &Object<'_>,
        parse: impl Fn(&str) -> Result<K, ValidationError>,
    ) -> Option<K> {
        let sent = self.required_string(path, object, "key")?;
        self.parsed(&join(path, "key"), parse(&sent.text))
    }

    /// The trimmed label under a required key.
    pub(crate) fn label(
        &mut self,
        path: &str,
        object: &Object<'_>,
        key: &str,
        chars: &RangeInclusive<usize>,
    ) -> Option<String> {
        let mut sent = self.required_string(path, object, key)?;
        sent.text = String::from(sent.text.trim());
        self.measured(&join(path, key), sent, chars)
    }

    /// The text under an optional key; a blank text counts as absent.
    pub(crate) fn optional_text(
        &mut self,
        path: &str,
        object: &Object<'_>,
        key: &str,
        most: usize,
    ) -> Option<String> {
        let sent = self.optional_string(path, object, key)?;
        let text = self.measured(&join(path, key), sent, &(0..=most))?;
        (!text.trim().is_empty()).then_some(text)
    }

    /// The text, if its length and characters are allowed.
    pub(crate) fn measured(
        &mut self,
        path: &str,
        sent: JsonString,
        chars: &RangeInclusive<usize>,
    ) -> Option<String> {
        let mut errors = text::errors(&sent.text, chars);
        if sent.has_unpaired_surrogate && !errors.contains(&ValidationError::ForbiddenCharacters) {
            errors.push(ValidationError::ForbiddenCharacters);
        }
        let good = errors.is_empty();
        self.problems.add_all(path, errors);
        good.then_some(sent.text)
    }

    /// The parsed value; a fault becomes a problem at this path.
    pub(crate) fn parsed<T>(
        &mut self,
        path: &str,
        parsed: Result<T, ValidationError>,
    ) -> Option<T> {
        parsed.map_err(|error| self.problems.add(path, error)).ok()
    }

    fn required<'a>(&mut self, path: &str, value: Option<Json<'a>>) -> Option<Json<'a>> {
        if value.is_none() {
            self.problems.add(path, ValidationError::Required);
        }
        value
    }
}
