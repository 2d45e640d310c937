//! What owners can do to the people of their account, over HTTP and without scripts.

use refract_test_stack::browser::{PASSWORD, PlainBrowser, joined};
use refract_test_stack::http::answer::HttpAnswer;
use refract_test_stack::service::{Backend, Service};
use refract_test_support::on_both;

on_both!(owners_invite_change_roles_and_remove);

/// The person id in the address of an action, by row of the table.
fn id_of(page: &HttpAnswer, place: usize) -> String {
    let mut ids: Vec<_> = page.body.split("action=\"/people/").skip(1).collect();
    ids.retain(|rest| rest.split('/').nth(1).unwrap().starts_with("role"));
    ids[place].split('/').next().unwrap().to_owned()
}

async fn owners_invite_change_roles_and_remove(backend: Backend) {
    let service = Service::start(backend).await;
    let mut ada = joined(&service, "ada@example.com", "owner").await;
    let invite = [("email", "grace@example.com"), ("role", "reviewer")];
    let page = ada.post("/people", &invite).await;
    let link = page.body.split("/join/").nth(1).unwrap();
    let link = format!("/join/{}", link.split('<').next().unwrap());
    assert!(!ada.get("/people").await.body.contains(&link), "shown once");
    let mut grace = PlainBrowser::new(&service);
    assert_eq!(grace.join(&link, "Grace").await.status, 303);
    let refused = grace.get("/people").await;
    assert_eq!(refused.status, 403);
    assert!(refused.body.contains("Ask an owner"));
    let page = ada.post("/people", &invite).await;
    assert_eq!(page.status, 422);
    assert!(page.body.contains("already a person of the account"));

    let people = ada.get("/people").await;
    let (ada_id, grace_id) = (id_of(&people, 0), id_of(&people, 1));
    let removed = ada.post(&format!("/people/{ada_id}/remove"), &[]).await;
    assert_eq!(removed.status, 409);
    assert!(removed.body.contains("An account needs an owner"));
    let promote = format!("/people/{grace_id}/role");
    assert_eq!(grace.post(&promote, &[("role", "owner")]).await.status, 403);
    let promoted = ada.post(&promote, &[("role", "owner")]).await;
    assert_eq!(promoted.header("location"), Some("/people?done=role"));
    assert_eq!(
        grace.get("/people").await.status,
        200,
        "from the next page on"
    );
    let removed = grace.post(&format!("/people/{ada_id}/remove"), &[]).await;
    assert_eq!(removed.header("location"), Some("/people?done=removed"));
    assert_eq!(ada.get("/people").await.status, 303, "signed out at once");
    assert_eq!(ada.sign_in("ada@example.com", PASSWORD).await.status, 401);
    let unknown = grace.post(&format!("/people/{ada_id}/link"), &[]).await;
    assert_eq!(unknown.status, 404);
}
