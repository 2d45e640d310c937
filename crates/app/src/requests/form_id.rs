//! The id of a form, from which comes the id of what the form makes: however often it is sent, it
//! makes one.

use chrono::{DateTime, TimeDelta, Utc};
use maud::{Markup, html};
use refract_domain::ids::parse_uuid;
use sha2::{Digest as _, Sha256};
use uuid::{Builder, Uuid};

use crate::requests::Form;

/// The input of the id.
pub(super) const FORM_ID: &str = "form_id";
/// How long a form may lie open. An older one makes something at each sending.
const OPEN: TimeDelta = TimeDelta::days(1);
/// The most by which another node's clock is ahead.
const AHEAD: TimeDelta = TimeDelta::minutes(5);

/// The hidden input of a form that makes something.
pub(crate) fn form_id() -> Markup {
    html! { input type="hidden" name=(FORM_ID) value=(Uuid::now_v7()) autocomplete="off"; }
}

impl Form {
    /// The id (UUIDv7) of what the form makes: the same for the same values and files of the same
    /// form. A form without an id makes another thing each time.
    pub(crate) fn id_of_made(&self) -> Uuid {
        let mut content = Sha256::new();
        for (name, value) in self.values() {
            add(&mut content, name.as_bytes());
            add(&mut content, value.as_bytes());
        }
        for file in self.files() {
            add(&mut content, file.name.as_bytes());
            add(&mut content, &file.bytes);
        }
        id_of_made(self.get(FORM_ID), content)
    }
}

/// The id of what a form makes, by the form's own id and everything else that was sent.
pub(crate) fn id_of_made(form_id: &str, content: Sha256) -> Uuid {
    let now = Utc::now();
    let shown = parse_uuid(form_id).and_then(|id| {
        let (seconds, nanoseconds) = id.get_timestamp()?.to_unix();
        DateTime::from_timestamp(seconds.try_into().ok()?, nanoseconds)
    });
    let shown = shown.filter(|shown| (now - OPEN..now + AHEAD).contains(shown));
    let millis = shown.and_then(|shown| u64::try_from(shown.timestamp_millis()).ok());
    let digest = content.chain_update(form_id).finalize();
    match (millis, digest.first_chunk()) {
        (Some(millis), Some(bits)) => Builder::from_unix_timestamp_millis(millis, bits).into_uuid(),
        _ => Uuid::now_v7(),
    }
}

/// Adds a text so that it cannot run into the next.
fn add(content: &mut Sha256, bytes: &[u8]) {
    content.update(bytes.len().to_be_bytes());
    content.update(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
