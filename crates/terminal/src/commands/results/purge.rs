//! `refract results purge`: deletes results that are older than a moment.

use std::process::ExitCode;

use chrono::{DateTime, Utc};
use clap::Args;
use refract_domain::ids::AccountId;
use refract_service::Refract;
use refract_service::people::AccountActor;
use refract_service::retention::{Purge, PurgeRange};
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
