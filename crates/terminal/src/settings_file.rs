//! A TOML file of settings, for those who prefer it to environment variables. And the settings that
//! the program has.
//!
//! A key is the setting's flag with underscores: `model_url` is `--model-url` and
//! `REFRACT_MODEL_URL`. The values of the file take the place of defaults. An error names the file
//! and the line, and shows no value of a secret.

use std::collections::BTreeMap;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use clap::Args;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::suggestion;

/// The file of this process, beside its environment and its command line.
static GIVEN: OnceLock<SettingsFile> = OnceLock::new();

/// The files that are looked for where none is named.
const USUAL: [&str; 2] = ["refract.toml", "/etc/refract/refract.toml"];

/// The permission of everybody to read a file.
const READABLE_BY_OTHERS: u32 = 0o004;

/// The values of a file.
#[derive(Debug)]
pub(crate) struct SettingsFile {
    path: PathBuf,
    /// By environment variable.
    values: BTreeMap<String, FileValue>,
    is_readable_by_others: bool,
}

/// A setting in a file.
pub(crate) struct FileValue {
    /// The value as an environment variable would have it.
    pub(crate) text: String,
    key: String,
    /// The file and the line.
    pub(crate) place: String,
    is_secret: bool,
}

impl std::fmt::Debug for FileValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name())
    }
}

impl FileValue {
    /// The setting's name in an error message.
    pub(crate) fn name(&self) -> String {
        format!("{} ({})", self.key, self.place)
    }
}

/// Reads the file that gives settings to this process. `program` is the whole command line, whose
/// arguments with environment variables are the settings.
///
/// # Errors
/// When the file cannot be read or is no TOML, or has something that is no setting.
pub(crate) fn load(path: &Path, program: &clap::Command) -> Result<(), SettingsFileError> {
    let file = SettingsFile::read(path, &known_settings(program))?;
    // a second file is never loaded
    let _ = GIVEN.set(file);
    Ok(())
}

/// The file that is read where none is named: the first of the usual ones that this process may read
/// and that its user or root owns, so that nobody's file in a shared folder sends texts elsewhere.
pub(crate) fn found() -> Option<&'static Path> {
    let user = rustix::process::getuid().as_raw();
    let mut usual = USUAL.into_iter().map(Path::new);
    usual.find(|path| {
        let owner = std::fs::metadata(path).map(|it| it.is_file().then(|| it.uid()));
        let is_trusted = matches!(owner, Ok(Some(owner)) if owner == user || owner == 0);
        is_trusted && std::fs::File::open(path).is_ok()
    })
}

/// The path of the file of this process.
pub(crate) fn path() -> Option<&'static Path> {
    Some(GIVEN.get()?.path.as_path())
}

/// The value of a setting in the file of this process.
pub(crate) fn value_of(variable: &str) -> Option<&'static FileValue> {
    GIVEN.get()?.values.get(variable)
}

/// Logs a warning if the file of this process holds a secret and everybody on this machine may read
/// it.
pub(crate) fn warn_if_exposed() {
    if let Some(file) = GIVEN.get()
        && let Some(secret) = file.exposed_secret()
    {
        tracing::warn!(
            "every user of this machine may read {secret}: change the file's mode to 600 or 640"
        );
    }
}

impl SettingsFile {
    fn read(path: &Path, known: &[KnownSetting]) -> Result<Self, SettingsFileError> {
        let unreadable = |error: std::io::Error| SettingsFileError::Unreadable {
            path: path.to_owned(),
            reason: error.to_string(),
        };
        let text = std::fs::read_to_string(path).map_err(unreadable)?;
        let mode = std::fs::metadata(path).map_err(unreadable)?.permissions();
        Ok(Self {
            path: path.to_owned(),
            values: values(path, &text, known)?,
            is_readable_by_others: mode.mode() & READABLE_BY_OTHERS != 0,
        })
    }

    /// The name of a secret in a file that everybody may read.
    fn exposed_secret(&self) -> Option<String> {
        let mut values = self.values.values();
        let secret = values.find(|value| value.is_secret)?;
        self.is_readable_by_others
            .then(|| format!("{} in {}", secret.key, self.path.display()))
    }
}

