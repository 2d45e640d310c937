//! JSON objects of a provider, read one member at a time.
//!
//! Providers differ in types: what nobody reads may have any, and what is read may be written in each
//! of the ways in which providers write it. A member that cannot be read is named, never repeated.

use chrono::DateTime;
use serde_json::{Map, Value};

use crate::error::DocumentFault;

/// The byte order mark, which some servers put before JSON.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// A JSON object of a provider.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Document(pub(crate) Map<String, Value>);

impl Document {
    pub(crate) fn parse(body: &[u8]) -> Result<Self, DocumentFault> {
        let body = body.strip_prefix(BYTE_ORDER_MARK).unwrap_or(body);
        let members = serde_json::from_slice(body).map_err(|_| DocumentFault::NotAnObject)?;
        Ok(Self(members))
    }

    /// A member; null counts as absent.
    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }

    /// A text, also as the only one of a list; `None` if it is absent or blank.
    pub(crate) fn text(&self, name: &'static str) -> Result<Option<&str>, DocumentFault> {
        let value = match self.get(name) {
            Some(Value::Array(list)) if list.len() <= 1 => list.first(),
            other => other,
        };
        match value {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.as_str()).filter(|it| !it.trim().is_empty())),
            Some(
                Value::Null
                | Value::Bool(_)
                | Value::Number(_)
                | Value::Array(_)
                | Value::Object(_),
            ) => Err(DocumentFault::Member(name)),
        }
    }

    /// A text that must be there.
    pub(crate) fn required_text(&self, name: &'static str) -> Result<&str, DocumentFault> {
        self.text(name)?.ok_or(DocumentFault::Missing(name))
    }

    /// An id: a text, or a whole number.
    pub(crate) fn id(&self, name: &'static str) -> Result<Option<String>, DocumentFault> {
        match self.get(name) {
            Some(Value::Number(number)) if !number.is_f64() => Ok(Some(number.to_string())),
            _ => Ok(self.text(name)?.map(str::to_owned)),
        }
    }

    /// A time in whole seconds since 1970, from a number with or without a fraction, its digits as a
    /// text, or a date in words (RFC 3339).
    pub(crate) fn time(&self, name: &'static str) -> Result<Option<i64>, DocumentFault> {
        let text = match self.get(name) {
            None => return Ok(None),
            Some(Value::Number(number)) => number.to_string(),
            Some(Value::String(text)) => text.trim().to_owned(),
            Some(Value::Bool(_) | Value::Array(_) | Value::Object(_) | Value::Null) => {
                return Err(DocumentFault::Member(name));
            }
        };
        let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
        let seconds = if fraction.bytes().all(|byte| byte.is_ascii_digit()) {
            whole.parse().ok()
        } else {
            None
        };
        let as_date = || DateTime::parse_from_rfc3339(&text).map(|time| time.timestamp());
        let time = seconds.or_else(|| as_date().ok());
        time.map(Some).ok_or(DocumentFault::Member(name))
    }

    /// Yes or no, from a boolean, `0` or `1`, or one of these as a text.
    pub(crate) fn flag(&self, name: &'static str) -> Result<Option<bool>, DocumentFault> {
        let text = match self.get(name) {
            None => return Ok(None),
            Some(Value::String(text)) => text.trim().to_ascii_lowercase(),
            Some(other) => other.to_string(),
        };
        match text.as_str() {
            "true" | "1" => Ok(Some(true)),
            "false" | "0" => Ok(Some(false)),
            "" => Ok(None),
            _ => Err(DocumentFault::Member(name)),
        }
    }

    /// The words of a list, or of one text that separates them by spaces or commas. Other values of
    /// the list are left out.
    pub(crate) fn words(&self, name: &str) -> Vec<&str> {
        match self.get(name) {
            Some(Value::Array(list)) => list.iter().filter_map(Value::as_str).collect(),
            Some(Value::String(text)) => {
                let words = text.split([' ', ',']);
                words.filter(|word| !word.is_empty()).collect()
            }
            Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_)) | None => {
                Vec::new()
            }
        }
    }

    /// The member with this name. A name with dots also leads into objects, as `realm_access.roles`
    /// does; names of objects may have dots too.
    pub(crate) fn find(&self, name: &str) -> Option<&Value> {
        find_in(&self.0, name)
    }
}

