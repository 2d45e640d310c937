//! The order of checks of the two endpoints for a single result (spec 4.2, 4.3), in pairs, with the
//! checks that precede both.

use refract_test_stack::expected::{JSON, Saved, retried_as};
use refract_test_stack::http::{HttpConnection, Request};
use refract_test_stack::order::{
    CallViolation, CheckOutcome, FORMAT, INVALID_UUID, MALFORMED, NO_KEY, NO_RESULT, TOO_LARGE,
    UNSUPPORTED, WRONG_KEY, assert_first, error, failing_model, ones_and_pairs, problem,
};
use refract_test_stack::service::{Backend, PRISM, Service, TEXT};
use refract_test_support::on_both;
use serde_json::json;

on_both!(
    of_two_violations_of_a_retry_the_earlier_one_answers,
    of_two_violations_of_a_read_the_earlier_one_answers,
);

/// The kind of result that a call names.
#[derive(Clone, Copy)]
enum About {
    Failed,
    Answered,
    Retried,
    Unknown,
    Nonsense,
}

/// A valid call about a result, to which tests add faults.
struct Call {
    about: About,
    is_archived: bool,
    query: &'static str,
    media_type: Option<&'static str>,
    body: String,
    authorization: Option<String>,
}

impl Call {
    fn right(service: &Service) -> Self {
        Self {
            about: About::Failed,
            is_archived: false,
            query: "",
            media_type: None,
            body: String::new(),
            authorization: Some(format!("Bearer {}", service.key)),
        }
    }

    fn dress(&self, mut request: Request) -> Request {
        if let Some(media_type) = self.media_type {
            request = request
                .header("Content-Type", media_type)
                .body(self.body.clone());
        }
        if let Some(authorization) = &self.authorization {
            request = request.header("Authorization", authorization);
        }
        request
    }
}

/// The ids of one prism's results.
struct Results {
    failed: String,
    answered: String,
    retried: String,
}

impl Results {
    async fn of(service: &Service, prism: &str) -> Self {
        let mut ids = Vec::new();
        for fails in [true, true, false] {
            if fails {
                service.model.then_once(failing_model());
            }
            let body = json!({"text": TEXT});
            let made = service.send(service.create_request(prism, &body)).await;
            ids.push(Saved::of(&made).id);
        }
        let [failed, retried, answered] = ids.try_into().unwrap();
        assert_eq!(service.retry(&retried).await.status, 200);
        Self {
            failed,
            answered,
            retried,
        }
    }

    fn id(&self, about: About) -> &str {
        match about {
            About::Failed => &self.failed,
            About::Answered => &self.answered,
            About::Retried => &self.retried,
            About::Unknown => "01234567-89ab-7def-8123-456789abcdef",
            About::Nonsense => "nonsense",
        }
    }
}

/// The faults that both endpoints check, in order.
fn shared_violations() -> Vec<CallViolation<Call>> {
    vec![
        problem("id", INVALID_UUID, |call| call.about = About::Nonsense),
        problem("query", FORMAT, |call| {
            call.query = "?format=csv&format=tsv";
        }),
        error("no key", "authorization", NO_KEY, |call| {
            call.authorization = None;
        }),
        error("unknown key", "authorization", WRONG_KEY, |call| {
            call.authorization = Some(format!("Bearer rk_{}", "A".repeat(32)));
        }),
        error("unknown result", "id", NO_RESULT, |call| {
            call.about = About::Unknown;
        }),
    ]
}

fn retry_violations() -> Vec<CallViolation<Call>> {
    let archived = "This prism is archived, so it cannot answer.";
    let mut violations: Vec<CallViolation<Call>> = vec![
        error("media type", "media type", UNSUPPORTED, |call| {
            call.media_type = Some("application/xml");
        }),
        error("size of the body", "size", TOO_LARGE, |call| {
            call.media_type.get_or_insert("application/json");
            call.body.push_str(&" ".repeat(1_048_577));
        }),
        error("syntax", "syntax", MALFORMED, |call| {
            call.media_type.get_or_insert("application/json");
            call.body.push('{');
        }),
        error("json without a body", "syntax", MALFORMED, |call| {
            call.media_type.get_or_insert("application/json");
        }),
    ];
    violations.extend(shared_violations());
    violations.extend([
        error(
            "not failed",
            "id",
            (409, "conflict", "Only a failed result can be retried."),
            |call: &mut Call| call.about = About::Answered,
        ),
        // the test adds the message, since it knows the new id
        error("already retried", "id", (409, "conflict", ""), |call| {
            call.about = About::Retried;
        }),
        error(
            "archived prism",
            "prism",
            (404, "not_found", archived),
            |call| call.is_archived = true,
        ),
        CallViolation {
            name: "the model",
            place: "model",
            outcome: CheckOutcome::Failed,
            make: |_| {},
        },
    ]);
    violations
}

