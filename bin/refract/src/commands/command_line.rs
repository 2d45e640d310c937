//! The command line itself: how it is read, and where its help is.

/// The command, with `-1` read as a number that is too small rather than as an unknown flag.
pub(super) fn with_negative_numbers(command: clap::Command) -> clap::Command {
    let command = command.mut_args(|argument| {
        let is_flag = argument.is_positional() || !argument.get_action().takes_values();
        argument.allow_negative_numbers(!is_flag)
    });
    command.mut_subcommands(with_negative_numbers)
}

/// The line that asks for a command's help.
pub(super) fn asking_for_help(command: &[String]) -> Vec<String> {
    let program = ["refract"].into_iter();
    let line = program
        .chain(command.iter().map(String::as_str))
        .chain(["--help"]);
    line.map(ToOwned::to_owned).collect()
}
