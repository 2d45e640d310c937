//! The version and commit of this build.

/// The version, with the commit in brackets if known.
pub(crate) const VERSION: &str = env!("REFRACT_BUILD_VERSION");

/// The first characters of the commit; empty if unknown.
pub(crate) const COMMIT: &str = env!("REFRACT_BUILD_COMMIT");
