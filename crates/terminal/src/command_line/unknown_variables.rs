//! Warns of environment variables that have the prefix of settings but are not settings, usually
//! misspelt ones.

use std::collections::BTreeSet;

use crate::suggestion;

/// The prefix of the settings' environment variables.
const PREFIX: &str = "REFRACT_";
/// The prefix of variables that only the project's tests and builds read.
const OF_TESTS: &str = "REFRACT_TEST_";
const OF_BUILDS: &str = "REFRACT_COMMIT";
/// The variable with a caller's key in the examples, which many shells export.
const OF_CALLERS: &str = "REFRACT_KEY";

/// Logs one warning with the names, not the values, of variables that are no setting of any
/// command.
pub fn warn_of_unknown_variables(program: &clap::Command) {
    let settings = setting_variables(program);
    let set = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    let unknown: BTreeSet<String> = set.filter(|name| is_unknown(name, &settings)).collect();
    if !unknown.is_empty() {
        let named: Vec<_> = unknown
            .iter()
            .map(|name| described(name, &settings))
            .collect();
        tracing::warn!("no setting of refract, and ignored: {}", named.join(", "));
    }
}

/// The environment variables that are settings of any command.
fn setting_variables(program: &clap::Command) -> BTreeSet<String> {
    fn add(command: &clap::Command, variables: &mut BTreeSet<String>) {
        let names = command.get_arguments().filter_map(clap::Arg::get_env);
        variables.extend(names.filter_map(|name| name.to_str().map(ToOwned::to_owned)));
        for subcommand in command.get_subcommands() {
            add(subcommand, variables);
        }
    }
    let mut variables = BTreeSet::new();
    add(program, &mut variables);
    variables
}

fn is_unknown(name: &str, settings: &BTreeSet<String>) -> bool {
    name.starts_with(PREFIX)
        && !settings.contains(name)
        && !name.starts_with(OF_TESTS)
        && name != OF_BUILDS
        && name != OF_CALLERS
        && !is_service_link(name)
}

/// Whether Kubernetes sets such a variable for a service whose name starts with `refract`.
fn is_service_link(name: &str) -> bool {
    let is_of_port = |protocol: &str| {
        name.match_indices("_PORT_").any(|(at, separator)| {
            let after = name.get(at + separator.len()..).unwrap_or_default();
            let number = after.trim_start_matches(|c: char| c.is_ascii_digit());
            number.len() < after.len() && number.starts_with(protocol)
        })
    };
    name.ends_with("_PORT")
        || name.ends_with("_SERVICE_HOST")
        || name.contains("_SERVICE_PORT")
        || ["_TCP", "_UDP", "_SCTP"].into_iter().any(is_of_port)
}

fn described(name: &str, settings: &BTreeSet<String>) -> String {
    // compared without the common prefix, which would make all names similar
    let known = settings
        .iter()
        .filter_map(|known| known.strip_prefix(PREFIX));
    let words = name.strip_prefix(PREFIX).unwrap_or(name);
    match suggestion::most_similar(words, known) {
        Some(similar) => format!("{name} (did you mean {PREFIX}{similar}?)"),
        None => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings() -> BTreeSet<String> {
        let names = ["REFRACT_RETENTION_DAYS", "REFRACT_LISTEN", "DATABASE_URL"];
        names.map(ToOwned::to_owned).into()
    }

    #[test]
    fn a_misspelt_setting_is_named_with_the_one_that_was_meant() {
        let settings = settings();
        for (name, described_as) in [
            (
                "REFRACT_RETENTION_DAY",
                "REFRACT_RETENTION_DAY (did you mean REFRACT_RETENTION_DAYS?)",
            ),
            ("REFRACT_NONSENSE", "REFRACT_NONSENSE"),
            (
                "REFRACT_LISTENER",
                "REFRACT_LISTENER (did you mean REFRACT_LISTEN?)",
            ),
        ] {
            assert!(is_unknown(name, &settings), "{name}");
            assert_eq!(described(name, &settings), described_as);
        }
    }

    #[test]
    fn what_others_set_is_passed_over() {
        for name in [
            "REFRACT_LISTEN",
            "DATABASE_URL",
            "DATABASE_UR",
            "REFRACTION",
            "REFRACT_TEST_POSTGRES_URL",
            "REFRACT_COMMIT",
            "REFRACT_KEY",
            "REFRACT_PORT",
            "REFRACT_SERVICE_HOST",
            "REFRACT_SERVICE_PORT_API",
            "REFRACT_PORT_8080_TCP_ADDR",
            "REFRACT_OPS_PORT_9090_TCP",
        ] {
            assert!(!is_unknown(name, &settings()), "{name}");
        }
    }
}
