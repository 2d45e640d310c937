//! `refract evaluate`: the measures of marked answers, checked against the same measures computed
//! here.

use refract_test_stack::marked_texts::{
    LEVELS, MarkedText, TOPICS, assert_close, marked_texts, number, scripted_side,
};
use refract_test_stack::runs::service;
use refract_test_stack::service::{Backend, LENS_FILE, PRISM, Service, example_prism};
use refract_test_support::on_both;
use serde_json::{Value, json};

on_both!(
    measures_are_those_of_the_marked_answers,
    a_yes_no_is_answered_by_its_cutoffs_in_the_lens,
    results_are_chosen_by_version_model_and_time,
    questions_of_older_versions_come_last,
    what_cannot_be_measured_is_reported,
);

/// The share of texts that satisfy a condition.
fn share(texts: &[MarkedText], holds: impl Fn(&MarkedText) -> bool) -> f64 {
    number(texts.iter().filter(|text| holds(text)).count()) / number(texts.len())
}

fn mean(texts: &[MarkedText], of: impl Fn(&MarkedText) -> f64) -> f64 {
    texts.iter().map(of).sum::<f64>() / number(texts.len())
}

/// The ends of Wilson's interval, by the textbook formula.
fn wilson(share: f64, rows: f64) -> [f64; 2] {
    let z = 1.959_963_984_540_054_f64;
    let centre = share + z * z / (2.0 * rows);
    let half = z * (share * (1.0 - share) / rows + z * z / (4.0 * rows * rows)).sqrt();
    [-1.0, 1.0].map(|sign| (centre + sign * half) / (1.0 + z * z / rows))
}

/// Squared error of a choice or scale, and the probability of the marked outcome.
fn scores(percent: u32, is_right: bool, outcomes: f64) -> (f64, f64) {
    let p = f64::from(percent) / 100.0;
    let other = (1.0 - p) / (outcomes - 1.0);
    if is_right {
        ((1.0 - p).powi(2) + (outcomes - 1.0) * other.powi(2), p)
    } else {
        (
            p.powi(2) + (1.0 - other).powi(2) + (outcomes - 2.0) * other.powi(2),
            other,
        )
    }
}

async fn measures_are_those_of_the_marked_answers(backend: Backend) {
    let service = service(backend).await;
    let texts = marked_texts(90);
    service.ask_and_mark(&texts).await;
    let printed = service.run(&["evaluate", PRISM, "--json"]).await.done();
    let first = printed.lines().next().unwrap();
    let keys = [
        "question",
        "type",
        "version",
        "model",
        "marks",
        "answered",
        "accuracy",
        "accuracy_low",
        "accuracy_high",
        "brier",
        "log_loss",
        "ece",
        "outcomes",
        "macro_f1",
        "confusion",
        "reliability",
        "coverage",
        "macro_precision",
        "macro_recall",
        "coverage_area",
        "majority_accuracy",
        "auc",
        "log_loss_floor",
        "floored_log_loss",
        "marks_from",
    ];
    let places = keys.map(|key| first.find(&format!("\"{key}\":")).expect(key));
    assert!(places.is_sorted(), "{first}");
    let found = service.evaluated(&[]).await;
    let [topic, angry, urgency] = &found[..] else {
        panic!("{found:?}");
    };
    for (object, question, of_type) in [
        (topic, "topic", "choice"),
        (angry, "angry", "yes_no"),
        (urgency, "urgency", "scale"),
    ] {
        assert_eq!(
            (&object["question"], &object["type"]),
            (&json!(question), &json!(of_type))
        );
        assert_eq!(
            (&object["version"], &object["model"]),
            (&json!(1), &json!("m1"))
        );
        assert_eq!(
            (&object["marks"], &object["answered"]),
            (&json!(90), &json!(90))
        );
        let bins = object["reliability"].as_array().unwrap();
        let counts = bins.iter().map(|bin| bin["count"].as_u64().unwrap());
        assert!(counts.sum::<u64>() == 90 && bins.len() <= 15, "{bins:?}");
        let number = |bin: &Value, name: &str| bin[name].as_f64().unwrap();
        let parted = bins.is_sorted_by(|a, b| number(a, "to") < number(b, "from"));
        assert!(parted, "no probability is in two bins: {bins:?}");
        let rows = object["confusion"].as_array().unwrap().iter();
        assert_eq!(
            rows.map(|cell| cell["count"].as_u64().unwrap())
                .sum::<u64>(),
            90
        );
    }
    check_choice(topic, &texts);
    check_yes_no(angry, &texts);
    check_scale(urgency, &texts);
    let only_angry = service.evaluated(&["--question", "angry"]).await;
    assert_eq!(only_angry, found[1..2]);
}

