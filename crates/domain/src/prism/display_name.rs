//! Names that people read: trimmed, 1 to 200 characters.

/// Defines a type for one kind of name; a value of the type is always valid.
macro_rules! display_name {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct $name(String);

        impl $name {
            /// Trims and checks a name.
            ///
            /// # Errors
            /// The faults of the name's length and characters.
            pub fn parse(name: &str) -> Result<Self, Vec<$crate::problem::ValidationError>> {
                let name = name.trim();
                let errors = $crate::problem::text::errors(name, &$crate::limits::LABEL_CHARS);
                if errors.is_empty() {
                    Ok(Self(name.to_owned()))
                } else {
                    Err(errors)
                }
            }

            /// Wraps a name read from the database without checking it again.
            pub fn saved(name: String) -> Self {
                Self(name)
            }

            /// The name as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

pub(crate) use display_name;
