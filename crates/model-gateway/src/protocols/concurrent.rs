//! Concurrent requests about one submission.

use futures_util::future::TryFutureExt as _;
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use refract_domain::answer::{Answer, Answers};
use refract_domain::key::QuestionKey;

use crate::error::ModelError;

/// Runs requests concurrently and joins their answers in order. Each request answers some of the
/// questions. The first failure cancels all.
pub(crate) async fn all_answers(
    requests: impl Iterator<Item = impl Future<Output = Result<Vec<(QuestionKey, Answer)>, ModelError>>>,
) -> Result<Answers, ModelError> {
    let answers = all_or_first_failure(requests).await?;
    Ok(Answers::new(answers.into_iter().flatten().collect()))
}

/// Runs futures concurrently and returns their values in order. The first failure to occur is
/// returned, and the other futures are dropped.
pub(crate) async fn all_or_first_failure<T>(
    futures: impl IntoIterator<Item = impl Future<Output = Result<T, ModelError>>>,
) -> Result<Vec<T>, ModelError> {
    // boxed: a queue reserves room for one future more than it holds
    let mut futures = futures.into_iter().map(Box::pin);
    let first = futures.next();
    let Some(second) = futures.next() else {
        // most calls send one request, which needs no queue
        return match first {
            Some(only) => Ok(vec![only.await?]),
            None => Ok(Vec::new()),
        };
    };
    let numbered = first.into_iter().chain([second]).chain(futures).enumerate();
    let mut pending: FuturesUnordered<_> = numbered
        .map(|(index, future)| future.map_ok(move |value| (index, value)))
        .collect();
    let mut values = Vec::with_capacity(pending.len());
    while let Some(value) = pending.next().await {
        values.push(value?);
    }
    values.sort_unstable_by_key(|(index, _)| *index);
    Ok(values.into_iter().map(|(_, value)| value).collect())
}
