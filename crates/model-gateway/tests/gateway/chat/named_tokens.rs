//! vLLM's log-probabilities of named tokens: when they are requested, and what ends their use.

use std::collections::BTreeSet;

use refract_model_gateway::ModelReply;
use refract_test_support::model_server::{
    ChatModel, Continues, ReceivedRequest, ScriptedReply, VllmServer,
};

use super::fidelity::distance;
use super::*;

const CHAT: &str = "/v1/chat/completions";
const TOKENIZE: &str = "/tokenize";

/// A model that is undecided among twenty outcomes and writes half of its letters after a space, so
/// twenty alternatives show only half of its tokens.
fn unsure() -> ChatModel {
    ChatModel {
        spaced: 0.5,
        ..ChatModel::new((1..=20).map(|weight| f64::from(weight * weight)).collect())
    }
}

fn vllm() -> VllmServer {
    VllmServer::new(unsure())
}

async fn ask_twenty(model: &Model) -> ModelReply {
    let version = choice(20);
    let submission = submission(&version, "Hello", None);
    model.answer(&version, &submission).await
}

fn sent(server: &ModelServer) -> Vec<(String, bool)> {
    let requests = server.requests().into_iter();
    let sent = requests.map(|request| {
        let names = request.json().get("logprob_token_ids").is_some();
        (request.path, names)
    });
    sent.collect()
}

fn chat(names_tokens: bool) -> (String, bool) {
    (CHAT.to_owned(), names_tokens)
}

fn tokenize() -> (String, bool) {
    (TOKENIZE.to_owned(), false)
}

/// Total variation distance of a reply from the model.
fn distance_of(reply: &ModelReply) -> f64 {
    let stored = probabilities(only(reply.outcome.as_ref().unwrap()));
    distance(&unsure().distribution(20), &stored)
}

#[actix_rt::test]
async fn codes_that_twenty_alternatives_hide_are_asked_for_by_name() {
    let server = ModelServer::start(vllm().reply());
    let model = model(&server);
    for _ in 0..2 {
        let reply = ask_twenty(&model).await;
        assert!(distance_of(&reply) < 0.000_01, "{reply:?}");
        let parsed = reply.report.parsed;
        assert_eq!((parsed.listed, parsed.outcomes), (20, 20));
        assert!(parsed.codes.unwrap().unread.to_f64() < 0.000_01);
    }
    assert!(distance_of(&by_twenty().await) > 0.001);
    // 100 alternatives are refused, then the tokens are requested once
    let expected = [
        chat(false),
        chat(false),
        tokenize(),
        chat(true),
        chat(false),
        chat(true),
    ];
    assert_eq!(sent(&server), expected);
    let requests = server.requests();
    let named = requests.last().unwrap().json();
    assert_eq!(named["logprobs"], json!(true));
    assert_eq!(named["top_logprobs"], json!(20));
    let ids = named["logprob_token_ids"].as_array().unwrap();
    let ids: BTreeSet<u64> = ids.iter().map(|id| id.as_u64().unwrap()).collect();
    // `A` to `Z` in two spellings, `0` to `9`, yes and no in three cases and two spellings
    assert_eq!(ids.len(), 26 * 2 + 10 + 12);
    let mut first = requests[1].json();
    first["logprob_token_ids"] = named["logprob_token_ids"].clone();
    assert_eq!(first, named);
}

#[actix_rt::test]
async fn letters_of_large_choices_are_asked_for_by_name_and_then_followed_up() {
    let flat = ChatModel {
        spaced: 0.5,
        ..ChatModel::new((0..255).map(|place| f64::from(200 + place)).collect())
    };
    let server = ModelServer::start(VllmServer::new(flat.clone()).reply());
    let answers = ask(&server, &choice(255)).await.unwrap();
    let distance = distance(&flat.distribution(255), &probabilities(only(&answers)));
    assert!(distance < 0.01, "{distance}");
}

#[actix_rt::test]
async fn a_question_whose_codes_are_listed_costs_no_more() {
    let server = ModelServer::start(VllmServer::new(ChatModel::new(vec![1.0; 10])).reply());
    ask(&server, &choice(10)).await.unwrap();
    assert_eq!(sent(&server), [chat(false), chat(false)]);
}

#[actix_rt::test]
async fn a_server_that_refuses_in_other_words_is_not_asked_for_its_tokens() {
    let other = |request: &ReceivedRequest| {
        let (status, reply) = vllm().answer(request);
        let message = json!({"error": {"message": "top_logprobs must be between 0 and 20"}});
        (status, if status == 400 { message } else { reply })
    };
    let server = ModelServer::start(ScriptedReply::answering(other));
    ask_twenty(&model(&server)).await.outcome.unwrap();
    assert_eq!(sent(&server), [chat(false), chat(false)]);
}

