//! Which part of the endurance tests runs, and how much of it.

/// The size of a part, or nothing where this run does not ask for the part.
pub(crate) fn size_of(part: &str, usual: usize) -> Option<usize> {
    let asked = std::env::var("REFRACT_TEST_ENDURANCE").unwrap_or_default();
    if asked != part && asked != "all" {
        println!("NOT RUN: `make test-endurance PART={part}` sets REFRACT_TEST_ENDURANCE");
        return None;
    }
    Some(number("REFRACT_TEST_ENDURANCE_SIZE", usual))
}

/// A whole number of the environment, or else `usual`.
pub(crate) fn number(variable: &str, usual: usize) -> usize {
    let set = std::env::var(variable).unwrap_or_default();
    if set.is_empty() {
        return usual;
    }
    set.parse().expect("a whole number")
}
