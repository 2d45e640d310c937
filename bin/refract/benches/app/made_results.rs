//! Results as after a year of use: most are alike, and a few are targets of a search.

use chrono::{DateTime, TimeDelta, Utc};
use refract_domain::answer::{Answer, Answers, Distribution, Probability};
use refract_domain::ids::{AccountId, ApiKeyId, PersonId, PrismId, ResultId};
use refract_domain::key::{FieldKey, OutcomeKey, QuestionKey};
use refract_domain::prism::VersionNumber;
use refract_domain::result::{ResultStatus, SavedResult, whole_milliseconds};
use refract_domain::submission::{FieldValues, Ref, Submission};
use refract_persistence::{NewResult, Provenance};
use uuid::{Builder, Uuid};

/// The `ref` of a quarter of the results.
pub(crate) const COMMON_REF: &str = "newsletter";
/// The `ref` of a few results.
pub(crate) const RARE_REF: &str = "order 4711";
/// The approximate number of results of each rare kind, whatever the total: more than a page.
const FEW: u32 = 64;

/// The number of results in the last hour, if there are at least twice as many in total.
const OF_THE_LAST_HOUR: u32 = 500;

/// The parameters of generated results.
#[derive(Clone)]
pub(crate) struct ResultMaking {
    pub(crate) account: AccountId,
    /// The prism of nine tenths of the results, and that of the others.
    pub(crate) prisms: [PrismId; 2],
    /// The key that made most results, and one that made a few.
    pub(crate) keys: [ApiKeyId; 2],
    pub(crate) person: PersonId,
    /// Number of results.
    pub(crate) results: u32,
    /// The moment of the first result.
    pub(crate) begin: DateTime<Utc>,
    /// The time between two results before the last hour.
    pub(crate) apart: TimeDelta,
    /// The end of the last hour, which has [`OF_THE_LAST_HOUR`] results whatever the total: some
    /// pages count the results of the last hour on each request.
    pub(crate) end: DateTime<Utc>,
}

/// A result, with its retry if it failed and was retried.
pub(crate) struct MadeResult {
    pub(crate) first: NewResult,
    pub(crate) retry: Option<NewResult>,
}

/// The special trait of a result, if any.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Particular {
    Nothing,
    Ref,
    Version,
    Key,
    Person,
    Terminal,
    Failed,
    Retried,
    Product,
}

/// The results before those of the last hour.
pub(crate) fn before_last_hour(results: u32) -> u32 {
    results - OF_THE_LAST_HOUR.min(results / 2)
}

impl ResultMaking {
    /// The id of a result: its moment, and its number.
    pub(crate) fn id(&self, number: u32) -> ResultId {
        id(self.moment(number), number)
    }

    /// The moment of a result, oldest first.
    fn moment(&self, number: u32) -> DateTime<Utc> {
        let before = before_last_hour(self.results);
        let moment = match number.checked_sub(before) {
            None => self.begin + self.apart * i32::try_from(number).unwrap(),
            Some(place) => {
                let apart = TimeDelta::hours(1) / i32::try_from(self.results - before).unwrap();
                self.end - TimeDelta::hours(1) + apart * i32::try_from(place).unwrap()
            }
        };
        whole_milliseconds(moment)
    }

    /// The first result that failed and was not retried.
    pub(crate) fn first_failed(&self) -> ResultId {
        let mut numbers = 0..self.results;
        let failed = numbers.find(|number| self.particular(*number) == Particular::Failed);
        self.id(failed.expect("a few results failed"))
    }

    /// Generates the result of this number.
    pub(crate) fn result(&self, number: u32) -> MadeResult {
        let particular = self.particular(number);
        let varied = varied(number);
        let is = |wanted| particular == wanted;
        let api_key = if is(Particular::Person) || is(Particular::Terminal) {
            None
        } else {
            Some(self.keys[usize::from(is(Particular::Key))])
        };
        let reference = if is(Particular::Ref) {
            Some(RARE_REF.to_owned())
        } else if varied.is_multiple_of(4) {
            Some(COMMON_REF.to_owned())
        } else {
            varied.is_multiple_of(2).then(|| format!("order {number}"))
        };
        let version = if is(Particular::Version) {
            2
        } else if varied % 5 < 2 {
            1
        } else {
            3
        };
        let created_at = self.moment(number);
        let first = NewResult {
            account: self.account,
            api_key,
            made_by: is(Particular::Person).then_some(self.person),
            file_run: None,
            retry_of: None,
            result: SavedResult {
                id: id(created_at, number),
                prism: self.prisms[usize::from(number % 10 == 9)],
                version: VersionNumber::new(version).unwrap(),
                reference: reference.map(Ref::saved),
                submission: submission(number),
                status: status(particular, varied),
                took_ms: 400 + u64::from(varied % 600),
                created_at,
                idempotency_key: None,
            },
            provenance: Provenance {
                protocol: Some("systemone".to_owned()),
                model: Some("jev-1.13.0".to_owned()),
                input_tokens: Some(318),
                output_tokens: Some(34),
                requests: Some(1),
                attempts: Some(1),
                ..Provenance::default()
            },
        };
        let retry = is(Particular::Retried).then(|| self.retry(&first, number));
        MadeResult { first, retry }
    }

