//! Checks that every command has help.

mod settings_page;

use super::*;

fn check(command: &clap::Command, path: &str) {
    let help = command.get_after_help().map(ToString::to_string);
    let help = help.unwrap_or_else(|| panic!("`{path}` has no examples"));
    assert!(help.starts_with("Examples:\n  "), "{path}: {help}");
    let examples = help.lines().skip(1).take_while(|line| !line.is_empty());
    for example in examples {
        assert!(example.contains("refract "), "{path}: {example}");
    }
    let about = command.get_about().map(ToString::to_string);
    assert!(about.is_some_and(|about| !about.is_empty()), "{path}");
    for argument in command.get_arguments() {
        assert!(argument.get_help().is_some(), "{path}: {argument}");
    }
    for subcommand in command.get_subcommands() {
        check(subcommand, &format!("{path} {}", subcommand.get_name()));
    }
}

#[test]
fn every_command_is_explained_with_examples() {
    Program::command().debug_assert();
    check(&Program::command(), "refract");
}
