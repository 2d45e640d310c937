//! The events of one-time codes.

use refract_test_stack::browser::{PASSWORD, PlainBrowser, id_of, joined};
use refract_test_stack::service::events;

use super::Walk;
use crate::codes::{code, recovery_codes, set_up, type_code, typed};

/// Walks over the actions on one-time codes.
pub(super) async fn walk_over_codes(walk: &mut Walk<'_>, ada: &mut PlainBrowser<'_>) {
    const ADA: &str = "ada@example.com";
    const KAY: &str = "kay@example.com";
    let service = walk.service;
    let mut kay = joined(service, KAY, "reviewer").await;
    walk.known = events(service).await.len();
    let kays = set_up(&mut kay).await;
    walk.did("/me/codes/on", KAY, &kays.answer, &["codes_on"])
        .await;
    let recovery = recovery_codes(&kays.answer);
    let mut home = PlainBrowser::new(service);
    let asked = home.sign_in(KAY, PASSWORD).await;
    walk.did("/sign-in", KAY, &asked, &[]).await;
    let refused = type_code(&mut home, &asked, &kays.used).await;
    assert_eq!(refused.status, 401);
    assert_eq!(walk.added("node", &refused).await, ["sign_in_refused"]);
    let answer = type_code(&mut home, &asked, &code(&kays.secret, 1)).await;
    walk.did("/sign-in/code", KAY, &answer, &["signed_in"])
        .await;
    let mut other = PlainBrowser::new(service);
    let asked = other.sign_in(KAY, PASSWORD).await;
    let answer = type_code(&mut other, &asked, &recovery[0]).await;
    let expected = ["signed_in", "recovery_code_used"];
    walk.did("/sign-in/code", KAY, &answer, &expected).await;
    let values = typed(PASSWORD, &recovery[1]);
    let answer = kay.post("/me/codes/recovery", &values).await;
    let made = ["recovery_codes_made"];
    walk.did("/me/codes/recovery", KAY, &answer, &made).await;
    let recovery = recovery_codes(&answer);
    let values = typed(PASSWORD, &recovery[0]);
    let answer = kay.post("/me/codes/off", &values).await;
    walk.did("/me/codes/off", KAY, &answer, &["codes_off"])
        .await;
    set_up(&mut kay).await;
    walk.known = events(service).await.len();
    // after Ada and Eve
    let id = id_of(&ada.get("/people").await, 2);
    for expected in [&["codes_removed"][..], &[]] {
        let answer = ada.post(&format!("/people/{id}/codes-off"), &[]).await;
        walk.did("/people/{id}/codes-off", ADA, &answer, expected)
            .await;
    }
    for require in ["on", "off"] {
        if require == "on" {
            set_up(ada).await;
            walk.known = events(service).await.len();
        }
        for expected in [&["codes_requirement_set"][..], &[]] {
            let answer = ada.post("/people/codes", &[("require", require)]).await;
            walk.did("/people/codes", ADA, &answer, expected).await;
        }
    }
}