/// The values in the text of a file, by environment variable.
fn values(
    path: &Path,
    text: &str,
    known: &[KnownSetting],
) -> Result<BTreeMap<String, FileValue>, SettingsFileError> {
    let table = DeTable::parse(text).map_err(|error| SettingsFileError::NotToml {
        place: place(path, text, error.span().map_or(0, |span| span.start)),
        // the error's own text would quote the line
        reason: error.message().to_owned(),
    })?;
    let mut entries: Vec<_> = table.get_ref().iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    let mut values = BTreeMap::new();
    for (key, value) in entries {
        let place = place(path, text, key.span().start);
        let name: &str = key.get_ref();
        let Some(setting) = known.iter().find(|setting| setting.key == name) else {
            return Err(unknown(place, name, value, known));
        };
        let Some(text) = value_text(value.get_ref(), setting.is_switch) else {
            return Err(SettingsFileError::Type {
                place,
                key: name.to_owned(),
                found: kind(value.get_ref()),
                expected: expected(setting.is_switch),
            });
        };
        let value = FileValue {
            is_secret: setting.holds_secret(&text),
            key: name.to_owned(),
            text,
            place,
        };
        values.insert(setting.variable.clone(), value);
    }
    Ok(values)
}

fn unknown(
    place: String,
    key: &str,
    value: &Spanned<DeValue<'_>>,
    known: &[KnownSetting],
) -> SettingsFileError {
    let key = key.to_owned();
    if value.get_ref().is_table() {
        return SettingsFileError::Section { place, key };
    }
    // a variable's name is a likely mistake
    let lower = key.to_lowercase();
    let words = lower.strip_prefix("refract_").unwrap_or(&lower);
    let suggestion =
        suggestion::did_you_mean(words, known.iter().map(|setting| setting.key.as_str()));
    SettingsFileError::Unknown {
        place,
        key,
        suggestion,
    }
}

/// The file and the line, from 1, of a byte of its text.
fn place(path: &Path, text: &str, byte: usize) -> String {
    let before = text.as_bytes().iter().take(byte);
    let line = before.filter(|byte| **byte == b'\n').count() + 1;
    format!("{}:{line}", path.display())
}

/// Why a file of settings cannot be used. The text is one line and shows no value.
#[derive(Debug, thiserror::Error)]
pub enum SettingsFileError {
    /// The file cannot be read.
    #[error("cannot read the settings in {}: {reason}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// The file is no TOML.
    #[error("{place}: this is not TOML: {reason}")]
    NotToml {
        /// The file and the line.
        place: String,
        /// What is wrong.
        reason: String,
    },
    /// A key that is no setting.
    #[error("{place}: `{key}` is no setting{suggestion}")]
    Unknown {
        /// The file and the line.
        place: String,
        /// The key.
        key: String,
        /// The most similar setting as a question; empty if none is similar.
        suggestion: String,
    },
    /// A section, or a key with a dot.
    #[error(
        "{place}: there are no sections such as `{key}` here: write whole names, such as \
         model_url = \"http://127.0.0.1:8000/v1\", before the first `[`"
    )]
    Section {
        /// The file and the line.
        place: String,
        /// The section.
        key: String,
    },
    /// A value of another type.
    #[error("{place}: {key} is {found}: expected {expected}")]
    Type {
        /// The file and the line.
        place: String,
        /// The setting.
        key: String,
        /// The type of the value.
        found: &'static str,
        /// The types that it may have.
        expected: &'static str,
    },
}

/// A value as text: a list is joined by commas, and a switch may be a boolean. `None` for a value of
/// a type that no setting has.
fn value_text(value: &DeValue<'_>, is_switch: bool) -> Option<String> {
    match value {
        DeValue::Array(values) => {
            let values = values.iter().map(|value| single(value.get_ref()));
            let values: Option<Vec<_>> = values.collect();
            values.map(|values| values.join(","))
        }
        DeValue::Boolean(is_on) if is_switch => Some(if *is_on { "on" } else { "off" }.to_owned()),
        DeValue::String(_)
        | DeValue::Integer(_)
        | DeValue::Float(_)
        | DeValue::Boolean(_)
        | DeValue::Datetime(_)
        | DeValue::Table(_) => single(value),
    }
}

