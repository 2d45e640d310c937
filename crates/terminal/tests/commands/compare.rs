//! `refract compare`: two versions or models, checked against the same comparison computed here.

use refract_test_stack::marked_texts::{
    MarkedText, TOPICS, assert_close, json_lines, marked_texts, number, scripted_side,
};
use refract_test_stack::runs::service;
use refract_test_stack::service::{Backend, LENS_FILE, PRISM, Service, example_prism};
use refract_test_support::on_both;
use serde_json::{Value, json};

use crate::evaluate::next_version;

on_both!(
    versions_are_compared_on_the_texts_that_both_answered,
    texts_that_are_answered_differently_are_listed,
    texts_are_known_by_ref_or_by_their_fields,
    the_newer_mark_of_either_result_counts,
    a_text_for_which_a_side_names_no_outcome_is_left_out,
    sides_without_anything_to_compare_are_refused,
);

/// A row with one answer for side `a` and another for side `b`.
fn row(reference: Option<&str>, a: &MarkedText, b: &MarkedText) -> Value {
    let text = json!({"a": a.answers(), "b": b.answers()}).to_string();
    let mut row = a.row("");
    row["text"] = json!(text);
    row["ref"] = json!(reference);
    row
}

/// A row with the topics that the sides answer.
fn topics(reference: Option<&str>, number: u32, a: usize, b: usize) -> Value {
    let texts = marked_texts(1);
    // the number makes each text unique
    let of = |topic| MarkedText {
        topic,
        angry_percent: number,
        ..texts[0]
    };
    row(reference, &of(a), &of(b))
}

/// Asks version 1 about the rows, saves version 2, and asks it too, with other answers.
async fn ask_both(service: &Service, of_a: &[Value], of_b: &[Value]) -> [Vec<String>; 2] {
    service.model.then_always(scripted_side("m1", "a"));
    let a = service.ask_rows("a", of_a).await;
    next_version(service, &example_prism()).await;
    service.model.then_always(scripted_side("m2", "b"));
    let b = service.ask_rows("b", of_b).await;
    [a, b]
}

async fn compared(service: &Service, arguments: &[&str]) -> Vec<Value> {
    let mut all = vec!["compare", PRISM, "--json"];
    all.extend_from_slice(arguments);
    service.run(&all).await.lines()
}

const VERSIONS: [&str; 4] = ["--a", "version=1", "--b", "version=2"];

/// The two-sided probability that a fair coin gives a split at least as uneven as this one.
fn exact_p(one: u32, other: u32) -> f64 {
    let tosses = one + other;
    let mut ways = 1.0;
    let mut sum = 0.0;
    for heads in 0..=one.min(other) {
        sum += ways;
        ways *= f64::from(tosses - heads) / f64::from(heads + 1);
    }
    (2.0 * sum / 2_f64.powi(i32::try_from(tosses).unwrap())).min(1.0)
}

/// The 2.5 % and 97.5 % points of the mean of `rows` draws of +1, -1 and 0, step by step.
fn bootstrap(rows: usize, ups: f64, downs: f64) -> [f64; 2] {
    let count = number(rows);
    let (up, down) = (ups / count, downs / count);
    let mut chances = vec![0.0; 2 * rows + 1];
    chances[rows] = 1.0;
    for _ in 0..rows {
        let at = |sum: usize, chances: &[f64]| chances.get(sum).copied().unwrap_or(0.0);
        let next = (0..chances.len()).map(|sum| {
            let below = if sum > 0 { chances[sum - 1] } else { 0.0 };
            chances[sum] * (1.0 - up - down) + below * up + at(sum + 1, &chances) * down
        });
        chances = next.collect();
    }
    [0.025, 0.975].map(|quantile| {
        let mut reached = 0.0;
        let sum = chances.iter().position(|chance| {
            reached += chance;
            reached >= quantile - 1e-12
        });
        (number(sum.unwrap()) - count) / count
    })
}

