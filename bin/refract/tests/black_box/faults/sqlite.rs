//! One SQLite file under load from two nodes and commands: no query fails because of a lock.

use refract_test_stack::expected::Saved;
use refract_test_stack::service::{PRISM, PRISM_FILE, TEXT};
use serde_json::json;

use crate::faults::load::{Load, assert_kept, service};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_nodes_and_commands_share_a_file_and_it_is_backed_up_meanwhile() {
    let mut service = service(None, 2, "30000").await;
    let load = Load::start(&service, "shared", 16);
    load.until_more(50).await;
    let early = service.create(&json!({"text": TEXT, "ref": "early"})).await;
    for number in 0..10 {
        service
            .run(&["key", "create", "--name", &number.to_string()])
            .await
            .object();
        service
            .run(&["prism", "save", PRISM, PRISM_FILE])
            .await
            .object();
        let attempt = ["try", PRISM, "--text", TEXT];
        service.run(&attempt).await.object();
    }
    let copy = service.folder.path().join("copy.db");
    let backup = service.run(&["backup", "copy.db"]).await.object();
    assert_eq!(backup["file"], "copy.db");
    assert_eq!(backup["bytes"], copy.metadata().unwrap().len());
    let line = service.run(&["backup", "copy.db"]).await.refused();
    assert_eq!(line, "error: copy.db is there already: name a new file");
    load.until_more(50).await;
    let progress = load.progress();
    assert_eq!((progress.refused, progress.broken), (0, 0));
    for node in &service.nodes {
        let failures = node
            .log()
            .into_iter()
            .filter(|line| line.contains("locked"));
        assert_eq!(failures.count(), 0);
    }
    let acknowledged = load.stop().await;
    for call in &acknowledged {
        let saved = Saved::of(&call.answer);
        assert_eq!(service.read(&saved.id, "").await.status, 200);
    }

    // a node can serve from the copy
    service.nodes.clear();
    service.database_url = format!("sqlite://{}", copy.display());
    service.start_node(&[]).await;
    let saved = Saved::of(&early);
    assert_eq!(service.read(&saved.id, "").await.body, early.body);
    let load = Load::start(&service, "copy", 4);
    load.until_more(20).await;
    assert_kept(&service, &load.stop().await).await;
}