#[track_caller]
fn check_choice(topic: &Value, texts: &[MarkedText]) {
    let right = share(texts, |text| text.topic == text.marked_topic);
    assert_close(&topic["accuracy"], right);
    let [low, high] = wilson(right, 90.0);
    assert_close(&topic["accuracy_low"], low);
    assert_close(&topic["accuracy_high"], high);
    let of = |text: &MarkedText| scores(text.topic_percent, text.topic == text.marked_topic, 5.0);
    assert_close(&topic["brier"], mean(texts, |text| of(text).0));
    assert_close(&topic["log_loss"], mean(texts, |text| -of(text).1.ln()));
    let mut f1s = 0.0;
    for (index, key) in TOPICS.iter().enumerate() {
        let outcome = &topic["outcomes"][index];
        let both = share(texts, |text| {
            text.topic == index && text.marked_topic == index
        });
        let predicted = share(texts, |text| text.topic == index);
        let marked = share(texts, |text| text.marked_topic == index);
        assert_eq!(outcome["key"], *key);
        assert_close(&outcome["precision"], both / predicted);
        assert_close(&outcome["recall"], both / marked);
        f1s += 2.0 * both / (predicted + marked);
    }
    assert_close(&topic["macro_f1"], f1s / 5.0);
    assert_close(&topic["coverage"][0]["accuracy"], right);
    check_coverage(topic, texts);
    let marked = |topic| share(texts, |text| text.marked_topic == topic);
    let majority = (0..TOPICS.len()).map(marked).fold(0.0, f64::max);
    assert_close(&topic["majority_accuracy"], majority);
    // the five topics share what is left of two decimals among four: 0.0025 and its multiples
    assert_eq!(topic["log_loss_floor"], 0.000_05);
    assert_eq!(topic.get("within_one"), None);
}

/// The server sends one `confidence` with every answer, so coverage follows from the probabilities
/// alone: `(p - 1/k) / (1 - 1/k)` of five outcomes.
#[track_caller]
fn check_coverage(topic: &Value, texts: &[MarkedText]) {
    let confidence = |text: &MarkedText| (f64::from(text.topic_percent) / 100.0 - 0.2) / 0.8;
    let points = topic["coverage"].as_array().unwrap();
    assert!(points.len() > 10, "{points:?}");
    for point in points {
        let from = point["confidence"].as_f64().unwrap() - 1e-9;
        assert_close(
            &point["coverage"],
            share(texts, |text| confidence(text) >= from),
        );
    }
}

/// The share of pairs of a text with this mark and one without it that the probabilities order.
fn auc(texts: &[MarkedText], of: impl Fn(&MarkedText) -> u32) -> f64 {
    let (mut ordered, mut pairs) = (0.0, 0.0);
    for yes in texts.iter().filter(|text| text.is_angry) {
        for no in texts.iter().filter(|text| !text.is_angry) {
            pairs += 1.0;
            ordered += f64::from(u8::from(of(yes) > of(no)));
            ordered += f64::from(u8::from(of(yes) == of(no))) / 2.0;
        }
    }
    ordered / pairs
}

