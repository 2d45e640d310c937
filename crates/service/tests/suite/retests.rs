//! Stored retests with a scripted model server: what nodes and people do with them, and that their
//! figures are those of a retest at the terminal.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use refract_domain::event::Actor;
use refract_domain::ids::{ResultId, RetestId};
use refract_domain::key::{OutcomeKey, QuestionKey};
use refract_domain::prism::{PrismSelector, VersionNumber};
use refract_domain::result::mark::{Annotator, Mark, MarkSource, MarksFrom};
use refract_domain::result::{RetestChange, RetestState};
use refract_identity::events::event_stamp;
use refract_identity::people::AccountActor;
use refract_model_gateway::{
    ChatPrompt, ConnectionSettings, ModelGateway, ModelSettings, Protocol,
};
use refract_persistence::ResultFilter;
use refract_service::Refract;
use refract_service::lenses::PrismLens;
use refract_service::measures::stored_retests::{
    ChangeRetestOutcome, PlannedVersion, RetestPlan, RetestWorker, StartRetestError, StoredRetest,
    TextOrigin,
};
use refract_service::measures::{DrawnFrom, RetestOrder, RetestReport};
use refract_service::runs::AskingPace;
use refract_test_support::model_server::{ModelServer, ScriptedReply};
use refract_test_support::on_both;
use tokio::sync::watch;

use crate::fixture::{Described, Fixture, moment, person};

on_both!(
    the_figures_are_those_of_the_measure,
    marked_texts_alone_are_asked_about,
    what_cannot_be_asked_is_refused,
);

/// Texts in flight.
pub(crate) const IN_FLIGHT: usize = 4;
/// A test that waits for longer has failed.
const PATIENCE: Duration = Duration::from_mins(1);

/// A prism with stored results, and the use cases with a model server.
pub(crate) struct Stack {
    pub(crate) it: Fixture,
    pub(crate) refract: Refract,
    pub(crate) model: ModelServer,
    pub(crate) lens: Arc<PrismLens>,
    pub(crate) results: Vec<ResultId>,
}

/// A stack with results of both versions; the model answers billing and yes.
pub(crate) async fn stack(it: Fixture, results: i64) -> Stack {
    let model = ModelServer::start(ScriptedReply::answers());
    let settings = ModelSettings {
        endpoint: model.url().parse().unwrap(),
        protocol: Protocol::SystemOne,
        name: "present".to_owned(),
        api_key: None,
        connections: ConnectionSettings::default(),
        request_tokens: 52_000,
        request_questions: NonZeroUsize::new(100).unwrap(),
        requests_per_minute: None,
        tokens_per_minute: None,
        timeout: Duration::from_secs(30),
        concurrency: 64,
        prompt: ChatPrompt::default(),
        follow_ups: 0,
        prices: None,
    };
    let gateway = ModelGateway::new(settings).unwrap();
    let refract = Refract::new(it.database.clone()).with_model(gateway.model());
    let lens = it.prism(it.account).await;
    let mut ids = Vec::new();
    for at in 0..results {
        let version = if at % 3 == 0 { 2 } else { 1 };
        let topic = match at % 4 {
            0 => "billing",
            1 => "other",
            _ if version == 1 => "delivery",
            _ => "returns",
        };
        let described = Described {
            at,
            version,
            answers: Some((topic, u32::try_from(at * 7 % 101).unwrap())),
            reference: None,
            actor: person(1),
            is_retried: false,
        };
        ids.push(it.save(&lens, &described).await);
    }
    Stack {
        lens: Arc::new(lens),
        it,
        refract,
        model,
        results: ids,
    }
}

impl Stack {
    pub(crate) fn actor(&self) -> AccountActor {
        AccountActor::operator(self.it.account)
    }

    pub(crate) fn asked(&self) -> usize {
        self.model.counts().requests
    }

    pub(crate) async fn start(&self, version: Option<i32>) -> RetestId {
        let plan = RetestPlan {
            texts: 2_000,
            from: DrawnFrom::Answered.into(),
            model: Some("another".parse().unwrap()),
            version: version.and_then(VersionNumber::new).into(),
        };
        let (retests, actor) = (self.refract.retests(), self.actor());
        let starting = retests.start(&actor, &self.lens, &plan);
        starting.await.unwrap()
    }

    pub(crate) async fn find(&self, retest: RetestId) -> StoredRetest {
        let finding = self.refract.retests().find(self.it.account, retest);
        finding.await.unwrap().unwrap()
    }

