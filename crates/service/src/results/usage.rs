//! What the results of an account used, with the names of prisms, keys, people and files.

use refract_boxed_futures::boxed;
use std::collections::{BTreeSet, HashMap};

use chrono::NaiveDate;
use refract_domain::ids::{AccountId, ApiKeyId, FileRunId, PersonId, PrismId};
use refract_lens_rendering::write_csv_line;
use refract_persistence::{Usage, UsageDimension, UsageScope};

use crate::InternalError;
use crate::results::Results;

/// The usage of one group of results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedUsage {
    /// The prism's slug; `None` if results are not grouped by prism.
    pub prism: Option<String>,
    /// The key; `None` also for results that no key made.
    pub key: Option<UsageKey>,
    /// The name of the person who made the results; `None` also for results that no person made.
    pub person: Option<String>,
    /// The file run; `None` also for results outside of one.
    pub run: Option<UsageRun>,
    /// The model, as its server reports it; `None` also for results whose server did not.
    pub model: Option<String>,
    /// The day in UTC; `None` if results are not grouped by day.
    pub day: Option<NaiveDate>,
    /// What the results used.
    pub usage: Usage,
}

/// The names of the sums, as headers of tables and files.
pub const USAGE_SUMS: [&str; 7] = [
    "calls", "failed", "requests", "read", "cached", "written", "cost",
];

impl ListedUsage {
    /// The name of the group in one dimension. Labels of keys and names of files need not be unique,
    /// so both have an id too.
    pub fn name(&self, dimension: UsageDimension) -> String {
        let known = match dimension {
            UsageDimension::Prism => self.prism.clone(),
            UsageDimension::Key => {
                let key = self.key.as_ref();
                key.map(|key| format!("{} ({})", key.label, key.id))
            }
            UsageDimension::Person => self.person.clone(),
            UsageDimension::Run => {
                let run = self.run.as_ref();
                run.map(|run| format!("{} ({})", run.file_name, run.id))
            }
            UsageDimension::Model => self.model.clone(),
            UsageDimension::Day => self.day.map(|day| day.to_string()),
        };
        known.unwrap_or_else(|| format!("no {}", dimension.name()))
    }
}

/// The groups as csv: a header, and a row for each. Numbers have no separators, and a cell without a
/// cost is empty.
pub fn usage_csv(by: &BTreeSet<UsageDimension>, listed: &[ListedUsage]) -> Vec<u8> {
    let mut csv = Vec::new();
    let mut write = |cells: &[String]| {
        // writing into memory cannot fail
        let _ = write_csv_line(cells.iter().map(String::as_str), &mut csv);
    };
    let names = by.iter().map(|dimension| dimension.name());
    write(
        &names
            .chain(USAGE_SUMS)
            .map(str::to_owned)
            .collect::<Vec<_>>(),
    );
    for group in listed {
        let names = by.iter().map(|dimension| group.name(*dimension));
        let counts = group.usage.counts().into_iter();
        let counts = counts.map(|count| count.to_string());
        let cost = group.usage.cost.map(|cost| cost.to_string());
        let cells = names.chain(counts).chain([cost.unwrap_or_default()]);
        write(&cells.collect::<Vec<_>>());
    }
    csv
}

/// What all groups used together.
pub fn total_usage(listed: &[ListedUsage]) -> Usage {
    let mut total = Usage::default();
    for group in listed {
        total += group.usage;
    }
    total
}

/// A key whose results are added up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageKey {
    /// The key's id.
    pub id: ApiKeyId,
    /// The key's label.
    pub label: String,
}

/// A file run whose results are added up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageRun {
    /// The run's id.
    pub id: FileRunId,
    /// The name of its file.
    pub file_name: String,
}

#[boxed]
impl Results<'_> {
    /// Adds up what an account's results used, deleted ones among them, in the order of prisms, keys,
    /// people, file runs, models and days.
    pub async fn usage(
        self,
        account: AccountId,
        scope: UsageScope,
    ) -> Result<Vec<ListedUsage>, InternalError> {
        let database = &self.refract.database;
        let groups = database.list_usage(account, scope).await?;
        let prisms = database.list_prisms(account).await?;
        let slugs = prisms
            .into_iter()
            .map(|prism| (prism.id, prism.slug.to_string()));
        let slugs: HashMap<PrismId, String> = slugs.collect();
        let labels = self.refract.keys().labels(account).await?;
        let labels: HashMap<ApiKeyId, String> = labels.into_iter().collect();
        let people: Vec<PersonId> = groups.iter().filter_map(|group| group.person).collect();
        let people = self.refract.people().names(account, &people).await?;
        let runs: BTreeSet<FileRunId> = groups.iter().filter_map(|group| group.file_run).collect();
        let files = database.list_file_names(account, runs).await?;
        let files: HashMap<FileRunId, String> = files.into_iter().collect();
        let slug = |id: PrismId| slugs.get(&id).cloned().unwrap_or_else(|| id.to_string());
        let person = |id: PersonId| {
            let name = people.get(&id).map(ToString::to_string);
            name.unwrap_or_else(|| id.to_string())
        };
        let named = groups.into_iter().map(|group| ListedUsage {
            prism: group.prism.map(slug),
            key: group.api_key.map(|id| UsageKey {
                id,
                label: labels.get(&id).cloned().unwrap_or_default(),
            }),
            person: group.person.map(person),
            run: group.file_run.map(|id| UsageRun {
                id,
                file_name: files.get(&id).cloned().unwrap_or_default(),
            }),
            model: group.model,
            day: group.day,
            usage: group.usage,
        });
        let mut listed: Vec<_> = named.collect();
        listed.sort_by_cached_key(|group| {
            let key = group.key.as_ref().map(|key| (key.label.clone(), key.id));
            (
                (group.prism.clone(), key, group.person.clone()),
                (group.run.as_ref().map(|run| run.id), group.model.clone()),
                group.day,
            )
        });
        Ok(listed)
    }
}