    /// The retry of a result, a millisecond later.
    fn retry(&self, first: &NewResult, number: u32) -> NewResult {
        let created_at = first.result.created_at + TimeDelta::milliseconds(1);
        NewResult {
            retry_of: Some(first.result.id),
            result: SavedResult {
                id: id(created_at, self.results + number),
                status: status(Particular::Nothing, varied(number)),
                created_at,
                ..first.result.clone()
            },
            ..first.clone()
        }
    }

    fn particular(&self, number: u32) -> Particular {
        let kinds = [
            Particular::Ref,
            Particular::Version,
            Particular::Key,
            Particular::Person,
            Particular::Terminal,
            Particular::Failed,
            Particular::Retried,
            Particular::Product,
        ];
        let every = (self.results / FEW).max(11);
        let place = usize::try_from(number % every).unwrap();
        kinds.get(place).copied().unwrap_or(Particular::Nothing)
    }
}

/// A pseudo-random number that is the same in every run.
fn varied(number: u32) -> u32 {
    number.wrapping_mul(2_654_435_761) >> 7
}

fn id(moment: DateTime<Utc>, number: u32) -> ResultId {
    let milliseconds = u64::try_from(moment.timestamp_millis()).unwrap();
    let mut random = [0; 10];
    random[6..].copy_from_slice(&number.to_be_bytes());
    let id: Uuid = Builder::from_unix_timestamp_millis(milliseconds, &random).into_uuid();
    ResultId::new(id)
}

fn submission(number: u32) -> Submission {
    let text = format!(
        "I ordered a bicycle three weeks ago, number {number}, and was told that it would be here \
         within ten days. Nobody answers the telephone, and the page of my order says nothing new. \
         Where is it, and when will it be here?"
    );
    let field = (FieldKey::parse("text").unwrap(), text);
    Submission::saved(FieldValues::new(vec![field]), None)
}

/// The outcome: answers of the example prism's questions. `product` is the topic of a few results.
fn status(particular: Particular, varied: u32) -> ResultStatus {
    if matches!(particular, Particular::Failed | Particular::Retried) {
        let error = "The model gave no usable answer.".to_owned();
        return ResultStatus::Failed { error };
    }
    let topic = if particular == Particular::Product {
        "product"
    } else if varied.is_multiple_of(3) {
        "billing"
    } else {
        "delivery"
    };
    let topics = [
        "billing",
        "delivery",
        "product",
        "other",
        "insufficient_information",
    ];
    let topics = topics.map(|it| (it, if it == topic { 700_000 } else { 75_000 }));
    let today = varied % 600_000;
    let levels = [
        ("can_wait", 700_000 - today),
        ("this_week", 300_000),
        ("today", today),
    ];
    let answers = [
        (
            "topic",
            Answer::Choice {
                value: Some(OutcomeKey::parse(topic).unwrap()),
                probabilities: distribution(&topics),
                confidence: Probability::from_millionths(625_000).unwrap(),
            },
        ),
        (
            "angry",
            Answer::YesNo {
                probability: Probability::from_millionths(varied % 1_000_000).unwrap(),
            },
        ),
        ("urgency", Answer::scale(distribution(&levels)).unwrap()),
    ];
    let answers = answers.map(|(key, answer)| (QuestionKey::parse(key).unwrap(), answer));
    ResultStatus::Ok(Answers::new(answers.into()))
}

fn distribution(outcomes: &[(&str, u32)]) -> Distribution {
    let pairs = outcomes.iter().map(|(key, millionths)| {
        let probability = Probability::from_millionths(*millionths).unwrap();
        (OutcomeKey::parse(key).unwrap(), probability)
    });
    pairs.collect()
}
