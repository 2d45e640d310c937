//! Selects the part of the endurance tests to run, and its size.

/// The size of a part; `None` if this run does not include it.
pub(crate) fn size_of(part: &str, usual: usize) -> Option<usize> {
    let asked = std::env::var("REFRACT_TEST_ENDURANCE").unwrap_or_default();
    if asked != part && asked != "all" {
        println!("NOT RUN: `make test-endurance PART={part}` sets REFRACT_TEST_ENDURANCE");
        return None;
    }
    Some(number("REFRACT_TEST_ENDURANCE_SIZE", usual))
}

/// A whole number from the environment, by default `usual`.
pub(crate) fn number(variable: &str, usual: usize) -> usize {
    let set = std::env::var(variable).unwrap_or_default();
    if set.is_empty() {
        return usual;
    }
    set.parse().expect("a whole number")
}
