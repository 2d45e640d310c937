//! `refract model check`: how many outcomes and questions a server takes, `--quick`, wrong addresses
//! and odd numbers.

use refract_test_stack::knowing_models::{knowing_chat, knowing_system_one};
use refract_test_stack::program::{Ended, run};
use refract_test_support::model_server::{
    ModelServer, ReceivedRequest, Script, ScriptedReply, system_one_answers,
};
use serde_json::{Value, json};

/// Runs `refract model check` with more arguments against a server at this address.
async fn check(url: &str, protocol: &str, more: &[&str]) -> Ended {
    let folder = tempfile::tempdir().unwrap();
    let settings = [
        ("REFRACT_MODEL_URL", url),
        ("REFRACT_MODEL_PROTOCOL", protocol),
        ("REFRACT_MODEL_API_KEY", "sk-sentinel"),
    ];
    let arguments = [&["model", "check"], more].concat();
    run(folder.path(), &settings, &arguments).await
}

/// The most outcomes of a question in a System One request, and its number of questions.
fn sizes(request: &ReceivedRequest) -> (usize, usize) {
    let body = request.json();
    let questions = body["questions"].as_object().unwrap();
    let outcomes = questions
        .values()
        .filter_map(|question| question["criteria"].as_object());
    let most = outcomes.map(serde_json::Map::len).max();
    (most.unwrap_or_default(), questions.len())
}

/// A System One server that answers up to these many outcomes and questions and refuses others with
/// a status and its own words.
fn capped(most_outcomes: usize, most_questions: usize) -> ScriptedReply {
    ScriptedReply::answering(move |request| {
        let (outcomes, questions) = sizes(request);
        if outcomes > most_outcomes || questions > most_questions {
            let words = format!("at most {most_outcomes}, {most_questions}; sk-sentinel");
            return (422, json!({"detail": words}));
        }
        (200, system_one_answers(request))
    })
}

#[tokio::test]
async fn the_most_outcomes_that_a_server_takes_are_found() {
    for (cap, taken, refused) in [(128, 128, 255), (100, 64, 128), (26, 26, 64), (20, 20, 26)] {
        let server = ModelServer::start(capped(cap, 100));
        let ended = check(&server.url(), "systemone", &["--json"]).await;
        assert_eq!(ended.code, Some(0), "{ended:?}");
        let sentence = format!(
            "It takes {taken} outcomes a question, not more. `choice of {refused}` failed: The \
             model server answered with status 422. The server says: \"at most {cap}, 100; [the \
             API key]\". Prisms with up to {taken} outcomes a question are served, built-in ones \
             included.\n"
        );
        assert!(ended.stderr.contains(&sentence), "{sentence}{ended:?}");
        assert!(ended.stderr.contains("It takes 100 questions a request.\n"));
        let lines = ended.lines();
        assert_eq!(lines.len(), 5);
        assert_eq!(lines[4]["call"], format!("choice of {taken}"));
        assert_eq!(lines[4]["outcomes"], taken);
    }
}

#[tokio::test]
async fn hosts_that_name_their_limits_in_known_words_are_tried_with_less() {
    for (words, sentence) in [
        ("Too many choices", "fewer options in one question"),
        (
            "parcel must have 2 to 26 entries",
            "fewer options in one question",
        ),
        ("max_tokens_exceeded", "too long for the model's context"),
    ] {
        let server = ModelServer::start(ScriptedReply::answering(move |request| {
            let (outcomes, _) = sizes(request);
            if outcomes > 26 {
                return (400, json!({"detail": words}));
            }
            (200, system_one_answers(request))
        }));
        let ended = check(&server.url(), "systemone", &[]).await;
        assert_eq!(ended.code, Some(0), "{ended:?}");
        let taken = "It takes 26 outcomes a question, not more. `choice of 64` failed: ";
        assert!(ended.stderr.contains(taken), "{ended:?}");
        assert!(ended.stderr.contains(sentence), "{ended:?}");
    }
    // a request of too many questions is asked in parts: the limit is what one request takes
    let server = ModelServer::start(ScriptedReply::answering(|request| {
        let (_, questions) = sizes(request);
        if questions > 64 {
            return (422, json!({"detail": "at most 64 questions"}));
        }
        (200, system_one_answers(request))
    }));
    let ended = check(&server.url(), "systemone", &[]).await;
    let words = "It takes 64 questions a request, not more. Set \
                 REFRACT_MODEL_REQUEST_QUESTIONS=64.\n";
    assert!(ended.stderr.contains(words), "{ended:?}");
    assert_eq!(ended.code, Some(0));
}

