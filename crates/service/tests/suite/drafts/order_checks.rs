//! One text asked again with the options of its choices in other orders.

use refract_domain::answer::{Answer, Answers};
use refract_domain::prism::VersionNumber;
use refract_domain::result::ResultStatus;
use refract_service::results::ReadableResult;
use refract_test_support::model_server::{ModelServer, Script, ScriptedReply};
use refract_test_support::on_both;
use serde_json::json;

use super::fixture::{DraftFixture, answers, failed, file};

on_both!(
    with crate::drafts::on;
    each_order_is_asked_and_compared_and_nothing_is_saved,
    an_order_that_the_model_does_not_answer_is_reported,
    without_answers_or_choices_nothing_is_asked,
);

/// A result with the scripted server's answers to the prism's own order.
async fn saved(it: &DraftFixture) -> ReadableResult {
    let latest = it.lens().await.latest;
    let server = ModelServer::start(ScriptedReply::answers());
    let text = it
        .save(VersionNumber::FIRST, "Where is it?", answers(&latest, 0))
        .await;
    let tried = it
        .asking_by(&server.url())
        .prisms()
        .try_texts(&latest, &[text.submission().clone()])
        .await;
    let answers: Answers = tried[0].as_ref().unwrap().clone();
    it.save(
        VersionNumber::FIRST,
        "Where is it?",
        ResultStatus::Ok(answers),
    )
    .await
}

async fn each_order_is_asked_and_compared_and_nothing_is_saved(it: DraftFixture) {
    let result = saved(&it).await;
    let before = it.count().await;
    // the scripted server prefers the option that is listed first
    let server = ModelServer::start(ScriptedReply::answers());
    let check = it
        .asking_by(&server.url())
        .measures()
        .check_orders(&result, 9)
        .await
        .unwrap();
    assert!(check.failures.is_empty());
    let [topic] = &check.choices[..] else {
        panic!("one choice, not {}", check.choices.len());
    };
    assert_eq!(topic.question.as_str(), "topic");
    let orders: Vec<_> = topic
        .orders
        .iter()
        .map(|order| {
            let keys = order
                .options
                .iter()
                .map(|key| key.as_str().chars().next().unwrap());
            (keys.collect::<String>(), order.flips)
        })
        .collect();
    let expected = [
        ("dpb", true),
        ("pbd", true),
        ("pdb", true),
        ("dbp", true),
        ("bpd", false),
    ];
    assert_eq!(
        orders,
        expected.map(|(order, flips)| (order.to_owned(), flips))
    );
    assert!(topic.flips());
    let Answer::Choice { value, .. } = &topic.orders[0].answer else {
        panic!("a choice is answered by a choice");
    };
    assert_eq!(value.as_ref().unwrap().as_str(), "delivery");
    let measures = topic.measures();
    assert_eq!(measures.comparisons, 5);
    // 0.7 for the first outcome and 0.075 for each of the other four
    let largest = measures.largest_total_variation.unwrap();
    assert!((largest - 0.625).abs() < 1e-5, "{largest}");
    assert_eq!(server.requests().len(), 5);
    let two = it
        .asking_by(&server.url())
        .measures()
        .check_orders(&result, 2)
        .await
        .unwrap();
    assert_eq!(two.choices[0].orders.len(), 2);
    assert_eq!(it.count().await, before);
}

async fn an_order_that_the_model_does_not_answer_is_reported(it: DraftFixture) {
    let result = saved(&it).await;
    let script = Script::first([ScriptedReply::status(400)]);
    let server = ModelServer::start(script);
    let check = it
        .asking_by(&server.url())
        .measures()
        .check_orders(&result, 3)
        .await
        .unwrap();
    assert_eq!(check.choices[0].orders.len(), 2);
    let [failure] = &check.failures[..] else {
        panic!("one failure, not {:?}", check.failures);
    };
    assert!(failure.contains("400"), "{failure}");
}

async fn without_answers_or_choices_nothing_is_asked(it: DraftFixture) {
    let server = ModelServer::start(ScriptedReply::answers());
    let refract = it.asking_by(&server.url());
    let failed = it.save(VersionNumber::FIRST, "Hello", failed()).await;
    assert!(
        refract
            .measures()
            .check_orders(&failed, 3)
            .await
            .unwrap()
            .choices
            .is_empty()
    );
    let mut file = file();
    file["questions"].as_array_mut().unwrap().remove(0);
    let second = it.save_version(&json!(file)).await;
    let latest = it.lens().await.latest;
    let plain = it.save(second, "Hello", answers(&latest, 0)).await;
    let check = refract.measures().check_orders(&plain, 3).await.unwrap();
    assert!(check.choices.is_empty());
    assert!(server.requests().is_empty());
}
