//! Answers come in the order of the questions and carry their names: both are checked.

use super::*;

/// The outcome of asking a server with changed answers.
async fn changed(change: impl FnOnce(&mut Vec<Value>)) -> Result<Answers, ModelError> {
    let mut body = documented();
    change(body["answers"].as_array_mut().unwrap());
    answers_to(&body.to_string()).await
}

fn unanswered(question: &str) -> Result<Answers, ModelError> {
    Err(ModelError::Unanswered(key(question)))
}

#[actix_rt::test]
async fn answers_in_another_order_are_none() {
    assert_eq!(
        changed(|answers| answers.swap(1, 2)).await,
        unanswered("angry")
    );
    assert_eq!(
        changed(|answers| answers.reverse()).await,
        unanswered("topic")
    );
}

#[actix_rt::test]
async fn an_answer_under_another_name_or_none_is_none() {
    for name in [
        json!("Angry"),
        json!("topic"),
        json!(""),
        json!(1),
        Value::Null,
    ] {
        let renamed = changed(|answers| answers[1]["name"] = name.clone()).await;
        assert_eq!(renamed, unanswered("angry"), "{name}");
    }
    let nameless = changed(|answers| {
        answers[2].as_object_mut().unwrap().remove("name");
    });
    assert_eq!(nameless.await, unanswered("urgency"));
}

#[actix_rt::test]
async fn two_questions_of_one_type_cannot_swap_answers() {
    let question = |key| json!({"key": key, "type": "yes_no", "text": "Is it so?"});
    let version = version(&json!([question("one"), question("two")]));
    let submission = submission(&version, "text", None);
    let swapped = json!({"answers": [{"type": "predicate", "name": "two", "probability": 0.1},
                                     {"type": "predicate", "name": "one", "probability": 0.9}]});
    let server = ModelServer::start(ScriptedReply::json(&swapped));
    let call = model(&server).answer(&version, &submission).await;
    assert_eq!(call.outcome, unanswered("one"));
}

#[actix_rt::test]
async fn a_question_that_was_left_out_is_named() {
    let cut = changed(|answers| answers.truncate(2)).await;
    assert_eq!(
        cut.unwrap_err().to_string(),
        "The model gave no usable answer to the question urgency."
    );
    // the answers after it have moved, so the error names the first of them
    let removed = changed(|answers| {
        answers.remove(0);
    });
    assert_eq!(removed.await, unanswered("topic"));
    assert_eq!(changed(Vec::clear).await, unanswered("topic"));
}

#[actix_rt::test]
async fn answers_behind_the_last_question_mean_nothing() {
    let expected = changed(|_| {}).await.unwrap();
    let more = changed(|answers| {
        answers.push(json!({"type": "predicate", "name": "late", "probability": 0.5}));
        answers.push(json!("none"));
    });
    assert_eq!(more.await.unwrap(), expected);
    let doubled = changed(|answers| answers.insert(1, answers[1].clone())).await;
    assert_eq!(doubled, unanswered("urgency"));
}