#[tokio::test]
async fn the_most_questions_that_a_server_takes_are_found() {
    for (cap, taken) in [(64, 64), (50, 32), (2, 2)] {
        let server = ModelServer::start(capped(255, cap));
        let ended = check(&server.url(), "systemone", &[]).await;
        assert_eq!(ended.code, Some(0), "{ended:?}");
        let sentence = format!("It takes {taken} questions a request, not more.");
        assert!(ended.stderr.contains(&sentence), "{sentence} {ended:?}");
        let advice = format!("Set REFRACT_MODEL_REQUEST_QUESTIONS={taken}.\n");
        assert!(ended.stderr.contains(&advice), "{ended:?}");
        assert!(ended.stderr.contains("It takes 255 outcomes a question.\n"));
    }
}

#[tokio::test]
async fn a_server_that_answers_only_the_first_question_cannot_serve() {
    let server = ModelServer::start(ScriptedReply::with(|request| {
        let mut reply = system_one_answers(request);
        let answers = reply["answers"].as_object_mut().unwrap();
        let first = answers.keys().next().unwrap().clone();
        answers.retain(|key, _| *key == first);
        reply
    }));
    let ended = check(&server.url(), "systemone", &[]).await;
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let words = "error: this model cannot serve (2 questions): The model gave no usable answer";
    assert!(ended.stderr.contains(words), "{ended:?}");
}

#[tokio::test]
async fn a_server_that_takes_everything_is_described_in_one_sentence() {
    let server = ModelServer::start(knowing_system_one());
    let ended = check(&server.url(), "systemone", &[]).await;
    let words = "It takes 255 outcomes a question and 100 questions a request.\n";
    assert!(ended.stderr.contains(words), "{ended:?}");
    // over chat, each question is a request
    let server = ModelServer::start(knowing_chat());
    let ended = check(&server.url(), "chat", &[]).await;
    let words = "It takes 255 outcomes a question.\n";
    assert!(ended.stderr.contains(words), "{ended:?}");
}

#[tokio::test]
async fn each_call_is_reported_as_it_ends() {
    let server = ModelServer::start(capped(128, 100));
    let ended = check(&server.url(), "systemone", &[]).await;
    let mut lines = ended.stderr.lines();
    for (call, end) in [
        ("yes_no", "answered in "),
        ("scale of 3", "answered in "),
        ("choice of 4", "answered in "),
        ("choice of 4, reversed", "answered in "),
        (
            "choice of 255",
            "The model server answered with status 422.",
        ),
        ("choice of 128", "answered in "),
        ("100 questions", "answered in "),
    ] {
        let line = lines.next().unwrap();
        assert!(line.starts_with(&format!("{call}: {end}")), "{line}");
    }
}

#[tokio::test]
async fn a_quick_check_asks_one_small_call_of_each_type() {
    for (protocol, reply) in [
        ("systemone", knowing_system_one()),
        ("chat", knowing_chat()),
    ] {
        let server = ModelServer::start(reply);
        let ended = check(&server.url(), protocol, &["--quick", "--json"]).await;
        assert!(!ended.stderr.contains("It takes"), "{ended:?}");
        assert!(
            ended.stderr.ends_with("The model can serve.\n"),
            "{ended:?}"
        );
        let lines = ended.lines();
        let calls: Vec<&str> = lines
            .iter()
            .map(|line| line["call"].as_str().unwrap())
            .collect();
        assert_eq!(calls, ["yes_no", "scale of 3", "choice of 4"]);
        assert_eq!(server.counts().requests, 3);
    }
}

