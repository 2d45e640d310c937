//! A database server that hangs: it neither answers nor closes its connections.

use std::net::TcpStream;
use std::time::Instant;

use refract_test_stack::http::{HttpConnection, Request};
use refract_test_stack::service::{PRISM, TEXT};
use refract_test_support::model_server::ScriptedReply;
use serde_json::json;
use tokio::task::block_in_place;

use crate::faults::load::{cluster, service};

/// When the server resumes, it accepts the waiting connections, and their processes end at once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_goes_on_however_many_clients_left_while_it_hung() {
    let cluster = cluster(&[]);
    for _ in 0..10 {
        block_in_place(|| {
            cluster.freeze();
            // few enough for the accept queue of a hanging server
            for _ in 0..5 {
                drop(TcpStream::connect(("127.0.0.1", cluster.port())).unwrap());
            }
            cluster.thaw();
        });
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_to_a_server_that_hangs_end_and_the_node_recovers_by_itself() {
    let cluster = cluster(&[]);
    let service = service(Some(cluster.url()), 1, "5000").await;
    let made = service.create(&json!({"text": TEXT})).await;
    let id = refract_test_stack::expected::Saved::of(&made).id;
    // one call waits for the model when the server stops answering
    service.model.then_always(ScriptedReply::answers().held());
    let create =
        service.create_request(PRISM, &json!({"text": TEXT, "idempotency_key": "paid for"}));
    let mut calls = vec![HttpConnection::open(service.api()).await];
    calls[0].send(&create.bytes()).await;
    service
        .model
        .wait_until(|counts| counts.requests == 2)
        .await;
    block_in_place(|| cluster.freeze());
    service.model.release_all();

    let begin = Instant::now();
    let read = Request::get(&format!("/results/{id}")).bearer(&service.key);
    // more calls than connections
    for request in [&read, &create].into_iter().cycle().take(30) {
        let mut call = HttpConnection::open(service.api()).await;
        call.send(&request.bytes()).await;
        calls.push(call);
    }
    assert_eq!(service.nodes[0].ops("/readyz").await.status, 503);
    assert!(begin.elapsed().as_secs() < 8, "{:?}", begin.elapsed());
    for call in &mut calls {
        let answer = call.answer().await;
        answer.assert_error(500, "internal_error", "Internal server error");
    }
    let took = begin.elapsed();
    println!("31 calls to a server that hangs ended within {took:.0?}");
    assert!(took.as_secs() < 30, "{took:?}");

    block_in_place(|| cluster.thaw());
    let begin = Instant::now();
    assert_eq!(service.send(read).await.body, made.body);
    // the frozen server may have finished the save after it resumed
    assert_eq!(service.send(create).await.status, 200);
    assert_eq!(service.results_made().await, 2);
    assert!(begin.elapsed().as_secs() < 5, "{:?}", begin.elapsed());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_idle_node_ends_within_one_grace_time_while_its_server_hangs() {
    let cluster = cluster(&[]);
    let mut service = service(Some(cluster.url()), 1, "4000").await;
    block_in_place(|| cluster.freeze());
    // by then the workers wait for the answer to whether there is work
    let node = &mut service.nodes[0];
    assert_eq!(node.ops("/readyz").await.status, 503);
    let begin = Instant::now();
    node.begin_stop().await;
    assert_eq!(node.exit_code().await, Some(0));
    // the last statements have a few seconds more
    assert!(begin.elapsed().as_secs() < 11, "{:?}", begin.elapsed());
    let log = node.log().join("\n");
    assert!(log.contains("the database does not answer"), "{log}");
    assert!(!log.contains("in flight"), "{log}");
    block_in_place(|| cluster.thaw());
}
