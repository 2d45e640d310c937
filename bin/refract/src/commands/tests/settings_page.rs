//! Checks that `docs/SETTINGS.md` matches the program's settings.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use clap::CommandFactory as _;

use super::Program;

/// The page; `REFRACT_TEST_WRITE_SETTINGS=1` rewrites it.
const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/SETTINGS.md");

/// The text before the tables.
const INTRODUCTION: &str = "\
# Settings

For operators: every setting. A flag overrides a variable, a variable the [file](#the-file), \
the file a default. Flags and keys are variables without `REFRACT_`: `--model-url`, `model_url`.

A blank variable is unset. `refract settings` shows values and their sources.
";

/// The text after the tables.
const END: &str = "
## Secrets from files

The file of `DATABASE_URL_FILE`, `REFRACT_MODEL_API_KEY_FILE` or `REFRACT_OIDC_CLIENT_SECRET_FILE` \
is read at start, without line breaks at its end, and again when PostgreSQL refuses the password, a \
model server answers 401 or 403, or the provider refuses the secret. If it then holds another value, \
the request is made once more. So a password or a key is changed without a restart: write the file \
first. Set either a variable or its file, not both.

## The file

`REFRACT_CONFIG` names a TOML file, such as [refract.toml](deploy/refract.toml); otherwise \
`refract.toml` in the folder or `/etc/refract` is read. A list may be an array, `on` and `off` may \
be `true` and `false`. An unknown key is an error. There are no sections, OpenTelemetry or proxies.

## Traces

The variables of the OpenTelemetry standard are read as it says, such as \
`OTEL_EXPORTER_OTLP_HEADERS`, `OTEL_SERVICE_NAME`, `OTEL_TRACES_SAMPLER` and `OTEL_SDK_DISABLED`. \
They are no flags.
";

/// A setting with its commands.
struct Setting {
    argument: clap::Arg,
    commands: Vec<String>,
}

impl Setting {
    fn variable(&self) -> String {
        let variable = self.argument.get_env().unwrap_or_default();
        variable.to_string_lossy().into_owned()
    }

    fn row(&self) -> String {
        let variable = self.variable();
        let name = variable.trim_start_matches("REFRACT_").to_lowercase();
        assert_eq!(
            self.argument.get_long(),
            Some(name.replace('_', "-").as_str()),
            "the page says how the flag of {variable} is called"
        );
        let defaults = self.argument.get_default_values().iter();
        let defaults: Vec<_> = defaults.map(|it| it.to_string_lossy()).collect();
        let default = match defaults.join(" ") {
            none if none.is_empty() => none,
            default => format!("`{default}`"),
        };
        let help = self.argument.get_help().map(ToString::to_string);
        let help = help.unwrap_or_default().replace('|', "\\|");
        format!("| `{variable}` | {default} | {help} |")
    }
}

/// Collects the settings of a command and its subcommands, in the order of their definition.
fn collect(command: &clap::Command, path: &str, settings: &mut Vec<Setting>) {
    for argument in command.get_arguments() {
        let Some(variable) = argument.get_env() else {
            continue;
        };
        let known = settings.iter_mut();
        let mut known = known.filter(|known| known.argument.get_env() == Some(variable));
        if let Some(known) = known.next() {
            known.commands.push(path.to_owned());
        } else {
            settings.push(Setting {
                argument: argument.clone(),
                commands: vec![path.to_owned()],
            });
        }
    }
    for subcommand in command.get_subcommands() {
        let path = format!("{path} {}", subcommand.get_name());
        collect(subcommand, path.trim(), settings);
    }
}

fn page() -> String {
    let mut settings = Vec::new();
    collect(&Program::command(), "", &mut settings);
    let (of_server, of_commands): (Vec<_>, Vec<_>) = settings.into_iter().partition(|setting| {
        let mut commands = setting.commands.iter();
        commands.any(|command| command.is_empty() || command == "serve")
    });
    let mut page = INTRODUCTION.to_owned();
    let headings: Vec<_> = of_server.iter().map(heading).collect();
    let mut written = BTreeSet::new();
    for heading in &headings {
        if !written.insert(heading) {
            continue;
        }
        write!(page, "\n## {heading}\n\n{TABLE}").unwrap();
        for (setting, of) in of_server.iter().zip(&headings) {
            if of == heading {
                writeln!(page, "{}", setting.row()).unwrap();
            }
        }
    }
    if !of_commands.is_empty() {
        write!(page, "\n## Single commands\n\n{TABLE}").unwrap();
        for setting in &of_commands {
            writeln!(page, "{}", setting.row()).unwrap();
        }
    }
    page + END
}

/// The head of a table of settings.
const TABLE: &str = "| variable | default | meaning |\n|---|---|---|\n";

/// The heading of a setting in `--help`.
fn heading(setting: &Setting) -> String {
    let heading = setting.argument.get_help_heading();
    heading.unwrap_or("Server").to_owned()
}

#[test]
fn the_page_of_settings_is_what_the_program_has() {
    let page = page();
    if std::env::var_os("REFRACT_TEST_WRITE_SETTINGS").is_some() {
        std::fs::write(PAGE, &page).unwrap();
    }
    let saved = std::fs::read_to_string(PAGE).unwrap_or_default();
    assert!(
        saved == page,
        "docs/SETTINGS.md is behind: REFRACT_TEST_WRITE_SETTINGS=1 cargo test -p refract settings"
    );
}
