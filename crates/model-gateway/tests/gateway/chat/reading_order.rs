//! A long text is read once: one question goes first, and others follow as the server shares it.

use refract_test_support::model_server::{ChatModel, LlamaCppServer, ScriptedReply};

use super::*;

/// A text of about 1,000 tokens.
const LONG: usize = 4_000;
const QUESTIONS: usize = 12;

fn twelve_questions() -> PrismVersion {
    let question = |index| json!({"key": format!("q{index}"), "type": "yes_no", "text": "Is it?"});
    version(&json!((0..QUESTIONS).map(question).collect::<Vec<_>>()))
}

/// A server that reports this many tokens of each prompt as cached.
fn caching(cached: u64) -> ScriptedReply {
    let model = ChatModel::new(vec![3.0, 1.0]);
    ScriptedReply::answering(move |request| {
        let (status, mut answer) = model.answer_to(&request.json());
        answer["usage"]["prompt_tokens_details"] = json!({"cached_tokens": cached});
        (status, answer)
    })
}

/// llama.cpp's server, which reports most of each prompt as cached.
fn slots() -> ScriptedReply {
    let llama_cpp = LlamaCppServer {
        model: ChatModel::new(vec![3.0, 1.0]),
    };
    ScriptedReply::answering(move |request| {
        let (status, mut answer) = llama_cpp.answer(request);
        answer["timings"] = json!({"cache_n": 1_000, "prompt_n": 12});
        (status, answer)
    })
}

/// Asks the questions about a text. Returns how many requests were under way at once, wave by wave.
async fn waves(server: &ModelServer, model: &Model, text_bytes: usize) -> Vec<usize> {
    let version = twelve_questions();
    let submission = submission(&version, &"Hello, it broke. ".repeat(text_bytes / 17), None);
    let before = server.counts().requests;
    let call = model.answer(&version, &submission);
    let watch = async {
        let mut waves = Vec::new();
        let mut answered = before;
        while answered < before + QUESTIONS {
            server.wait_until(|counts| counts.requests > answered).await;
            // the others of the wave arrive
            tokio::time::sleep(Duration::from_millis(50)).await;
            let wave = server.counts().requests - answered;
            waves.push(wave);
            answered += wave;
            server.release(wave);
        }
        waves
    };
    let (reply, waves) = tokio::join!(call, watch);
    assert_eq!(reply.outcome.unwrap().as_slice().len(), QUESTIONS);
    waves
}

#[actix_rt::test]
async fn a_short_text_is_asked_about_at_once() {
    let server = ModelServer::start(caching(0).held());
    assert_eq!(waves(&server, &model(&server), 500).await, [QUESTIONS]);
}

#[actix_rt::test]
async fn more_go_at_once_as_long_as_the_server_shares_the_text() {
    let server = ModelServer::start(caching(1_000).held());
    let model = model(&server);
    let first = waves(&server, &model, LONG).await;
    assert_eq!(first[..3], [1, 1, 2], "{first:?}");
    let second = waves(&server, &model, LONG).await;
    assert!(second.len() < first.len(), "{first:?} {second:?}");
    assert_eq!(second[0], 1);
}

#[actix_rt::test]
async fn a_server_that_keeps_nothing_soon_gets_all_at_once() {
    let server = ModelServer::start(caching(20).held());
    let model = model(&server);
    let first = waves(&server, &model, LONG).await;
    assert_eq!(first, [1, 1, 1, QUESTIONS - 3]);
    assert_eq!(waves(&server, &model, LONG).await, [QUESTIONS]);
}

#[actix_rt::test]
async fn slots_get_one_question_at_a_time() {
    let server = ModelServer::start(slots().held());
    let model = model(&server);
    for _ in 0..2 {
        assert_eq!(waves(&server, &model, LONG).await, [1; QUESTIONS]);
    }
}

#[actix_rt::test]
async fn without_a_report_the_time_shows_whether_the_text_was_read_again() {
    let server = ModelServer::start(ChatModel::new(vec![3.0, 1.0]).reply().held());
    // each answer takes as long as the first
    let model = model(&server);
    let first = waves(&server, &model, LONG).await;
    assert_eq!(first, [1, 1, 1, QUESTIONS - 3]);
    assert_eq!(waves(&server, &model, LONG).await, [QUESTIONS]);
}

#[actix_rt::test]
async fn questions_that_wait_for_others_share_the_time_of_two_attempts() {
    let server = ModelServer::start(slots().held());
    let timeout = Duration::from_millis(300);
    let model = impatient(&server, timeout);
    let version = twelve_questions();
    let submission = submission(&version, &"Hello, it broke. ".repeat(LONG / 17), None);
    // each answer comes in time, but twelve take longer than a call may
    let release = async {
        loop {
            tokio::time::sleep(Duration::from_millis(200)).await;
            server.release(1);
        }
    };
    let reply = tokio::select! {
        reply = model.answer(&version, &submission) => reply,
        () = release => unreachable!("the server is released without end"),
    };
    assert_eq!(reply.outcome.unwrap_err().kind(), "timeout");
    assert!(
        reply.took < 2 * timeout + Duration::from_secs(1),
        "{:?}",
        reply.took
    );
}