/// A text or a number.
fn single(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.clone().into_owned()),
        DeValue::Integer(number) => {
            let decimal = i64::from_str_radix(number.as_str(), number.radix()).ok()?;
            Some(decimal.to_string())
        }
        DeValue::Float(number) => Some(number.as_str().to_owned()),
        DeValue::Boolean(_) | DeValue::Datetime(_) | DeValue::Array(_) | DeValue::Table(_) => None,
    }
}

/// The type of a value, with its article.
fn kind(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) => "a number that is too large",
        DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "a boolean",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list of something else",
        DeValue::Table(_) => "a table",
    }
}

/// The types that a setting may have.
fn expected(is_switch: bool) -> &'static str {
    if is_switch {
        "\"on\", \"off\", true or false"
    } else {
        "a text, a number, or a list of them"
    }
}

/// The file of settings. It is read before the command line is parsed, since it holds values of
/// other arguments.
#[derive(Args, Clone)]
#[command(next_help_heading = "Settings file")]
pub struct ConfigArgs {
    /// A TOML file of settings; a variable or flag overrides its setting
    #[arg(long, env = "REFRACT_CONFIG", value_name = "FILE", global = true)]
    pub config: Option<PathBuf>,
}

/// A setting: an argument of a command that is also an environment variable.
#[derive(Clone, Debug)]
pub(crate) struct KnownSetting {
    /// The environment variable.
    pub(crate) variable: String,
    /// The flag, with its hyphens.
    pub(crate) flag: String,
    /// The key in a file.
    pub(crate) key: String,
    /// The default; `None` if there is none.
    pub(crate) default: Option<String>,
    /// Whether it is `on` or `off`.
    is_switch: bool,
    /// Whether its value may be a secret.
    is_secret: bool,
}

/// The variable that names the file, which has no place in it.
const OF_FILE: &str = "REFRACT_CONFIG";

/// The settings of all commands, in the order of their definition, each once.
pub(crate) fn known_settings(program: &clap::Command) -> Vec<KnownSetting> {
    fn add(command: &clap::Command, settings: &mut Vec<KnownSetting>) {
        for argument in command.get_arguments() {
            if let Some(setting) = KnownSetting::of(argument)
                && settings.iter().all(|known| known.key != setting.key)
            {
                settings.push(setting);
            }
        }
        for subcommand in command.get_subcommands() {
            add(subcommand, settings);
        }
    }
    let mut settings = Vec::new();
    add(program, &mut settings);
    settings
}

impl KnownSetting {
    fn of(argument: &clap::Arg) -> Option<Self> {
        let variable = argument.get_env()?.to_str()?;
        let flag = argument.get_long()?;
        if variable == OF_FILE {
            return None;
        }
        let values = argument.get_possible_values();
        let mut values = values.iter().map(clap::builder::PossibleValue::get_name);
        let default = argument.get_default_values().first();
        Some(Self {
            variable: variable.to_owned(),
            flag: format!("--{flag}"),
            key: flag.replace('-', "_"),
            default: default.map(|value| value.to_string_lossy().into_owned()),
            is_switch: values.any(|name| name == "on"),
            is_secret: argument.is_hide_env_values_set(),
        })
    }

    /// Whether a value of this setting is a secret. An address is one if it has a password, in any
    /// setting: one that is refused at the start is shown all the same.
    pub(crate) fn holds_secret(&self, value: &str) -> bool {
        let has_password = || match value.split_once("://") {
            Some((_, rest)) => {
                let user = rest.rsplit_once('@').map(|(user, _)| user);
                user.is_some_and(|user| user.contains(':')) || rest.contains("password=")
            }
            None => !value.is_empty(),
        };
        (self.is_secret && has_password()) || value.split(',').any(has_credentials)
    }
}

/// Whether an address has a user and a password.
fn has_credentials(address: &str) -> bool {
    let rest = address.split_once("://").map(|(_, rest)| rest);
    let authority = rest.and_then(|rest| rest.split(['/', '?', '#']).next());
    let user = authority.and_then(|authority| authority.rsplit_once('@'));
    user.is_some_and(|(user, _)| user.contains(':'))
}

#[cfg(test)]
mod tests;
