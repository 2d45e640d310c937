//! `refract results erase`: deletes results at a person's request.

use std::process::ExitCode;

use anyhow::{Context as _, bail};
use clap::{ArgGroup, Args};
use indicatif::HumanCount;
use refract_domain::ids::ResultId;
use refract_domain::submission::reference::Ref;
use refract_service::Refract;
use refract_service::people::AccountActor;
use refract_service::retention::Erased;
use serde_json::json;

use super::super::context::{self, AccountArg};
use crate::output;
use crate::settings::DatabaseArgs;

/// The arguments of `refract results erase`.
#[derive(Args)]
#[command(group(ArgGroup::new("which").required(true)))]
pub struct EraseCommand {
    /// The results' ids
    #[arg(value_name = "ID", group = "which", conflicts_with = "reference")]
    ids: Vec<String>,

    /// Every result and every example text of the account with this `ref`, of any prism
    #[arg(long = "ref", value_name = "REF", group = "which")]
    reference: Option<String>,

    /// Skips rewriting the SQLite file, which blocks other writers: traces of the results stay in its
    /// unused parts until another `erase` or a `VACUUM`
    #[arg(long)]
    no_rewrite: bool,

    #[command(flatten)]
    account: AccountArg,
}

impl EraseCommand {
    /// Runs `refract results erase`. Unknown ids give exit status 1, after the others were erased.
    pub(crate) async fn run(self, database: &DatabaseArgs) -> anyhow::Result<ExitCode> {
        let ids = self.ids.iter().map(|id| ResultId::parse(id));
        let ids: Option<Vec<ResultId>> = ids.collect();
        let ids = ids.context("ID cannot be used: Invalid uuid")?;
        let reference = self.reference.as_deref().map(Ref::parse).transpose();
        let reference = reference.map_err(|errors| context::invalid_argument("--ref", &errors))?;
        let refract = context::open(&database.settings()).await?;
        let actor = AccountActor::operator(self.account.find(&refract).await?);
        let erased = match &reference {
            Some(reference) => {
                refract
                    .retention()
                    .erase_reference(&actor, reference)
                    .await?
            }
            None => refract.retention().erase(&actor, &ids).await?,
        };
        if erased.results + erased.examples > 0 {
            let has_no_traces = self.no_rewrite || remove_traces(&refract).await?;
            say(&erased);
            output::json(&json!({ "results": erased.results, "examples": erased.examples }))?;
            if !has_no_traces {
                bail!(
                    "the results are deleted, but somebody read the file all the time: the log beside \
                     it may hold them until every program that uses the file has stopped"
                );
            }
        }
        if !erased.unknown.is_empty() {
            let unknown: Vec<_> = erased.unknown.iter().map(ToString::to_string).collect();
            bail!("Result not found: {}", unknown.join(", "));
        }
        if erased.results + erased.examples == 0 {
            bail!("no result and no example of the account has this --ref");
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Removes the traces of deleted results from an SQLite file; returns whether none are left.
async fn remove_traces(refract: &Refract) -> anyhow::Result<bool> {
    let removing = refract.retention().remove_traces();
    removing.await.context(
        "the results are deleted, but the file could not be written anew without their traces: run \
         `VACUUM` on it",
    )
}

fn say(erased: &Erased) {
    let retries = match erased.retries {
        0 => String::new(),
        retries => format!(
            ", {} of them linked by a retry to a named result",
            HumanCount(retries)
        ),
    };
    let results = match erased.results {
        1 => "1 result is".to_owned(),
        results => format!("{} results are", HumanCount(results)),
    };
    let examples = match erased.examples {
        0 => String::new(),
        1 => ", and 1 example text".to_owned(),
        examples => format!(", and {} example texts", HumanCount(examples)),
    };
    output::say(&format!("{results} erased{retries}{examples}."));
}
