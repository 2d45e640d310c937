//! The scorer on short texts that a first trial would use.

use refract_domain::answer::probability::ONE;
use refract_domain::answer::{Answer, Answers};
use refract_domain::key::QuestionKey;
use refract_domain::prism::PrismVersion;
use refract_domain::submission::{CallContext, SentFields, Submission};

use super::answer;

fn version() -> PrismVersion {
    let json = r#"{
        "fields": [{"key": "text", "label": "Message"}],
        "context": "We sell bicycles online.",
        "questions": [
            {"key": "topic", "type": "choice", "text": "What is the message about?",
             "options": [{"key": "billing", "label": "Billing", "description": "charges and invoices"},
                         {"key": "delivery", "label": "Delivery"}]},
            {"key": "angry", "type": "yes_no", "text": "Is the writer angry?"},
            {"key": "urgency", "type": "scale", "text": "How urgent is it?",
             "levels": [{"key": "can_wait", "label": "Can wait"}, {"key": "this_week", "label": "This week"},
                        {"key": "today", "label": "Today"}]}]}"#;
    serde_json::from_str(json).unwrap()
}

fn answers(text: &str) -> Answers {
    let version = version();
    let sent = SentFields::new(vec![("text".to_owned(), text.to_owned())]);
    answer(
        &version,
        &Submission::new(sent, None, version.fields()).unwrap(),
    )
    .unwrap()
}

fn answered(key: &str, text: &str) -> Answer {
    answers(text)
        .get(&QuestionKey::parse(key).unwrap())
        .unwrap()
        .clone()
}

fn topic(text: &str) -> String {
    let Answer::Choice { value, .. } = answered("topic", text) else {
        panic!("not a choice");
    };
    value.unwrap().to_string()
}

fn angry(text: &str) -> f64 {
    let Answer::YesNo { probability } = answered("angry", text) else {
        panic!("not a yes_no");
    };
    probability.to_f64()
}

fn urgency(text: &str) -> String {
    let Answer::Scale { level, .. } = answered("urgency", text) else {
        panic!("not a scale");
    };
    level.to_string()
}

#[test]
fn the_topic_is_the_option_whose_words_stand_in_the_text() {
    assert_eq!(
        topic("Where is my order? It should have arrived on Monday."),
        "delivery"
    );
    assert_eq!(
        topic("You charged me twice for one bicycle, I want my money back."),
        "billing"
    );
    assert_eq!(topic("The invoice shows the wrong amount"), "billing");
    assert_eq!(
        topic("Do you repair wooden kayaks on the moon as well?"),
        "other"
    );
    assert_eq!(topic("hm"), "insufficient_information");
    assert_eq!(topic(""), "insufficient_information");
}

#[test]
fn anger_shows_in_words_and_marks() {
    assert!(angry("This is UNACCEPTABLE!!! The worst service ever!") > 0.8);
    assert!(angry("Thanks, that was great help.") < 0.2);
    assert!(angry("Where is my order?") < 0.3);
    assert!(angry("I am not angry, just curious.") < 0.3);
}

#[test]
fn urgency_follows_words_of_time() {
    assert_eq!(
        urgency("I need it today, right now, it is an emergency!"),
        "today"
    );
    assert_eq!(
        urgency("No rush, whenever you have a minute to spare in spring."),
        "can_wait"
    );
}

#[test]
fn equal_texts_have_equal_answers_and_every_distribution_nearly_sums_to_one() {
    for text in [
        "",
        "Where is my order?",
        "!!!",
        "日本語のテキスト",
        &"order invoice now ".repeat(5_000),
    ] {
        let first = answers(text);
        assert_eq!(first, answers(text));
        for (_, answer) in first.as_slice() {
            if let Answer::Choice { probabilities, .. } | Answer::Scale { probabilities, .. } =
                answer
            {
                let sum: u64 = probabilities
                    .iter()
                    .map(|(_, probability)| *probability)
                    .sum();
                let most_off = u64::try_from(probabilities.len()).unwrap() / 2;
                assert!(sum.abs_diff(u64::from(ONE)) <= most_off);
            }
        }
    }
}

#[test]
fn a_context_counts_a_little() {
    let version = version();
    let sent = || {
        SentFields::new(vec![(
            "text".to_owned(),
            "What about it, please tell me".to_owned(),
        )])
    };
    let context = CallContext::parse("The invoice was paid twice.".to_owned()).unwrap();
    let bare = Submission::new(sent(), None, version.fields()).unwrap();
    let with_context = Submission::new(sent(), context, version.fields()).unwrap();
    assert_ne!(
        answer(&version, &bare).unwrap(),
        answer(&version, &with_context).unwrap()
    );
}
