//! What a file may hold, and the error for everything else.

use clap::{Arg, Command};

use super::*;

fn program() -> Command {
    let setting = |name: &'static str, variable: &'static str| {
        Arg::new(name).long(name).env(variable).num_args(1)
    };
    Command::new("refract")
        .arg(setting("database-url", "DATABASE_URL").hide_env_values(true))
        .arg(setting("config", "REFRACT_CONFIG"))
        .subcommand(
            Command::new("serve")
                .arg(setting("model-url", "REFRACT_MODEL_URL"))
                .arg(setting("model-api-key", "REFRACT_MODEL_API_KEY").hide_env_values(true))
                .arg(setting("model-prices", "REFRACT_MODEL_PRICES"))
                .arg(setting("workers", "REFRACT_WORKERS").default_value("2"))
                .arg(
                    setting("retention-unchecked", "REFRACT_RETENTION_UNCHECKED")
                        .value_parser(["on", "off"]),
                ),
        )
}

fn read(text: &str) -> Result<BTreeMap<String, FileValue>, SettingsFileError> {
    values(Path::new("refract.toml"), text, &known_settings(&program()))
}

fn value(text: &str, variable: &str) -> String {
    read(text).unwrap()[variable].text.clone()
}

#[test]
fn a_value_is_what_the_variable_would_hold() {
    for (line, variable, text) in [
        (
            "model_url = 'http://a/v1'",
            "REFRACT_MODEL_URL",
            "http://a/v1",
        ),
        (
            "model_url = ['http://a/v1', 'http://b/v1']",
            "REFRACT_MODEL_URL",
            "http://a/v1,http://b/v1",
        ),
        ("database_url = ''", "DATABASE_URL", ""),
        ("workers = 1_000", "REFRACT_WORKERS", "1000"),
        ("workers = 0x10", "REFRACT_WORKERS", "16"),
        ("workers = '4'", "REFRACT_WORKERS", "4"),
        (
            "model_prices = [0.00015, 0.000075, 1]",
            "REFRACT_MODEL_PRICES",
            "0.00015,0.000075,1",
        ),
        (
            "retention_unchecked = true",
            "REFRACT_RETENTION_UNCHECKED",
            "on",
        ),
        (
            "retention_unchecked = 'off'",
            "REFRACT_RETENTION_UNCHECKED",
            "off",
        ),
    ] {
        assert_eq!(value(line, variable), text, "{line}");
    }
}

#[test]
fn what_is_no_setting_is_refused_with_its_line_and_the_nearest_name() {
    for (text, message) in [
        (
            "# ours\n\nmodel_ulr = 'x'",
            "refract.toml:3: `model_ulr` is no setting: did you mean `model_url`?",
        ),
        (
            "REFRACT_MODEL_URL = 'x'",
            "refract.toml:1: `REFRACT_MODEL_URL` is no setting: did you mean `model_url`?",
        ),
        ("zzz = 1\nqqq = 2", "refract.toml:1: `zzz` is no setting"),
        (
            "config = 'other.toml'",
            "refract.toml:1: `config` is no setting",
        ),
        (
            "workers = 1\n[model]\nurl = 'x'",
            "refract.toml:2: there are no sections such as `model` here: write whole names, such \
             as model_url = \"http://127.0.0.1:8000/v1\", before the first `[`",
        ),
        (
            "\nworkers = true",
            "refract.toml:2: workers is a boolean: expected a text, a number, or a list of them",
        ),
        (
            "workers = 2026-01-01",
            "refract.toml:1: workers is a date: expected a text, a number, or a list of them",
        ),
        (
            "model_url = [['x']]",
            "refract.toml:1: model_url is a list of something else: expected a text, a number, or \
             a list of them",
        ),
        (
            "retention_unchecked = { a = 1 }",
            "refract.toml:1: retention_unchecked is a table: expected \"on\", \"off\", true or \
             false",
        ),
    ] {
        assert_eq!(read(text).unwrap_err().to_string(), message);
    }
}

#[test]
fn an_error_shows_no_value() {
    for text in [
        "model_api_key = sk-sentinel",
        "model_api_key = 'sk-sentinel",
        "model_api_key = \"sk-sentinel\n",
        "model_api_key = \"sk-sentinel\\q\"",
        "model_api_key = 'sk-sentinel' sentinel",
        "model_api_key = 'sk-sentinel'\nmodel_api_key = 'sentinel'",
        "model_api_key: sk-sentinel",
        "model_api_key sk-sentinel",
        "model_api_key = [sk-sentinel]",
        "model_api_key = { a = 'sk-sentinel' }",
        "model_api_key = 'sentinel'\nworkers = [",
        "model_api_key = '''sk-sentinel",
    ] {
        let error = read(text).unwrap_err();
        let message = error.to_string();
        assert!(!message.contains("sentinel"), "{message}");
        assert!(message.starts_with("refract.toml:"), "{message}");
        assert!(!message.contains('\n'), "{message}");
        assert!(!format!("{error:?}").contains("sentinel"), "{error:?}");
    }
    let values = read("model_api_key = 'sentinel'").unwrap();
    assert!(!format!("{values:?}").contains("sentinel"), "{values:?}");
}

#[test]
fn a_secret_in_a_file_that_everybody_may_read_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("refract.toml");
    let exposed = |text: &str, mode: u32| {
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        let read = SettingsFile::read(&path, &known_settings(&program()));
        let secret = read.unwrap().exposed_secret();
        secret.map(|words| words.replace(&path.display().to_string(), "FILE"))
    };
    let key = "model_api_key = 'x'";
    assert_eq!(exposed(key, 0o644).unwrap(), "model_api_key in FILE");
    assert_eq!(exposed(key, 0o640), None);
    let with_password = "database_url = 'postgres://u:p@h/d'";
    assert_eq!(
        exposed(with_password, 0o604).unwrap(),
        "database_url in FILE"
    );
    for harmless in [
        "workers = 1",
        "database_url = 'postgres://u@h:5432/d'",
        "database_url = 'sqlite:///var/lib/refract/refract.db'",
    ] {
        assert_eq!(exposed(harmless, 0o644), None, "{harmless}");
    }
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let read = SettingsFile::read(Path::new("/nowhere/refract.toml"), &[]);
    let message = read.unwrap_err().to_string();
    let expected = "cannot read the settings in /nowhere/refract.toml: No such file";
    assert!(message.starts_with(expected), "{message}");
}

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
