//! Keys that are accepted only from some networks, and how long keys are still accepted.

use chrono::{TimeDelta, Utc};
use refract_test_stack::http::answer::HttpAnswer;
use refract_test_stack::http::{Request, within_patience};
use refract_test_stack::order::WRONG_KEY;
use refract_test_stack::service::{Backend, PRISM, Service, Setup, TEXT, text};
use refract_test_support::on_both;
use serde_json::{Value, json};

on_both!(
    behind_a_proxy_a_key_is_accepted_from_its_networks_alone,
    without_a_trusted_proxy_the_connection_has_the_clients_address,
    the_days_of_keys_in_use_are_exported,
);

/// The answers to a create, a read and a retry with a key, as a proxy passes them on.
async fn answers(service: &Service, key: &str, forwarded: Option<&str>) -> [HttpAnswer; 3] {
    let id = "01234567-89ab-7def-8123-456789abcdef";
    let requests = [
        Request::post(&format!("/prisms/{PRISM}/results"))
            .json(&json!({"text": TEXT, "version": 9})),
        Request::get(&format!("/results/{id}")),
        Request::post(&format!("/results/{id}/retry")),
    ];
    let send = async |request: Request| {
        let request = request.bearer(key);
        let request = match forwarded {
            Some(chain) => request.header("X-Forwarded-For", chain),
            None => request,
        };
        service.send(request).await
    };
    let [create, read, retry] = requests;
    [send(create).await, send(read).await, send(retry).await]
}

/// Checks whether a key is accepted. A refused key gets the answer of a revoked one.
async fn assert_accepted(service: &Service, key: &str, forwarded: Option<&str>, expected: bool) {
    for answer in answers(service, key, forwarded).await {
        if expected {
            // the version or the result is unknown, which is checked after the key
            assert_eq!(answer.status, 404, "{forwarded:?}: {answer:?}");
        } else {
            answer.assert_error(WRONG_KEY.0, WRONG_KEY.1, WRONG_KEY.2);
        }
    }
}

async fn listed(service: &Service, id: &str) -> Value {
    let keys = service.run(&["key", "list", "--json"]).await.lines();
    keys.into_iter().find(|key| key["id"] == id).unwrap()
}

/// Waits until the last use of a key is saved, and returns the key as it is listed then.
async fn used(service: &Service, id: &str) -> Value {
    within_patience(async {
        loop {
            let key = listed(service, id).await;
            if !key["last_used_at"].is_null() {
                return key;
            }
            tokio::time::sleep(std::time::Duration::from_millis(200)).await;
        }
    })
    .await
}

async fn behind_a_proxy_a_key_is_accepted_from_its_networks_alone(backend: Backend) {
    let setup = Setup {
        settings: &[("REFRACT_APP_TRUSTED_PROXIES", "127.0.0.0/8")],
        ..Setup::default()
    };
    let service = Service::with(backend, setup).await;
    let made = service
        .run(&[
            "key",
            "create",
            "--network",
            "203.0.113.0/24",
            "--network",
            "2001:db8::/32",
        ])
        .await
        .object();
    let (key, id) = (text(&made, "key"), text(&made, "id"));
    for (forwarded, expected) in [
        (Some("203.0.113.7"), true),
        (Some("::ffff:203.0.113.7"), true),
        (Some("2001:db8::7"), true),
        (Some("198.51.100.7, 203.0.113.7, 127.0.0.9"), true),
        // the client wrote the first address itself
        (Some("203.0.113.7, 198.51.100.7"), false),
        (Some("203.0.114.7"), false),
        (Some("2001:db9::7"), false),
        (Some("unknown"), false),
        (None, false),
    ] {
        assert_accepted(&service, &key, forwarded, expected).await;
        // a key without networks is accepted from everywhere
        assert_accepted(&service, &service.key, forwarded, true).await;
    }
    let refused = |reason: &str| format!("refract_keys_refused_total{{reason=\"{reason}\"}}");
    let node = &service.nodes[0];
    for (reason, count) in [("network", 15.0), ("revoked", 0.0), ("unknown", 0.0)] {
        node.until_metric(&refused(reason), count).await;
    }
    // the next call after a change is judged by it
    let only = ["key", "set", &id, "--network", "198.51.100.7"];
    service.run(&only).await.done();
    assert_accepted(&service, &key, Some("203.0.113.7"), false).await;
    assert_accepted(&service, &key, Some("198.51.100.7"), true).await;
    let any = ["key", "set", &id, "--any-network"];
    service.run(&any).await.done();
    assert_accepted(&service, &key, None, true).await;
    // only accepted calls are uses
    let shown = used(&service, &id).await;
    let from = text(&shown, "last_used_from");
    assert!(
        ["203.0.113.7", "198.51.100.7", "127.0.0.1", "127.0.0.9"].contains(&from.as_str())
            || from.starts_with("2001:db8:"),
        "{from}"
    );
}

async fn without_a_trusted_proxy_the_connection_has_the_clients_address(backend: Backend) {
    let service = Service::start(backend).await;
    let create = |network| ["key", "create", "--network", network];
    let elsewhere = service.run(&create("203.0.113.0/24")).await.object();
    let here = service.run(&create("127.0.0.0/8")).await.object();
    for forwarded in [None, Some("203.0.113.7")] {
        assert_accepted(&service, &text(&elsewhere, "key"), forwarded, false).await;
        assert_accepted(&service, &text(&here, "key"), forwarded, true).await;
    }
    let shown = used(&service, &text(&here, "id")).await;
    assert_eq!(shown["last_used_from"], "127.0.0.1");
    assert_eq!(shown["networks"], json!(["127.0.0.0/8"]));
    let shown = listed(&service, &text(&elsewhere, "id")).await;
    assert_eq!(
        (&shown["last_used_at"], &shown["last_used_from"]),
        (&json!(null), &json!(null))
    );
}

async fn the_days_of_keys_in_use_are_exported(backend: Backend) {
    let mut service = Service::start(backend).await;
    let end = |days| (Utc::now() + TimeDelta::days(days)).to_rfc3339();
    let mut made = Vec::new();
    for days in [5, 20, 40] {
        let end = end(days);
        let key = service.run(&["key", "create", "--expires", &end]).await;
        made.push(key.object());
    }
    let unused = end(5);
    let unused = service.run(&["key", "create", "--expires", &unused]).await;
    let unused = text(&unused.object(), "id");
    for key in &made {
        assert_accepted(&service, &text(key, "key"), None, true).await;
        used(&service, &text(key, "id")).await;
    }
    // a node looks at the keys when it starts, and every minute
    service.start_node(&[]).await;
    let name = |key: &Value| {
        let id = text(key, "id");
        format!("refract_key_days_left{{account=\"default\",key=\"{id}\"}}")
    };
    let node = &service.nodes[1];
    let metrics = within_patience(async {
        loop {
            let metrics = node.ops("/metrics").await.body;
            if metrics.contains(&name(&made[0])) {
                return metrics;
            }
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
    })
    .await;
    for (key, days) in [(&made[0], 5.0), (&made[1], 20.0)] {
        let left = node.metric(&name(key)).await;
        assert!((days - 0.1..=days).contains(&left), "{left}");
    }
    assert!(!metrics.contains(&name(&made[2])), "it ends in 40 days");
    assert!(!metrics.contains(&unused), "nobody uses it");
    for key in &made {
        assert!(!metrics.contains(&text(key, "key")));
    }
}
