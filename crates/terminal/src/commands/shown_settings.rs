//! `refract settings`: shows every setting, and where its value comes from.

use std::process::ExitCode;

use clap::Args;
use serde::Serialize;

use crate::settings_file::{self, KnownSetting, known_settings};
use crate::{arguments, command_line, output};

/// What is shown instead of a secret.
const HIDDEN: &str = "(hidden)";

/// The arguments of `refract settings`.
#[derive(Args)]
pub struct SettingsCommand {
    /// Prints a JSON object a line
    #[arg(long)]
    json: bool,
}

/// A setting as it is shown.
#[derive(Serialize)]
struct ShownSetting {
    /// The key in the file of settings.
    setting: String,
    variable: String,
    /// `None` for a secret, and where there is no value.
    value: Option<String>,
    #[serde(rename = "hidden")]
    is_hidden: bool,
    from: ValueSource,
    /// The flag, the variable, or the file and the line.
    place: Option<String>,
}

/// Where a value comes from.
#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "lowercase")]
enum ValueSource {
    Flag,
    Variable,
    File,
    Default,
}

impl SettingsCommand {
    /// Runs `refract settings`. `program` is the whole command line.
    pub(crate) fn run(self, program: fn() -> clap::Command) -> anyhow::Result<ExitCode> {
        if let Err(error) = command_line::check_settings(program(), "serve") {
            return Ok(command_line::report_wrong_usage(program(), &[], error));
        }
        if let Some(path) = settings_file::path() {
            output::say(&format!("The settings file: {}", path.display()));
        }
        let settings = known_settings(&program());
        let rows: Vec<_> = settings.into_iter().map(ShownSetting::of).collect();
        output::list(self.json, &["setting", "value", "from"], &rows, |row| {
            let value = if row.is_hidden {
                Some(HIDDEN)
            } else {
                row.value.as_deref()
            };
            let place = row.place.as_deref().unwrap_or("default");
            [&row.setting, value.unwrap_or_default(), place]
                .map(str::to_owned)
                .into()
        })?;
        Ok(ExitCode::SUCCESS)
    }
}

impl ShownSetting {
    fn of(setting: KnownSetting) -> Self {
        let (value, from, place) = found(&setting);
        let is_hidden = value
            .as_deref()
            .is_some_and(|value| setting.holds_secret(value));
        Self {
            setting: setting.key,
            variable: setting.variable,
            value: value.filter(|_| !is_hidden),
            is_hidden,
            from,
            place,
        }
    }
}

/// The value of a setting, where it comes from, and the place there.
fn found(setting: &KnownSetting) -> (Option<String>, ValueSource, Option<String>) {
    if let Some(value) = arguments::on_command_line(&setting.flag) {
        return (Some(value), ValueSource::Flag, Some(setting.flag.clone()));
    }
    if let Some(value) = std::env::var_os(&setting.variable) {
        let value = value.to_string_lossy().into_owned();
        return (
            Some(value),
            ValueSource::Variable,
            Some(setting.variable.clone()),
        );
    }
    match arguments::file_value(&setting.variable) {
        Some(value) => (
            Some(value.text.clone()),
            ValueSource::File,
            Some(value.place.clone()),
        ),
        None => (setting.default.clone(), ValueSource::Default, None),
    }
}
