//! Ids: UUIDs with one type for each kind, so that an account's id cannot be passed for a prism's.

use std::fmt;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use uuid::{Builder, Uuid};

/// Reads a UUID written as 8-4-4-4-12 hexadecimal digits with hyphens, in any case.
///
/// Braces, `urn:` and 32 digits without hyphens are refused (readings).
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
        pub struct $name(Uuid);

        impl $name {
            /// The id that is this UUID.
            pub const fn new(uuid: Uuid) -> Self {
                Self(uuid)
            }

            /// The id as a UUID.
            pub const fn uuid(self) -> Uuid {
                self.0
            }

            /// Reads an id in the hyphenated form, in any case; `None` for anything else.
            pub fn parse(text: &str) -> Option<Self> {
                parse_uuid(text).map(Self)
            }
        }

        impl AsRef<Uuid> for $name {
            fn as_ref(&self) -> &Uuid {
                &self.0
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
    /// Id of the work on one file run, which holds back a part of a budget.
    BudgetHolderId
}
id! {
    /// Id of an event.
    EventId
}
id! {
    /// Id of an example text of a prism.
    ExampleId
}
id! {
    /// Id of a stored file run, a `UUIDv7`.
    FileRunId
}
id! {
    /// Id of a node's process, made when it starts.
    NodeId
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
    /// Id of a change of a prism that saves no version.
    PrismChangeId
}
id! {
    /// Id of a saved result (spec 2.6).
    ResultId
}
id! {
    /// Id of a stored retest, a `UUIDv7`.
    RetestId
}
id! {
    /// Id of a person's sitting over a queue of results.
    SittingId
}
id! {
    /// Id of a sign-in attempt.
    SignInTryId
}
id! {
    /// Id of an uploaded file, a `UUIDv7`.
    UploadId
}

/// The lowest `UUIDv7` of a moment.
fn first_uuid_of(moment: DateTime<Utc>) -> Uuid {
    let milliseconds = u64::try_from(moment.timestamp_millis()).unwrap_or_default();
    let milliseconds = milliseconds.min((1 << 48) - 1);
    Builder::from_unix_timestamp_millis(milliseconds, &[0; 10]).into_uuid()
}

impl EventId {
    /// Below the id of every event.
    pub const LOWEST: Self = Self(Uuid::nil());
    /// Above the id of every event.
    pub const HIGHEST: Self = Self(Uuid::max());

    /// The lowest id of a moment; see [`ResultId::first_of`].
    pub fn first_of(moment: DateTime<Utc>) -> Self {
        Self(first_uuid_of(moment))
    }

    /// The id just below this one.
    #[must_use]
    pub fn just_before(self) -> Self {
        Self(Uuid::from_u128(self.0.as_u128().saturating_sub(1)))
    }

    /// The id just above this one. Another event practically never has it, since the last digits of
    /// event ids are random.
    #[must_use]
    pub(crate) fn just_after(self) -> Self {
        Self(Uuid::from_u128(self.0.as_u128().wrapping_add(1)))
    }
}

impl ResultId {
    /// Below the id of every result.
    pub const LOWEST: Self = Self(Uuid::nil());
    /// Above the id of every result.
    pub const HIGHEST: Self = Self(Uuid::max());

    /// The lowest id of a moment (RFC 9562, 5.7): 48 bits of milliseconds, then the version, the
    /// variant and zeros. A moment before 1970 or after the year 10889 counts as the nearest one in
    /// that range.
    pub fn first_of(moment: DateTime<Utc>) -> Self {
        Self(first_uuid_of(moment))
    }

    /// The last 32 bits of the id, which are random and independent of everything else (RFC 9562).
    /// Their order is a random order of all results.
    pub fn random_bits(self) -> u32 {
        let [.., a, b, c, d] = self.0.into_bytes();
        u32::from_be_bytes([a, b, c, d])
    }

    /// The id's moment, in whole milliseconds.
    pub fn moment(self) -> DateTime<Utc> {
        let milliseconds = i64::try_from(self.0.as_u128() >> 80).unwrap_or_default();
        DateTime::from_timestamp_millis(milliseconds).unwrap_or_default()
    }

    /// The id just below this one, whether or not a result has it.
    #[must_use]
    pub fn just_before(self) -> Self {
        Self(Uuid::from_u128(self.0.as_u128().saturating_sub(1)))
    }

    /// The id just above this one, whether or not a result has it.
    #[must_use]
    pub fn just_after(self) -> Self {
        Self(Uuid::from_u128(self.0.as_u128().saturating_add(1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_id_contains_its_moment_and_the_ids_of_a_moment_begin_with_the_first() {
        let written = |text: &str| text.parse::<DateTime<Utc>>().unwrap();
        let id = ResultId::parse("0190b8f2-0000-7000-8000-0000000000aa").unwrap();
        let moment = id.moment();
        assert_eq!(moment, written("2024-07-16T00:29:45.856Z"));
        let first = ResultId::first_of(moment);
        assert_eq!(first.to_string(), "0190b8f2-0000-7000-8000-000000000000");
        assert_eq!(first.moment(), moment);
        assert!(first.just_before() < first && first < first.just_after());
        let long_ago = ResultId::first_of(written("0000-01-01T00:00:00Z"));
        assert_eq!(long_ago.moment(), DateTime::UNIX_EPOCH);
        assert_eq!(ResultId::LOWEST.just_before(), ResultId::LOWEST);
        assert_eq!(ResultId::HIGHEST.just_after(), ResultId::HIGHEST);
        assert_eq!(ResultId::HIGHEST.moment().timestamp_millis(), (1 << 48) - 1);
    }

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
