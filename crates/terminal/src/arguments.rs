//! Parses argument values, with error messages for people.
//!
//! A setting is an argument that is also an environment variable and may be in the file of settings.
//! An error names whichever of them was used.

use std::ffi::OsStr;
use std::num::{IntErrorKind, NonZeroUsize, ParseIntError};
use std::str::FromStr;

use clap::ValueEnum;
use clap::builder::Resettable;
use clap::error::{ContextKind, ContextValue};
use refract_domain::prism::VersionNumber;

use crate::settings_file::{self, FileValue};

/// The prefix of a setting's environment variable; the rest corresponds to the flag.
const PREFIX: &str = "REFRACT_";

/// A setting that is on or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OnOrOff {
    /// Switched on.
    On,
    /// Switched off.
    Off,
}

/// Parses a positive whole number as one of the `NonZero` types.
///
/// # Errors
/// Zero, a negative number, or not a whole number.
pub(crate) fn from_1<N: FromStr<Err = ParseIntError>>(text: &str) -> Result<N, String> {
    whole(text, "a whole number, 1 or more")
}

/// Parses a whole number from 0.
///
/// # Errors
/// A negative number, or not a whole number.
pub(crate) fn from_0<N: FromStr<Err = ParseIntError>>(text: &str) -> Result<N, String> {
    whole(text, "a whole number, 0 or more")
}

/// Most workers that an HTTP server can have: actix-server panics with more.
pub(crate) const MOST_WORKERS: NonZeroUsize = match NonZeroUsize::new(512) {
    Some(most) => most,
    None => NonZeroUsize::MIN,
};

/// Parses a number of HTTP workers.
///
/// # Errors
/// Zero, more than [`MOST_WORKERS`], a negative number, or not a whole number.
pub(crate) fn workers(text: &str) -> Result<NonZeroUsize, String> {
    let number = from_1(text)?;
    if number > MOST_WORKERS {
        return Err(format!("expected a whole number from 1 to {MOST_WORKERS}"));
    }
    Ok(number)
}

/// Parses a number of days.
///
/// # Errors
/// Zero, a negative number, or not a whole number.
pub fn days<N: FromStr<Err = ParseIntError>>(text: &str) -> Result<N, String> {
    whole(text, "a whole number of days, 1 or more")
}

/// Parses the number of a prism version.
///
/// # Errors
/// Zero, a negative number, or not a whole number.
pub(crate) fn version(text: &str) -> Result<VersionNumber, String> {
    let expected = "the number of a version, 1 or more";
    let number = whole(text, expected)?;
    VersionNumber::new(number).ok_or_else(|| format!("expected {expected}"))
}

/// Parses a duration in milliseconds that is not zero.
///
/// # Errors
/// Zero, a negative number, or not a whole number, such as one with a unit.
pub(crate) fn milliseconds_from_1(text: &str) -> Result<NonZeroUsize, String> {
    let expected = "a whole number of milliseconds, 1 or more";
    whole(text, expected).map_err(|message| in_milliseconds(text).unwrap_or(message))
}

/// Parses a duration in milliseconds that may be zero.
///
/// # Errors
/// A negative number, or not a whole number, such as one with a unit.
pub fn milliseconds_from_0(text: &str) -> Result<usize, String> {
    let expected = "a whole number of milliseconds, 0 or more";
    whole(text, expected).map_err(|message| in_milliseconds(text).unwrap_or(message))
}

fn whole<N: FromStr<Err = ParseIntError>>(text: &str, expected: &str) -> Result<N, String> {
    text.parse().map_err(|error: ParseIntError| {
        if *error.kind() == IntErrorKind::PosOverflow {
            format!("expected {expected}; this is more than there can be")
        } else {
            format!("expected {expected}")
        }
    })
}

