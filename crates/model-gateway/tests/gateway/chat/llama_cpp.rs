//! llama.cpp's native extension: one request that follows up all letters, and what ends its use.

use refract_model_gateway::{ModelReply, ModelSettings};
use refract_test_support::model_server::{
    ChatModel, LlamaCppServer, ReceivedRequest, Script, ScriptedReply,
};

use super::fidelity::{NEARLY_EXACT, distance};
use super::*;

const CHAT: &str = "/v1/chat/completions";
const TEMPLATE: &str = "/apply-template";
const BATCH: &str = "/completion";

/// A text that needs escapes in JSON and looks like a prompt.
const TEXT: &str = "\"Where\" is\tit? \\ \u{1}é😀\n<|user|>A0) Option 0\u{2028}";

/// A model that is undecided among all outcomes and spells nearly every letter in one way.
fn unsure() -> ChatModel {
    ChatModel {
        spaced: 0.999,
        digits_depend_on_spelling: true,
        top: 1_000,
        ..ChatModel::new((1..=255).map(f64::from).collect())
    }
}

fn llama_cpp() -> LlamaCppServer {
    LlamaCppServer { model: unsure() }
}

async fn ask_choice(model: &Model, outcomes: usize) -> ModelReply {
    let version = choice(outcomes);
    let submission = submission(&version, TEXT, None);
    model.answer(&version, &submission).await
}

/// The reply of a server without llama.cpp's endpoints.
async fn by_message(outcomes: usize) -> ModelReply {
    let server = ModelServer::start(unsure().reply());
    ask_choice(&model(&server), outcomes).await
}

fn paths(server: &ModelServer) -> Vec<String> {
    let requests = server.requests().into_iter();
    requests.map(|request| request.path).collect()
}

/// Whether two calls returned equal answers, and reports that differ only in the number of
/// requests.
fn is_alike(one: &ModelReply, other: &ModelReply) -> bool {
    let counts = |reply: &ModelReply| (reply.report.input_tokens, reply.report.output_tokens);
    one.outcome == other.outcome
        && one.report.parsed == other.report.parsed
        && counts(one) == counts(other)
}

/// A llama.cpp server with another reply on one path.
fn except(path: &'static str, status: u16, odd: Value) -> ScriptedReply {
    let server = llama_cpp();
    ScriptedReply::answering(move |request| {
        if request.path == path {
            (status, odd.clone())
        } else {
            server.answer(request)
        }
    })
}

/// A llama.cpp server with another reply to a batch of several.
fn except_others(odd: Value) -> ScriptedReply {
    let server = llama_cpp();
    ScriptedReply::answering(move |request| {
        let prompts = request.json()["prompt"].as_array().map(Vec::len);
        if request.path == BATCH && prompts > Some(1) {
            (200, odd.clone())
        } else {
            server.answer(request)
        }
    })
}

#[actix_rt::test]
async fn one_request_follows_up_all_letters_as_messages_would() {
    for outcomes in [32, 62, 152, 255] {
        let server = ModelServer::start(llama_cpp().reply());
        let reply = ask_choice(&model(&server), outcomes).await;
        let messages = by_message(outcomes).await;
        assert!(is_alike(&reply, &messages), "{reply:?}\n{messages:?}");
        assert_eq!(paths(&server), [CHAT, TEMPLATE, BATCH, BATCH]);
        assert_eq!((reply.report.requests, reply.report.attempts), (4, 4));
        assert!(messages.report.requests >= 4, "{messages:?}");
        let stored = probabilities(only(&reply.outcome.unwrap()));
        let distance = distance(&unsure().distribution(outcomes), &stored);
        assert!(distance <= NEARLY_EXACT, "{distance}");
    }
}

#[actix_rt::test]
async fn one_request_distinguishes_all_spellings_of_a_letter() {
    let in_two_ways = ChatModel {
        spaced: 0.6,
        ..unsure()
    };
    for outcomes in [21, 62, 255] {
        let model_server = LlamaCppServer {
            model: in_two_ways.clone(),
        };
        let server = ModelServer::start(model_server.reply());
        let reply = ask_choice(&model(&server), outcomes).await;
        assert_eq!(paths(&server), [CHAT, TEMPLATE, BATCH, BATCH]);
        let stored = probabilities(only(&reply.outcome.unwrap()));
        let distance = distance(&in_two_ways.distribution(outcomes), &stored);
        assert!(distance <= NEARLY_EXACT, "{outcomes} {distance}");
    }
}

#[actix_rt::test]
async fn another_spelling_of_the_written_letter_is_distinguished_unless_one_code_is_sure() {
    let flat = vec![1.0; 10];
    let sure = [vec![1.0], vec![0.000_1; 9]].concat();
    for (first_letter, expected) in [(flat, vec![CHAT, TEMPLATE, BATCH]), (sure, vec![CHAT])] {
        let in_two_ways = ChatModel {
            spaced: 0.6,
            ..ChatModel::new([first_letter, vec![0.000_01; 20]].concat())
        };
        let model_server = LlamaCppServer { model: in_two_ways };
        let server = ModelServer::start(model_server.reply());
        ask_choice(&model(&server), 30).await.outcome.unwrap();
        assert_eq!(paths(&server), expected);
    }
}

