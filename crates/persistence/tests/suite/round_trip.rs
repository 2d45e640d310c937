//! Awkward values are read back exactly as they were saved.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use refract_domain::answer::{Answer, Answers, Probability};
use refract_domain::ids::ResultId;
use refract_domain::key::{FieldKey, OutcomeKey, QuestionKey};
use refract_domain::result::ResultStatus;
use refract_domain::submission::{CallContext, FieldValues, IdempotencyKey, Ref, Submission};
use refract_persistence::{NewResult, SaveOutcome};
use uuid::Uuid;

use crate::fixture::{Fixture, moment};

/// The values of a result, without those that must be unique.
#[derive(Clone, Debug)]
struct GeneratedCall {
    fields: Vec<(FieldKey, String)>,
    context: String,
    reference: Option<String>,
    idempotency_key: Option<String>,
    status: ResultStatus,
    took_ms: u64,
    milliseconds: i64,
}

/// Texts that databases or JSON may mishandle, except NUL.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>().prop_map(|text| text.replace('\0', "")),
        "[\"'\\\\\n\r\t;%_{}$?:\u{7f}\u{85}\u{2028}\u{feff}\u{10ffff}👩‍🚀é e\u{301}]{0,40}",
        Just(String::new()),
        Just("x'; DROP TABLE results; --".to_owned()),
        (90_000_usize..100_000).prop_map(|length| "ü🦄".repeat(length / 2)),
    ]
}

fn key() -> impl Strategy<Value = String> {
    "[a-z][a-z0-9_]{0,63}"
}

fn probability() -> impl Strategy<Value = Probability> {
    (0_u32..=1_000_000).prop_map(|millionths| Probability::from_millionths(millionths).unwrap())
}

fn distribution() -> impl Strategy<Value = Vec<(OutcomeKey, Probability)>> {
    let outcome = key().prop_map(|key| OutcomeKey::parse(&key).unwrap());
    prop::collection::vec((outcome, probability()), 2..6)
}

fn answer() -> impl Strategy<Value = Answer> {
    let choice = (distribution(), probability(), any::<bool>());
    prop_oneof![
        choice.prop_map(|(probabilities, confidence, is_known)| Answer::Choice {
            value: is_known.then(|| probabilities[0].0.clone()),
            probabilities,
            confidence,
        }),
        probability().prop_map(|probability| Answer::YesNo { probability }),
        distribution().prop_map(|probabilities| Answer::scale(probabilities).unwrap()),
    ]
}

fn status() -> impl Strategy<Value = ResultStatus> {
    let question = key().prop_filter_map("reserved", |key| QuestionKey::parse(&key).ok());
    let answers = prop::collection::vec((question, answer()), 1..5);
    prop_oneof![
        answers.prop_map(|answers| ResultStatus::Ok(Answers::new(answers))),
        text().prop_map(|error| ResultStatus::Failed { error }),
    ]
}

fn sent() -> impl Strategy<Value = GeneratedCall> {
    let field = key().prop_filter_map("reserved", |key| FieldKey::parse(&key).ok());
    let fields = prop::collection::vec((field, text()), 1..4);
    let optional = || prop::option::of("[^\0 \t\n]{1,150}");
    (
        fields,
        text(),
        optional(),
        optional(),
        status(),
        0..u64::MAX / 2,
        -9_000_000_000..9_000_000_000_i64,
    )
        .prop_map(
            |(fields, context, reference, idempotency_key, status, took_ms, milliseconds)| {
                GeneratedCall {
                    fields,
                    context,
                    reference,
                    idempotency_key,
                    status,
                    took_ms,
                    milliseconds,
                }
            },
        )
}

fn new_result(it: &Fixture, sent: GeneratedCall) -> NewResult {
    let mut new = it.result(sent.status, None);
    let id = Uuid::now_v7();
    new.result.id = ResultId::new(id);
    new.result.submission = Submission::saved(
        FieldValues::new(sent.fields),
        CallContext::saved(sent.context),
    );
    new.result.reference = sent.reference.map(Ref::saved);
    let unique = |key| format!("{key}{id}");
    new.result.idempotency_key = sent.idempotency_key.map(unique).map(IdempotencyKey::saved);
    new.result.took_ms = sent.took_ms;
    new.result.created_at = moment(sent.milliseconds);
    new
}

fn reads_back(make: impl AsyncFn() -> Fixture) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    let it = runtime.block_on(make());
    let config = Config {
        cases: 40,
        failure_persistence: None,
        ..Config::default()
    };
    let outcome = TestRunner::new(config).run(&sent(), |sent| {
        let new = new_result(&it, sent);
        runtime.block_on(async {
            assert_eq!(
                it.database.save_result(&new).await.unwrap(),
                SaveOutcome::Saved
            );
            let call = it
                .database
                .find_result_call(&it.key.hash, new.result.id, moment(9))
                .await;
            let read = call.unwrap().unwrap().result.unwrap().result;
            assert_eq!(read, new.result);
            assert!(read.submission == new.result.submission);
        });
        Ok(())
    });
    outcome.unwrap();
    drop(it);
}

#[test]
fn sqlite_reads_back_what_was_saved() {
    reads_back(Fixture::sqlite);
}

#[test]
fn postgres_reads_back_what_was_saved() {
    reads_back(Fixture::postgres);
}
