//! The command line: parsing, help, the report of wrong usage, and the completions and manual pages
//! that are generated from the command definitions.
//!
//! Environment variables that have the prefix of settings but are not settings, usually misspelt
//! ones, are warned of.

mod generated;

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Parser;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use self::generated::with_groups;
pub(crate) use self::generated::write_completions;
pub use crate::settings_file::SettingsFileError;
use crate::{arguments, output, settings_file, suggestion};

/// The prefix of the settings' environment variables.
const PREFIX: &str = "REFRACT_";
/// The prefix of variables that only the project's tests and builds read.
const OF_TESTS: &str = "REFRACT_TEST_";
const OF_BUILDS: &str = "REFRACT_COMMIT";
/// The variable with a caller's key in the examples, which many shells export.
const OF_CALLERS: &str = "REFRACT_KEY";

/// Reads the file of settings that `--config` or `REFRACT_CONFIG` names, or else the first that is
/// found: `refract.toml` in the current folder or in `/etc/refract`. From then on [`read`] takes its values for settings that are neither flags nor variables. `line` is the command
/// line of this process.
///
/// # Errors
/// When the file cannot be used.
pub fn load_settings_file(
    line: &[OsString],
    program: &clap::Command,
) -> Result<(), SettingsFileError> {
    let variable = || std::env::var_os("REFRACT_CONFIG");
    let path = config_flag(line).map(OsStr::to_owned).or_else(variable);
    match path {
        Some(path) if path.is_empty() => Ok(()),
        Some(path) => settings_file::load(Path::new(&path), program),
        None => match settings_file::found() {
            Some(path) => settings_file::load(path, program),
            None => Ok(()),
        },
    }
}

/// Logs a warning if the file of settings holds a secret and everybody may read it.
pub fn warn_of_exposed_secrets() {
    settings_file::warn_if_exposed();
}

/// The value of `--config`.
fn config_flag(line: &[OsString]) -> Option<&OsStr> {
    let mut arguments = line.iter().skip(1).take_while(|argument| *argument != "--");
    while let Some(argument) = arguments.next() {
        if argument == "--config" {
            return arguments.next().map(OsString::as_os_str);
        }
        if let Some(path) = argument.as_bytes().strip_prefix(b"--config=") {
            return Some(OsStr::from_bytes(path));
        }
    }
    None
}

/// Parses a command line. Its first item is the program.
///
/// # Errors
/// Wrong usage, or a request for help or the version.
pub fn read<P: Parser, A: Into<OsString> + Clone>(
    line: impl IntoIterator<Item = A>,
) -> Result<P, clap::Error> {
    let mut command = prepared(P::command());
    let mut line: Vec<OsString> = line.into_iter().map(Into::into).collect();
    if line.len() == 1 {
        // the program alone shows its short help
        line.push("-h".into());
    }
    let matches = command.try_get_matches_from_mut(line)?;
    P::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
}

/// Checks the settings of a command that needs no arguments.
pub(crate) fn check_settings(program: clap::Command, command: &str) -> Result<(), clap::Error> {
    let line = ["refract", command];
    prepared(program).try_get_matches_from(line).map(drop)
}

fn prepared(command: clap::Command) -> clap::Command {
    with_groups(with_json(arguments::with_values(with_negative_numbers(
        command,
    ))))
}

/// Commands whose output is a stream of work, help or a script.
const WITHOUT_JSON: [&str; 6] = ["serve", "demo", "help", "completions", "__complete", "man"];

/// The command, changed to accept `--json` in every command that prints, also where the output is
/// JSON already: scripts then pass it everywhere.
fn with_json(command: clap::Command) -> clap::Command {
    let is_leaf = !command.has_subcommands();
    let has_it = command
        .get_arguments()
        .any(|argument| argument.get_long() == Some("json"));
    let is_without = WITHOUT_JSON.contains(&command.get_name());
    let command = if is_leaf && !has_it && !is_without {
        let json = clap::Arg::new("json").long("json").hide(true);
        command.arg(json.action(clap::ArgAction::SetTrue))
    } else {
        command
    };
    command.mut_subcommands(with_json)
}

/// The command, changed to parse `-1` as a number below the range, not as an unknown flag.
fn with_negative_numbers(command: clap::Command) -> clap::Command {
    let command = command.mut_args(|argument| {
        let is_flag = argument.is_positional() || !argument.get_action().takes_values();
        argument.allow_negative_numbers(!is_flag)
    });
    command.mut_subcommands(with_negative_numbers)
}

/// Requests a command's help, which clap returns as an error.
pub(crate) fn help(program: clap::Command, command: &[String]) -> Result<(), clap::Error> {
    let names = command.iter().map(String::as_str);
    let line = ["refract"].into_iter().chain(names).chain(["--help"]);
    with_groups(with_negative_numbers(program))
        .try_get_matches_from(line)
        .map(drop)
}

