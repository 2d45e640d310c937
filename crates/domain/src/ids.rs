//! Ids: UUIDs, each kind with a type of its own, so that one cannot be passed for another.

use std::fmt;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Reads a UUID written as 8-4-4-4-12 hexadecimal digits with hyphens, in any case.
///
/// Braces, `urn:` and 32 bare digits are refused (readings).
pub fn parse_uuid(text: &str) -> Option<Uuid> {
    if text.len() == 36 {
        Uuid::try_parse(text).ok()
    } else {
        None
    }
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub Uuid);

        impl $name {
            /// Reads an id in the hyphenated form, in any case; `None` for anything else.
            pub fn parse(text: &str) -> Option<Self> {
                parse_uuid(text).map(Self)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.hyphenated().fmt(f)
            }
        }
    };
}

id! {
    /// Id of an account, which owns prisms, results and API keys.
    AccountId
}
id! {
    /// Id of an API key; not the key itself.
    ApiKeyId
}
id! {
    /// Id of a person who uses the app.
    PersonId
}
id! {
    /// Id of a prism.
    PrismId
}
id! {
    /// Id of a change of a prism that is no version.
    PrismChangeId
}
id! {
    /// Id of a saved result (spec 2.6).
    ResultId
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_hyphenated_form_is_a_uuid() {
        assert!(ResultId::parse("0190B8f2-0000-7000-8000-0000000000aa").is_some());
        for other in [
            "0190b8f2000070008000000000000aaa",
            "{0190b8f2-0000-7000-8000-0000000000aa}",
            "urn:uuid:0190b8f2-0000-7000-8000-0000000000aa",
            "0190b8f2-0000-7000-8000-0000000000ag",
            "",
        ] {
            assert_eq!(ResultId::parse(other), None, "{other}");
        }
    }
}