/// A vLLM server with another reply to some requests.
fn except(
    is_odd: impl Fn(&ReceivedRequest) -> bool + Send + Sync + 'static,
    odd: impl Fn(Value) -> (u16, Value) + Send + Sync + 'static,
) -> ScriptedReply {
    ScriptedReply::answering(move |request| {
        let (status, usual) = vllm().answer(request);
        if is_odd(request) {
            odd(usual)
        } else {
            (status, usual)
        }
    })
}

/// The reply of a server without named tokens.
async fn by_twenty() -> ModelReply {
    let server = ModelServer::start(
        ChatModel {
            refuses_more: true,
            ..unsure()
        }
        .reply(),
    );
    ask_twenty(&model(&server)).await
}

#[actix_rt::test]
async fn a_server_that_does_not_report_its_tokens_keeps_twenty_alternatives() {
    let without = |token: &'static str| {
        move |usual: Value| {
            let mut odd = usual;
            for name in odd["token_strs"].as_array_mut().unwrap() {
                if *name == json!(token) || *name == json!(format!("Ġ{token}")) {
                    *name = json!("x");
                }
            }
            (200, odd)
        }
    };
    let merged = |usual: Value| {
        let mut odd = usual;
        odd["token_strs"][0] = json!("ĠB7");
        (200, odd)
    };
    let is_odd = |request: &ReceivedRequest| request.path == TOKENIZE;
    for reply in [
        except(is_odd, |_| (404, json!({"detail": "Not Found"}))),
        except(is_odd, |_| (200, json!({"tokens": [1, 2], "count": 2}))),
        except(is_odd, |_| (200, json!({"tokens": [], "token_strs": []}))),
        except(is_odd, without("Q")),
        except(is_odd, without("7")),
        except(is_odd, merged),
    ] {
        let server = ModelServer::start(reply);
        let model = model(&server);
        for _ in 0..2 {
            assert_eq!(ask_twenty(&model).await.outcome, by_twenty().await.outcome);
        }
        let expected = [chat(false), chat(false), tokenize(), chat(false)];
        assert_eq!(sent(&server), expected);
    }
}

#[actix_rt::test]
async fn an_answer_without_the_named_tokens_loses_nothing_and_ends_their_use() {
    let twenty = |usual: Value| {
        let mut odd = usual;
        let listed = &mut odd["choices"][0]["logprobs"]["content"][0]["top_logprobs"];
        listed.as_array_mut().unwrap().truncate(20);
        (200, odd)
    };
    let is_odd = |request: &ReceivedRequest| request.json().get("logprob_token_ids").is_some();
    for reply in [
        except(is_odd, twenty),
        except(is_odd, |_| (400, json!({"error": {"message": "no"}}))),
        except(is_odd, |_| (200, json!({"error": {"message": "no"}}))),
        except(is_odd, |_| (200, json!([]))),
    ] {
        let server = ModelServer::start(reply);
        let model = model(&server);
        for _ in 0..2 {
            assert_eq!(ask_twenty(&model).await.outcome, by_twenty().await.outcome);
        }
        let first = [chat(false), chat(false), tokenize(), chat(true)];
        let second = [chat(false)];
        assert_eq!(sent(&server), [&first[..], &second[..]].concat());
    }
}

#[actix_rt::test]
async fn named_tokens_that_hold_less_than_the_likeliest_ones_are_not_believed() {
    // the codes' usual spellings are not among the named tokens
    let spelled_otherwise = |usual: Value| {
        let mut odd = usual;
        let content = &mut odd["choices"][0]["logprobs"]["content"][0];
        for token in content["top_logprobs"]
            .as_array_mut()
            .unwrap()
            .iter_mut()
            .skip(1)
        {
            token["logprob"] = json!(-9999.0);
        }
        (200, odd)
    };
    let is_odd = |request: &ReceivedRequest| request.json().get("logprob_token_ids").is_some();
    let server = ModelServer::start(except(is_odd, spelled_otherwise));
    let reply = ask_twenty(&model(&server)).await;
    assert_eq!(reply.outcome, by_twenty().await.outcome);
}

#[actix_rt::test]
async fn digits_behind_a_letter_that_is_not_continued_are_read_as_before() {
    let never = ChatModel {
        continues: Continues::Never,
        spaced: 0.5,
        ..ChatModel::new((0..150).map(|place| f64::from(200 + place)).collect())
    };
    let server = ModelServer::start(VllmServer::new(never).reply());
    let reply = {
        let version = choice(150);
        let submission = submission(&version, "Hello", None);
        model(&server).answer(&version, &submission).await
    };
    let unread = reply.report.parsed.codes.unwrap().unread.to_f64();
    // one of fifteen letters is written and read
    assert!(
        reply.outcome.is_ok() && unread > 0.9 && unread < 0.95,
        "{reply:?}"
    );
}
