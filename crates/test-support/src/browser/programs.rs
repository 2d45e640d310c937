//! The variables with the paths of the browser's programs; `.ci/with-browser` sets them.

use std::path::PathBuf;

/// The program `chromium`, or another browser of its family.
pub(super) fn chromium() -> Option<PathBuf> {
    named("REFRACT_TEST_CHROMIUM")
}

/// The program `chromedriver`, of the browser's version.
pub(super) fn driver() -> Option<PathBuf> {
    named("REFRACT_TEST_CHROMEDRIVER")
}

/// The file with axe-core, a script that finds accessibility violations in pages.
pub(super) fn axe() -> Option<PathBuf> {
    named("REFRACT_TEST_AXE")
}

fn named(variable: &str) -> Option<PathBuf> {
    let value = std::env::var_os(variable)?;
    (!value.is_empty()).then(|| PathBuf::from(value))
}
