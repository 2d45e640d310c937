//! Wrong usage of the command line, reported.

use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue};

use crate::{arguments, commands, output};

/// Reports wrong usage: an unusable setting in one line, everything else as clap explains it.
pub(crate) fn report(mut error: clap::Error) -> ExitCode {
    if let Some(variable) = commands::refused_setting(&error) {
        return output::fail_with(&arguments::unusable_setting(&variable, &error));
    }
    if error.get(ContextKind::Usage).is_some() {
        let given = std::env::args_os().skip(1);
        let given = given.map(|argument| argument.to_string_lossy().into_owned());
        let usage = ContextValue::StyledStr(commands::usage(given));
        error.insert(ContextKind::Usage, usage);
    }
    output::wrong_usage(&error)
}
