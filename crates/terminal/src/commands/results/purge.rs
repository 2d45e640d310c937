//! `refract results purge` and `refract results erase`: deletes results that are older than a moment,
//! or at a person's request.

use std::process::ExitCode;

use anyhow::{Context as _, bail};
use chrono::{DateTime, Utc};
use clap::{ArgGroup, Args};
use indicatif::HumanCount;
use refract_domain::ids::{AccountId, ResultId};
use refract_domain::submission::Ref;
use refract_identity::people::AccountActor;
use refract_service::Refract;
use refract_service::retention::{Erased, Purge, PurgeRange};
use serde_json::json;

use super::super::context::{self, AccountArg};
use super::super::signals::StopSignals;
use crate::commands::selection::{self, Status};
use crate::output;
use crate::settings::DatabaseArgs;
use crate::terminal::{Progress, counted};

/// The arguments of `refract results purge`.
#[derive(Args)]
pub struct PurgeCommand {
    /// Slug or id; every prism of the account when it is left out
    prism: Option<String>,

    /// Only results saved before this time: a date such as 2026-05-04, which begins at midnight UTC,
    /// or a time such as 2026-05-04T09:00:00Z
    #[arg(long, value_name = "TIME", value_parser = selection::moment)]
    before: DateTime<Utc>,

    /// Only results that are `ok`, or only `failed` ones
    #[arg(long, value_name = "STATUS")]
    status: Option<Status>,

    /// Counts the results and deletes none
    #[arg(long)]
    dry_run: bool,

    #[command(flatten)]
    account: AccountArg,
}

/// The results of one prism to delete.
struct PrismPurge {
    slug: String,
    purge: Purge,
    results: u64,
}

impl PurgeCommand {
    /// Runs `refract results purge`. The first SIGINT or SIGTERM stops it with exit status 1.
    pub(crate) async fn run(self, database: &DatabaseArgs) -> anyhow::Result<ExitCode> {
        let (refract, account) = self.account.open(database).await?;
        let purges = self.purges(&refract, account).await?;
        let total = purges.iter().map(|purge| purge.results).sum();
        if self.dry_run {
            for PrismPurge { slug, results, .. } in &purges {
                output::say(&format!(
                    "{slug}: {} would be deleted",
                    counted(*results, "result")
                ));
            }
            output::say("Nothing is deleted.");
            output::json(&json!({ "results": total }))?;
            return Ok(ExitCode::SUCCESS);
        }
        let mut signals = StopSignals::watch()?;
        let mut deleted = 0;
        let progress = Progress::begin("results", Some(total));
        let ended = delete(purges, &mut signals, &progress, &mut deleted).await;
        progress.end();
        let words = match ended {
            Ok(true) => None,
            Ok(false) => Some("error: stopped: the same command goes on with the rest".to_owned()),
            Err(error) => Some(format!(
                "error: {error}: the same command goes on with the rest"
            )),
        };
        output::json(&json!({ "results": deleted }))?;
        Ok(words.map_or(ExitCode::SUCCESS, |words| output::fail_with(&words)))
    }

    /// The purge of each prism with results to delete.
    async fn purges(
        &self,
        refract: &Refract,
        account: AccountId,
    ) -> anyhow::Result<Vec<PrismPurge>> {
        let prisms = match &self.prism {
            None => refract.prisms().all(account).await?,
            Some(name) => vec![context::find_prism(refract, account, name).await?],
        };
        let mut purges = Vec::new();
        for prism in prisms {
            let range = PurgeRange {
                prism: prism.id,
                before: self.before,
                is_ok: self.status.map(Status::is_ok),
            };
            let purge = refract
                .retention()
                .purge(AccountActor::operator(account), range);
            let results = purge.count().await?;
            if results > 0 {
                purges.push(PrismPurge {
                    slug: prism.slug.as_str().to_owned(),
                    purge,
                    results,
                });
            }
        }
        Ok(purges)
    }
}

/// Deletes in batches, with a pause after each as long as the batch took, so that calls are served
/// in between. Returns `false` if a signal stopped it.
async fn delete(
    purges: Vec<PrismPurge>,
    signals: &mut StopSignals,
    progress: &Progress,
    deleted: &mut u64,
) -> anyhow::Result<bool> {
    for PrismPurge {
        slug, mut purge, ..
    } in purges
    {
        let before = *deleted;
        while let Some(batch) = purge.next_batch().await? {
            *deleted += batch.results;
            progress.show(*deleted, "");
            tokio::select! {
                biased;
                () = signals.next() => {
                    purge.end().await?;
                    return Ok(false);
                }
                () = tokio::time::sleep(batch.took) => {}
            }
        }
        let words = format!("{slug}: {} deleted", counted(*deleted - before, "result"));
        progress.beside(|| output::say(&words));
    }
    Ok(true)
}

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
    /// Runs `refract results erase`. What is not there is named on stderr and no error: a script
    /// erases again for calls that were in flight.
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
            output::say(&format!("Result not found: {}", unknown.join(", ")));
        }
        if erased.results + erased.examples == 0 {
            if reference.is_some() {
                output::say("No result and no example of the account has this --ref.");
            }
            output::json(&json!({ "results": 0 }))?;
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