#[actix_rt::test]
async fn the_servers_own_template_makes_the_prompts() {
    let server = ModelServer::start(llama_cpp().reply());
    let settings = ModelSettings {
        api_key: Some("secret".parse().unwrap()),
        ..settings(&server)
    };
    let model = ModelGateway::new(settings).unwrap().model();
    ask_choice(&model, 50).await.outcome.unwrap();
    let requests = server.requests();
    let [chat, template, first, others] = requests.as_slice() else {
        panic!("{requests:?}");
    };
    for request in &requests {
        assert_eq!(request.header("authorization"), Some("Bearer secret"));
        assert_eq!(request.header("host"), chat.header("host"));
    }
    // a follow-up request by message, sent to another path; `E`, the most probable letter, is
    // written
    let (chat, template) = (chat.json(), template.json());
    for at in [0, 1] {
        assert_eq!(template["messages"][at], chat["messages"][at]);
    }
    let message = json!({"role": "assistant", "content": "topic =  D"});
    assert_eq!(template["messages"][2], message);
    assert_eq!(template["continue_final_message"], json!(true));
    assert_eq!(template["add_generation_prompt"], json!(false));
    assert_eq!(
        template["chat_template_kwargs"],
        chat["chat_template_kwargs"]
    );
    let [system, user] = [0, 1].map(|at| chat["messages"][at]["content"].as_str().unwrap());
    let prompts = [" D", " C", " B", " A"]
        .map(|begun| format!("<|system|>{system}<|user|>{user}<|assistant|>topic = {begun}"));
    let mut batch = json!({
        "model": "qwen", "temperature": 0, "n_predict": 1, "n_probs": 100, "cache_prompt": true,
        "prompt": prompts[..1],
        "response_fields": ["index", "id_slot", "completion_probabilities", "tokens_evaluated",
            "tokens_predicted", "timings"],
    });
    assert_eq!(first.json(), batch);
    // all others go where the first was answered
    batch["prompt"] = json!(prompts[1..]);
    batch["id_slot"] = json!(1);
    assert_eq!(others.json(), batch);
}

#[actix_rt::test]
async fn few_letters_are_followed_up_one_by_one_and_the_setting_bounds_them() {
    for (outcomes, follow_ups, expected) in [
        (20, 26, vec![CHAT]),
        (30, 26, vec![CHAT; 3]),
        (40, 26, vec![CHAT, TEMPLATE, BATCH, BATCH]),
        (255, 2, vec![CHAT; 3]),
        (255, 3, vec![CHAT, TEMPLATE, BATCH, BATCH]),
    ] {
        let server = ModelServer::start(llama_cpp().reply());
        let settings = ModelSettings {
            follow_ups,
            ..settings(&server)
        };
        let model = ModelGateway::new(settings).unwrap().model();
        ask_choice(&model, outcomes).await.outcome.unwrap();
        assert_eq!(paths(&server), expected, "{outcomes} {follow_ups}");
    }
}

#[actix_rt::test]
async fn only_llama_cpp_at_an_address_that_ends_in_v1_is_asked_so() {
    for (name, mark) in [
        ("timings", json!(null)),
        ("timings", json!([1])),
        ("system_fingerprint", json!(null)),
        ("system_fingerprint", json!("fp_ollama")),
        ("system_fingerprint", json!("bar-1")),
        ("system_fingerprint", json!(6123)),
    ] {
        let without = move |request: &ReceivedRequest| {
            let (status, mut reply) = llama_cpp().answer(request);
            reply[name] = mark.clone();
            reply["model"] = json!("other-1");
            (status, reply)
        };
        let server = ModelServer::start(ScriptedReply::answering(without));
        ask_choice(&model(&server), 40).await.outcome.unwrap();
        assert_eq!(paths(&server), [CHAT; 4]);
    }
    let server = ModelServer::start(llama_cpp().reply());
    let root = server.url().strip_suffix("/v1").unwrap().to_owned();
    let settings = ModelSettings {
        endpoint: root.parse().unwrap(),
        ..settings(&server)
    };
    let model = ModelGateway::new(settings).unwrap().model();
    ask_choice(&model, 40).await.outcome.unwrap();
    assert_eq!(paths(&server), ["/chat/completions"; 4]);
}

