//! Drafts that are tried on stored texts: a retest of words that are no version.

use std::sync::Arc;

use refract_authoring::prism_file::PrismFile;
use refract_domain::event::EventAction;
use refract_domain::ids::{ResultId, RetestId};
use refract_domain::key::QuestionKey;
use refract_domain::prism::PrismVersion;
use refract_domain::result::RetestChange;
use refract_persistence::{EventFilter, EventRange, ResultFilter};
use refract_service::measures::DrawnFrom;
use refract_service::measures::stored_retests::{
    PlannedVersion, RetestPlan, StartRetestError, StoredRetest, TextChoice, TextOrigin,
};
use refract_service::results::{AnsweredOutcome, ResultSearch, TextWords};
use refract_test_support::model_server::ScriptedReply;
use refract_test_support::on_both;
use serde_json::json;
use uuid::Uuid;

use crate::fixture::Fixture;
use crate::retests::{Stack, is_done, mark, stack};

on_both!(
    a_draft_is_asked_on_another_node_and_nothing_of_it_is_saved,
    texts_are_chosen_by_what_is_known_of_them,
    what_cannot_be_tried_is_refused_in_a_sentence,
);

/// A draft with other words and an option that no version has.
fn draft() -> Arc<PrismVersion> {
    let file = json!({
        "name": "Triage",
        "fields": [{ "key": "text", "label": "Message" }],
        "questions": [
            { "key": "topic", "type": "choice", "text": "Which desk?", "options": [
                { "key": "billing", "label": "Billing" }, { "key": "returns", "label": "Returns" },
                { "key": "warranty", "label": "Warranty" }] },
            { "key": "angry", "type": "yes_no", "text": "Is the writer furious?" },
        ],
    });
    let read = PrismFile::read(file.to_string().as_bytes(), None);
    Arc::new(read.unwrap().version)
}

fn plan(texts: u16, from: impl Into<TextChoice>) -> RetestPlan {
    RetestPlan {
        texts,
        from: from.into(),
        model: None,
        version: PlannedVersion::Draft(draft()),
    }
}

impl Stack {
    async fn try_draft(&self, plan: &RetestPlan) -> Result<RetestId, StartRetestError> {
        let (retests, actor) = (self.refract.retests(), self.actor());
        retests.start(&actor, &self.lens, plan).await
    }

    /// The texts that a trial asks about; the trial is stopped.
    async fn chosen(&self, texts: u16, from: impl Into<TextChoice>) -> (RetestId, Vec<ResultId>) {
        let retest = self.try_draft(&plan(texts, from)).await.unwrap();
        let database = &self.it.database;
        let rows = database.list_retest_texts(retest, ResultId::LOWEST, 1_000);
        let rows = rows.await.unwrap();
        self.change(retest, RetestChange::Interrupt).await;
        (retest, rows.iter().map(|row| row.result).collect())
    }

    async fn refusal(&self, from: impl Into<TextChoice>) -> String {
        self.try_draft(&plan(10, from))
            .await
            .unwrap_err()
            .to_string()
    }
}

fn found(search: ResultSearch, is_least_sure_first: bool) -> TextChoice {
    TextChoice::Found {
        search: Box::new(search),
        is_least_sure_first,
    }
}

fn answered(outcome: &str) -> ResultSearch {
    ResultSearch {
        answers: vec![AnsweredOutcome {
            question: QuestionKey::parse("topic").unwrap(),
            outcome: outcome.to_owned(),
        }],
        ..ResultSearch::default()
    }
}