fn find_in<'a>(object: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    if let Some(found) = object.get(name).filter(|found| !found.is_null()) {
        return Some(found);
    }
    let mut ways = name.match_indices('.');
    ways.find_map(|(dot, _)| {
        let (outer, inner) = (name.get(..dot)?, name.get(dot + 1..)?);
        find_in(object.get(outer)?.as_object()?, inner)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn with(value: Value) -> Document {
        Document(Map::from_iter([("x".to_owned(), value)]))
    }

    #[test]
    fn a_time_is_read_in_each_way_in_which_providers_write_it() {
        for (written, read) in [
            (json!(1_777_885_687), 1_777_885_687),
            (json!(1_777_885_687.9), 1_777_885_687),
            (json!(1.777_885_687e9), 1_777_885_687),
            (json!("1777885687"), 1_777_885_687),
            (json!(" 1777885687.5 "), 1_777_885_687),
            (json!("2026-05-04T09:08:07.123Z"), 1_777_885_687),
        ] {
            assert_eq!(with(written.clone()).time("x"), Ok(Some(read)), "{written}");
        }
        assert_eq!(with(Value::Null).time("x"), Ok(None));
        for unreadable in [
            json!("soon"),
            json!(""),
            json!(true),
            json!([1]),
            json!(1e300),
        ] {
            let read = with(unreadable.clone()).time("x");
            assert_eq!(read, Err(DocumentFault::Member("x")), "{unreadable}");
        }
    }

    #[test]
    fn yes_and_no_are_read_in_each_way_in_which_providers_write_them() {
        for yes in [
            json!(true),
            json!("true"),
            json!("True"),
            json!(1),
            json!("1"),
        ] {
            assert_eq!(with(yes.clone()).flag("x"), Ok(Some(true)), "{yes}");
        }
        for no in [json!(false), json!("false"), json!("FALSE"), json!(0)] {
            assert_eq!(with(no.clone()).flag("x"), Ok(Some(false)), "{no}");
        }
        for unreadable in [json!("yes"), json!(2), json!({}), json!([true])] {
            let read = with(unreadable.clone()).flag("x");
            assert_eq!(read, Err(DocumentFault::Member("x")), "{unreadable}");
        }
    }

    #[test]
    fn a_text_may_be_the_only_one_of_a_list_and_is_never_a_number() {
        assert_eq!(with(json!("a")).text("x"), Ok(Some("a")));
        assert_eq!(with(json!(["a"])).text("x"), Ok(Some("a")));
        for absent in [json!(null), json!(""), json!(" "), json!([])] {
            assert_eq!(with(absent.clone()).text("x"), Ok(None), "{absent}");
        }
        for unreadable in [json!(1), json!(["a", "b"]), json!({"a": 1}), json!([1])] {
            let document = with(unreadable.clone());
            assert_eq!(
                document.text("x"),
                Err(DocumentFault::Member("x")),
                "{unreadable}"
            );
        }
        assert_eq!(with(json!(12)).id("x"), Ok(Some("12".to_owned())));
        assert_eq!(with(json!(1.5)).id("x"), Err(DocumentFault::Member("x")));
    }

    #[test]
    fn a_body_is_one_object_with_or_without_a_byte_order_mark() {
        assert!(Document::parse(b"\xef\xbb\xbf{\"x\": 1}").is_ok());
        let deep = b"[".repeat(100_000);
        for other in [&b""[..], b"[]", b"<html>", b"{} {}", &deep] {
            assert_eq!(Document::parse(other), Err(DocumentFault::NotAnObject));
        }
    }
}
