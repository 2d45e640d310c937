//! The unread probability of an answer is stored, and shown only to the operator.

use refract_test_stack::program::{self, Ended};
use refract_test_stack::runs::service;
use refract_test_stack::service::{Backend, Service, TEXT, text};
use refract_test_support::model_server::{ChatModel, Continues, ScriptedReply};
use refract_test_support::on_both;
use serde_json::json;

on_both!(
    what_was_split_evenly_is_shown_with_the_result,
    what_was_read_whole_is_reported_as_whole,
    nothing_is_reported_of_a_model_that_writes_no_codes,
);

/// Asks a question with 30 outcomes, whose codes begin with three letters.
async fn try_thirty_outcomes(
    service: &Service,
    protocol: &str,
    reply: ScriptedReply,
    format: &str,
) -> Ended {
    let options: Vec<_> = (1..=28)
        .map(|n| json!({"label": format!("Shelf {n}")}))
        .collect();
    let prism = json!({"name": "Shelves", "fields": [{"key": "text", "label": "Text"}],
        "questions": [{"key": "shelf", "type": "choice", "text": "Which shelf?", "options": options}]});
    let file = service.file("shelves.json", &prism);
    service.run(&["prism", "create", &file]).await;
    service.model.then_always(reply);
    let url = service.model.url();
    let settings = [
        ("DATABASE_URL", service.database_url.as_str()),
        ("REFRACT_MODEL_URL", url.as_str()),
        ("REFRACT_MODEL_PROTOCOL", protocol),
    ];
    let arguments = ["try", "shelves", "--text", TEXT, "--format", format];
    program::run(service.folder.path(), &settings, &arguments).await
}

/// A model that finds all shelves equally probable, on a server that continues an answer in this
/// way.
fn undecided(continues: Continues) -> ScriptedReply {
    let model = ChatModel {
        on_codes: 0.98,
        continues,
        ..ChatModel::new(vec![1.0; 30])
    };
    model.reply()
}

/// Checks that `try` and `results show` print this line about the read probability, and that no
/// format of the API does.
async fn assert_shown(backend: Backend, protocol: &str, reply: ScriptedReply, read: Option<&str>) {
    let service = service(backend).await;
    let tried = try_thirty_outcomes(&service, protocol, reply.clone(), "table").await;
    let tried = tried.done();
    let made = try_thirty_outcomes(&service, protocol, reply, "json").await;
    let id = text(&made.object(), "id");
    let show = async |format| {
        let arguments = ["results", "show", &id, "--format", format];
        service.run(&arguments).await.done()
    };
    let line_of = |shown: &str| {
        let line = shown.lines().find_map(|line| line.strip_prefix("read "));
        line.map(|words| words.trim().to_owned())
    };
    for shown in [tried, show("table").await] {
        assert_eq!(line_of(&shown).as_deref(), read, "{shown}");
    }
    for format in ["json", "raw", "csv", "tsv", "jsonl"] {
        let shown = show(format).await;
        for words in ["unread", "on_codes", "evenly"] {
            assert!(!shown.contains(words), "{shown}");
        }
    }
}

async fn what_was_split_evenly_is_shown_with_the_result(backend: Backend) {
    let words = "at least 98.0% of each question's probability fell on its codes; at most 66.7% of \
                 that was split evenly";
    let reply = undecided(Continues::Never);
    assert_shown(backend, "chat", reply, Some(words)).await;
}

async fn what_was_read_whole_is_reported_as_whole(backend: Backend) {
    let words = "at least 98.0% of each question's probability fell on its codes; none of that was \
                 split evenly";
    let reply = undecided(Continues::Message);
    assert_shown(backend, "chat", reply, Some(words)).await;
}

async fn nothing_is_reported_of_a_model_that_writes_no_codes(backend: Backend) {
    assert_shown(backend, "systemone", ScriptedReply::answers(), None).await;
}