    pub(crate) async fn change(
        &self,
        retest: RetestId,
        change: RetestChange,
    ) -> ChangeRetestOutcome {
        let (retests, actor) = (self.refract.retests(), self.actor());
        let changing = retests.change(&actor, retest, change);
        changing.await.unwrap()
    }

    /// Waits until the retest is as expected.
    pub(crate) async fn until(&self, retest: RetestId, expected: impl Fn(&StoredRetest) -> bool) {
        let waiting = async {
            while !expected(&self.find(retest).await) {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        let waited = tokio::time::timeout(PATIENCE, waiting).await;
        assert!(waited.is_ok(), "{:?}", self.find(retest).await);
    }

    /// A node that works until `stopped` says so, or until the future is dropped.
    pub(crate) async fn node(&self, stopped: watch::Receiver<bool>) {
        let in_flight = NonZeroUsize::new(IN_FLIGHT).unwrap();
        let worker = RetestWorker::new(&self.refract, in_flight);
        worker.run(stopped, PATIENCE).await;
    }

    /// Lets a node work until the retest is as expected; then the node dies.
    pub(crate) async fn work_until(
        &self,
        retest: RetestId,
        expected: impl Fn(&StoredRetest) -> bool,
    ) {
        let (_alive, stopped) = watch::channel(false);
        tokio::select! {
            () = self.node(stopped) => panic!("nobody stopped it"),
            () = self.until(retest, expected) => {}
        }
    }

    /// Lets a node ask about ten texts while four others are in flight; then the node dies.
    pub(crate) async fn work_on_ten(&self, retest: RetestId) {
        self.model.then_always(ScriptedReply::answers().held());
        self.model.release(10);
        self.work_until(retest, |it| it.counts.answered == 10).await;
    }
}

pub(crate) fn is_done(retest: &StoredRetest) -> bool {
    retest.state == RetestState::Done && !retest.is_leased
}

/// The figures of a report in full.
fn figures(report: &RetestReport) -> Vec<String> {
    let questions = report.questions.iter();
    let questions = questions.map(|it| format!("{:?} {:?}", it.question, it.measures()));
    let flips = report.flipped();
    let flips = flips.iter().map(|flip| format!("{flip:?}"));
    questions.chain(flips).collect()
}

pub(crate) async fn mark(stack: &Stack) {
    let marks = stack
        .results
        .iter()
        .enumerate()
        .map(|(number, result)| Mark {
            result: *result,
            question: QuestionKey::parse("angry").unwrap(),
            outcome: OutcomeKey::parse(if number % 5 == 0 { "no" } else { "yes" }).unwrap(),
            marked_by: Annotator::default(),
            marked_at: moment(1),
            source: (number % 2 == 0).then_some(MarkSource::Random),
            note: None,
            is_adjudicated: false,
        });
    let marks: Vec<_> = marks.collect();
    let database = &stack.it.database;
    for marks in marks.chunks(100) {
        let stamp = event_stamp(stack.it.account, Actor::Operator, None);
        let saving = database.save_marks(stack.lens.prism.id, marks.into(), stamp);
        saving.await.unwrap();
    }
}

async fn the_figures_are_those_of_the_measure(it: Fixture) {
    // more texts than are in memory at a time
    let stack = stack(it, 230).await;
    mark(&stack).await;
    for version in [None, Some(2)] {
        let retest = stack.start(version).await;
        let before = stack.asked();
        stack.work_until(retest, is_done).await;
        assert_eq!(stack.asked() - before, 230);
        let requests = stack.model.requests();
        assert!(
            requests[before..]
                .iter()
                .all(|it| it.json()["model"] == "another")
        );
        let found = stack.find(retest).await;
        let retests = stack.refract.retests();
        let report = retests.report(&found, &stack.lens).await.unwrap();
        let measures = stack.refract.measures();
        let prisms = stack.refract.prisms();
        let asked = match found.version {
            None => None,
            Some(number) => prisms.find_version(&stack.lens.prism, number).await.ok(),
        };
        let order = RetestOrder {
            version: asked,
            filter: ResultFilter::default(),
            sample: 2_000,
            from: DrawnFrom::Answered,
            marks: MarksFrom::default(),
            lens: &stack.lens,
        };
        let drawn = measures.draw_retest(order).await.unwrap();
        let pace = AskingPace {
            concurrency: NonZeroUsize::new(8).unwrap(),
            gives_up: true,
        };
        let never = std::future::pending();
        let known = HashMap::new();
        let measuring = measures.retest(&drawn, &known, pace, never, async |_, _| Ok(()), |_| ());
        let expected = measuring.await.unwrap();
        assert_eq!(figures(&report), figures(&expected), "{version:?}");
        let flips = expected.flipped().len();
        assert!(flips > 100, "{flips}");
        assert_eq!(found.flips, u64::try_from(flips).ok());
        let angry = report.questions.last().unwrap().measures();
        assert_eq!(angry.marked.unwrap().rows, 115, "random marks alone");
    }
}

async fn marked_texts_alone_are_asked_about(it: Fixture) {
    // more marked texts than one query checks
    let stack = stack(it, 450).await;
    let plan = |texts| RetestPlan {
        texts,
        from: DrawnFrom::Marked.into(),
        model: None,
        version: PlannedVersion::OfEach,
    };
    let (retests, actor) = (stack.refract.retests(), stack.actor());
    let none = retests.start(&actor, &stack.lens, &plan(10)).await;
    assert!(matches!(none, Err(StartRetestError::NoMarkedTexts)));
    let listed = retests.list(stack.it.account, stack.lens.prism.id);
    assert_eq!(listed.await.unwrap(), []);
    mark(&stack).await;
    for (texts, expected) in [(10, 10), (2_000, 225)] {
        let estimate = retests.estimate(&stack.lens, &plan(texts)).await.unwrap();
        assert_eq!(estimate.texts(), expected);
    }
    let retest = retests
        .start(&actor, &stack.lens, &plan(2_000))
        .await
        .unwrap();
    stack.work_until(retest, is_done).await;
    let found = stack.find(retest).await;
    assert_eq!(
        (found.drawn.from, found.counts.answered),
        (TextOrigin::Marked, 225)
    );
    let report = retests.report(&found, &stack.lens).await.unwrap();
    let angry = report.questions.last().unwrap().measures();
    assert_eq!(angry.marked.unwrap().rows, 225, "each text is marked");
    // those of the period that the filter names, with marks of any source
    let since = moment(200);
    let order = |sample, marks| RetestOrder {
        version: None,
        filter: ResultFilter {
            since: Some(since),
            ..ResultFilter::default()
        },
        sample,
        from: DrawnFrom::Marked,
        marks,
        lens: &stack.lens,
    };
    for (sample, marks, expected) in [
        (2_000, MarksFrom::Random, 125),
        (2_000, MarksFrom::All, 250),
        (7, MarksFrom::All, 7),
    ] {
        let drawing = stack.refract.measures().draw_retest(order(sample, marks));
        assert_eq!(drawing.await.unwrap().len(), expected, "{marks:?}");
    }
}

async fn what_cannot_be_asked_is_refused(it: Fixture) {
    let stack = stack(it, 0).await;
    let plan = |version: Option<i32>| RetestPlan {
        texts: 10,
        from: DrawnFrom::Answered.into(),
        model: None,
        version: version.and_then(VersionNumber::new).into(),
    };
    let retests = stack.refract.retests();
    let actor = stack.actor();
    let start = async |lens: &Arc<PrismLens>, version| {
        retests
            .start(&actor, lens, &plan(version))
            .await
            .unwrap_err()
    };
    assert!(matches!(
        start(&stack.lens, None).await,
        StartRetestError::NoTexts
    ));
    let unknown = start(&stack.lens, Some(3)).await;
    assert!(matches!(unknown, StartRetestError::VersionNotFound));
    let described = Described {
        at: 0,
        version: 1,
        answers: Some(("billing", 5)),
        reference: None,
        actor: person(1),
        is_retried: false,
    };
    stack.it.save(&stack.lens, &described).await;
    let estimate = retests.estimate(&stack.lens, &plan(None)).await.unwrap();
    assert_eq!((estimate.texts(), estimate.cost.requests), (1, 1));
    assert!(estimate.cost.tokens > 20);
    let first = retests
        .start(&actor, &stack.lens, &plan(None))
        .await
        .unwrap();
    assert_eq!(stack.find(first).await.model, "present");
    let again = start(&stack.lens, None).await;
    assert!(matches!(again, StartRetestError::UnderWay(other) if other == first));
    let selector = PrismSelector::Id(stack.lens.prism.id);
    let prisms = stack.refract.prisms();
    let archiving = prisms.set_archived(&actor, &selector, true);
    archiving.await.unwrap();
    let archived = stack.refract.lenses().find(stack.it.account, &selector);
    let archived = Arc::new(archived.await.unwrap());
    let refused = start(&archived, None).await;
    assert!(matches!(refused, StartRetestError::PrismArchived));
    assert_eq!(stack.asked(), 0);
}
