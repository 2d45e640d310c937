//! `refract person`: people of the app. A link is printed once, when it is created.

use anyhow::bail;
use chrono::Utc;
use clap::Subcommand;
use refract_domain::account::{Email, Role};
use refract_domain::ids::AccountId;
use refract_identity::people::{AccountActor, Invitation, Person, PersonError};
use refract_service::Refract;

use super::context::{self, AccountArg};
use super::selection::to_the_second;
use crate::output::report::{ListColumn, column, worded};
use crate::output::{self, report, value};
use crate::settings::{AppArgs, DatabaseArgs};

/// The subcommands of `refract person`.
#[derive(Subcommand)]
pub enum PersonCommand {
    /// Invites somebody into the app with a link that works once, for seven days
    ///
    /// Somebody who was invited before and has not joined yet gets this role and a new link; the one
    /// before is void.
    #[command(
        after_help = "Examples:\n  refract person invite ada@example.com\n  refract person invite grace@example.com --role editor | jq -r .link"
    )]
    Invite {
        /// Email address, by which the person signs in
        email: String,
        /// `reviewer` reads, tries texts and marks; `editor` also changes prisms and lenses; `owner`
        /// also makes keys and invites people [default: owner for the first person of an account,
        /// else reviewer]
        #[arg(long, value_name = "ROLE", value_parser = role)]
        role: Option<Role>,
        /// Makes no link for somebody who has joined, or whose link still works: prints the role that
        /// they have, and null for the link
        #[arg(long)]
        if_missing: bool,
        #[command(flatten)]
        account: AccountArg,
        #[command(flatten)]
        app: AppArgs,
    },
    /// Shows whether a person has one-time codes, or switches them off
    ///
    /// Switch them off for somebody who lost their phone and recovery codes: they then sign in by
    /// password alone.
    #[command(
        after_help = "Examples:\n  refract person codes ada@example.com\n  refract person codes --off ada@example.com --json"
    )]
    Codes {
        /// Email address
        email: String,
        /// Switch the codes off
        #[arg(long)]
        off: bool,
        /// A JSON line instead of a table
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        account: AccountArg,
    },
    /// Gives a person another role, from their next request on
    #[command(after_help = "Examples:\n  refract person role grace@example.com editor")]
    Role {
        /// Email address
        email: String,
        /// `reviewer`, `editor` or `owner`
        #[arg(value_parser = role)]
        role: Role,
        #[command(flatten)]
        account: AccountArg,
    },
    /// Lists the people of an account
    #[command(
        after_help = "Examples:\n  refract person list\n  refract person list --json | jq -r 'select(.name == null) | .email'"
    )]
    List {
        /// JSON lines instead of a table
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        account: AccountArg,
    },
    /// Removes a person: they are signed out at once, and what they made keeps their name
    #[command(after_help = "Examples:\n  refract person remove ada@example.com")]
    Remove {
        /// Email address
        email: String,
        #[command(flatten)]
        account: AccountArg,
    },
    /// Makes a new link, by which a person chooses another password
    ///
    /// The password that the person has works until the link is used; then they are signed out
    /// everywhere else.
    #[command(after_help = "Examples:\n  refract person reset ada@example.com")]
    Reset {
        /// Email address
        email: String,
        #[command(flatten)]
        account: AccountArg,
        #[command(flatten)]
        app: AppArgs,
    },
}

impl PersonCommand {
    /// Runs a `refract person` command.
    pub(crate) async fn run(self, database: &DatabaseArgs) -> anyhow::Result<()> {
        match self {
            Self::Invite {
                email,
                role,
                if_missing,
                account,
                app,
            } => {
                let email = parsed(&email)?;
                let url = app.url()?;
                let refract = context::open_or_create(&database.settings()).await?;
                let account = account.find(&refract).await?;
                if if_missing && print_present(&refract, account, &email).await? {
                    return Ok(());
                }
                let role = match role {
                    Some(role) => role,
                    None => refract.people().default_role(account).await?,
                };
                let actor = AccountActor::operator(account);
                let invitation = refract.people().invite(&actor, &email, role).await?;
                print_link(&invitation, |token| url.join_link(token))
            }
            Self::Codes {
                email,
                off,
                json,
                account,
            } => {
                let email = parsed(&email)?;
                let (refract, account) = account.open(database).await?;
                let mut person = find(&refract, account, &email).await?;
                if off {
                    let actor = AccountActor::operator(account);
                    refract.people().remove_codes(&actor, person.id).await?;
                    person.has_codes = false;
                }
                report::list(json, &[EMAIL, CODES], &[person])
            }
            Self::Role {
                email,
                role,
                account,
            } => set_role(database, &email, role, &account).await,
            Self::List { json, account } => {
                let (refract, account) = account.open(database).await?;
                let people = refract.people().list(account).await?;
                report::list(json, COLUMNS, &people)
            }
            Self::Remove { email, account } => {
                let email = parsed(&email)?;
                let (refract, account) = account.open(database).await?;
                let person = find(&refract, account, &email).await?.id;
                refract
                    .people()
                    .remove(&AccountActor::operator(account), person)
                    .await?;
                output::say("The person is removed.");
                Ok(())
            }
            Self::Reset {
                email,
                account,
                app,
            } => {
                let email = parsed(&email)?;
                let url = app.url()?;
                let (refract, account) = account.open(database).await?;
                let person = find(&refract, account, &email).await?.id;
                let actor = AccountActor::operator(account);
                let invitation = refract.people().reset(&actor, person).await?;
                print_link(&invitation, |token| url.join_link(token))
            }
        }
    }
}