async fn a_draft_is_asked_on_another_node_and_nothing_of_it_is_saved(it: Fixture) {
    let stack = stack(it, 60).await;
    mark(&stack).await;
    let retests = stack.refract.retests();
    let plan = plan(40, DrawnFrom::Answered);
    let estimate = retests.estimate(&stack.lens, &plan).await.unwrap();
    assert_eq!((estimate.texts(), estimate.cost.requests), (40, 40));
    assert!(estimate.cost.tokens > 40 * 20);
    assert_eq!(
        stack.asked(),
        0,
        "the price is said before anything is asked"
    );
    let retest = stack.try_draft(&plan).await.unwrap();
    // the first node dies
    stack.work_on_ten(retest).await;
    stack.model.then_always(ScriptedReply::answers());
    stack.work_until(retest, is_done).await;
    let requests = stack.model.requests();
    assert!(requests.iter().all(|it| it.text().contains("Which desk?")));
    let found: StoredRetest = stack.find(retest).await;
    assert_eq!((found.counts.texts, found.counts.answered), (40, 40));
    assert_eq!(found.drawn.draft.as_ref(), Some(&*draft()));
    assert_eq!(found.version, None);
    // questions are compared though their outcomes are others
    assert_eq!(found.drawn.not_compared, []);
    let report = retests.report(&found, &stack.lens).await.unwrap();
    let [topic, angry] = &report.questions[..] else {
        panic!("{:?}", report.questions);
    };
    assert_eq!(topic.question.text, "Which desk?");
    assert_eq!(topic.measures().flip_rate.of, 40);
    assert!(topic.measures().flip_rate.count > 10);
    let marked = angry.measures().marked.unwrap();
    assert!(marked.rows > 10 && marked.only_b_right > 0, "{marked:?}");
    assert_eq!(found.flips, u64::try_from(report.flipped().len()).ok());
    // no version, no result, and an event that says what was asked
    let account = stack.it.account;
    let (prism, database) = (&stack.lens.prism, &stack.it.database);
    let latest = database.find_prism_by_id(prism.id).await.unwrap();
    assert_eq!(latest.unwrap().latest_version, prism.latest_version);
    let all = ResultFilter::default();
    let results = database.count_results(account, prism.id, all).await;
    assert_eq!(results.unwrap(), 60);
    let filter = EventFilter::default();
    let events = database.list_events(account, filter, EventRange::Newest, 100);
    let events = events.await.unwrap();
    let started = events
        .iter()
        .find(|event| event.action == EventAction::RetestStarted);
    let note = started.unwrap().stamp.note.as_ref().unwrap().as_str();
    assert!(note.ends_with("40 texts, a draft"), "{note}");
}

async fn texts_are_chosen_by_what_is_known_of_them(it: Fixture) {
    let stack = stack(it, 60).await;
    mark(&stack).await;
    let of = |matches: &dyn Fn(usize) -> bool| -> Vec<ResultId> {
        let chosen = stack.results.iter().enumerate();
        let mut chosen: Vec<_> = chosen
            .filter(|(number, _)| matches(*number))
            .map(|(_, id)| *id)
            .collect();
        chosen.sort();
        chosen
    };
    let percent = |number: usize| number * 7 % 101;
    // every other mark is random, and says yes but for each fifth
    let is_wrong = |number: usize| {
        number.is_multiple_of(2) && (percent(number) < 50) != number.is_multiple_of(5)
    };
    let question = |key| TextChoice::Wrong(QuestionKey::parse(key).unwrap());
    let (retest, wrong) = stack.chosen(200, question("angry")).await;
    assert_eq!(wrong, of(&is_wrong));
    assert_eq!(stack.find(retest).await.drawn.from, TextOrigin::Wrong);
    let (_, marked) = stack.chosen(200, DrawnFrom::Marked).await;
    assert_eq!(marked, of(&|number| number % 2 == 0));
    let (_, billing) = stack.chosen(200, found(answered("billing"), false)).await;
    assert_eq!(billing, of(&|number| number % 4 == 0));
    let (_, newest) = stack.chosen(3, found(answered("billing"), false)).await;
    assert_eq!(newest, of(&|number| number % 4 == 0 && number >= 48));
    let (_, least_sure) = stack
        .chosen(200, found(ResultSearch::default(), true))
        .await;
    assert_eq!(least_sure, of(&|_| true));
    // the same texts again, once more with another draft
    let (retest, sample) = stack.chosen(7, DrawnFrom::Answered).await;
    assert_eq!(sample.len(), 7);
    let (again, same) = stack.chosen(200, TextChoice::Again(retest)).await;
    assert_eq!((same, stack.asked()), (sample, 0));
    assert_eq!(stack.find(again).await.drawn.from, TextOrigin::Answered);
}

async fn what_cannot_be_tried_is_refused_in_a_sentence(it: Fixture) {
    let stack = stack(it, 12).await;
    let none = "there is no answered result that can be asked about again";
    let wrong = TextChoice::Wrong(QuestionKey::parse("angry").unwrap());
    let gone = TextChoice::Again(RetestId::new(Uuid::now_v7()));
    let mut failed = ResultSearch::default();
    failed.filter.is_ok = Some(false);
    let unheard = ResultSearch {
        words: TextWords::parse("unheard"),
        ..ResultSearch::default()
    };
    for (choice, words) in [
        (
            DrawnFrom::Marked.into(),
            "no answered result has a random or imported mark",
        ),
        (wrong, "no marked answer to this question is wrong"),
        (
            gone,
            "the texts that were asked about before are no longer known",
        ),
        (found(failed, false), none),
        (found(unheard, false), none),
        (found(answered("unknown"), true), none),
    ] {
        assert_eq!(stack.refusal(choice).await, words);
    }
    stack
        .try_draft(&plan(1, DrawnFrom::Answered))
        .await
        .unwrap();
    let refused = stack.refusal(DrawnFrom::Answered).await;
    assert_eq!(refused, "a retest of this prism is under way");
    assert_eq!(stack.asked(), 0);
}
