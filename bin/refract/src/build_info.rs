//! Which build of the program this is.

/// The version, and the commit in brackets where it is known.
pub(crate) const VERSION: &str = env!("REFRACT_BUILD_VERSION");

/// The first characters of the commit; empty where it is not known.
pub(crate) const COMMIT: &str = env!("REFRACT_BUILD_COMMIT");
