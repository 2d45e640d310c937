//! What `refract check` refuses before the model is asked, and how it stops.

use refract_test_stack::program;
use refract_test_stack::runs::GOLD;
use refract_test_stack::runs::service;
use refract_test_stack::service::Backend;
use refract_test_support::on_both;

on_both!(a_gold_file_that_is_wrong_asks_nothing);

#[track_caller]
fn last_line(ended: &program::Ended) -> &str {
    assert_eq!(
        (ended.code, ended.stdout.as_str()),
        (Some(1), ""),
        "{ended:?}"
    );
    ended.stderr.lines().last().unwrap()
}

async fn a_gold_file_that_is_wrong_asks_nothing(backend: Backend) {
    let service = service(backend).await;
    let misspelt = GOLD.replace("expected_topic", "expected_topics");
    service.write("gold.csv", misspelt);
    assert_eq!(
        last_line(&service.check("gold.csv", &[]).await),
        "error: gold.csv: the column expected_topics is of no question of the prism: did you mean \
         `expected_topic`?"
    );
    service.write(
        "gold.jsonl",
        "{\"text\": \"a\", \"expected_angri\": \"yes\"}\n",
    );
    let ended = service.check("gold.jsonl", &[]).await;
    assert!(
        last_line(&ended).contains("did you mean `expected_angry`?"),
        "{ended:?}"
    );
    service.write("gold.csv", "text,ref\nmy secret text,r1\n");
    assert_eq!(
        last_line(&service.check("gold.csv", &[]).await),
        "error: gold.csv: it says of no row what is right: it needs a column such as \
         expected_topic, expected_angry, expected_urgency"
    );
    let wrong = GOLD
        .replace("r1,billing,yes", "r1,a secret,maybe")
        .replace("Today", "today!");
    service.write("gold.csv", wrong);
    let ended = service.check("gold.csv", &[]).await;
    assert_eq!(
        last_line(&ended),
        "error: gold.csv: 3 cells name no outcome of the question, so nothing was asked"
    );
    for line in [
        "  line 2: the expected answer of question topic names no outcome",
        "  line 2: the expected answer of question angry names no outcome",
        "  line 4: the expected answer of question urgency names no outcome",
        "  topic has billing, delivery, product, other, insufficient_information",
        "  urgency has can_wait, this_week, today",
    ] {
        assert!(
            ended.stderr.lines().any(|printed| printed == line),
            "{line}: {ended:?}"
        );
    }
    assert!(!ended.stderr.contains("secret"), "{ended:?}");
    service.write("gold.csv", GOLD.to_owned() + "short\n");
    let ended = service.check("gold.csv", &[]).await;
    assert!(
        last_line(&ended).contains("line 5 has 1 cell, the header has"),
        "{ended:?}"
    );
    assert_eq!(service.asked(), 0);
}

#[tokio::test]
async fn a_requirement_that_cannot_be_checked_asks_nothing() {
    let service = service(Backend::Sqlite).await;
    service.write("gold.csv", "text,expected_topic\na,billing\n");
    for (requirement, expected) in [
        (
            "topc.accuracy>=0.9",
            "--require: the prism has no question topc: did you mean `topic`?",
        ),
        (
            "topic.refunds.recall>0.5",
            "--require: question `topic` has no outcome `refunds`; there are billing,",
        ),
        (
            "topic.within_one>0.5",
            "--require: `within_one` is for scales, and question `topic` is none",
        ),
        (
            "angry.accuracy>0.5",
            "--require: the gold file says of no row what is right for question angry",
        ),
    ] {
        let ended = service.check("gold.csv", &["--require", requirement]).await;
        assert!(
            last_line(&ended).contains(expected),
            "{requirement}: {ended:?}"
        );
    }
    for (requirement, expected) in [
        ("topic.accuracy", "has no operator"),
        (
            "topic.luck>=0.9",
            "`luck` is no measure of a question; there are accuracy,",
        ),
        (
            "topic.billing.luck>=0.9",
            "`luck` is no measure of an outcome",
        ),
        ("topic.accuracy>=high", "is no number"),
    ] {
        let ended = service.check("gold.csv", &["--require", requirement]).await;
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(ended.stderr.contains(expected), "{requirement}: {ended:?}");
    }
    let ended = service
        .check("gold.csv", &["--map", "topic=expected_topics"])
        .await;
    assert_eq!(
        last_line(&ended),
        "error: --map: 'expected_topics' is no field of the prism: it has text, expected_topic, \
         expected_angry, expected_urgency, and ref and context"
    );
    let ended = service
        .check("gold.csv", &["--junit", "nowhere/check.xml"])
        .await;
    assert!(
        last_line(&ended).contains("cannot write nowhere/check.xml"),
        "{ended:?}"
    );
    assert_eq!(service.asked(), 0);
}
