//! A submitted form that could not be processed: given back, so that no input is lost.

use maud::{Markup, html};

use crate::components::{beginning, more_characters};
use crate::requests::form::Form;
use crate::requests::page_request::PageRequest;

/// The input with the address to which the form was sent.
const ADDRESS: &str = "kept.address";
/// The prefix of the names of kept values.
const VALUE: &str = "kept.value.";
/// The most characters of a value shown to the person; the whole value is sent again.
const SHOWN: usize = 2_000;

/// The last parts of the names of hidden inputs and of buttons.
const HIDDEN: [&str; 8] = [
    "act",
    "based_on",
    "folded",
    "new_id",
    "revision",
    "same",
    "saved_key",
    "tab",
];

/// A form with its address. Files are not kept: a page cannot preselect one.
pub(crate) struct CarriedForm<'a> {
    address: String,
    values: Vec<(&'a str, &'a str)>,
}

impl<'a> CarriedForm<'a> {
    /// The form of a request; `None` if it has none.
    pub(crate) fn of(sent: &'a PageRequest) -> Option<Self> {
        let values = sent.form.values();
        let values: Vec<_> = values
            .filter(|(name, _)| !name.contains("password"))
            .collect();
        (!values.is_empty()).then(|| Self {
            address: sent.address(),
            values,
        })
    }

    /// Reads the form that [`CarriedForm::carried`] wrote into another one. `None` for a foreign
    /// address.
    pub(crate) fn from_form(form: &'a Form) -> Option<Self> {
        let address = form.get(ADDRESS).to_owned();
        let values = form.values();
        let values = values.filter_map(|(name, value)| Some((name.strip_prefix(VALUE)?, value)));
        is_own_address(&address).then(|| Self {
            address,
            values: values.collect(),
        })
    }

    /// The form as hidden inputs of another form.
    pub(crate) fn carried(&self) -> Markup {
        html! {
            input type="hidden" name=(ADDRESS) value=(self.address);
            @for (name, value) in &self.values {
                // a text area, since an input drops line breaks
                textarea name={ (VALUE) (name) } hidden { "\n" (value) }
            }
        }
    }

    /// A form that sends the values again.
    pub(crate) fn send_again(&self, button: &str) -> Markup {
        html! {
            form method="post" action=(self.address) {
                @for (name, value) in &self.values {
                    textarea name=(name) hidden { "\n" (value) }
                }
                button.main type="submit" { (button) }
            }
            details.kept {
                summary { "What you typed" }
                dl {
                    @for (name, value) in self.values.iter().filter(|it| is_typed(**it)) {
                        dt { (name) }
                        dd.text dir="auto" { (shown(value)) }
                    }
                }
            }
        }
    }
}

/// Whether a person may have typed a value: hidden inputs and buttons are not shown.
fn is_typed((name, value): (&str, &str)) -> bool {
    let last = name.rsplit('.').next().unwrap_or_default();
    !value.is_empty() && !HIDDEN.contains(&last)
}

/// The beginning of a value, with the number of further characters.
fn shown(value: &str) -> Markup {
    let (shown, rest) = beginning(value, SHOWN);
    html! { (shown) @if !rest.is_empty() { "… " (more_characters(rest)) } }
}

/// Whether an address is a path of the app, not of another site.
pub(crate) fn is_own_address(address: &str) -> bool {
    let has_one_slash = address.starts_with('/') && !address.starts_with("//");
    has_one_slash && !address.contains(['\\', '\r', '\n', '\t', '\0'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent() -> PageRequest {
        let mut sent = PageRequest {
            path: "/prisms/a/try".to_owned(),
            ..PageRequest::default()
        };
        sent.form.push("text", "\nfirst\r\nsecond <b>");
        sent.form.push("password", "secret words");
        sent
    }

    #[test]
    fn what_was_typed_is_carried_and_sent_again_but_no_password() {
        let sent = sent();
        let kept = CarriedForm::of(&sent).unwrap();
        let carried = kept.carried().into_string();
        assert!(carried.contains("name=\"kept.value.text\" hidden>\n\nfirst\nsecond &lt;b&gt;<"));
        assert!(!carried.contains("secret"));
        let mut form = Form::default();
        form.push(ADDRESS, "/prisms/a/try");
        form.push("kept.value.text", "\nfirst\nsecond <b>");
        form.push("email", "ada@example.com");
        let again = CarriedForm::from_form(&form).unwrap();
        assert_eq!(again.values, kept.values);
        assert!(
            again
                .send_again("Go on")
                .into_string()
                .contains("action=\"/prisms/a/try\"")
        );
    }

    #[test]
    fn a_long_value_is_sent_again_whole_and_shown_in_part() {
        let text = "\"".repeat(2_003);
        let mut sent = sent();
        sent.form.push("long", &text);
        let again = CarriedForm::of(&sent)
            .unwrap()
            .send_again("Go on")
            .into_string();
        assert!(again.contains("… and 3 more characters"));
        assert_eq!(again.matches("&quot;").count(), 2_003 + 2_000);
    }

    #[test]
    fn only_own_addresses_are_gone_back_to() {
        for own in ["/", "/prisms/a?status=failed", "/a//b"] {
            assert!(is_own_address(own), "{own}");
        }
        for other in [
            "",
            "prisms",
            "//evil.com",
            "/\\evil.com",
            "https://evil.com",
            "/a\r\nb",
            "/\t/evil.com",
        ] {
            assert!(!is_own_address(other), "{other}");
        }
    }
}
