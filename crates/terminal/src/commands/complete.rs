//! `refract __complete`: the values that fit at the cursor, for the scripts of `refract completions`.
//! Somebody pressed Tab: what fails is not reported, a slow database is not waited for, and nothing is
//! changed.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use chrono::Utc;
use clap::{Arg, Args};
use refract_domain::ids::AccountId;
use refract_identity::keys::ListedKey;
use refract_identity::people::DEFAULT_ACCOUNT;
use refract_service::Refract;
use refract_service::measures::questions;
use refract_service::prisms::Prism;
use refract_service::store::DatabaseUrl;

use super::context;
use crate::output;
use crate::settings::DatabaseArgs;

/// Upper bound on the work for one Tab.
const PATIENCE: Duration = Duration::from_millis(500);
/// The most versions that are offered, the newest first.
const VERSIONS: u32 = 50;

/// The arguments of `refract __complete`.
#[derive(Args)]
pub struct CompleteCommand {
    /// The words after the program's name, up to and with the one at the cursor
    #[arg(last = true)]
    words: Vec<String>,
}

/// What the cursor is at.
#[derive(Debug, PartialEq, Eq)]
struct Cursor {
    /// The argument whose value is typed.
    argument: String,
    /// What is typed of the value.
    typed: String,
    /// What stands before the value in its word, such as `--version=`.
    before: String,
    /// The arguments before it, with their values.
    given: HashMap<String, String>,
}

impl CompleteCommand {
    /// Runs `refract __complete`. `program` is the whole command line.
    pub(crate) async fn run(
        self,
        database: &DatabaseArgs,
        program: fn() -> clap::Command,
    ) -> anyhow::Result<()> {
        let mut program = program();
        program.build();
        let Some(cursor) = Cursor::find(&program, &self.words) else {
            return Ok(());
        };
        let reading = tokio::time::timeout(PATIENCE, cursor.values(database));
        let Ok(Ok(Some(values))) = reading.await else {
            return Ok(());
        };
        let mut lines = String::new();
        for value in values {
            if value.starts_with(&cursor.typed) && !value.contains(char::is_control) {
                lines.extend([&cursor.before, value.as_str(), "\n"]);
            }
        }
        output::data(lines.as_bytes())
    }
}

impl Cursor {
    /// Finds the argument that the last word is a value of; `None` where it is a command or a flag.
    fn find(program: &clap::Command, words: &[String]) -> Option<Self> {
        let (typed, earlier) = words.split_last()?;
        // bash makes a word of the sign in `--version=3`
        let typed = if typed == "=" { "" } else { typed };
        let mut command = program;
        let mut given = HashMap::new();
        let mut positionals = 0;
        let mut flag: Option<&Arg> = None;
        let mut has_flags = true;
        for word in earlier.iter().filter(|word| *word != "=") {
            if let Some(flag) = flag.take() {
                given.insert(flag.get_id().to_string(), unquoted(word));
            } else if has_flags && word == "--" {
                has_flags = false;
            } else if has_flags && word.len() > 1 && word.starts_with('-') {
                match word.split_once('=') {
                    Some((name, value)) => {
                        let named = named(command, name).map(Arg::get_id);
                        given.extend(named.map(|id| (id.to_string(), unquoted(value))));
                    }
                    None => flag = named(command, word),
                }
            } else if positionals == 0
                && let Some(subcommand) = command.find_subcommand(word)
            {
                command = subcommand;
            } else {
                let argument = command.get_positionals().nth(positionals);
                let id = argument.map(|argument| argument.get_id().to_string());
                given.extend(id.map(|id| (id, unquoted(word))));
                positionals += 1;
            }
        }
        let split = typed.split_once('=').filter(|_| typed.starts_with("--"));
        let (argument, before, typed) = match (flag, split) {
            (Some(flag), _) => (flag, String::new(), typed),
            (None, Some((name, value))) if has_flags => {
                (named(command, name)?, format!("{name}="), value)
            }
            _ if has_flags && typed.starts_with('-') => return None,
            _ => (
                command.get_positionals().nth(positionals)?,
                String::new(),
                typed,
            ),
        };
        Some(Self {
            argument: argument.get_id().to_string(),
            typed: unquoted(typed),
            before,
            given,
        })
    }

    /// The values that the database has; `None` where it has none.
    async fn values(&self, database: &DatabaseArgs) -> anyhow::Result<Option<Vec<String>>> {
        let known = [
            "prism", "key", "account", "version", "column", "question", "advise",
        ];
        if !known.contains(&self.argument.as_str()) {
            return Ok(None);
        }
        let mut settings = database.settings();
        settings.pool = 1;
        if let Some(url) = self.given.get("database_url") {
            settings.url = DatabaseUrl::from(url.as_str());
        }
        // not checked for its migrations: that writes to a copy by `refract backup`
        let refract = context::connect(&settings).await?;
        // finding the default account would make it
        let accounts = refract.accounts().list().await?;
        if self.argument == "account" {
            return Ok(Some(
                accounts.into_iter().map(|account| account.name).collect(),
            ));
        }
        let name = self
            .given
            .get("account")
            .map_or(DEFAULT_ACCOUNT, String::as_str);
        let Some(account) = accounts.into_iter().find(|account| account.name == name) else {
            return Ok(None);
        };
        self.values_in(&refract, account.id).await
    }

