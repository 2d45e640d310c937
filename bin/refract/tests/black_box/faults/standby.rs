//! Commands on a standby, which takes no writes.

use refract_test_stack::service::PRISM;
use serde_json::json;
use tokio::task::block_in_place;

use crate::faults::load::{cluster, service};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn commands_that_read_print_the_same_on_a_standby() {
    let primary = cluster(&[]);
    let mut service = service(Some(primary.url()), 1, "10000").await;
    for text in ["one", "two", "three"] {
        service.create(&json!({"text": text})).await;
    }
    service.nodes.clear();
    let standby = block_in_place(|| primary.standby());
    let commands = [
        &["prism", "list", "--json"][..],
        &["prism", "show", PRISM],
        &["key", "list", "--json"],
        &["person", "list", "--json"],
        &["account", "list", "--json"],
        &["runs", "list", "--json"],
        &["events", "--json"],
        &["results", "list", PRISM, "--json"],
        &["evaluate", PRISM, "--json"],
        &["usage", "--by", "prism,model,day", "--json"],
    ];
    // nothing is counted yet: the standby is asked first
    let url = std::mem::replace(&mut service.database_url, standby.url());
    let mut printed = Vec::new();
    for command in commands {
        let ended = service.run(command).await;
        printed.push((ended.code, ended.stdout));
    }
    assert!(printed[9].1.contains("\"calls\":3"), "{:?}", printed[9]);
    let watch = ["watch", PRISM, "--json"];
    let watched = service.run(&watch).await.lines();
    assert_eq!(watched[0]["window"]["results"], 3, "{watched:?}");
    let refused = service.run(&["results", "export", PRISM]).await.refused();
    assert!(refused.contains("read-only"), "{refused}");
    service.database_url = url;
    for (command, printed) in commands.into_iter().zip(printed) {
        let ended = service.run(command).await;
        assert_eq!((ended.code, ended.stdout), printed, "{command:?}");
    }
    // its window ends at the moment of asking
    let again = service.run(&watch).await.lines();
    assert_eq!(again[0]["shares"], watched[0]["shares"]);
}
