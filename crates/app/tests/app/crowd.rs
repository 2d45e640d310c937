//! Many people who sign in to the app at the same time.

use refract_test_stack::browser::{PASSWORD, joined};
use refract_test_stack::http::Request;
use refract_test_stack::service::{Backend, Service};
use refract_test_support::on_both;
use tokio::task::JoinSet;

on_both!(who_finds_no_place_to_sign_in_is_asked_to_come_back);

/// Far more than may queue for a password check.
const CROWD: usize = 120;

async fn who_finds_no_place_to_sign_in_is_asked_to_come_back(backend: Backend) {
    let service = Service::start(backend).await;
    let mut ada = joined(&service, "ada@example.com", "owner").await;
    let app = service.nodes[0].app;
    let mut crowd = JoinSet::new();
    for number in 0..CROWD {
        let email = format!("nobody-{number}@example.com");
        let request = Request::outside("POST", "/sign-in")
            .header("Sec-Fetch-Site", "same-origin")
            .header("Content-Type", "application/x-www-form-urlencoded")
            .body(format!("email={email}&password=not+hers&then=%2Fkeys"));
        crowd.spawn(async move { (email, request.send(app).await) });
    }
    let mut sent_back = 0;
    for (email, answer) in crowd.join_all().await {
        // a wrong password, or too many addresses from one network
        if matches!(answer.status, 401 | 429) {
            continue;
        }
        sent_back += 1;
        assert_eq!(answer.status, 503, "{answer:?}");
        assert_eq!(answer.header("retry-after"), Some("5"));
        let kept = [format!("value=\"{email}\""), "value=\"/keys\"".to_owned()];
        assert!(kept.iter().all(|part| answer.body.contains(part)));
        assert!(answer.body.contains("try again in a few seconds"));
        assert!(!answer.body.contains("not hers"), "{}", answer.body);
    }
    assert!(sent_back > 0);
    // the queue is empty again, and the next person with a known browser can sign in
    ada.post("/sign-out", &[]).await;
    let answer = ada.sign_in("ada@example.com", PASSWORD);
    assert_eq!(answer.await.status, 303);
}
