//! People of the app: their addresses and names.

use std::fmt;
use std::ops::RangeInclusive;

use crate::prism::display_name;
use crate::problem::{ValidationError, text};

/// Length of an email address after trimming.
const EMAIL_CHARS: RangeInclusive<usize> = 3..=254;

display_name! {
    /// A person's name as others see it, trimmed, 1 to 200 characters.
    PersonName
}

/// An email address with which a person signs in: trimmed, in lower case, 3 to 254 characters. It
/// gets no mail.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Email(String);

impl Email {
    /// Trims an address, puts it in lower case and checks it: it has one `@` with something on both
    /// sides, neither white space nor control characters, and none by which it looks like another
    /// address: invisible ones, marks of the reading direction, and letters that become an ASCII
    /// letter in lower case.
    ///
    /// # Errors
    /// The faults of the address.
    pub fn parse(text: &str) -> Result<Self, Vec<ValidationError>> {
        let typed = text.trim();
        let email = typed.to_lowercase();
        let mut errors = text::errors(&email, &EMAIL_CHARS);
        let is_address = email.split_once('@').is_some_and(|(name, domain)| {
            !name.is_empty() && !domain.is_empty() && !domain.contains('@')
        });
        let is_plain = !email.chars().any(|c| c.is_whitespace() || c.is_control());
        if errors.is_empty() && !(is_address && is_plain) {
            errors.push(ValidationError::rule(
                "must be an email address such as ada@example.com",
            ));
        }
        if errors.is_empty()
            && let Some(character) = typed.chars().find(|c| disguises(*c))
        {
            errors.push(ValidationError::rule(format!(
                "must not have the character U+{:04X}, which looks like another one or like none",
                u32::from(character)
            )));
        }
        if errors.is_empty() {
            Ok(Self(email))
        } else {
            Err(errors)
        }
    }

    /// An address read from the database, which is not checked again.
    pub fn saved(email: String) -> Self {
        Self(email)
    }

    /// The address as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Whether a character makes an address look like another one.
fn disguises(character: char) -> bool {
    let becomes_ascii =
        !character.is_ascii() && character.to_lowercase().all(|lower| lower.is_ascii());
    text::is_invisible(character) || becomes_ascii
}

/// Hides the address, so that no log shows one by accident.
impl fmt::Debug for Email {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Email(…)")
    }
}

impl fmt::Display for Email {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_address_is_trimmed_and_in_lower_case() {
        assert_eq!(
            Email::parse(" Ada@Example.COM\n").unwrap().as_str(),
            "ada@example.com"
        );
        let longest = format!("{}@b", "a".repeat(252));
        for good in ["a@b", "ä+b@ü.example", &longest] {
            assert!(Email::parse(good).is_ok(), "{good}");
        }
    }

    #[test]
    fn what_is_no_address_is_refused() {
        let too_long = format!("{}@b", "a".repeat(253));
        for bad in [
            "", "@", "a@", "@b", "ada", "a@b@c", "a b@c", "a@b c", "a@b\u{7}", "a\0@b", &too_long,
        ] {
            assert!(Email::parse(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn an_address_that_looks_like_another_one_is_refused_by_the_character() {
        for (character, name) in [
            ('\u{200b}', "U+200B"),
            ('\u{ad}', "U+00AD"),
            ('\u{202e}', "U+202E"),
            ('\u{2066}', "U+2066"),
            ('\u{fe0f}', "U+FE0F"),
            ('\u{e0061}', "U+E0061"),
            // the Kelvin sign, which is a k in lower case
            ('\u{212a}', "U+212A"),
        ] {
            for address in [
                format!("ad{character}a@example.com"),
                format!("ada@ex{character}.com"),
            ] {
                let errors = Email::parse(&address).err().unwrap();
                assert!(errors[0].to_string().contains(name), "{errors:?}");
            }
        }
    }

    proptest! {
        #[test]
        fn a_parsed_address_parses_to_itself(text in ".{0,20}@.{0,20}") {
            if let Ok(email) = Email::parse(&text) {
                prop_assert_eq!(Email::parse(email.as_str()).ok(), Some(email));
            }
        }
    }
}