/// Asks both sides about texts with the refs `r0`, `r1`, …, the second side only about 35 of them,
/// and marks the results of the first side.
async fn ask_marked(
    service: &Service,
    of_a: &[MarkedText],
    of_b: &[MarkedText],
) -> [Vec<String>; 2] {
    let pairs = of_a.iter().zip(of_b).enumerate();
    let rows = pairs.map(|(number, (a, b))| row(Some(&format!("r{number}")), a, b));
    let rows: Vec<_> = rows.collect();
    let [a, b] = ask_both(service, &rows, &rows[..35]).await;
    let marks = rows.iter().zip(&a).map(|(row, id)| {
        json!({"result_id": id, "topic": row["expected_topic"], "angry": row["expected_angry"],
            "urgency": row["expected_urgency"]})
    });
    let marks: Vec<_> = marks.collect();
    service.import("marks.jsonl", json_lines(&marks)).await;
    [a, b]
}

async fn versions_are_compared_on_the_texts_that_both_answered(backend: Backend) {
    let service = service(backend).await;
    let texts = marked_texts(80);
    let (of_a, of_b) = texts.split_at(40);
    let pairs = || of_a.iter().zip(of_b);
    ask_marked(&service, of_a, of_b).await;
    let right = |is_right: &dyn Fn(&MarkedText, &MarkedText) -> (bool, bool)| {
        let mut counts = [0_u32; 4];
        for (a, b) in pairs().take(35) {
            let (a, b) = is_right(a, b);
            counts[usize::from(a) + 2 * usize::from(b)] += 1;
        }
        counts
    };
    let topic = right(&|a, b| (a.topic == a.marked_topic, b.topic == a.marked_topic));
    let is_angry = |text: &MarkedText| text.angry_percent >= 50;
    let angry = right(&|a, b| (is_angry(a) == a.is_angry, is_angry(b) == a.is_angry));
    let urgency = right(&|a, b| (a.level == a.marked_level, b.level == a.marked_level));
    let found = compared(&service, &VERSIONS).await;
    assert_eq!(found.len(), 3);
    for (object, (question, counts)) in
        found
            .iter()
            .zip([("topic", topic), ("angry", angry), ("urgency", urgency)])
    {
        let [_, only_a, only_b, both] = counts.map(f64::from);
        assert_eq!(
            (&object["question"], &object["rows"]),
            (&json!(question), &json!(35))
        );
        assert_close(&object["a"]["accuracy"], (both + only_a) / 35.0);
        assert_close(&object["b"]["accuracy"], (both + only_b) / 35.0);
        assert_close(&object["difference"], (only_b - only_a) / 35.0);
        assert_eq!(object["only_a_right"], counts[1]);
        assert_eq!(object["only_b_right"], counts[2]);
        assert_close(&object["mcnemar_p"], exact_p(counts[1], counts[2]));
        let [low, high] = bootstrap(35, only_b, only_a);
        assert_close(&object["difference_low"], low);
        assert_close(&object["difference_high"], high);
    }
    let models = ["--a", "model=m1", "--b", "model=m2,version=2"];
    assert_eq!(compared(&service, &models).await, found);
    let turned = compared(&service, &["--a", "version=2", "--b", "version=1"]).await;
    assert_eq!(turned[0]["only_a_right"], topic[2]);
    let only = compared(
        &service,
        &[&VERSIONS[..], &["--question", "angry"]].concat(),
    )
    .await;
    assert_eq!(only, found[1..2]);
}

