//! The order of checks of `POST /prisms/{prism}/results` (spec 4.1), in pairs.

use refract_test_stack::expected::{ANSWERS, JSON, Saved};
use refract_test_stack::http::{HttpConnection, Request};
use refract_test_stack::order::{
    CallViolation, CheckOutcome, FORMAT, MALFORMED, NO_KEY, TOO_LARGE, UNSUPPORTED, WRONG_KEY,
    assert_first, error, failing_model, ones_and_pairs, problem,
};
use refract_test_stack::service::{Backend, PRISM, Service};
use refract_test_support::model_server::ScriptedReply;
use refract_test_support::on_both;
use serde_json::{Map, Value, json};

on_both!(of_two_violations_the_earlier_one_answers);

/// A valid call, to which tests add faults.
struct Call {
    prism: String,
    query: &'static str,
    media_type: &'static str,
    authorization: Option<String>,
    body: Map<String, Value>,
    after_body: String,
    model_fails: bool,
}

impl Call {
    fn right(service: &Service) -> Self {
        let body = json!({"fields": {"text": text()}, "context": "x"});
        Self {
            prism: PRISM.to_owned(),
            query: "",
            media_type: "application/json",
            authorization: Some(format!("Bearer {}", service.key)),
            body: body.as_object().unwrap().clone(),
            after_body: String::new(),
            model_fails: false,
        }
    }

    fn request(&self) -> Request {
        let body = format!("{}{}", Value::from(self.body.clone()), self.after_body);
        let mut request = Request::post(&format!("/prisms/{}/results{}", self.prism, self.query))
            .header("Content-Type", self.media_type)
            .body(body);
        if let Some(authorization) = &self.authorization {
            request = request.header("Authorization", authorization);
        }
        request
    }
}

/// A text that exceeds the budget with the longest context, and stays far below with a short one.
fn text() -> String {
    "t".repeat(8_000)
}

#[expect(
    clippy::too_many_lines,
    reason = "one list, in the specification's order"
)]
fn violations(stored: String, too_large: String) -> Vec<CallViolation<Call>> {
    let other_prism = "This idempotency key was already used for another prism.";
    vec![
        error("media type", "media type", UNSUPPORTED, |call| {
            call.media_type = "application/xml";
        }),
        error("size of the body", "padding", TOO_LARGE, |call| {
            call.after_body.push_str(&" ".repeat(1_048_576));
        }),
        error("syntax", "syntax", MALFORMED, |call| {
            call.after_body.push('}');
        }),
        problem(
            "prism",
            "prism: String must contain at most 64 character(s)",
            |call| call.prism = "p".repeat(65),
        ),
        problem("query", FORMAT, |call| call.query = "?format=xml"),
        problem("ref", "ref: Expected string, received number", |call| {
            call.body.insert("ref".to_owned(), json!(5));
        }),
        problem(
            "version",
            "version: Number must be greater than or equal to 1",
            |call| {
                call.body.insert("version".to_owned(), json!(0));
            },
        ),
        error("no key", "authorization", NO_KEY, |call| {
            call.authorization = None;
        }),
        error("unknown key", "authorization", WRONG_KEY, |call| {
            call.authorization = Some(format!("Bearer rk_{}", "A".repeat(32)));
        }),
        error(
            "unknown prism",
            "prism",
            (404, "not_found", "Prism not found"),
            |call| "nothing".clone_into(&mut call.prism),
        ),
        error(
            "archived prism",
            "prism",
            (404, "not_found", "Prism not found"),
            |call| "archived".clone_into(&mut call.prism),
        ),
        error(
            "idempotency key of another prism",
            "idempotency key",
            (409, "conflict", other_prism),
            |call| {
                let key = "of another prism";
                call.body.insert("idempotency_key".to_owned(), json!(key));
            },
        ),
        CallViolation {
            name: "idempotency key of a stored result",
            place: "idempotency key",
            outcome: CheckOutcome::Stored(stored),
            make: |call| {
                let key = "of a stored result";
                call.body.insert("idempotency_key".to_owned(), json!(key));
            },
        },
        error(
            "unknown version",
            "version",
            (404, "not_found", "Prism version not found"),
            |call| {
                call.body.insert("version".to_owned(), json!(99));
            },
        ),
        error(
            "missing field",
            "missing field",
            (400, "validation_failed", "Missing fields: text"),
            |call| {
                let fields = call.body["fields"].as_object_mut().unwrap();
                fields.remove("text");
            },
        ),
        error(
            "unknown field",
            "unknown field",
            (400, "validation_failed", "Unknown fields: subject"),
            |call| {
                let fields = call.body["fields"].as_object_mut().unwrap();
                fields.insert("subject".to_owned(), json!(""));
            },
        ),
        CallViolation {
            name: "size estimate",
            place: "context",
            outcome: CheckOutcome::Error(400, "validation_failed", too_large),
            make: |call| {
                let context = "x".repeat(100_000);
                call.body.insert("context".to_owned(), json!(context));
            },
        },
        CallViolation {
            name: "the model",
            place: "model",
            outcome: CheckOutcome::Failed,
            make: |call| call.model_fails = true,
        },
    ]
}

