//! Values of TOML as the texts that environment variables would have.

use toml::de::DeValue;

/// A value as text: a list is joined by commas, and a switch may be a boolean. `None` for a value of
/// a type that no setting has.
pub(super) fn text(value: &DeValue<'_>, is_switch: bool) -> Option<String> {
    match value {
        DeValue::Array(values) => {
            let values = values.iter().map(|value| single(value.get_ref()));
            let values: Option<Vec<_>> = values.collect();
            values.map(|values| values.join(","))
        }
        DeValue::Boolean(is_on) if is_switch => Some(if *is_on { "on" } else { "off" }.to_owned()),
        DeValue::String(_)
        | DeValue::Integer(_)
        | DeValue::Float(_)
        | DeValue::Boolean(_)
        | DeValue::Datetime(_)
        | DeValue::Table(_) => single(value),
    }
}

/// A text or a number.
fn single(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.clone().into_owned()),
        DeValue::Integer(number) => {
            let decimal = i64::from_str_radix(number.as_str(), number.radix()).ok()?;
            Some(decimal.to_string())
        }
        DeValue::Float(number) => Some(number.as_str().to_owned()),
        DeValue::Boolean(_) | DeValue::Datetime(_) | DeValue::Array(_) | DeValue::Table(_) => None,
    }
}

/// The type of a value, with its article.
pub(super) fn kind(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) => "a number that is too large",
        DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "a boolean",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list of something else",
        DeValue::Table(_) => "a table",
    }
}

/// The types that a setting may have.
pub(super) fn expected(is_switch: bool) -> &'static str {
    if is_switch {
        "\"on\", \"off\", true or false"
    } else {
        "a text, a number, or a list of them"
    }
}
