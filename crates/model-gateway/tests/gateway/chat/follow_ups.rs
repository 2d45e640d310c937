//! Follow-up requests: which letters get one, how they are sent, and what ends them.

use std::time::Duration;

use refract_model_gateway::{Model, ModelGateway, ModelReply, ModelSettings};
use refract_test_support::model_server::{
    ChatModel, Continues, ModelServer, Script, ScriptedReply,
};
use serde_json::json;

use super::*;

/// Asks a choice of 30 outcomes, whose codes begin with `A`, `B` and `C`.
async fn ask_thirty(model: &Model) -> ModelReply {
    let version = choice(30);
    let submission = submission(&version, "Hello", None);
    model.answer(&version, &submission).await
}

/// A model that gives the letters `A`, `B` and `C` these probabilities, each split evenly over its
/// ten codes.
fn letters(probabilities: [f64; 3]) -> ChatModel {
    let weights = probabilities.map(|letter| vec![letter / 10.0; 10]);
    ChatModel::new(weights.concat())
}

/// The share of the codes' probability that a reply reports as unread.
fn unread(reply: &ModelReply) -> f64 {
    reply.report.parsed.codes.unwrap().unread.to_f64()
}

#[actix_rt::test]
async fn as_few_letters_as_needed_are_followed_up() {
    for (probabilities, requests, left) in [
        ([0.992, 0.005, 0.003], 1, 0.008),
        ([0.988, 0.008, 0.004], 2, 0.004),
        ([0.98, 0.0, 0.02], 2, 0.0),
        ([0.97, 0.018, 0.012], 3, 0.0),
    ] {
        let server = ModelServer::start(letters(probabilities).reply());
        let reply = ask_thirty(&model(&server)).await;
        assert_eq!(server.counts().requests, requests, "{probabilities:?}");
        assert!((unread(&reply) - left).abs() < 0.000_01, "{reply:?}");
    }
}

#[actix_rt::test]
async fn a_setting_bounds_the_follow_ups_of_a_question() {
    for (follow_ups, left) in [(0, 0.6), (1, 0.29), (2, 0.0)] {
        let server = ModelServer::start(letters([0.4, 0.31, 0.29]).reply());
        let settings = ModelSettings {
            follow_ups,
            ..settings(&server)
        };
        let reply = ask_thirty(&ModelGateway::new(settings).unwrap().model()).await;
        assert_eq!(server.counts().requests, 1 + follow_ups);
        assert!((unread(&reply) - left).abs() < 0.000_01, "{reply:?}");
    }
}

#[actix_rt::test]
async fn follow_ups_are_sent_at_once_when_the_first_one_has_worked() {
    let server = ModelServer::start(ChatModel::new(vec![1.0; 255]).reply());
    let model = model(&server);
    let version = choice(255);
    let submission = submission(&version, "Hello", None);
    let held = || ChatModel::new(vec![1.0; 255]).reply().held();
    model.answer(&version, &submission).await.outcome.unwrap();
    // 26 letters, one of them written
    assert_eq!(server.counts().requests, 26);
    server.then_always(held());
    let follow = async {
        server.wait_until(|counts| counts.requests == 27).await;
        server.release(1);
        server.wait_until(|counts| counts.requests == 26 + 26).await;
        server.release(25);
    };
    let (reply, ()) = tokio::join!(model.answer(&version, &submission), follow);
    assert!(reply.outcome.is_ok());
}

#[actix_rt::test]
async fn a_message_begins_as_the_model_spells_the_letter() {
    for (spaced, begun) in [(0.9, "topic =  B"), (0.1, "topic = B")] {
        let spelled = ChatModel {
            spaced,
            ..letters([0.6, 0.4, 0.0])
        };
        let server = ModelServer::start(spelled.reply());
        ask_thirty(&model(&server)).await.outcome.unwrap();
        let requests = server.requests();
        let last = requests.last().unwrap().json();
        let message = json!({"role": "assistant", "content": begun});
        assert_eq!(last["messages"][2], message);
        assert_eq!(last["continue_final_message"], json!(true));
        assert_eq!(last["add_generation_prompt"], json!(false));
    }
}

#[actix_rt::test]
async fn a_server_that_lists_twenty_alternatives_is_asked_for_more_once() {
    let lists_twenty = ChatModel {
        refuses_more: true,
        ..letters([0.5, 0.3, 0.2])
    };
    let server = ModelServer::start(lists_twenty.reply());
    let model = model(&server);
    for _ in 0..2 {
        ask_thirty(&model).await.outcome.unwrap();
    }
    let asked = server.requests();
    let asked = asked
        .iter()
        .map(|request| request.json()["top_logprobs"].as_u64().unwrap());
    let asked: Vec<u64> = asked.collect();
    assert_eq!(asked, [100, 20, 20, 20, 20, 20, 20]);
}

#[actix_rt::test]
async fn letters_that_cannot_be_followed_up_are_reported_as_unread() {
    let never = ChatModel {
        continues: Continues::Never,
        ..letters([0.4, 0.35, 0.25])
    };
    let server = ModelServer::start(never.reply());
    let model = model(&server);
    let reply = ask_thirty(&model).await;
    assert!((unread(&reply) - 0.6).abs() < 0.000_01, "{reply:?}");
    // one request for the question, and one for each follow-up method
    assert_eq!(server.counts().requests, 3);
    ask_thirty(&model).await.outcome.unwrap();
    assert_eq!(server.counts().requests, 4);
}

#[actix_rt::test]
async fn what_is_read_before_the_time_ends_is_an_answer() {
    let first = letters([0.4, 0.35, 0.25]).reply().held();
    let replies = [ScriptedReply::status(503).held(), first];
    let never = ScriptedReply::status(200).held();
    let server = ModelServer::start(Script::first(replies).then(never));
    let timeout = Duration::from_secs(2);
    let model = impatient(&server, timeout);
    let slowly = async {
        for requests in [1, 2] {
            server
                .wait_until(|counts| counts.requests == requests)
                .await;
            tokio::time::sleep(Duration::from_millis(1_200)).await;
            server.release(1);
        }
    };
    let (reply, ()) = tokio::join!(ask_thirty(&model), slowly);
    assert!(reply.outcome.is_ok(), "{reply:?}");
    assert!((unread(&reply) - 0.6).abs() < 0.000_01, "{reply:?}");
    assert_eq!(server.counts().requests, 3);
    assert!(
        reply.took < 2 * timeout + Duration::from_secs(1),
        "{reply:?}"
    );
}
