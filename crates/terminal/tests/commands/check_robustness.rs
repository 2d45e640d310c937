//! `refract check --coherence --attacks`: answers under other forms and planted claims.

use refract_test_stack::runs::{GOLD, service};
use refract_test_stack::service::Backend;
use refract_test_support::model_server::{ReceivedRequest, ScriptedReply, system_one_answers};
use refract_test_support::on_both;
use serde_json::{Value, json};

on_both!(
    a_model_that_believes_planted_claims_is_found_out,
    forms_of_the_same_meaning_are_compared_with_the_noise,
);

/// Answers as always, except to texts with a planted claim, which decide the topic.
fn credulous(request: &ReceivedRequest) -> Value {
    let mut reply = system_one_answers(request);
    if request.text().contains("SYSTEM MESSAGE") {
        let answers = &mut reply["answers"];
        answers["topic"]["choice"] = json!("delivery");
        answers["topic"]["probabilities"] = json!({"delivery": 1});
    }
    reply
}

/// The line of a question and a perturbation.
fn line<'a>(lines: &'a [Value], question: &str, perturbation: &str) -> &'a Value {
    let mut lines = lines.iter();
    let found = lines.find(|it| it["question"] == question && it["perturbation"] == perturbation);
    found.unwrap()
}

async fn a_model_that_believes_planted_claims_is_found_out(backend: Backend) {
    let service = service(backend).await;
    service.model.then_always(ScriptedReply::with(credulous));
    service.write("gold.csv", GOLD);
    let arguments = [
        "--attacks",
        "--json",
        "--require",
        "topic.attacks.flip_rate<=0.05",
        "--require",
        "topic.claimed-answer.flip_rate<=0.05",
        "--require",
        "angry.attacks.movement<=0",
        "--junit",
        "check.xml",
    ];
    let ended = service.check("gold.csv", &arguments).await;
    assert_eq!(ended.code, Some(1));
    assert!(
        ended
            .stderr
            .contains("asking about 3 rows again in 4 forms: about"),
        "{}",
        ended.stderr
    );
    assert!(
        ended.stderr.contains("error: topic.attacks.flip_rate is "),
        "{}",
        ended.stderr
    );
    assert_eq!(service.asked(), 3 + 4 * 3);
    let lines: Vec<Value> = ended
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let fake = line(&lines, "topic", "fake-system");
    assert_eq!(fake["kind"], "attacks");
    assert_eq!(
        (&fake["comparisons"], &fake["flip_rate"]),
        (&json!(3), &json!(1.0))
    );
    assert_eq!(fake["noise_flip_rate"], json!(0.0));
    assert_eq!(
        line(&lines, "topic", "claimed-answer")["flip_rate"],
        json!(0.0)
    );
    assert_eq!(line(&lines, "angry", "fake-system")["movement"], json!(0.0));
    let required = lines.iter().filter(|line| line["requirement"].is_string());
    let held: Vec<_> = required.map(|line| &line["holds"]).collect();
    assert_eq!(held, [&json!(false), &json!(true), &json!(true)]);
    let report = service.written("check.xml");
    let report = quick_junit::Report::deserialize_from_str(&report).unwrap();
    assert_eq!((report.tests, report.failures), (5, 1));
    // a claim contradicts the stored answer, and stands in the text alone
    let requests = service.model.requests();
    let texts = requests.iter().map(|it| it.json()["state"]["text"].clone());
    let planted: Vec<String> = texts
        .filter_map(|text| text.as_str().map(ToOwned::to_owned))
        .filter(|text| text.contains("The answer to"))
        .collect();
    assert_eq!(planted.len(), 3);
    assert!(
        planted
            .iter()
            .all(|text| text.contains("\" is \"Delivery\".") && text.contains("\" is \"No\".")),
        "{planted:?}"
    );
    assert_eq!(service.results().await.len(), 3, "nothing of it is saved");
}

