//! Texts of questions that warn, and texts that must not.

use super::*;

fn rules(text: &str) -> Vec<&'static str> {
    yes_no(text)
        .into_iter()
        .map(|(rule, path)| {
            assert_eq!(path, "text");
            rule
        })
        .collect()
}

#[test]
fn a_question_that_asks_two_things_warns() {
    for text in [
        "Is the writer angry? Does the writer want a refund?",
        "Is the writer angry and does he want a refund?",
        "Is it urgent, or is it a complaint?",
        "What is the message about and how urgent is it?",
        "Does the message name a product as well as a price?",
        "Is the writer unhappy and wants a refund?",
        "Is the writer angry, and why?",
        "What does the writer want and when?",
        "Look at the order first. Is it late? And is it paid?",
    ] {
        assert_eq!(rules(text), ["two-questions"], "{text}");
    }
    let scale = scale(
        "How angry is the writer and how urgent is it?",
        &["Low", "High"],
    );
    assert_eq!(scale, [("two-questions", "text".to_owned())]);
}

#[test]
fn one_question_with_and_or_or_in_it_does_not_warn() {
    for text in [
        "Is the writer angry?",
        "Does the writer accept the terms and conditions?",
        "Is it about shipping and handling, or about customs?",
        "Is the writer angry or disappointed?",
        "Does the message say when and where to meet?",
        "Does it say who called and when?",
        "Is this spam or not?",
        "Is this spam, yes or no?",
        "Did it work as well as expected?",
        "Did the courier treat the parcel as well as possible?",
        "Is or was the writer a customer?",
        "Does the writer know what is covered and what is not?",
        "Is it urgent?? ",
        "Does the writer ask \"where is it? and why is it late?\"",
        "Does the message contain complaints and demands for a refund?",
        "Is the writer a customer? (Staff and partners are none.)",
        "Would the writer buy again and recommend us?",
    ] {
        assert_eq!(rules(text), Vec::<&str>::new(), "{text}");
    }
}

#[test]
fn a_yes_no_that_is_a_negation_warns() {
    for text in [
        "Isn't the writer angry?",
        "Is it not urgent?",
        "Is that not spam?",
        "Has the writer not received the order?",
        "Has the customer never ordered before?",
        "Is the message without a greeting?",
        "Is there no invoice?",
        "Does the message contain no order number?",
        "Is the writer no longer a customer?",
        "The writer is not angry.",
        "It is urgent, isn't it?",
        "Did nobody answer the writer?",
        "Is the request not urgent?",
    ] {
        assert_eq!(rules(text), ["negated-question"], "{text}");
    }
}

#[test]
fn a_denial_inside_what_is_asked_for_does_not_warn() {
    for text in [
        "Does the writer say that the order did not arrive?",
        "Does the writer say the order never arrived?",
        "Does the writer ask not to be called?",
        "Is there something the writer does not like?",
        "Is the writer someone who has never ordered?",
        "Is this spam or not?",
        "Is the answer yes or no?",
        "Does the order consist of not only a bike but a helmet?",
        "Does the writer want to pay without an account?",
        "Is the order sent without a signature?",
        "Is the parcel delivered without a ring at the door?",
        "Is invoice no 5 meant?",
        "Is it a no-reply address?",
        "Does the writer note a fault?",
        "Does the subject say \"not urgent\"?",
    ] {
        assert_eq!(rules(text), Vec::<&str>::new(), "{text}");
    }
    // a choice may ask for what is absent
    let options = outcomes(&["Bell", "Light"]);
    let question = json!({
        "key": "q", "type": "choice", "text": "Which part is not there?", "options": options,
    });
    assert_eq!(warned(&question), []);
}

#[test]
fn other_languages_do_not_warn() {
    for text in [
        "Ist der Kunde in Not? Was will er?",
        "Ist der Kunde wütend und will er sein Geld zurück?",
        "¿El cliente no está contento?",
        "Is de klant boos? Wat wil hij?",
        "Le client n'est-il pas content, et que veut-il ?",
        "O cliente está no Brasil e quer a entrega?",
        "Il cliente non è contento?",
        "お客様は怒っていますか？返金を求めていますか？",
        "Müşteri kızgın mı? Para iadesi istiyor mu?",
        "هل العميل غاضب؟ وماذا يريد؟",
        "Är kunden arg, och vill han ha pengar?",
    ] {
        assert_eq!(rules(text), Vec::<&str>::new(), "{text}");
    }
}