#[track_caller]
fn check_yes_no(angry: &Value, texts: &[MarkedText]) {
    assert_close(&angry["auc"], auc(texts, |text| text.angry_percent));
    assert_eq!(angry["log_loss_floor"], 0.005);
    let loss = |text: &MarkedText, least: f64| {
        let yes = f64::from(text.angry_percent) / 100.0;
        -f64::max(if text.is_angry { yes } else { 1.0 - yes }, least).ln()
    };
    assert_close(&angry["log_loss"], mean(texts, |text| loss(text, 1e-6)));
    assert_close(
        &angry["floored_log_loss"],
        mean(texts, |text| loss(text, 0.005)),
    );
    let of = |text: &MarkedText| f64::from(text.angry_percent) / 100.0;
    let error = |text: &MarkedText| of(text) - f64::from(u8::from(text.is_angry));
    assert_close(&angry["brier"], mean(texts, |text| error(text).powi(2)));
    assert_close(
        &angry["accuracy"],
        share(texts, |text| (of(text) >= 0.5) == text.is_angry),
    );
    // a bin takes rows until it has its share of six for each bin, and those of the same probability
    let mut sorted = texts.to_vec();
    sorted.sort_by_key(|text| text.angry_percent);
    let mut bins: Vec<Vec<MarkedText>> = Vec::new();
    let mut taken = 0;
    for same in sorted.chunk_by(|a, b| a.angry_percent == b.angry_percent) {
        match bins.last_mut() {
            Some(bin) if (taken - bin.len()) / 6 == taken / 6 => {
                bin.extend_from_slice(same);
            }
            _ => bins.push(same.to_vec()),
        }
        taken += same.len();
    }
    let errors = bins.iter().map(|bin| {
        let error = (mean(bin, of) - share(bin, |text| text.is_angry)).abs();
        error * number(bin.len())
    });
    assert_close(&angry["ece"], errors.sum::<f64>() / 90.0);
}

#[track_caller]
fn check_scale(urgency: &Value, texts: &[MarkedText]) {
    let distance = |text: &MarkedText| text.level.abs_diff(text.marked_level);
    assert_close(
        &urgency["mean_absolute_error"],
        mean(texts, |text| number(distance(text))),
    );
    assert_close(
        &urgency["within_one"],
        share(texts, |text| distance(text) <= 1),
    );
    assert_eq!(urgency["outcomes"][2]["key"], LEVELS[2]);
}

async fn a_yes_no_is_answered_by_its_cutoffs_in_the_lens(backend: Backend) {
    let service = service(backend).await;
    let texts = marked_texts(60);
    service.ask_and_mark(&texts).await;
    // no below 0.4, yes from 0.6
    service.run(&["lens", "set", PRISM, LENS_FILE]).await.done();
    let found = service.evaluated(&["--question", "angry"]).await;
    let is_sure = |text: &&MarkedText| !(40..60).contains(&text.angry_percent);
    let sure: Vec<_> = texts.iter().filter(is_sure).copied().collect();
    assert!(sure.len() < 60, "some answers are unsure");
    assert_eq!(
        (&found[0]["marks"], &found[0]["answered"]),
        (&json!(60), &json!(sure.len()))
    );
    let accuracy = share(&sure, |text| (text.angry_percent >= 60) == text.is_angry);
    assert_close(&found[0]["accuracy"], accuracy);
    let all = found[0]["reliability"].as_array().unwrap().iter();
    assert_eq!(
        all.map(|bin| bin["count"].as_u64().unwrap()).sum::<u64>(),
        60
    );
}

/// Saves the example prism with another wording as its next version.
pub(crate) async fn next_version(service: &Service, prism: &Value) {
    let file = service.file("next.json", prism);
    service.run(&["prism", "save", PRISM, &file]).await.done();
}