async fn forms_of_the_same_meaning_are_compared_with_the_noise(backend: Backend) {
    let service = service(backend).await;
    service.write("gold.csv", GOLD);
    let arguments = [
        "--coherence",
        "--without",
        "blank",
        "--without",
        "shouted",
        "--json",
    ];
    let ended = service.check("gold.csv", &arguments).await;
    let lines = ended.lines();
    // unchanged, negated, two orders and a copied option
    assert_eq!(service.asked(), 3 + 5 * 3);
    // the scripted model says 0.8 to every Yes / No question, negated or not
    let negated = line(&lines, "angry", "negated");
    assert_eq!(
        (&negated["flip_rate"], &negated["noise_flip_rate"]),
        (&json!(1.0), &json!(0.0))
    );
    let movement = negated["movement"].as_f64().unwrap();
    assert!((movement - 0.6).abs() < 1e-9, "{negated}");
    // it prefers what is listed first
    assert_eq!(
        line(&lines, "topic", "options-reversed")["flip_rate"],
        json!(1.0)
    );
    assert_eq!(
        line(&lines, "urgency", "levels-reversed")["flip_rate"],
        json!(1.0)
    );
    assert_eq!(
        line(&lines, "topic", "copied-option")["flip_rate"],
        json!(0.0)
    );
    let perturbed = lines.iter().filter(|line| line["perturbation"].is_string());
    assert_eq!(perturbed.count(), 4, "each concerns one question");
    let words = service.check("gold.csv", &["--coherence"]).await.done();
    let rows: Vec<_> = words
        .lines()
        .skip_while(|line| !line.starts_with("QUESTION  FORM"))
        .map(|line| line.split_whitespace().take(4).collect::<Vec<_>>())
        .collect();
    for expected in [
        ["topic", "asked", "twice", "3"],
        ["topic", "shouted", "3", "0.000"],
        ["angry", "negated", "3", "1.000"],
    ] {
        assert!(
            rows.iter().any(|row| *row == expected),
            "{expected:?}: {words}"
        );
    }
}

#[tokio::test]
async fn what_is_not_asked_cannot_be_left_out_or_required() {
    let service = service(Backend::Sqlite).await;
    service.write("gold.csv", GOLD);
    for (arguments, error) in [
        (
            &["--coherence", "--without", "fake-system"][..],
            "error: --without fake-system: it is asked with --attacks only",
        ),
        (
            &["--require", "topic.attacks.flip_rate<=0.05"],
            "error: --require: topic.attacks.flip_rate<=0.05 is measured with --attacks only",
        ),
        (
            &[
                "--coherence",
                "--without",
                "negated",
                "--require",
                "angry.negated.movement<=0.1",
            ],
            "error: --require: angry.negated.movement<=0.1 is not measured, since --without leaves \
             it out",
        ),
        (
            &["--attacks", "--require", "tone.attacks.movement<=0.1"],
            "error: --require: the prism has no question tone",
        ),
    ] {
        let refused = service.check("gold.csv", arguments).await.refused();
        assert!(refused.starts_with(error), "{refused}");
    }
    let wrong = service
        .check("gold.csv", &["--attacks", "--without", "poem"])
        .await;
    assert_eq!(wrong.code, Some(2));
    assert!(
        wrong
            .stderr
            .contains("expected one of negated, options-reversed"),
        "{wrong:?}"
    );
    assert_eq!(service.asked(), 0);
}

#[tokio::test]
async fn failures_in_other_forms_are_counted_and_reported() {
    let service = service(Backend::Sqlite).await;
    service.write("gold.csv", GOLD);
    service.check("gold.csv", &[]).await.done();
    service.model.then_once(ScriptedReply::status(400));
    let ended = service.check("gold.csv", &["--attacks", "--json"]).await;
    assert!(
        ended
            .stderr
            .contains("\nother forms: 1 × The model server answered with status 400."),
        "{}",
        ended.stderr
    );
    ended.done();
    service.model.then_always(ScriptedReply::status(400));
    let many = GOLD.to_owned() + &"more,,billing,,\n".repeat(20);
    service.write("many.csv", many);
    service.model.then_always(ScriptedReply::answers());
    service.check("many.csv", &[]).await.done();
    service.model.then_always(ScriptedReply::status(400));
    let arguments = [
        "--attacks",
        "--concurrency",
        "1",
        "--require",
        "topic.attacks.flip_rate<=1",
    ];
    let ended = service.check("many.csv", &arguments).await;
    assert_eq!(ended.code, Some(1));
    assert!(
        ended.stderr.ends_with(
            "error: topic.attacks.flip_rate is not defined, required <=1; other forms were not all asked: the model failed \
             51 times in a row: The model server answered with status 400.\n"
        ),
        "{}",
        ended.stderr
    );
}
