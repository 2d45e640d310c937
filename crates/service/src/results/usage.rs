//! What the results of an account used, with the names of prisms and keys.

use std::collections::HashMap;

use chrono::NaiveDate;
use refract_domain::ids::{AccountId, ApiKeyId, PrismId};
use refract_persistence::{Usage, UsageScope};

use crate::InternalError;
use crate::results::Results;

/// The usage of one group of results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedUsage {
    /// The prism's slug; `None` if results are not grouped by prism.
    pub prism: Option<String>,
    /// The key; `None` also for results that no key made.
    pub key: Option<UsageKey>,
    /// The model, as its server reports it; `None` also for results whose server did not.
    pub model: Option<String>,
    /// The day in UTC; `None` if results are not grouped by day.
    pub day: Option<NaiveDate>,
    /// What the results used.
    pub usage: Usage,
}

/// A key whose results are added up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageKey {
    /// The key's id.
    pub id: ApiKeyId,
    /// The key's label.
    pub label: String,
}

impl Results<'_> {
    /// Adds up what an account's results used, in the order of prisms, keys, models and days.
    /// Deleted results are not among them.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn usage(
        self,
        account: AccountId,
        scope: UsageScope,
    ) -> Result<Vec<ListedUsage>, InternalError> {
        let groups = self.refract.database.list_usage(account, scope).await?;
        let prisms = self.refract.database.list_prisms(account).await?;
        let slugs = prisms
            .into_iter()
            .map(|prism| (prism.id, prism.slug.to_string()));
        let slugs: HashMap<PrismId, String> = slugs.collect();
        let labels = self.refract.keys().labels(account).await?;
        let labels: HashMap<ApiKeyId, String> = labels.into_iter().collect();
        let slug = |id: PrismId| slugs.get(&id).cloned().unwrap_or_else(|| id.to_string());
        let label = |id: ApiKeyId| labels.get(&id).cloned().unwrap_or_default();
        let named = groups.into_iter().map(|group| ListedUsage {
            prism: group.prism.map(slug),
            key: group.api_key.map(|id| UsageKey {
                id,
                label: label(id),
            }),
            model: group.model,
            day: group.day,
            usage: group.usage,
        });
        let mut listed: Vec<_> = named.collect();
        listed.sort_by_cached_key(|group| {
            let key = group.key.as_ref().map(|key| (key.label.clone(), key.id));
            (group.prism.clone(), key, group.model.clone(), group.day)
        });
        Ok(listed)
    }
}
