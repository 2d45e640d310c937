//! `refract check --orders`: choices asked again with their options in other orders.

use refract_test_stack::runs::GOLD;
use refract_test_stack::runs::service;
use refract_test_stack::service::{Backend, PRISM};
use refract_test_support::model_server::ScriptedReply;
use refract_test_support::on_both;
use serde_json::json;

use crate::check::objects;

on_both!(
    a_model_that_prefers_the_first_option_is_found_out,
    failures_in_other_orders_are_counted_and_reported,
);

async fn a_model_that_prefers_the_first_option_is_found_out(backend: Backend) {
    let service = service(backend).await;
    service.write("gold.csv", GOLD);
    let arguments = ["--orders", "100", "--json"];
    let ended = service.check("gold.csv", &arguments).await;
    assert!(
        ended
            .stderr
            .contains("asking about 3 rows again with the options in 5 other orders"),
        "{}",
        ended.stderr
    );
    let lines = ended.lines();
    assert_eq!(service.asked(), 3 + 15);
    // four of the five other orders begin with another option
    let orders = lines.last().unwrap();
    assert_eq!(
        (&orders["question"], &orders["orders"]),
        (&json!("topic"), &json!(5))
    );
    assert_eq!(
        (&orders["comparisons"], &orders["flip_rate"]),
        (&json!(15), &json!(0.8))
    );
    let near = |key: &str, expected: f64| {
        let found = orders[key].as_f64().unwrap();
        assert!((found - expected).abs() < 1e-9, "{key}: {orders}");
    };
    near("total_variation", 0.5);
    near("largest_total_variation", 0.625);
    assert!(
        orders["flip_rate_low"].as_f64() < Some(0.8)
            && orders["flip_rate_high"].as_f64() > Some(0.8)
    );
    // only the choice is asked, with the built-in outcomes last
    let requests = service.model.requests();
    for request in &requests[3..] {
        let body = request.text();
        assert!(
            !body.contains("angry?") && !body.contains("urgent"),
            "{body}"
        );
        let place = |key: &str| body.find(&format!("\"{key}\":")).unwrap();
        let own = ["billing", "delivery", "product"].map(place);
        assert!(own.iter().all(|own| *own < place("other")), "{body}");
        assert!(place("other") < place("insufficient_information"), "{body}");
    }
    let saved = service.run(&["results", "export", PRISM, "--format", "jsonl"]);
    assert_eq!(
        objects(&saved.await.done()).len(),
        3,
        "nothing of it is saved"
    );
    // the saved answers are compared with one new order
    let words = service.check("gold.csv", &["--orders", "1"]).await.done();
    assert_eq!(service.asked(), 18 + 3);
    let row = words.lines().last().unwrap();
    let cells: Vec<_> = row.split_whitespace().collect();
    assert_eq!(cells[..4], ["topic", "1", "3", "1.000"], "{words}");
    assert!(
        row.ends_with("  0.625 on average, 0.625 at most"),
        "{words}"
    );
}

async fn failures_in_other_orders_are_counted_and_reported(backend: Backend) {
    let service = service(backend).await;
    service.write("gold.csv", GOLD);
    service.check("gold.csv", &[]).await.done();
    service.model.then_once(ScriptedReply::status(400));
    let ended = service
        .check("gold.csv", &["--orders", "2", "--json"])
        .await;
    assert!(
        ended
            .stderr
            .contains("\nother orders: 1 × The model server answered with status 400."),
        "{}",
        ended.stderr
    );
    assert_eq!(ended.lines().last().unwrap()["comparisons"], 5);
    // an unavailable model is not asked forever
    service.write(
        "many.csv",
        GOLD.to_owned() + &"more,,billing,,\n".repeat(60),
    );
    service.check("many.csv", &[]).await.done();
    service.model.then_always(ScriptedReply::status(400));
    let ended = service
        .check(
            "many.csv",
            &["--orders", "5", "--concurrency", "1", "--json"],
        )
        .await;
    assert_eq!(ended.code, Some(1));
    assert!(
        ended.stderr.ends_with(
            "error: other orders were not all asked: the model failed 51 times in a row: The model \
             server answered with status 400.\n"
        ),
        "{}",
        ended.stderr
    );
    assert_eq!(
        objects(&ended.stdout).last().unwrap()["flip_rate"],
        json!(null)
    );
}

#[tokio::test]
async fn a_prism_without_a_choice_has_no_order_to_change() {
    let service = service(Backend::Sqlite).await;
    let prism = r#"{"name": "Mood", "fields": [{"key": "text", "label": "T"}],
        "questions": [{"key": "angry", "type": "yes_no", "text": "Is the writer angry?"}]}"#;
    service.write("mood.json", prism);
    service.run(&["prism", "create", "mood.json"]).await.done();
    service.write("gold.csv", "text,expected_angry\nhello,yes\n");
    let ended = service
        .run(&["check", "mood", "gold.csv", "--orders", "3"])
        .await;
    assert!(
        ended
            .stderr
            .contains("--orders: the prism has no Choice question"),
        "{}",
        ended.stderr
    );
    ended.done();
    assert_eq!(service.asked(), 1);
}