async fn texts_that_are_answered_differently_are_listed(backend: Backend) {
    let service = service(backend).await;
    let texts = marked_texts(80);
    let (of_a, of_b) = texts.split_at(40);
    let pairs = || of_a.iter().zip(of_b);
    let references: Vec<_> = (0..40).map(|number| format!("r{number}")).collect();
    let [a_ids, b_ids] = ask_marked(&service, of_a, of_b).await;
    let words = service
        .run(&[&["compare", PRISM][..], &VERSIONS].concat())
        .await
        .done();
    let head = "a is version=1, b is version=2; texts that both answered: 35\n\ntopic: What is";
    assert!(words.starts_with(head), "{words}");
    let (_, of_topic) = words.split_once("MARKED").unwrap();
    let (of_topic, _) = of_topic.split_once("\n\n").unwrap();
    let differ = pairs().take(35).filter(|(a, b)| a.topic != b.topic).count();
    let listed = of_topic.lines().filter(|line| line.contains("  r")).count();
    assert_eq!(listed, differ.min(20), "{of_topic}");
    assert!(
        of_topic.contains(&format!("and {} more texts", differ - 20)),
        "{of_topic}"
    );
    // rows that only one side answers correctly come first, and name both results
    let first = pairs().position(|(a, b)| {
        a.topic != b.topic && (a.topic == a.marked_topic || b.topic == a.marked_topic)
    });
    let first = first.unwrap();
    let answers = of_topic.lines().nth(1).unwrap();
    assert!(
        answers.starts_with(TOPICS[of_a[first].marked_topic]),
        "{of_topic}"
    );
    assert!(answers.ends_with(&references[first]), "{of_topic}");
    let ids = format!("{}  {}", a_ids[first], b_ids[first]);
    assert_eq!(of_topic.lines().nth(2).unwrap().trim(), ids);
    assert!(!words.contains("probabilities"), "a text is shown: {words}");
    let widest = words.lines().map(|line| line.chars().count()).max();
    assert!(widest <= Some(80), "{words}");
}

async fn texts_are_known_by_ref_or_by_their_fields(backend: Backend) {
    let service = service(backend).await;
    let of_a = [
        topics(Some("same"), 1, 0, 0),   // other fields on the other side
        topics(None, 2, 1, 1),           // equal fields without a ref
        topics(Some("only-a"), 3, 2, 2), // equal fields under another ref
        topics(Some("twice"), 4, 3, 3),  // older than the next
        topics(Some("twice"), 5, 4, 4),
        topics(Some("alone"), 6, 0, 0), // in no way on the other side
    ];
    let of_b = [
        topics(Some("same"), 10, 1, 1),
        topics(None, 2, 1, 1),
        topics(Some("only-b"), 3, 2, 2),
        topics(Some("twice"), 4, 3, 3),
        topics(None, 12, 0, 0),
    ];
    let [_, b_ids] = ask_both(&service, &of_a, &of_b).await;
    // the marks of the other side define the correct answers
    let marks = b_ids.iter().zip([
        "billing",
        "delivery",
        "product",
        "insufficient_information",
        "",
    ]);
    let marks = marks.map(|(id, topic)| format!("{id},{topic}\n"));
    let marks: String = std::iter::once("result_id,topic\n".to_owned())
        .chain(marks)
        .collect();
    service.import("marks.csv", marks).await;
    let found = compared(&service, &VERSIONS).await;
    let topic = &found[0];
    assert_eq!(
        topic["rows"], 4,
        "same, the one without a ref, only-a with only-b, the newest twice"
    );
    // side a answers billing, delivery, product and insufficient_information; side b answers other
    // for the last and delivery for the first
    assert_eq!(
        (&topic["only_a_right"], &topic["only_b_right"]),
        (&json!(2), &json!(0))
    );
    assert_close(&topic["a"]["accuracy"], 1.0);
    assert_close(&topic["b"]["accuracy"], 0.5);
    assert_eq!(
        (&found[1]["rows"], &found[1]["difference"]),
        (&json!(0), &Value::Null)
    );
    assert_eq!(found[1]["mcnemar_p"], Value::Null);
    let words = service
        .run(&[&["compare", PRISM][..], &VERSIONS].concat())
        .await
        .done();
    assert!(words.contains("Fewer than 30 marked texts"), "{words}");
    assert!(
        words.contains("No text that both answered is marked."),
        "{words}"
    );
}

