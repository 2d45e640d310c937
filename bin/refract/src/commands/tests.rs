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

/// The names of all commands that have no subcommands.
fn leaves(command: &clap::Command, path: &[String], found: &mut Vec<Vec<String>>) {
    for subcommand in command.get_subcommands() {
        let path = [path, &[subcommand.get_name().to_owned()]].concat();
        if subcommand.has_subcommands() {
            leaves(subcommand, &path, found);
        } else {
            found.push(path);
        }
    }
}

#[test]
fn the_program_alone_lists_every_command_once_in_its_groups() {
    let read = refract_terminal::command_line::read::<Program, _>(["refract"]);
    let help = read.err().unwrap();
    assert!(!help.use_stderr());
    let help = help.to_string();
    for command in Program::command().get_subcommands() {
        let begins = format!("  {} ", command.get_name());
        let lines = help.lines().filter(|line| line.starts_with(&begins));
        let expected = usize::from(!command.is_hide_set());
        assert_eq!(lines.count(), expected, "{begins}: {help}");
    }
    assert!(
        help.contains("\nQuality:\n") && help.contains("\nOptions:\n"),
        "{help}"
    );
}

#[test]
fn every_command_that_prints_takes_json() {
    let mut found = Vec::new();
    leaves(&Program::command(), &[], &mut found);
    for path in found {
        let line = ["refract".to_owned()].into_iter().chain(path.clone());
        let line = line.chain(["--json".to_owned()]);
        let read = refract_terminal::command_line::read::<Program, _>(line);
        let is_unknown = read
            .err()
            .is_some_and(|error| error.kind() == clap::error::ErrorKind::UnknownArgument);
        let prints_none = ["serve", "demo", "help", "completions", "__complete", "man"];
        assert_eq!(
            is_unknown,
            prints_none.contains(&path[0].as_str()),
            "{path:?}"
        );
    }
}

#[test]
fn every_command_is_explained_with_examples() {
    Program::command().debug_assert();
    check(&Program::command(), "refract");
}