async fn of_two_violations_of_a_retry_the_earlier_one_answers(backend: Backend) {
    let service = Service::start(backend).await;
    let other = service.another_prism("Archived").await;
    let active = Results::of(&service, PRISM).await;
    let archived = Results::of(&service, &other).await;
    service.run(&["prism", "archive", &other]).await.done();
    service.model.then_always(failing_model());
    let mut new_ids = Vec::new();
    for results in [&active, &archived] {
        new_ids.push(retried_as(&service.retry(&results.retried).await));
    }
    let (asked, made) = (service.asked(), service.results_made().await);
    let violations = retry_violations();
    let sets = ones_and_pairs(&violations);
    for set in &sets {
        let mut call = Call::right(&service);
        for violation in set {
            (violation.make)(&mut call);
        }
        let results = if call.is_archived { &archived } else { &active };
        let id = results.id(call.about);
        let target = format!("/results/{id}/retry{}", call.query);
        let request = call.dress(Request::post(&target));
        let mut connection = HttpConnection::open(service.api()).await;
        let answer = connection.call_of_unread_body(&request.bytes()).await;
        if set[0].name == "already retried" {
            let new = &new_ids[usize::from(call.is_archived)];
            let message = format!("This result was already retried as {new}.");
            answer.assert_error(409, "conflict", &message);
        } else {
            assert_first(set, &answer);
        }
    }
    assert!(sets.len() > 70, "{}", sets.len());
    // only the call whose sole fault is the model's failure reached the model
    assert_eq!(service.asked(), asked + 1);
    assert_eq!(service.results_made().await, made + 1);
}

async fn of_two_violations_of_a_read_the_earlier_one_answers(backend: Backend) {
    let service = Service::start(backend).await;
    let results = Results::of(&service, PRISM).await;
    let asked = service.asked();
    let violations = shared_violations();
    for set in ones_and_pairs(&violations) {
        let mut call = Call::right(&service);
        // the body of a read is never checked
        call.media_type = Some("application/xml");
        "{".clone_into(&mut call.body);
        for violation in &set {
            (violation.make)(&mut call);
        }
        let target = format!("/results/{}{}", results.id(call.about), call.query);
        let answer = service.send(call.dress(Request::get(&target))).await;
        assert_first(&set, &answer);
    }
    let mut call = Call::right(&service);
    call.media_type = Some("application/xml");
    let target = format!("/results/{}", results.answered);
    let answer = service.send(call.dress(Request::get(&target))).await;
    answer.assert(200, JSON, &service.read(&results.answered, "").await.body);
    assert_eq!(service.asked(), asked);
}

#[tokio::test]
async fn a_route_that_is_none_is_answered_before_anything_else_is_looked_at() {
    let service = Service::start(Backend::Sqlite).await;
    let create = format!("/prisms/{PRISM}/results");
    let id = "01234567-89ab-7def-8123-456789abcdef";
    let (read, retry) = (format!("/results/{id}"), format!("/results/{id}/retry"));
    for (method, target) in [
        ("GET", create.clone()),
        ("PUT", create.clone()),
        ("OPTIONS", create.clone()),
        ("post", create.clone()),
        ("POST", read.clone()),
        ("DELETE", read.clone()),
        ("OPTIONS", read.clone()),
        ("PATCH", read.clone()),
        ("GET", retry.clone()),
        ("POST", format!("{create}/")),
        ("POST", format!("/{create}")),
        ("GET", format!("{read}/")),
        ("POST", format!("{retry}/")),
        ("GET", "/results".to_owned()),
        ("GET", "/results/".to_owned()),
        ("GET", "/prisms".to_owned()),
        ("GET", "/".to_owned()),
        ("GET", String::new()),
        ("GET", "/healthz".to_owned()),
    ] {
        let request = Request::new(method, &format!("{target}?format=xml"))
            .header("Content-Type", "application/xml")
            .body("{");
        let answer = service.send(request).await;
        assert_eq!(answer.status, 404, "{method} {target}");
        answer.assert_error(404, "not_found", "Route not found");
    }
    for target in ["/", "/results", "/v2/results/x", "/healthz", "/metrics"] {
        let answer = service.send(Request::outside("GET", target)).await;
        answer.assert_error(404, "not_found", "Route not found");
    }
    let mut connection = HttpConnection::open(service.api()).await;
    let head = Request::new("HEAD", &read).header("Connection", "close");
    connection.send(&head.bytes()).await;
    let answer = connection.rest().await;
    assert!(answer.starts_with("HTTP/1.1 404 "), "{answer}");
    assert!(answer.ends_with("\r\n\r\n"), "{answer}");
}
