//! The sample messages, answered before the demo is shown, so that its pages are not empty.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::thread::available_parallelism;

use refract_domain::ids::AccountId;
use refract_domain::prism::VersionNumber;
use refract_domain::prism::slug::PrismSelector;
use refract_file_runs::{
    FileRun, InputSource, RowLayout, RunFiles, RunOrder, RunSettings, RunTally, Shard,
};
use refract_lens_rendering::RowFormat;
use refract_service::CallError;
use refract_service::Refract;

/// 200 messages to a bicycle shop.
const MESSAGES: &[u8] = include_bytes!("../../../../../docs/examples/messages.csv");
/// The number of messages in flight to the model.
const CONCURRENCY: NonZeroUsize = NonZeroUsize::MIN.saturating_add(15);

/// Asks a prism about every message with a file run, which skips messages that are already
/// answered.
pub(super) async fn answer(
    refract: &Refract,
    account: AccountId,
    prism: &PrismSelector,
) -> anyhow::Result<()> {
    let order = RunOrder {
        input: InputSource::Stream(Box::new(MESSAGES)),
        mappings: &[],
        shard: Shard::WHOLE,
        name: "demo".to_owned(),
    };
    // a version saved during the demo must not answer all messages again
    let first = Some(VersionNumber::FIRST);
    let prism = match refract.runs().pin(account, prism, first).await {
        // the prism was archived in an earlier demo
        Err(CallError::PrismNotFound) => return Ok(()),
        found => found?,
    };
    let estimator = prism.estimator()?;
    let run = Arc::new(FileRun::open(prism, order)?);
    let tally = Arc::new(RunTally::default());
    let check = run.check(estimator, &tally).await?;
    let threads = available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let settings = RunSettings::new(CONCURRENCY, threads);
    let files = RunFiles {
        layout: RowLayout::plain(RowFormat::Csv),
        rows: &mut std::io::sink(),
        refused: None,
    };
    let never = std::future::pending();
    let summary = run.run(settings, &check, &tally, files, never).await;
    match summary.stop {
        Some(stop) => Err(anyhow::anyhow!(
            "the sample messages were not answered: {stop}"
        )),
        None => Ok(()),
    }
}