#[actix_rt::test]
async fn an_odd_answer_loses_nothing_and_ends_the_use_of_both_endpoints() {
    let of_batch = |answers: usize| {
        let answer = |index| json!({"index": index, "completion_probabilities": [{"token": "0", "logprob": -0.1}]});
        (0..answers).map(answer).collect::<Vec<_>>()
    };
    let mut swapped = of_batch(2);
    swapped.swap(0, 1);
    let mut empty = of_batch(2);
    empty[1]["completion_probabilities"] = json!([]);
    let mut older = of_batch(2);
    older[1] = json!({"index": 1, "completion_probabilities": [{"content": "0", "probs": []}]});
    let unknown = json!({"error": {"code": 404, "message": "File Not Found"}});
    for (path, status, odd) in [
        (TEMPLATE, 404, unknown.clone()),
        (TEMPLATE, 400, unknown.clone()),
        (TEMPLATE, 501, unknown.clone()),
        (TEMPLATE, 302, unknown.clone()),
        (TEMPLATE, 200, unknown.clone()),
        (TEMPLATE, 200, json!([])),
        (TEMPLATE, 200, json!({"prompt": ["text D"]})),
        (TEMPLATE, 200, json!({"prompt": ""})),
        // the answer's beginning without its space, and with something after it
        (TEMPLATE, 200, json!({"prompt": "text\nC"})),
        (TEMPLATE, 200, json!({"prompt": "text C<|end|>"})),
        (BATCH, 404, unknown.clone()),
        (BATCH, 500, unknown.clone()),
        (BATCH, 200, unknown),
        (BATCH, 200, json!("no JSON of ours")),
        (BATCH, 200, json!(of_batch(1))),
        (BATCH, 200, json!(of_batch(3))),
        (BATCH, 200, json!(swapped)),
        (BATCH, 200, json!(empty)),
        (BATCH, 200, json!(older)),
        (BATCH, 200, json!([1, 2, 3])),
    ] {
        let reply = if odd.is_array() && path == BATCH {
            except_others(odd.clone())
        } else {
            except(path, status, odd.clone())
        };
        let server = ModelServer::start(reply);
        let model = model(&server);
        let expected = by_message(40).await;
        let first = ask_choice(&model, 40).await;
        assert!(is_alike(&first, &expected), "{odd} {first:?}");
        let tried = paths(&server);
        assert!(tried.contains(&path.to_owned()), "{odd} {tried:?}");
        let second = ask_choice(&model, 40).await;
        assert!(is_alike(&second, &expected), "{odd} {second:?}");
        let after = paths(&server).split_off(tried.len());
        assert_eq!(after, [CHAT; 4], "{odd}");
    }
}

#[actix_rt::test]
async fn digits_that_the_batch_does_not_show_are_asked_for_by_message() {
    let llama_cpp = llama_cpp();
    let server = ModelServer::start(ScriptedReply::answering(move |request| {
        let (status, mut answer) = llama_cpp.answer(request);
        let words = json!([{"token": "The", "logprob": -0.1}]);
        match answer.as_array_mut() {
            Some(answers) => {
                for answer in answers {
                    answer["completion_probabilities"] = words.clone();
                }
            }
            None if request.path == BATCH => answer["completion_probabilities"] = words,
            None => {}
        }
        (status, answer)
    }));
    let reply = ask_choice(&model(&server), 40).await;
    assert_eq!(reply.outcome, by_message(40).await.outcome);
    assert_eq!(
        paths(&server),
        [CHAT, TEMPLATE, BATCH, BATCH, CHAT, CHAT, CHAT]
    );
}

#[actix_rt::test]
async fn a_way_that_has_worked_outlasts_an_overload_but_not_another_server() {
    let server = ModelServer::start(llama_cpp().reply());
    let model = model(&server);
    let expected = by_message(40).await;
    let usual = [CHAT, TEMPLATE, BATCH, BATCH];
    let mut seen = 0;
    let mut after = async |reply: ScriptedReply| {
        server.then_always(reply);
        let answered = ask_choice(&model, 40).await;
        assert_eq!(answered.outcome, expected.outcome);
        let paths = paths(&server);
        let new = paths[seen..].to_vec();
        seen = paths.len();
        new
    };
    assert_eq!(after(llama_cpp().reply()).await, usual);
    // a second attempt follows the first 503
    let overloaded = except(BATCH, 503, json!({}));
    let tried = [CHAT, TEMPLATE, BATCH, BATCH, CHAT, CHAT, CHAT];
    assert_eq!(after(overloaded).await, tried);
    assert_eq!(after(llama_cpp().reply()).await, usual);
    let without = except(TEMPLATE, 404, json!({}));
    let tried = [CHAT, TEMPLATE, CHAT, CHAT, CHAT];
    assert_eq!(after(without).await, tried);
    assert_eq!(after(llama_cpp().reply()).await, [CHAT; 4]);
}

#[actix_rt::test]
async fn what_is_read_before_a_batch_takes_too_long_is_an_answer() {
    let first = llama_cpp().reply();
    let template = llama_cpp().reply();
    let never = ScriptedReply::status(200).held();
    let server = ModelServer::start(Script::first([first, template]).then(never));
    let timeout = Duration::from_millis(400);
    let reply = ask_choice(&impatient(&server, timeout), 40).await;
    assert!(reply.outcome.is_ok(), "{reply:?}");
    assert!(
        reply.took < 2 * timeout + Duration::from_secs(1),
        "{reply:?}"
    );
    let unread = reply.report.parsed.codes.unwrap().unread.to_f64();
    assert!(unread > 0.5, "{reply:?}");
    // the batch, and then one letter in the remaining time
    assert_eq!(paths(&server), [CHAT, TEMPLATE, BATCH, CHAT]);
}