/// The error message for a duration with a unit; `None` for any other text.
fn in_milliseconds(text: &str) -> Option<String> {
    let end = text.find(|c: char| !c.is_ascii_digit())?;
    let (number, unit) = text.split_at_checked(end)?;
    let milliseconds = match unit.trim_start() {
        "ms" => 1,
        "s" => 1_000,
        "m" | "min" => 60_000,
        _ => return None,
    };
    let number = number.parse::<u64>().ok()?.checked_mul(milliseconds)?;
    Some(format!("expected milliseconds without a unit: {number}"))
}

/// The name by which a setting was given: its flag if used on the command line, otherwise its
/// environment variable, or its key and place in the file of settings.
pub fn setting_name(variable: &str) -> String {
    let flag = flag_of(variable);
    if is_on_command_line(&flag) {
        return flag;
    }
    match file_value(variable) {
        Some(value) => value.name(),
        None => variable.to_owned(),
    }
}

/// The value of a setting in the file of settings, unless its environment variable is set, or a flag
/// or variable gives the setting in its other form: a secret as a file, or as a value.
pub(crate) fn file_value(variable: &str) -> Option<&'static FileValue> {
    let value = settings_file::value_of(variable)?;
    let other = match variable.strip_suffix("_FILE") {
        Some(without) => without.to_owned(),
        None => format!("{variable}_FILE"),
    };
    let is_overridden = is_in_environment(variable) || is_given_to_process(&other);
    (!is_overridden).then_some(value)
}

/// The command with the values of the file of settings as defaults, and without blank environment
/// variables. Secrets are not shown in its help.
pub(crate) fn with_values(command: clap::Command) -> clap::Command {
    let command = command.mut_args(|argument| {
        let variable = argument.get_env().and_then(OsStr::to_str);
        let variable = variable.map(str::to_owned);
        let argument = match &variable {
            Some(variable) if is_blank(variable) => argument.env(Resettable::Reset),
            Some(_) | None => argument,
        };
        let Some(value) = variable.as_deref().and_then(file_value) else {
            return argument;
        };
        let is_secret = argument.is_hide_env_values_set();
        argument
            .default_value(value.text.as_str())
            .hide_default_value(is_secret)
    });
    command.mut_subcommands(with_values)
}

/// The beginning of an error message about a setting's value.
pub fn cannot_be_used(setting: &str) -> String {
    format!("{} cannot be used", setting_name(setting))
}

/// Whether a setting was given: as a flag, or, not empty, as an environment variable or in the file of
/// settings.
pub(crate) fn is_given(variable: &str) -> bool {
    let in_file = file_value(variable).is_some_and(|value| !value.text.is_empty());
    in_file || is_given_to_process(variable)
}

fn is_given_to_process(variable: &str) -> bool {
    is_in_environment(variable) || is_on_command_line(&flag_of(variable))
}

/// Whether an environment variable is set; a blank one counts as not set.
fn is_in_environment(variable: &str) -> bool {
    std::env::var_os(variable).is_some() && !is_blank(variable)
}

/// Whether an environment variable has a value of white space alone, as where a file of Compose knows
/// none for it.
pub(crate) fn is_blank(variable: &str) -> bool {
    std::env::var_os(variable).is_some_and(|value| value.to_string_lossy().trim().is_empty())
}

/// Refuses a setting that is given both as a value and as a file; an empty file name counts as not
/// given.
///
/// # Errors
/// Both are given.
pub fn refuse_both(variable: &str) -> anyhow::Result<()> {
    let file = format!("{variable}_FILE");
    if is_given(variable) && is_given(&file) {
        let [value, file] = [variable, &file].map(setting_name);
        anyhow::bail!("{value} and {file} are both given: leave one of them out");
    }
    Ok(())
}

fn is_on_command_line(flag: &str) -> bool {
    let mut arguments = std::env::args_os().skip(1);
    arguments.any(|argument| {
        let argument = argument.to_string_lossy();
        let value = argument.strip_prefix(flag);
        value.is_some_and(|value| value.is_empty() || value.starts_with('='))
    })
}

