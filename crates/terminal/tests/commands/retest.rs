//! `refract retest`: stored texts asked again, compared with what was answered before.

use refract_test_stack::marked_texts::{
    MarkedText, TOPICS, assert_close, json_lines, marked_texts, scripted_side,
};
use refract_test_stack::runs::service;
use refract_test_stack::service::{Backend, LENS_FILE, PRISM, Service, example_prism};
use refract_test_support::model_server::{ReceivedRequest, ScriptedReply};
use refract_test_support::on_both;
use serde_json::{Value, json};

use crate::evaluate::next_version;

on_both!(
    answers_of_another_model_that_flip_are_counted_and_listed,
    a_retest_that_was_stopped_asks_only_what_is_missing,
    another_version_is_compared_on_the_questions_with_the_same_outcomes,
    an_unsaved_version_is_asked,
    marked_texts_alone_are_asked_on_request,
);

/// The topic, its percent and the percent of yes that a side answers.
type SideAnswers = (usize, u32, u32);

/// A row of a file whose text has the answers of both sides.
fn row(reference: &str, (a, b): (SideAnswers, SideAnswers)) -> Value {
    let neutral = marked_texts(1)[0];
    let answers = |(topic, topic_percent, angry_percent): SideAnswers| {
        let text = MarkedText {
            topic,
            topic_percent,
            angry_percent,
            level: 0,
            ..neutral
        };
        text.answers()
    };
    let text = json!({"a": answers(a), "b": answers(b)}).to_string();
    json!({"text": text, "ref": reference})
}

/// Asks side `a` about texts, then lets side `b` answer. Returns the results' ids.
async fn asked(service: &Service, texts: &[(SideAnswers, SideAnswers)]) -> Vec<String> {
    let numbered = texts.iter().enumerate();
    let rows: Vec<_> = numbered
        .map(|(number, text)| row(&format!("r{number}"), *text))
        .collect();
    service.model.then_always(scripted_side("m1", "a"));
    let ids = service.ask_rows("stored", &rows).await;
    service.model.then_always(scripted_side("m2", "b"));
    ids
}

async fn retest(service: &Service, arguments: &[&str]) -> Vec<Value> {
    let all = [&["retest", PRISM, "--json"], arguments].concat();
    service.run(&all).await.lines()
}

/// Four texts. Two topics flip from billing to delivery, one of them surely, and one answer to
/// `angry` flips to yes.
const TEXTS: [(SideAnswers, SideAnswers); 4] = [
    ((0, 60, 10), (1, 90, 10)),
    ((0, 95, 10), (1, 95, 10)),
    ((0, 80, 10), (0, 80, 60)),
    ((2, 80, 10), (2, 50, 10)),
];