#[tokio::test]
async fn a_draw_that_is_not_answered_leaves_a_server_usable() {
    let answered = ModelServer::start(knowing_chat());
    let ended = check(&answered.url(), "chat", &["--json"]).await.lines();
    // the requests up to the first draw, then refusals
    let before = ended[..5]
        .iter()
        .map(|line| line["requests"].as_u64().unwrap());
    let before = usize::try_from(before.sum::<u64>()).unwrap();
    let known = std::iter::repeat_n(knowing_chat(), before);
    let script = Script::first(known).then(ScriptedReply::status(401));
    let server = ModelServer::start(script);
    let ended = check(&server.url(), "chat", &["--json"]).await;
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let words = "`draw from 20` was not answered, so its distance is unknown: The model server \
                 answered with status 401. The server says: \"status 401\".\n";
    assert!(ended.stderr.contains(words), "{ended:?}");
    assert_eq!(ended.lines().len(), 5);
}

/// A server that has its endpoint at this path alone.
fn at(path: &'static str) -> ModelServer {
    ModelServer::start(ScriptedReply::answering(move |request| {
        if request.path == path {
            (200, system_one_answers(request))
        } else {
            (404, json!({"detail": "Not Found"}))
        }
    }))
}

#[tokio::test]
async fn an_address_that_lacks_v1_or_has_it_in_vain_is_named_with_the_right_one() {
    for (path, given, right) in [
        ("/v1/systemone", "", "/v1"),
        ("/systemone", "/v1", ""),
        ("/api/v1/systemone", "/api/", "/api/v1"),
    ] {
        let server = at(path);
        let root = server.url().replace("/v1", "");
        let line = check(&format!("{root}{given}"), "systemone", &[])
            .await
            .refused();
        let words = format!(
            "error: this model cannot serve (yes_no): The model server answered with status 404. \
             The server says: \"Not Found\". It answers at {root}{right}: set REFRACT_MODEL_URL to \
             that."
        );
        assert_eq!(line, words);
    }
    // the whole address is asked as it is
    let server = at("/v1/systemone");
    let ended = check(
        &format!("{}/systemone", server.url()),
        "systemone",
        &["--quick"],
    )
    .await;
    assert_eq!(ended.code, Some(0), "{ended:?}");
}

#[tokio::test]
async fn numbers_that_are_stored_as_sent_but_odd_are_pointed_out() {
    let odd = |change: fn(&mut Value)| {
        ModelServer::start(ScriptedReply::with(move |request| {
            let mut reply = system_one_answers(request);
            let answers = reply["answers"].as_object_mut().unwrap();
            answers.values_mut().for_each(change);
            reply
        }))
    };
    let double = odd(|answer| {
        let shares = answer["probabilities"].as_object_mut();
        for share in shares.into_iter().flat_map(|shares| shares.values_mut()) {
            *share = json!(share.as_f64().unwrap() / 2.0);
        }
    });
    let ended = check(&double.url(), "systemone", &["--quick"]).await;
    let words = "The answer to `choice of 4` is stored as it was sent: its probabilities sum to \
                 0.50.\n";
    assert!(ended.stderr.contains(words), "{ended:?}");
    assert!(ended.stderr.contains("`scale of 3` is stored"), "{ended:?}");
    let second = odd(|answer| {
        if answer["type"] == "choice" {
            answer["choice"] = json!("other");
        }
    });
    let ended = check(&second.url(), "systemone", &["--quick"]).await;
    let words = "The answer to `choice of 4` is stored as it was sent: it names another outcome \
                 than the most probable one.\n";
    assert!(ended.stderr.contains(words), "{ended:?}");
    assert_eq!(ended.code, Some(0));
}
