//! What a caller may say about a call besides its text: `ref` and `idempotency_key` (spec 4.1).

use std::fmt;

use crate::limits::{IDEMPOTENCY_KEY_CHARS, REF_CHARS};
use crate::problem::Fault;
use crate::text;

macro_rules! trimmed {
    ($(#[$doc:meta])* $name:ident, $chars:expr) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Hash)]
        pub struct $name(String);

        impl $name {
            /// Trims and reads it.
            ///
            /// # Errors
            /// The faults of its length and characters.
            pub fn parse(text: &str) -> Result<Self, Vec<Fault>> {
                let text = text.trim();
                let faults = text::faults(text, &$chars);
                if faults.is_empty() { Ok(Self(text.to_owned())) } else { Err(faults) }
            }

            /// As it was saved.
            pub fn saved(text: String) -> Self {
                Self(text)
            }

            /// The text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        /// Shows nothing of it.
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(concat!(stringify!($name), "(…)"))
            }
        }
    };
}

trimmed! {
    /// A caller's own reference, returned in every format; not required to be unique.
    Ref, REF_CHARS
}
trimmed! {
    /// Makes a repeat safe: an account holds at most one result under each.
    IdempotencyKey, IDEMPOTENCY_KEY_CHARS
}
