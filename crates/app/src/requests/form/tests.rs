use maud::html;

use super::*;

#[test]
fn what_a_page_takes_is_known_before_it_is_made() {
    let mut form = Form::default();
    form.push("a", "\"<&>'\u{1f98a}\0");
    let page = html! { textarea name="a" { (form.get("a")) } }.into_string();
    assert_eq!(form.get("a").len(), 10);
    let shown = escaped_bytes(form.get("a").as_bytes());
    assert!(
        page.ends_with("</textarea>")
            && page.len() == "<textarea name=\"a\"></textarea>".len() + shown
    );
    assert!(page.len() <= form.shown_bytes());
}

#[test]
fn values_are_as_they_were_typed() {
    let form = Form::of_encoded(b"a=1&b=x%0D%0Ay%0Dz%0A&a=2&c&=d", FormSize::Own)
        .ok()
        .unwrap();
    let values: Vec<_> = form.values().collect();
    assert_eq!(
        values,
        [
            ("a", "1"),
            ("b", "x\ny\rz\n"),
            ("a", "2"),
            ("c", ""),
            ("", "d")
        ]
    );
    assert!(form.has("c") && !form.has("d"));
}

#[test]
fn a_form_has_no_more_values_than_it_may() {
    let many = "a=&".repeat(8_193);
    let read = |size| Form::of_encoded(many.as_bytes(), size).map(|form| form.values().count());
    assert!(matches!(read(FormSize::Whole), Ok(8_193)));
    assert!(matches!(
        read(FormSize::Kept),
        Err(PageError::FormTooLarge(FormSize::Kept))
    ));
}

#[test]
fn what_is_carried_along_does_not_count_as_ones_own() {
    let form = Form::of_encoded(b"email=a&kept.value.text=bcd", FormSize::OwnWithKept);
    assert_eq!(form.ok().unwrap().lengths(), (6, 13));
}

fn made(form_id: &str, text: &str) -> Uuid {
    let mut form = Form::default();
    form.push(FORM_ID, form_id);
    form.push("text", text);
    form.id_of_made()
}

#[test]
fn a_form_makes_one_thing_of_the_same_values_and_another_of_others() {
    let [id, other] = [Uuid::now_v7(), Uuid::now_v7()].map(|id| id.to_string());
    let once = made(&id, "a");
    assert_eq!(once, made(&id, "a"));
    assert_eq!(once.get_version_num(), 7);
    assert_eq!(once.to_string().get(..13), id.get(..13));
    assert_ne!(once, made(&id, "b"));
    assert_ne!(once, made(&other, "a"));
}

#[test]
fn a_form_without_an_id_of_its_day_makes_something_each_time() {
    let now = u64::try_from(Utc::now().timestamp_millis()).unwrap();
    let at = |millis| Builder::from_unix_timestamp_millis(millis, &[1; 10]).into_uuid();
    let hour = 3_600_000;
    for id in [
        Uuid::nil(),
        Uuid::max(),
        at(now - 25 * hour),
        at(now + hour),
    ] {
        let id = id.to_string();
        assert_ne!(made(&id, "a"), made(&id, "a"), "{id}");
    }
    assert_ne!(made("", "a"), made("", "a"));
    let id = at(now - 23 * hour).to_string();
    assert_eq!(made(&id, "a"), made(&id, "a"));
}