async fn the_newer_mark_of_either_result_counts(backend: Backend) {
    let service = service(backend).await;
    let rows = [topics(Some("r"), 1, 0, 1)];
    let [a, b] = ask_both(&service, &rows, &rows).await;
    let right = async || {
        let found = compared(&service, &VERSIONS).await;
        let of = |key: &str| found[0][key].clone();
        (of("rows"), of("only_a_right"), of("only_b_right"))
    };
    let mark = async |id: &str, topic: &str| {
        service
            .import("marks.csv", format!("result_id,topic\n{id},{topic}\n"))
            .await
    };
    mark(&a[0], "billing").await;
    assert_eq!(right().await, (json!(1), json!(1), json!(0)));
    mark(&b[0], "delivery").await;
    assert_eq!(right().await, (json!(1), json!(0), json!(1)));
    mark(&a[0], "product").await;
    assert_eq!(right().await, (json!(1), json!(0), json!(0)));
}

async fn a_text_for_which_a_side_names_no_outcome_is_left_out(backend: Backend) {
    let service = service(backend).await;
    // no below 0.4, yes from 0.6: the second text is unsure for one side
    service.run(&["lens", "set", PRISM, LENS_FILE]).await.done();
    let texts = marked_texts(1);
    let of = |angry_percent| MarkedText {
        angry_percent,
        ..texts[0]
    };
    let rows = [
        row(Some("r1"), &of(90), &of(10)),
        row(Some("r2"), &of(50), &of(90)),
    ];
    let [a, _] = ask_both(&service, &rows, &rows).await;
    let marks = format!("result_id,angry\n{},yes\n{},yes\n", a[0], a[1]);
    service.import("marks.csv", marks).await;
    let arguments = [&VERSIONS[..], &["--question", "angry"]].concat();
    let found = compared(&service, &arguments).await;
    assert_eq!(
        (&found[0]["rows"], &found[0]["only_a_right"]),
        (&json!(1), &json!(1))
    );
    let words = service
        .run(&[&["compare", PRISM], &arguments[..]].concat())
        .await
        .done();
    let left_out = "1 marked text left out: A or B names no outcome.";
    assert!(words.contains(left_out), "{words}");
}

async fn sides_without_anything_to_compare_are_refused(backend: Backend) {
    let service = service(backend).await;
    let refused = async |sides: [&str; 2]| {
        let arguments = ["compare", PRISM, "--a", sides[0], "--b", sides[1]];
        service.run(&arguments).await.refused()
    };
    let line = refused(["version=1", "version=1"]).await;
    assert_eq!(
        line,
        "error: --a and --b are both version=1: name two different sides"
    );
    let line = refused(["version=1", "version=7"]).await;
    assert_eq!(line, "error: the prism has no version 7: its latest is 1");
    let line = refused(["version=1", "model=m2"]).await;
    assert_eq!(line, "error: there are no answered results of version=1");
    ask_both(&service, &[topics(None, 1, 0, 0)], &[topics(None, 2, 0, 0)]).await;
    let line = refused(["version=1", "version=2"]).await;
    let start = "error: version=1 and version=2 answered no text in common: ";
    assert!(line.starts_with(start), "{line}");
    service.model.then_always(scripted_side("m3", "a"));
    service.ask_rows("c", &[topics(None, 1, 0, 0)]).await;
    let line = refused(["model=m1", "model=m3"]).await;
    let start = "error: the one text that both sides answered is not marked: ";
    assert!(line.starts_with(start), "{line}");
    for wrong in ["3", "version=x", "prompt=3"] {
        let ended = service
            .run(&["compare", PRISM, "--a", wrong, "--b", "version=1"])
            .await;
        assert_eq!(
            (ended.code, ended.stdout.as_str()),
            (Some(2), ""),
            "{ended:?}"
        );
    }
    let arguments = [
        "compare",
        PRISM,
        "--a",
        "version=1",
        "--b",
        "version=2",
        "--question",
        "topics",
    ];
    let line = service.run(&arguments).await.refused();
    assert_eq!(
        line,
        "error: the prism has no question 'topics': did you mean `topic`?"
    );
}
