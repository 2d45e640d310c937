//! The settings that the program has.

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
    pub(crate) is_switch: bool,
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
mod tests {
    use super::*;

    #[test]
    fn credentials_in_any_address_are_a_secret() {
        let setting = KnownSetting {
            key: "model_url".to_owned(),
            variable: "REFRACT_MODEL_URL".to_owned(),
            flag: "--model-url".to_owned(),
            default: None,
            is_switch: false,
            is_secret: false,
        };
        for secret in [
            "http://user:word@host/v1",
            "http://host/v1,https://user:word@other/v1",
        ] {
            assert!(setting.holds_secret(secret), "{secret}");
        }
        for open in [
            "http://user@host/v1",
            "https://host:1/@me/v1",
            "builtin:lexical",
        ] {
            assert!(!setting.holds_secret(open), "{open}");
        }
    }
}
