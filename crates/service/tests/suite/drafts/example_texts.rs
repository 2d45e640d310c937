//! Example texts: what is broken by a wording, saved or not, and how many there may be.

use std::time::Duration;

use refract_domain::prism::{EXAMPLE_TEXTS, ExpectedOutcomes, PrismVersion};
use refract_domain::submission::{FieldValues, Submission};
use refract_service::Refract;
use refract_service::prisms::{
    AskedExamples, CheckedExample, ExampleError, ExampleInput, ExampleState,
};
use refract_test_support::model_server::{ModelServer, Script, ScriptedReply};
use refract_test_support::on_both;
use serde_json::{Value, json};

use super::fixture::{DraftFixture, file, key};

on_both!(
    with crate::drafts::on;
    a_wording_breaks_what_it_answers_otherwise_and_no_result_is_saved,
    cutoffs_decide_without_asking_again,
    what_a_version_no_longer_asks_is_kept_and_breaks_nothing,
    of_two_who_keep_the_hundredth_example_one_is_refused,
    a_check_that_takes_too_long_leaves_the_rest_unasked,
    a_file_above_the_limit_is_refused_whole,
);

const LONG: Duration = Duration::from_secs(30);

fn input(text: &str, expected: &Value) -> ExampleInput {
    ExampleInput {
        submission: Submission::saved(FieldValues::new(vec![(key("text"), text.to_owned())]), None),
        reference: None,
        expected: serde_json::from_value(expected.clone()).unwrap(),
        note: None,
    }
}

async fn keep(it: &DraftFixture, text: &str, expected: &Value) -> Result<usize, ExampleError> {
    let prism = it.lens().await.prism;
    let examples = it.refract.prisms().example_texts();
    let keeping = examples.keep(&it.actor, &prism, input(text, expected), None);
    keeping.await.map(|saved| saved.total)
}

async fn ask(refract: &Refract, it: &DraftFixture, wording: &PrismVersion, which: AskedExamples) {
    let prism = it.lens().await.prism;
    let examples = refract.prisms().example_texts();
    examples.ask(&prism, wording, which, LONG).await.unwrap();
}

async fn checked(it: &DraftFixture, wording: &PrismVersion) -> Vec<CheckedExample> {
    let prism = it.lens().await.prism;
    let examples = it.refract.prisms().example_texts();
    examples.checked(&prism, wording).await.unwrap()
}

async fn states(it: &DraftFixture, wording: &PrismVersion) -> Vec<ExampleState> {
    let lens = it.lens().await;
    let checked = checked(it, wording).await;
    let states = checked
        .iter()
        .map(|one| one.state(wording, lens.columns().lens));
    states.collect()
}

/// The prism's version with another question about anger, unsaved.
async fn reworded(it: &DraftFixture) -> PrismVersion {
    let mut file = file();
    file["questions"][1]["text"] = json!("Is somebody angry?");
    let bytes = file.to_string();
    let draft = it
        .refract
        .prisms()
        .draft(it.actor.account(), &it.prism, bytes.as_bytes());
    draft.await.unwrap().file.version
}

async fn a_wording_breaks_what_it_answers_otherwise_and_no_result_is_saved(it: DraftFixture) {
    // scripted answers: the first option, and yes with 80 %
    keep(&it, "Holds", &json!({"topic": "billing", "angry": "yes"}))
        .await
        .unwrap();
    keep(&it, "Broken", &json!({"topic": "delivery", "angry": "yes"}))
        .await
        .unwrap();
    let latest = it.lens().await.latest;
    let unasked = [ExampleState::NotChecked, ExampleState::NotChecked];
    assert_eq!(states(&it, &latest).await, unasked);
    let server = ModelServer::start(ScriptedReply::answers());
    let refract = it.asking_by(&server.url());
    ask(&refract, &it, &latest, AskedExamples::Unanswered).await;
    let ended = [ExampleState::Holds, ExampleState::Broken];
    assert_eq!(states(&it, &latest).await, ended);
    // what is answered is not asked again unless somebody wants that
    ask(&refract, &it, &latest, AskedExamples::Unanswered).await;
    assert_eq!(server.requests().len(), 2);
    ask(&refract, &it, &latest, AskedExamples::All).await;
    assert_eq!(server.requests().len(), 4);
    // an unsaved wording has answers of its own, which it keeps once it is saved
    let draft = reworded(&it).await;
    assert_eq!(states(&it, &draft).await, unasked);
    ask(&refract, &it, &draft, AskedExamples::Unanswered).await;
    let asked = server.requests();
    assert!(asked[4].text().contains("Is somebody angry?"));
    let mut file = file();
    file["questions"][1]["text"] = json!("Is somebody angry?");
    it.save_version(&file).await;
    assert_eq!(states(&it, &it.lens().await.latest).await, ended);
    assert_eq!(states(&it, &latest).await, ended);
    assert_eq!((it.count().await, server.requests().len()), (0, 6));
}

async fn cutoffs_decide_without_asking_again(it: DraftFixture) {
    keep(&it, "One", &json!({"angry": "no"})).await.unwrap();
    let server = ModelServer::start(ScriptedReply::answers());
    let latest = it.lens().await.latest;
    ask(
        &it.asking_by(&server.url()),
        &it,
        &latest,
        AskedExamples::All,
    )
    .await;
    assert_eq!(states(&it, &latest).await, [ExampleState::Broken]);
    it.set_lens(&json!([{ "question": "angry", "output": "label", "no_below": 0.9 }]))
        .await;
    assert_eq!(states(&it, &latest).await, [ExampleState::Holds]);
    // unsure is neither yes nor no
    it.set_lens(&json!([{ "question": "angry", "output": "label",
        "no_below": 0.5, "yes_from": 0.9 }]))
        .await;
    assert_eq!(states(&it, &latest).await, [ExampleState::Broken]);
    assert_eq!(server.requests().len(), 1);
}