async fn of_two_violations_the_earlier_one_answers(backend: Backend) {
    let service = Service::start(backend).await;
    let archived = service.another_prism("Archived").await;
    service.run(&["prism", "archive", &archived]).await.done();
    let other = service.another_prism("Other").await;
    let body = json!({"text": "", "idempotency_key": "of another prism"});
    let held = service.send(service.create_request(&other, &body)).await;
    assert_eq!(held.status, 200);
    let body = json!({"text": "", "idempotency_key": "of a stored result"});
    let stored = service.create(&body).await;
    let right = Call::right(&service).request();
    let answer = service.send(right).await;
    answer.assert(200, JSON, &Saved::of(&answer).envelope(ANSWERS));

    let asked = service.model.requests().pop().unwrap().text();
    // the model saw a context of one character; the longest has 99,999 more
    let tokens = (estimated_characters(&asked) + 99_999).div_ceil(4);
    let too_large = format!(
        "Request too large: about {tokens} tokens of fields, context and the longest question, \
         the limit is 26000"
    );
    let violations = violations(stored.body, too_large);
    let made = service.results_made().await;
    let sets = ones_and_pairs(&violations);
    for set in &sets {
        let mut call = Call::right(&service);
        for violation in set {
            (violation.make)(&mut call);
        }
        service.model.then_always(if call.model_fails {
            failing_model()
        } else {
            ScriptedReply::answers()
        });
        let asked = service.asked();
        let mut connection = HttpConnection::open(service.api()).await;
        let answer = connection
            .call_of_unread_body(&call.request().bytes())
            .await;
        assert_first(set, &answer);
        let is_asked = matches!(set[0].outcome, CheckOutcome::Failed);
        assert_eq!(service.asked() - asked, usize::from(is_asked));
    }
    assert!(sets.len() > 120, "{}", sets.len());
    assert_eq!(service.results_made().await, made + 1, "the failed one");
}

/// The characters that the size estimate counts, `{"state": …, "question": …}` with the longest
/// question, taken from the request that the model received.
pub(crate) fn estimated_characters(request: &str) -> usize {
    let raw: std::collections::HashMap<&str, &serde_json::value::RawValue> =
        serde_json::from_str(request).unwrap();
    let questions: std::collections::HashMap<&str, &serde_json::value::RawValue> =
        serde_json::from_str(raw["questions"].get()).unwrap();
    let characters = |json: &serde_json::value::RawValue| json.get().chars().count();
    let longest = questions.values().map(|question| characters(question));
    let frame = r#"{"state":,"question":}"#.len();
    frame + characters(raw["state"]) + longest.max().unwrap()
}
