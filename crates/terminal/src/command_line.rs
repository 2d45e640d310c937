//! The command line: parsing, help, and the report of wrong usage.

mod unknown_variables;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};

pub use self::unknown_variables::warn_of_unknown_variables;
use crate::{arguments, output};

/// Parses a command line. Its first item is the program.
///
/// # Errors
/// Wrong usage, or a request for help or the version.
pub fn read<P: Parser, A: Into<OsString> + Clone>(
    line: impl IntoIterator<Item = A>,
) -> Result<P, clap::Error> {
    let mut command = with_negative_numbers(P::command());
    let matches = command.try_get_matches_from_mut(line)?;
    P::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
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
    with_negative_numbers(program)
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
    if let Some(variable) = refused_setting(&program, &error) {
        return output::fail_with(&arguments::unusable_setting(&variable, &error));
    }
    if error.get(ContextKind::Usage).is_some() {
        let given = line.iter().skip(1);
        let given = given.map(|argument| argument.to_string_lossy().into_owned());
        let usage = ContextValue::StyledStr(usage(program, given));
        error.insert(ContextKind::Usage, usage);
    }
    output::wrong_usage(&error)
}

/// The environment variable of the setting with the invalid value; `None` for any other error. A
/// setting is an argument that is also an environment variable.
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
    let variable = setting.get_env()?.to_str()?.to_owned();
    is_value.then_some(variable)
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