async fn what_a_version_no_longer_asks_is_kept_and_breaks_nothing(it: DraftFixture) {
    keep(&it, "One", &json!({"topic": "parts", "rude": "yes"}))
        .await
        .unwrap();
    let mut file = file();
    file["questions"].as_array_mut().unwrap().pop();
    file["questions"][0]["options"]
        .as_array_mut()
        .unwrap()
        .pop();
    it.save_version(&file).await;
    let lens = it.lens().await;
    let latest = &lens.latest;
    assert_eq!(states(&it, latest).await, [ExampleState::NothingExpected]);
    let found = checked(&it, latest).await.remove(0);
    let gone: Vec<_> = found.no_longer_asked(latest).collect();
    let gone: Vec<_> = gone
        .iter()
        .map(|(key, outcome)| format!("{key} {outcome}"))
        .collect();
    assert_eq!(gone, ["rude yes", "topic parts"]);
    // a new answer replaces that to the same question alone
    let expected: ExpectedOutcomes = serde_json::from_value(json!({"topic": "billing"})).unwrap();
    let examples = it.refract.prisms().example_texts();
    let changing = examples.change(
        &it.actor,
        &lens.prism,
        &found.example,
        latest,
        expected,
        None,
    );
    assert!(changing.await.unwrap());
    let found = checked(&it, latest).await.remove(0);
    let kept = serde_json::to_value(&found.example.expected).unwrap();
    assert_eq!(kept, json!({"topic": "billing", "rude": "yes"}));
    // a version with a field that the text lacks cannot be asked
    file["fields"]
        .as_array_mut()
        .unwrap()
        .push(json!({ "key": "subject", "label": "S" }));
    it.save_version(&file).await;
    let latest = it.lens().await.latest;
    let lacking = ExampleState::LacksFields(vec![key("subject")]);
    assert_eq!(states(&it, &latest).await, [lacking]);
}

async fn of_two_who_keep_the_hundredth_example_one_is_refused(it: DraftFixture) {
    let yes = json!({"angry": "yes"});
    let prism = it.lens().await.prism;
    let inputs = (1..EXAMPLE_TEXTS).map(|number| input(&format!("Text {number}"), &yes));
    let examples = it.refract.prisms().example_texts();
    let uploading = examples.upload(&it.actor, &prism, inputs.collect());
    assert_eq!(uploading.await.unwrap().added, EXAMPLE_TEXTS - 1);
    let (one, other) = tokio::join!(keep(&it, "This", &yes), keep(&it, "That", &yes));
    let (kept, refused): (Vec<_>, Vec<_>) = [one, other].into_iter().partition(Result::is_ok);
    assert_eq!((kept.len(), refused.len()), (1, 1));
    let refused = refused.into_iter().next().unwrap().unwrap_err();
    assert!(matches!(refused, ExampleError::TooMany(101)), "{refused}");
    let latest = it.lens().await.latest;
    assert_eq!(checked(&it, &latest).await.len(), EXAMPLE_TEXTS);
}

async fn a_check_that_takes_too_long_leaves_the_rest_unasked(it: DraftFixture) {
    for text in ["One", "Two"] {
        keep(&it, text, &json!({"angry": "yes"})).await.unwrap();
    }
    let lens = it.lens().await;
    let silent = ModelServer::start(ScriptedReply::answers().held());
    let refract = it.asking_by(&silent.url());
    let (examples, soon) = (refract.prisms().example_texts(), Duration::from_millis(50));
    let unanswered = AskedExamples::Unanswered;
    let asking = examples.ask(&lens.prism, &lens.latest, unanswered, soon);
    asking.await.unwrap();
    let unasked = [ExampleState::NotChecked, ExampleState::NotChecked];
    assert_eq!(states(&it, &lens.latest).await, unasked);
    // what failed is asked again
    let failing = Script::first([ScriptedReply::status(400), ScriptedReply::status(400)]);
    let server = ModelServer::start(failing.then(ScriptedReply::answers()));
    let refract = it.asking_by(&server.url());
    let examples = refract.prisms().example_texts();
    ask(&refract, &it, &lens.latest, unanswered).await;
    for state in states(&it, &lens.latest).await {
        assert!(
            matches!(&state, ExampleState::Failed(error) if error.contains("400")),
            "{state:?}"
        );
    }
    let cost = examples.cost(&checked(&it, &lens.latest).await, &lens.latest, unanswered);
    assert_eq!((cost.texts, cost.requests), (2, 2));
    ask(&refract, &it, &lens.latest, unanswered).await;
    let held = [ExampleState::Holds, ExampleState::Holds];
    assert_eq!(states(&it, &lens.latest).await, held);
}

async fn a_file_above_the_limit_is_refused_whole(it: DraftFixture) {
    let yes = json!({"angry": "yes"});
    keep(&it, "Here", &yes).await.unwrap();
    let prism = it.lens().await.prism;
    let examples = it.refract.prisms().example_texts();
    let inputs = (0..EXAMPLE_TEXTS).map(|number| input(&format!("Text {number}"), &yes));
    let refused = examples.upload(&it.actor, &prism, inputs.collect()).await;
    assert_eq!(
        refused.unwrap_err().to_string(),
        "the prism would have 101 examples, at most 100 can be kept: remove some first"
    );
    let latest = it.lens().await.latest;
    assert_eq!(checked(&it, &latest).await.len(), 1);
}
