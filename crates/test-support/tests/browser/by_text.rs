//! Steps with the words that a person reads, and steps with the mouse.

use refract_test_support::browser::{Browser, BrowserSettings, Key};

use crate::page_server::{Page, serve};

const PAGES: &[Page] = &[(
    "/words",
    "Content-Type: text/html; charset=utf-8\r\n",
    "<!doctype html><html lang=en><title>Words</title><form action=/words>\
     <button class=first aria-hidden=true>Send</button>\
     <label for=text>Your\n <b>text</b></label><p id=hint>At most one.</p>\
     <input id=text name=text aria-describedby='hint gone'>\
     <label for=tone>Tone</label><select id=tone name=tone><option>Calm<option>Very loud</select>\
     <button aria-label='Send it'>✓</button><button hidden>Later</button>\
     <details><summary>More</summary><a href=/words?more>All of it</a></details></form>\
     <p id=from>from</p><p id=to>to</p><script>\
     const said = (event) => document.title += ' ' + event.type + ' ' + event.target.id;\
     document.querySelector('#from').addEventListener('pointerdown', said);\
     document.querySelector('#to').addEventListener('pointerup', said);</script></html>",
)];

#[tokio::test]
async fn elements_are_found_by_what_they_are_called() {
    if !Browser::available() {
        return;
    }
    let address = serve(PAGES).await;
    let browser = Browser::start(BrowserSettings::default()).await;
    browser.open(&format!("{address}/words")).await;
    assert_eq!(browser.focus().await, "");
    browser.fill_in("Your text", "on").await;
    browser
        .press_in("Your text", &format!("{}e", Key::Left))
        .await;
    assert_eq!(browser.value_in("Your text").await, "oen");
    assert_eq!(browser.beside("Your text").await, "At most one.");
    browser.wait_for_focus("Your text").await;
    browser.choose_in("Tone", "Very loud").await;
    for (words, is_offered) in [
        ("Send it", true),
        ("More", true),
        ("Send", false),
        ("Later", false),
        ("All of it", false),
        ("✓", false),
    ] {
        assert_eq!(browser.offers(words).await, is_offered, "{words}");
    }
    browser.click_on("More").await;
    assert!(browser.offers("All of it").await);
    browser.follow_on("Send it").await;
    let at = browser.address().await;
    assert!(at.ends_with("/words?text=oen&tone=Very+loud"), "{at}");
    browser.drag("#from", "#to").await;
    assert_eq!(browser.title().await, "Words pointerdown from pointerup to");
}