    async fn values_in(
        &self,
        refract: &Refract,
        account: AccountId,
    ) -> anyhow::Result<Option<Vec<String>>> {
        if self.argument == "key" {
            return Ok(Some(keys(refract.keys().list(account).await?)));
        }
        let prisms = refract.prisms().all(account).await?;
        if self.argument == "prism" {
            let slugs = prisms.into_iter().map(|prism| prism.slug.to_string());
            return Ok(Some(slugs.collect()));
        }
        let Some(name) = self.given.get("prism") else {
            return Ok(None);
        };
        let is_named = |prism: &Prism| prism.slug.as_str() == name || prism.id.to_string() == *name;
        let Some(prism) = prisms.into_iter().find(is_named) else {
            return Ok(None);
        };
        Ok(Some(match self.argument.as_str() {
            "version" => {
                let versions = 1..=prism.latest_version.get();
                let newest = versions.rev().map(|version| version.to_string());
                newest.take(usize::try_from(VERSIONS)?).collect()
            }
            "column" => {
                let lens = refract.lenses().of(prism).await?;
                let columns = lens.columns().lens.iter();
                columns.map(|column| column.name.to_string()).collect()
            }
            _ => {
                let history = refract.prisms().with_versions(prism.id).await?;
                let questions = questions(&history.versions);
                questions
                    .iter()
                    .map(|question| question.key.to_string())
                    .collect()
            }
        }))
    }
}

/// The option of a command with this name, such as `--version`, if it takes a value.
fn named<'a>(command: &'a clap::Command, name: &str) -> Option<&'a Arg> {
    let long = name.strip_prefix("--");
    let short = name.strip_prefix('-').and_then(|name| name.parse().ok());
    let is_named = |argument: &&Arg| {
        let is_long = long.is_some() && argument.get_long() == long;
        is_long || short.is_some() && argument.get_short() == short
    };
    let argument = command.get_arguments().find(is_named)?;
    argument.get_action().takes_values().then_some(argument)
}

/// The keys that work, each by its name, or by its id where several have the name.
fn keys(keys: Vec<ListedKey>) -> Vec<String> {
    let now = Utc::now();
    let works = |key: &ListedKey| key.row.revoked_at.is_none() && !key.has_ended(now);
    let mut by_name: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for key in keys.into_iter().filter(works) {
        let ids = by_name.entry(key.row.name).or_default();
        ids.push(key.row.id.to_string());
    }
    // bash ends a word at some signs, such as a colon
    let is_word = |name: &str| {
        let is_plain = |sign: char| sign.is_alphanumeric() || " -_./+".contains(sign);
        name.chars().all(is_plain)
    };
    let values = by_name.into_iter().flat_map(|(name, ids)| match ids.len() {
        1 if is_word(&name) => vec![name],
        _ => ids,
    });
    values.collect()
}

/// A word as typed, without the quotes and backslashes of a shell.
fn unquoted(word: &str) -> String {
    let word = word.trim_start_matches(['\'', '"']);
    let word = word.trim_end_matches(['\'', '"']);
    word.replace('\\', "")
}

#[cfg(test)]
mod tests {
    use clap::{ArgAction, Command};

    use super::*;

    fn program() -> Command {
        let option = |name: &'static str| Arg::new(name).long(name);
        let json = Arg::new("json").long("json").action(ArgAction::SetTrue);
        let attempt = Command::new("try").args([Arg::new("prism"), option("version"), json]);
        let cutoffs = Command::new("cutoffs").args([Arg::new("prism"), Arg::new("column")]);
        let lens = Command::new("lens").subcommand(cutoffs);
        let account = option("account").short('a').global(true);
        let mut program = Command::new("refract")
            .arg(account)
            .subcommands([attempt, lens]);
        program.build();
        program
    }

    fn found(line: &str) -> Option<(String, String, String, usize)> {
        let words: Vec<_> = line.split('|').map(str::to_owned).collect();
        let cursor = Cursor::find(&program(), &words)?;
        let Cursor {
            argument,
            typed,
            before,
            given,
        } = cursor;
        Some((argument, typed, before, given.len()))
    }

    #[test]
    fn the_argument_at_the_cursor_is_found() {
        for (line, argument, typed, before, given) in [
            ("try|", "prism", "", "", 0),
            ("try|'supp", "prism", "supp", "", 0),
            ("try|p|--version|", "version", "", "", 1),
            ("try|p|--version=1", "version", "1", "--version=", 1),
            ("try|p|--version|=", "version", "", "", 1),
            ("try|p|--version|=|2", "version", "2", "", 1),
            ("try|--json|--version=3|--account|x|p", "prism", "p", "", 2),
            ("try|--|--json", "prism", "--json", "", 0),
            ("lens|cutoffs|p|an", "column", "an", "", 1),
            ("lens|cutoffs|-a|my\\ own|p|", "column", "", "", 2),
        ] {
            let expected = (argument.into(), typed.into(), before.into(), given);
            assert_eq!(found(line), Some(expected), "{line}");
        }
        for line in [
            "",
            "tr",
            "try|--vers",
            "try|p|q",
            "lens|",
            "--nonsense|",
            "try|-",
        ] {
            assert_eq!(found(line), None, "{line}");
        }
    }
}