/// The value of a flag on the command line of this process, if the flag is there.
pub(crate) fn on_command_line(flag: &str) -> Option<String> {
    let mut arguments = std::env::args_os().skip(1);
    while let Some(argument) = arguments.next() {
        let argument = argument.to_string_lossy();
        match argument.strip_prefix(flag) {
            Some("") => return Some(arguments.next()?.to_string_lossy().into_owned()),
            Some(rest) if rest.starts_with('=') => return rest.get(1..).map(str::to_owned),
            Some(_) | None => {}
        }
    }
    None
}

/// The flag of the setting with this environment variable.
fn flag_of(variable: &str) -> String {
    let words = variable.strip_prefix(PREFIX).unwrap_or(variable);
    format!("--{}", words.to_lowercase().replace('_', "-"))
}

/// The error line for an invalid setting, with the name by which the setting was given. A secret's
/// value is not shown.
pub(crate) fn unusable_setting(variable: &str, is_secret: bool, error: &clap::Error) -> String {
    let value = match error.get(ContextKind::InvalidValue) {
        Some(ContextValue::String(value)) if !is_secret => format!("'{value}': "),
        Some(_) | None => String::new(),
    };
    let message = match (
        std::error::Error::source(error),
        error.get(ContextKind::ValidValue),
    ) {
        (Some(cause), _) => cause.to_string(),
        (None, Some(ContextValue::Strings(valid))) => format!("expected {}", valid.join(" or ")),
        (None, _) => "it cannot be read".to_owned(),
    };
    let name = setting_name(variable);
    format!("error: {name} cannot be used: {value}{message}")
}

#[cfg(test)]
mod tests {
    use std::num::{NonZeroU16, NonZeroU32};

    use super::*;

    #[test]
    fn a_number_that_cannot_be_used_is_answered_with_what_can() {
        assert_eq!(from_1("7"), Ok(NonZeroU32::new(7).unwrap()));
        for wrong in ["0", "-1", "1.5", "", "many"] {
            assert_eq!(
                from_1::<NonZeroU32>(wrong).unwrap_err(),
                "expected a whole number, 1 or more",
                "{wrong}"
            );
        }
        assert_eq!(
            from_1::<NonZeroU16>("65536").unwrap_err(),
            "expected a whole number, 1 or more; this is more than there can be"
        );
        assert_eq!(from_0("0"), Ok(0_usize));
        assert!(from_0::<usize>("-1").unwrap_err().contains("0 or more"));
        assert!(days::<NonZeroU32>("0").unwrap_err().contains("days"));
        assert_eq!(workers("512"), Ok(MOST_WORKERS));
        assert!(workers("0").unwrap_err().contains("1 or more"));
        assert!(workers("513").unwrap_err().contains("from 1 to 512"));
        assert_eq!(version("1"), Ok(VersionNumber::FIRST));
        for wrong in ["0", "-1", "latest", "v2", "2147483648"] {
            let message = version(wrong).unwrap_err();
            assert!(message.starts_with("expected the number of a version"));
        }
    }

    #[test]
    fn a_time_with_a_unit_is_answered_in_milliseconds() {
        assert_eq!(
            milliseconds_from_1("15000"),
            Ok(NonZeroUsize::new(15_000).unwrap())
        );
        assert_eq!(milliseconds_from_0("0"), Ok(0));
        for (wrong, number) in [("15s", "15000"), ("2 m", "120000"), ("500ms", "500")] {
            let message = milliseconds_from_1(wrong).unwrap_err();
            assert_eq!(
                message,
                format!("expected milliseconds without a unit: {number}")
            );
        }
        for wrong in ["0", "soon", "-1", "1.5s", "9h"] {
            assert_eq!(
                milliseconds_from_1(wrong).unwrap_err(),
                "expected a whole number of milliseconds, 1 or more"
            );
        }
    }

    #[test]
    fn a_setting_that_is_no_flag_here_is_named_by_its_variable() {
        assert_eq!(flag_of("REFRACT_MODEL_TIMEOUT_MS"), "--model-timeout-ms");
        assert_eq!(flag_of("DATABASE_URL"), "--database-url");
        assert_eq!(setting_name("REFRACT_WORKERS"), "REFRACT_WORKERS");
    }
}