async fn answers_of_another_model_that_flip_are_counted_and_listed(backend: Backend) {
    let service = service(backend).await;
    let ids = asked(&service, &TEXTS).await;
    let marks: Vec<_> = ids
        .iter()
        .map(|id| json!({"result_id": id, "topic": TOPICS[1]}))
        .collect();
    service.import("marks.jsonl", json_lines(&marks)).await;
    let results = service.results().await;
    let lines = retest(&service, &["--output", "flips.csv"]).await;
    assert_eq!(service.asked(), 8, "each text once more");
    assert_eq!(service.results().await, results, "nothing is saved");
    let [topic, angry, urgency] = lines.as_slice() else {
        panic!("{lines:?}");
    };
    assert_eq!(topic["question"], "topic");
    assert_eq!((&topic["asked"], &topic["flips"]), (&json!(4), &json!(2)));
    assert_close(&topic["flip_rate"], 0.5);
    // Wilson's interval of 2 of 4
    let near = |value: &Value, expected: f64| (value.as_f64().unwrap() - expected).abs() < 1e-3;
    assert!(
        near(&topic["low"], 0.150) && near(&topic["high"], 0.850),
        "{topic}"
    );
    let towards = json!([{"from": "billing", "to": "delivery", "count": 2}]);
    assert_eq!(topic["towards"], towards);
    // the new answer alone is right on two marked texts: a coin splits so in half of the cases
    assert_close(&topic["mcnemar_p"], 0.5);
    assert_eq!(
        angry["towards"],
        json!([{"from": "no", "to": "yes", "count": 1}])
    );
    assert_eq!(
        (&angry["mcnemar_p"], &urgency["flips"]),
        (&Value::Null, &json!(0))
    );
    let printed = service
        .run(&["retest", PRISM, "--json", "--sample", "1"])
        .await;
    let printed = printed.done();
    assert!(
        printed.starts_with(r#"{"question":"topic","asked":1,"flips":"#),
        "{printed}"
    );
    // the surest flips come first
    let rows = service.written("flips.csv");
    let rows: Vec<_> = rows.lines().collect();
    assert_eq!(
        rows,
        [
            "result_id,ref,question,before,before_probability,after,after_probability,marked",
            &format!("{},r1,topic,billing,0.95,delivery,0.95,delivery", ids[1]),
            &format!("{},r0,topic,billing,0.6,delivery,0.9,delivery", ids[0]),
            &format!("{},r2,angry,no,0.9,yes,0.6,", ids[2]),
        ]
    );
    assert_eq!(service.files_named("answers"), [""; 0], "all is asked");
    let words = service.run(&["retest", PRISM]).await;
    assert!(
        words
            .stderr
            .starts_with("asking the version that answered before about 4 texts again: about"),
        "{}",
        words.stderr
    );
    let words = words.done();
    for expected in [
        "2 flips of 4 answers: 0.500 (0.150 to 0.850)\nBEFORE   AFTER     FLIPS\nbilling  delivery      2\n",
        "4 marked texts; 2 better, 0 worse; McNemar p 0.500\n",
        "The difference may be chance.\n",
        "The surest flips\n",
        &format!(
            "topic     billing  0.950  delivery 0.950  delivery  {}  r1\n",
            ids[1]
        ),
    ] {
        assert!(words.contains(expected), "{expected}: {words}");
    }
}

async fn a_retest_that_was_stopped_asks_only_what_is_missing(backend: Backend) {
    let service = service(backend).await;
    asked(&service, &TEXTS).await;
    // a status that gets no second attempt
    service.model.then_once(ScriptedReply::status(400));
    let arguments = ["retest", PRISM, "--output", "flips.jsonl", "--json"];
    let ended = service.run(&arguments).await;
    assert_eq!(ended.code, Some(1));
    assert!(
        ended
            .stderr
            .contains("failed, 1 text: The model server answered with status 400."),
        "{}",
        ended.stderr
    );
    assert!(
        ended.stderr.ends_with(
            "error: 1 text failed; the new answers so far are in flips.jsonl.answers.jsonl: run the \
             same command again to go on\n"
        ),
        "{}",
        ended.stderr
    );
    let kept = service.written("flips.jsonl.answers.jsonl");
    assert_eq!(kept.lines().count(), 1 + 3);
    assert!(!kept.contains("\"a\""), "no text is kept: {kept}");
    assert_eq!(service.asked(), 8);
    let other = ["retest", PRISM, "--output", "flips.jsonl", "--sample", "7"];
    let refused = service.run(&other).await.refused();
    assert!(
        refused.contains("has the answers of another retest"),
        "{refused}"
    );
    // results that were saved since are not drawn
    service.ask_rows("later", &[row("later", TEXTS[0])]).await;
    let before = service.asked();
    let ended = service.run(&arguments).await;
    assert!(
        ended
            .stderr
            .contains("about 1 text again (3 texts were asked before)"),
        "{}",
        ended.stderr
    );
    let lines = ended.lines();
    assert_eq!(service.asked(), before + 1);
    assert_eq!(
        (&lines[0]["asked"], &lines[0]["flips"]),
        (&json!(4), &json!(2))
    );
    assert_eq!(service.files_named("answers"), [""; 0]);
    let rows = service.written("flips.jsonl");
    assert_eq!(rows.lines().count(), 3);
    // without a file the model is asked again
    retest(&service, &["--since", "2020-01-01", "--sample", "2"]).await;
    assert_eq!(service.asked(), before + 3);
}

async fn another_version_is_compared_on_the_questions_with_the_same_outcomes(backend: Backend) {
    let service = service(backend).await;
    asked(&service, &TEXTS).await;
    let mut prism = example_prism();
    let options = prism["questions"][0]["options"].as_array_mut().unwrap();
    options.truncate(2);
    next_version(&service, &prism).await;
    service.model.then_always(ScriptedReply::answers());
    let ended = service
        .run(&["retest", PRISM, "--json", "--version", "2"])
        .await;
    assert!(
        ended.stderr.contains(
            "not compared: topic on 4 texts, whose version lacks it or has other outcomes\n"
        ),
        "{}",
        ended.stderr
    );
    let lines = ended.lines();
    let questions: Vec<_> = lines.iter().map(|line| &line["question"]).collect();
    assert_eq!(questions, ["angry", "urgency"]);
    // all answers to `angry` become yes
    assert_eq!(lines[0]["flips"], 4);
    let refused = service
        .run(&["retest", PRISM, "--version", "3"])
        .await
        .refused();
    assert!(
        refused.contains("no version 3: its latest is 2"),
        "{refused}"
    );
}

async fn an_unsaved_version_is_asked(backend: Backend) {
    let service = service(backend).await;
    asked(&service, &TEXTS).await;
    let mut prism = example_prism();
    prism["questions"][1]["text"] = json!("Is the writer very angry?");
    let file = service.file("draft.json", &prism);
    let lines = retest(&service, &["--prism-file", &file]).await;
    assert_eq!(lines[0]["flips"], 2);
    let requests = service.model.requests();
    assert!(requests.last().unwrap().text().contains("very angry"));
    let shown = service.run(&["prism", "show", PRISM]).await.done();
    assert!(!shown.contains("very angry"), "nothing is saved");
    // a text without a field of the version is left out
    prism["fields"] = json!([{"key": "text", "label": "T"}, {"key": "subject", "label": "S"}]);
    let file = service.file("draft.json", &prism);
    let ended = service.run(&["retest", PRISM, "--prism-file", &file]).await;
    assert!(
        ended
            .stderr
            .contains("left out: 4 texts that lack a field of the version\n"),
        "{}",
        ended.stderr
    );
    assert!(
        ended
            .stderr
            .ends_with("error: there is no answered result that can be asked about again\n"),
        "{}",
        ended.stderr
    );
}

async fn marked_texts_alone_are_asked_on_request(backend: Backend) {
    let service = service(backend).await;
    let ids = asked(&service, &TEXTS).await;
    let before = service.asked();
    for (marks, which) in [("random", "a random or imported mark"), ("all", "a mark")] {
        let all = ["retest", PRISM, "--marked", "--marks", marks];
        let refused = service.run(&all).await.refused();
        let expected = format!("no answered result with {which} that can be asked");
        assert!(refused.contains(&expected), "{refused}");
    }
    let start = ["retests", "start", PRISM, "--marked"];
    let refused = service.run(&start).await.refused();
    assert!(
        refused.contains("no answered result has a random or imported mark"),
        "{refused}"
    );
    let marks: Vec<_> = ids[..2]
        .iter()
        .map(|id| json!({"result_id": id, "topic": TOPICS[1]}))
        .collect();
    service.import("marks.jsonl", json_lines(&marks)).await;
    assert_eq!(service.asked(), before);
    let ended = service
        .run(&[
            "retest",
            PRISM,
            "--marked",
            "--json",
            "--output",
            "flips.csv",
        ])
        .await;
    assert!(
        ended.stderr.contains("about 2 marked texts again"),
        "{ended:?}"
    );
    let lines = ended.lines();
    assert_eq!(
        (&lines[0]["asked"], &lines[0]["flips"]),
        (&json!(2), &json!(2))
    );
    assert_eq!(service.asked(), before + 2);
}

#[tokio::test]
async fn a_model_that_is_away_ends_the_retest() {
    let service = service(Backend::Sqlite).await;
    let texts: Vec<_> = std::iter::repeat_n(TEXTS[0], 60).collect();
    asked(&service, &texts).await;
    service.model.then_always(ScriptedReply::status(400));
    let before = service.asked();
    let ended = service
        .run(&["retest", PRISM, "--concurrency", "1", "--json"])
        .await;
    assert_eq!(ended.code, Some(1));
    assert!(
        ended.stderr.ends_with(
            "error: not all texts were asked: the model failed 51 times in a row: The model server \
             answered with status 400; with --output FILE a retest can go on\n"
        ),
        "{}",
        ended.stderr
    );
    assert_eq!(service.asked() - before, 51);
}

#[tokio::test]
async fn an_answer_between_the_cutoffs_is_unsure() {
    let service = service(Backend::Sqlite).await;
    // no below 0.4, yes from 0.6
    service.run(&["lens", "set", PRISM, LENS_FILE]).await.done();
    let ids = asked(&service, &[((0, 90, 50), (0, 90, 10))]).await;
    let mark = json!({"result_id": ids[0], "angry": "no"});
    service.import("marks.jsonl", json_lines(&[mark])).await;
    let lines = retest(&service, &["--output", "flips.csv"]).await;
    let towards = json!([{"from": "unsure", "to": "no", "count": 1}]);
    assert_eq!(lines[1]["towards"], towards);
    // unsure is no outcome that a mark calls right or wrong
    assert_eq!(lines[1]["mcnemar_p"], Value::Null);
    let flips = service.written("flips.csv");
    let row = format!("{},r0,angry,unsure,0.5,no,0.9,no", ids[0]);
    assert_eq!(flips.lines().nth(1).unwrap(), row);
}

#[tokio::test]
async fn what_cannot_be_written_is_refused_before_the_model_is_asked() {
    let service = service(Backend::Sqlite).await;
    let refused = async |arguments: &[&str]| {
        let all = [&["retest", PRISM], arguments].concat();
        service.run(&all).await.refused()
    };
    let parquet = refused(&["--output", "flips.parquet"]).await;
    assert!(
        parquet.contains("name a csv, tsv or jsonl file"),
        "{parquet}"
    );
    let both = refused(&["--output", "-", "--json"]).await;
    assert!(both.contains("both write to stdout"), "{both}");
    assert_eq!(service.asked(), 0);
}

#[tokio::test]
async fn a_text_that_is_refused_for_the_rate_is_asked_again() {
    let service = service(Backend::Sqlite).await;
    asked(&service, &TEXTS).await;
    // both attempts at each of two texts
    for status in [429, 529, 429, 529] {
        let refused = ScriptedReply::status(status).header("Retry-After", "0");
        service.model.then_once(refused);
    }
    let lines = retest(&service, &["--concurrency", "1"]).await;
    assert_eq!(
        (&lines[0]["asked"], &lines[0]["flips"]),
        (&json!(4), &json!(2))
    );
    assert_eq!(service.asked(), 4 + 4 + 4);
}

#[tokio::test]
async fn a_sample_is_random_and_the_same_each_time() {
    let service = service(Backend::Sqlite).await;
    let texts: Vec<_> = (0..40)
        .map(|number| ((0, 60, number), (0, 60, number)))
        .collect();
    asked(&service, &texts).await;
    let sampled = async |size: &str| {
        let before = service.asked();
        let lines = retest(&service, &["--sample", size, "--since", "2020-01-01"]).await;
        let requests = service.model.requests();
        let texts = requests[before..].iter().map(ReceivedRequest::text);
        let mut texts: Vec<_> = texts.collect();
        assert_eq!(lines[0]["asked"], texts.len());
        texts.sort();
        texts
    };
    let ten = sampled("10").await;
    assert_eq!(ten.len(), 10);
    assert_eq!(sampled("10").await, ten, "the same texts");
    let twenty = sampled("20").await;
    assert!(
        ten.iter().all(|text| twenty.contains(text)),
        "and then more"
    );
    // neither the oldest nor the newest ones
    let requests = service.model.requests();
    let mut stored: Vec<_> = requests[..40].iter().map(ReceivedRequest::text).collect();
    for _ in 0..2 {
        let mut first = stored[..10].to_vec();
        first.sort();
        assert_ne!(first, ten);
        stored.reverse();
    }
    let refused = service
        .run(&["retest", PRISM, "--since", "2100-01-01"])
        .await
        .refused();
    assert!(refused.contains("no answered result"), "{refused}");
    let wrong = service.run(&["retest", PRISM, "--sample", "10001"]).await;
    assert_eq!(wrong.code, Some(2));
    assert!(
        wrong.stderr.contains("a whole number from 1 to 10000"),
        "{wrong:?}"
    );
}
