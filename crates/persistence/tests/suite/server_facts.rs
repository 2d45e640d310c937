//! What was learned about model servers.

use refract_test_support::on_both;

use crate::fixture::{Fixture, moment};

on_both!(facts_are_read_while_they_are_young_and_equal_ones_age);

async fn facts_are_read_while_they_are_young_and_equal_ones_age(it: Fixture) {
    let save = async |servers: &str, facts: &str, at: i64, outdated: i64| {
        let saving = it.database.save_server_facts(
            servers.to_owned(),
            facts.to_owned(),
            moment(at),
            moment(outdated),
        );
        saving.await.unwrap();
    };
    let find = async |servers: &str, since: i64| {
        let finding = it
            .database
            .find_server_facts(servers.to_owned(), moment(since));
        finding.await.unwrap()
    };
    save("a", "{}", 1, 0).await;
    save("b", "{}", 2, 0).await;
    assert_eq!(find("a", 1).await.as_deref(), Some("{}"));
    assert_eq!(find("c", 0).await, None);
    // equal facts keep their age, others replace them
    save("a", "{}", 3, 0).await;
    assert_eq!(find("a", 2).await, None);
    save("a", "[]", 4, 0).await;
    assert_eq!(find("a", 4).await.as_deref(), Some("[]"));
    // what is too old goes, of any servers
    save("a", "[]", 5, 3).await;
    assert_eq!(find("b", 0).await, None);
    assert_eq!(find("a", 4).await.as_deref(), Some("[]"));
}