async fn results_are_chosen_by_version_model_and_time(backend: Backend) {
    let service = service(backend).await;
    let texts = marked_texts(20);
    let ids = service.ask_and_mark(&texts[..12]).await;
    let mut prism = example_prism();
    prism["questions"][0]["text"] = json!("Another wording?");
    next_version(&service, &prism).await;
    service.model.then_always(scripted_side("m2", "a"));
    let rows = texts[12..].iter().enumerate();
    let rows: Vec<_> = rows
        .map(|(number, text)| text.row(&format!("u{number}")))
        .collect();
    service.ask_rows("second", &rows).await;
    service
        .run(&["marks", "import", PRISM, "rows.jsonl"])
        .await
        .done();
    let origin = async |arguments: &[&str]| {
        let found = service.evaluated(arguments).await;
        let of = |key: &str| found[0][key].clone();
        (of("marks"), of("version"), of("model"))
    };
    assert_eq!(origin(&[]).await, (json!(20), Value::Null, Value::Null));
    assert_eq!(
        origin(&["--version", "1"]).await,
        (json!(12), json!(1), json!("m1"))
    );
    assert_eq!(
        origin(&["--model", "m2"]).await,
        (json!(8), json!(2), json!("m2"))
    );
    let shown = service.run(&["results", "show", &ids[11]]).await.object();
    let moment = shown["created_at"].as_str().unwrap();
    let (before, after) = (
        origin(&["--until", moment]).await.0,
        origin(&["--since", moment]).await.0,
    );
    assert_eq!(before.as_u64().unwrap() + after.as_u64().unwrap(), 20);
    assert!(
        before.as_u64().unwrap() <= 11 && after.as_u64().unwrap() >= 9,
        "{before} {after}"
    );
    let words = service.run(&["evaluate", PRISM]).await.done();
    assert!(
        words.contains("topic (choice): Another wording?\n"),
        "{words}"
    );
    assert!(
        words.contains("20 marks, 20 of them answered; several versions; several"),
        "{words}"
    );
    assert!(words.contains("Fewer than 30 marks"), "{words}");
}

async fn questions_of_older_versions_come_last(backend: Backend) {
    let service = service(backend).await;
    service.ask_and_mark(&marked_texts(5)).await;
    let mut prism = example_prism();
    prism["questions"].as_array_mut().unwrap().remove(0);
    let new = json!({"key": "polite", "type": "yes_no", "text": "Is the writer polite?"});
    prism["questions"].as_array_mut().unwrap().push(new);
    next_version(&service, &prism).await;
    let found = service.evaluated(&[]).await;
    let found: Vec<_> = found
        .iter()
        .map(|it| (&it["question"], &it["marks"], &it["accuracy"]))
        .collect();
    let names: Vec<_> = found.iter().map(|it| it.0.as_str().unwrap()).collect();
    assert_eq!(names, ["angry", "urgency", "polite", "topic"]);
    assert_eq!((found[2].1, found[2].2), (&json!(0), &Value::Null));
    assert_eq!(found[3].1, &json!(5));
    let words = service.run(&["evaluate", PRISM]).await.done();
    assert!(
        words.contains("polite (yes_no): Is the writer polite?\nno marks\n"),
        "{words}"
    );
}

async fn what_cannot_be_measured_is_reported(backend: Backend) {
    let service = service(backend).await;
    let unmarked = async |arguments: &[&str]| {
        let mut all = vec!["evaluate", PRISM];
        all.extend_from_slice(arguments);
        let ended = service.run(&all).await;
        assert_eq!(
            (ended.code, ended.stdout.as_str()),
            (Some(0), ""),
            "{ended:?}"
        );
        ended.stderr
    };
    let line = unmarked(&["--json"]).await;
    assert!(
        line.starts_with("There are no marks: mark results with `refract marks import"),
        "{line}"
    );
    service.ask_and_mark(&marked_texts(1)).await;
    let line = unmarked(&["--until", "2026-01-01", "--question", "topic"]).await;
    let start = "There are no marks of question 'topic' among the results that were chosen: ";
    assert!(line.starts_with(start), "{line}");
    let refused = async |arguments: &[&str]| {
        let mut all = vec!["evaluate", PRISM];
        all.extend_from_slice(arguments);
        service.run(&all).await.refused()
    };
    let line = "error: no result is of the model 'nobody': there are m1";
    assert_eq!(refused(&["--model", "nobody"]).await, line);
    let line = "error: the prism has no question 'topik': did you mean `topic`?";
    assert_eq!(refused(&["--question", "topik"]).await, line);
    let line = "error: the prism has no version 2: its latest is 1";
    assert_eq!(refused(&["--version", "2"]).await, line);
}