async fn set_role(
    database: &DatabaseArgs,
    email: &str,
    role: Role,
    account: &AccountArg,
) -> anyhow::Result<()> {
    let email = parsed(email)?;
    let (refract, account) = account.open(database).await?;
    let person = find(&refract, account, &email).await?.id;
    let actor = AccountActor::operator(account);
    refract.people().set_role(&actor, person, role).await?;
    output::say(&format!("The person is {}.", described(role)));
    Ok(())
}

/// Prints a person who has joined, or whose link still works; returns whether there is one.
async fn print_present(
    refract: &Refract,
    account: AccountId,
    email: &Email,
) -> anyhow::Result<bool> {
    let found = match refract.people().find(account, email).await {
        Ok(person) => person,
        Err(PersonError::NotFound) => return Ok(false),
        Err(error) => return Err(error.into()),
    };
    let has_link = found.link_expires_at.is_some_and(|end| end > Utc::now());
    if found.name.is_none() && !has_link {
        return Ok(false);
    }
    output::say("The person is invited or has joined already: no link was made.");
    output::object(&[
        ("email", value(&email.as_str())),
        ("role", value(&found.role.name())),
        ("link", value(&())),
        ("expires_at", value(&())),
    ])?;
    Ok(true)
}

fn described(role: Role) -> &'static str {
    match role {
        Role::Reviewer => "a reviewer",
        Role::Editor => "an editor",
        Role::Owner => "an owner",
    }
}

/// Parses a role.
fn role(name: &str) -> anyhow::Result<Role> {
    let names = Role::ALL.map(Role::name).join(", ");
    Role::named(name).ok_or_else(|| anyhow::anyhow!("expected one of {names}"))
}

fn parsed(email: &str) -> anyhow::Result<Email> {
    Email::parse(email).map_err(|errors| context::invalid_argument("EMAIL", &errors))
}

async fn find(refract: &Refract, account: AccountId, email: &Email) -> anyhow::Result<Person> {
    match refract.people().find(account, email).await {
        Ok(person) => Ok(person),
        Err(error @ PersonError::NotFound) => bail!("{error}: see `refract person list`"),
        Err(error) => Err(error.into()),
    }
}

fn print_link(invitation: &Invitation, link: impl Fn(&str) -> String) -> anyhow::Result<()> {
    output::object(&[
        ("email", value(&invitation.email.as_str())),
        ("role", value(&invitation.role.name())),
        ("link", value(&link(invitation.token.reveal()))),
        ("expires_at", value(&to_the_second(invitation.expires_at))),
    ])
}

/// The columns of the list.
const COLUMNS: &[ListColumn<Person>] = &[
    EMAIL,
    column("name", "name", |it| value(&it.name.as_deref())),
    column("role", "role", |it| value(&it.role.name())),
    column("invited_at", "invited", |it| {
        value(&to_the_second(it.created_at))
    }),
    column("link_expires_at", "link until", |it| {
        value(&it.link_expires_at.map(to_the_second))
    }),
    column("last_used_at", "last here", |it| {
        value(&it.last_used_at.map(to_the_second))
    }),
    CODES,
];

const EMAIL: ListColumn<Person> = column("email", "email", |it| value(&it.email.as_str()));

const CODES: ListColumn<Person> = worded(
    "codes",
    "codes",
    |it| value(&it.has_codes),
    |it| if it.has_codes { "on" } else { "off" }.to_owned(),
);