/// Reports wrong usage: an invalid setting in one line, any other error as clap words it.
///
/// `line` is the command line; its first item is the program.
pub fn report_wrong_usage(
    program: clap::Command,
    line: &[OsString],
    mut error: clap::Error,
) -> ExitCode {
    if line.len() == 1 && error.kind() == ErrorKind::DisplayHelp {
        // nobody asked for the help: the usage is wrong all the same
        output::say(error.render().to_string().trim_end());
        return ExitCode::from(2);
    }
    if let Some(line) = refused_setting(&program, &error) {
        return output::fail_with(&line);
    }
    if let Some(tip) = tip(line, &error) {
        let tips = ContextValue::StyledStrs(vec![tip.into()]);
        error.insert(ContextKind::Suggested, tips);
    }
    if error.get(ContextKind::Usage).is_some() {
        let given = line.iter().skip(1);
        let given = given.map(|argument| argument.to_string_lossy().into_owned());
        let usage = ContextValue::StyledStr(usage(program, given));
        error.insert(ContextKind::Usage, usage);
    }
    output::wrong_usage(&error)
}

/// What was probably meant by an argument that a command does not have, or what it lacks.
fn tip(line: &[OsString], error: &clap::Error) -> Option<String> {
    let command = line.get(1)?.to_str()?;
    if error.kind() == ErrorKind::MissingRequiredArgument
        && let Some(ContextValue::Strings(missing)) = error.get(ContextKind::InvalidArg)
    {
        let is_goal = missing
            .iter()
            .any(|missing| missing.contains("--precision"));
        return is_goal
            .then(|| "state a goal, such as '--precision 0.95' or '--error 0.05'".to_owned());
    }
    let refused = [ContextKind::InvalidArg, ContextKind::InvalidSubcommand]
        .into_iter()
        .find_map(|kind| error.get(kind));
    let Some(ContextValue::String(refused)) = refused else {
        return None;
    };
    match (command, refused.as_str()) {
        ("version", _) => Some("the version is printed by '--version'".to_owned()),
        _ if error.kind() != ErrorKind::UnknownArgument => None,
        (_, "--account") => Some("'--account' comes after the command".to_owned()),
        ("try", text) if !text.starts_with('-') => {
            Some("a text is given as '--text TEXT'".to_owned())
        }
        ("key", name)
            if !name.starts_with('-') && line.get(2).is_some_and(|word| word == "create") =>
        {
            Some("a key's name is given as '--name NAME'".to_owned())
        }
        ("serve", "--port" | "-p") => {
            Some("the address is set by '--listen 127.0.0.1:8080'".to_owned())
        }
        _ => None,
    }
}

/// The error line for a setting with an invalid value; `None` for any other error. A setting is an
/// argument that is also an environment variable.
fn refused_setting(program: &clap::Command, error: &clap::Error) -> Option<String> {
    let is_value = matches!(
        error.kind(),
        ErrorKind::ValueValidation | ErrorKind::InvalidValue
    );
    let Some(ContextValue::String(refused)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    let flag = refused.split(' ').next()?.strip_prefix("--")?;
    let commands = program
        .get_subcommands()
        .flat_map(clap::Command::get_arguments);
    let mut arguments = program.get_arguments().chain(commands);
    let setting = arguments.find(|argument| argument.get_long() == Some(flag))?;
    let variable = setting.get_env()?.to_str()?;
    let is_secret = setting.is_hide_env_values_set();
    is_value.then(|| arguments::unusable_setting(variable, is_secret, error))
}

/// The usage of the command in the arguments. The usage that clap puts into an error shows every
/// setting with a set environment variable as required.
fn usage(mut program: clap::Command, arguments: impl Iterator<Item = String>) -> StyledStr {
    program.build();
    for argument in arguments {
        if let Some(named) = program.find_subcommand(&argument).cloned() {
            program = named;
        }
    }
    program.render_usage()
}

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

/// Writes a manual page for the program and for each command: `refract.1`, `refract-prism.1`, …
pub(crate) fn write_pages(program: clap::Command, folder: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(folder)
        .and_then(|()| clap_mangen::generate_to(program, folder))
        .with_context(|| format!("cannot write the manual to {}", folder.display()))
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
    fn what_was_meant_is_proposed() {
        let program = clap::Command::new("refract")
            .subcommand(clap::Command::new("try").arg(clap::Arg::new("prism")))
            .subcommand(clap::Command::new("key").subcommand(clap::Command::new("create")))
            .subcommand(clap::Command::new("serve"));
        for (line, proposed) in [
            (&["refract", "try", "p", "hello"][..], Some("'--text TEXT'")),
            (&["refract", "serve", "--port"], Some("'--listen ")),
            (&["refract", "key", "create", "k"], Some("'--name NAME'")),
            (&["refract", "version"], Some("'--version'")),
            (&["refract", "--account", "x"], Some("after the command")),
            (&["refract", "try", "p", "--texts"], None),
        ] {
            let line: Vec<OsString> = line.iter().map(Into::into).collect();
            let error = program.clone().try_get_matches_from(&line).unwrap_err();
            let tip = tip(&line, &error);
            assert_eq!(tip.is_some(), proposed.is_some(), "{line:?}");
            assert!(
                tip.unwrap_or_default()
                    .contains(proposed.unwrap_or_default())
            );
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
