//! A caller's names for a call: `ref` and `idempotency_key` (spec 4.1).

use std::fmt;

use crate::limits::{IDEMPOTENCY_KEY_CHARS, REF_CHARS};
use crate::problem::ValidationError;
use crate::problem::text;

macro_rules! trimmed {
    ($(#[$doc:meta])* $name:ident, $chars:expr) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Hash)]
        pub struct $name(String);

        impl $name {
            /// Trims a text and checks it.
            ///
            /// # Errors
            /// The faults of the trimmed text's length and characters.
            pub fn parse(text: &str) -> Result<Self, Vec<ValidationError>> {
                let text = text.trim();
                let errors = text::errors(text, &$chars);
                if errors.is_empty() { Ok(Self(text.to_owned())) } else { Err(errors) }
            }

            /// A value read from the database, which is not checked again.
            pub fn saved(text: String) -> Self {
                Self(text)
            }

            /// The value as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        /// Hides the text, which belongs to the caller.
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(concat!(stringify!($name), "(…)"))
            }
        }
    };
}

trimmed! {
    /// A caller's own reference for a result, returned in every format; it need not be unique.
    Ref, REF_CHARS
}
trimmed! {
    /// An idempotency key, which makes it safe to repeat a call: an account has at most one result
    /// under each key.
    IdempotencyKey, IDEMPOTENCY_KEY_CHARS
}
