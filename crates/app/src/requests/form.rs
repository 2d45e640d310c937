//! The form of a request: names with values, and files. And the id of a form, from which comes the
//! id of what the form makes.

use std::future::ready;
use std::time::Duration;

use actix_multipart::Multipart;
use actix_web::http::header::{CONTENT_TYPE, HeaderMap};
use bytes::Bytes;
use chrono::{DateTime, TimeDelta, Utc};
use futures_util::TryStreamExt as _;
use maud::{Markup, html};
use refract_domain::ids::parse_uuid;
use refract_http_serving::{ArrivedBody, BodyLimits, BodyReadError, HeldRoom, SentBody};
use sha2::{Digest as _, Sha256};
use uuid::{Builder, Uuid};

use crate::replies::PageError;
use crate::requests::{CARRIED, FormSize};

/// How long a form may take to arrive.
const ARRIVAL: Duration = Duration::from_mins(1);
/// Upper bound on the parts of a form with files: the app's own have a few, and each costs far more
/// than a value of another form.
pub(super) const MOST_PARTS: usize = 100;
/// The number of copies of a form in memory: the body as sent, the parsed values, and the
/// structures that a handler makes from them.
const COPIES: usize = 4;
/// The size of a page without the values of a form, in bytes.
const USUAL_PAGE: usize = 16 * 1024;
/// The size of a value's markup in a page without its name and text, in bytes.
const AROUND_VALUE: usize = 64;

/// The values of a form in the order sent, and its files.
#[derive(Default)]
pub(crate) struct Form {
    /// All names and values, concatenated, so that a form of a hundred thousand values takes little
    /// more memory than its text.
    text: String,
    values: Vec<ValuePlace>,
    files: Vec<SentFile>,
    /// Held as long as the form.
    _room: Option<HeldRoom>,
}

/// The position of a value in the text, directly after its name.
#[derive(Clone, Copy)]
struct ValuePlace {
    name: usize,
    value: usize,
    end: usize,
}

/// An uploaded file.
pub(crate) struct SentFile {
    /// The name of the file input.
    input: String,
    /// The file's name on the sender's computer.
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
}

impl Form {
    /// Reads the form of a request, if it has one.
    ///
    /// # Errors
    /// [`PageError::FormTooLarge`], [`PageError::NoForm`] and [`PageError::Draining`].
    pub(crate) async fn read(
        headers: &HeaderMap,
        body: SentBody<'_>,
        size: FormSize,
    ) -> Result<Self, PageError> {
        let is_encoded = match media_type(headers).as_str() {
            "application/x-www-form-urlencoded" => true,
            "multipart/form-data" => false,
            "" => return Ok(Self::default()),
            _ => return Err(PageError::NoForm),
        };
        let limits = BodyLimits {
            bytes: size.bytes(),
            arrival: ARRIVAL,
            copies: COPIES,
        };
        let arrived = body.read(headers, limits).await;
        let ArrivedBody { bytes, room } = arrived.map_err(|error| match error {
            BodyReadError::TooLarge => PageError::FormTooLarge(size),
            BodyReadError::Incomplete => PageError::NoForm,
            BodyReadError::Draining(draining) => draining.into(),
        })?;
        let form = if is_encoded {
            Self::of_encoded(&bytes, size)?
        } else {
            Self::of_multipart(headers, bytes, size).await?
        };
        let (own, carried) = form.lengths();
        if !size.holds(form.shown_bytes(), own, carried) {
            return Err(PageError::FormTooLarge(size));
        }
        Ok(Self {
            _room: room,
            ..form
        })
    }

    fn of_encoded(bytes: &[u8], size: FormSize) -> Result<Self, PageError> {
        let mut form = Self {
            text: String::with_capacity(bytes.len()),
            ..Self::default()
        };
        for (name, value) in form_urlencoded::parse(bytes) {
            form.push(&name, &value);
            form.has_no_more_than(size)?;
        }
        Ok(form)
    }

    async fn of_multipart(
        headers: &HeaderMap,
        bytes: Vec<u8>,
        size: FormSize,
    ) -> Result<Self, PageError> {
        let whole = futures_util::stream::once(ready(Ok(Bytes::from(bytes))));
        let mut parts = Multipart::new(headers, whole);
        let mut form = Self::default();
        while let Some(mut part) = parts.try_next().await.map_err(|_| PageError::NoForm)? {
            let mut bytes = Vec::new();
            while let Some(chunk) = part.try_next().await.map_err(|_| PageError::NoForm)? {
                bytes.extend_from_slice(&chunk);
            }
            let disposition = part.content_disposition();
            let name = disposition.and_then(|disposition| disposition.get_name());
            let name = name.unwrap_or_default();
            let file_name = disposition.and_then(|disposition| disposition.get_filename());
            match file_name {
                Some(file_name) => form.files.push(SentFile {
                    input: name.to_owned(),
                    name: file_name.to_owned(),
                    bytes,
                }),
                None => form.push(name, &String::from_utf8_lossy(&bytes)),
            }
            if form.values.len() + form.files.len() > MOST_PARTS {
                return Err(PageError::FormTooLarge(size));
            }
        }
        Ok(form)
    }

    fn has_no_more_than(&self, size: FormSize) -> Result<(), PageError> {
        if self.values.len() + self.files.len() > size.values() {
            Err(PageError::FormTooLarge(size))
        } else {
            Ok(())
        }
    }

    /// The first value of a name, with line breaks as `\n`; empty when absent.
    pub(crate) fn get(&self, name: &str) -> &str {
        let found = self.values().find(|(known, _)| *known == name);
        found.map_or("", |(_, value)| value)
    }

    /// The value of an input that may be empty, but not missing: emptying it removes something.
    ///
    /// # Errors
    /// [`PageError::NoForm`] when absent.
    pub(crate) fn get_sent(&self, name: &str) -> Result<&str, PageError> {
        if self.has(name) {
            Ok(self.get(name))
        } else {
            Err(PageError::NoForm)
        }
    }

    /// Whether the name was sent, as by a pressed button or a ticked box.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.values().any(|(known, _)| known == name)
    }

    /// Whether no value was sent.
    pub(crate) fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// All names with their values, in the order sent.
    pub(crate) fn values(&self) -> impl Iterator<Item = (&str, &str)> {
        let part = |from, to| self.text.get(from..to).unwrap_or_default();
        let places = self.values.iter();
        places.map(move |at| (part(at.name, at.value), part(at.value, at.end)))
    }

    /// An uploaded file; `None` when no file was chosen.
    pub(crate) fn file(&self, input: &str) -> Option<&SentFile> {
        let mut files = self.files.iter();
        files.find(|file| file.input == input && !file.bytes.is_empty())
    }

    /// All uploaded files, in the order sent.
    pub(super) fn files(&self) -> &[SentFile] {
        &self.files
    }

    /// Adds a value.
    pub(crate) fn push(&mut self, name: &str, value: &str) {
        let start = self.text.len();
        self.text.push_str(name);
        let middle = self.text.len();
        // forms send line breaks as CR LF; the typed texts had LF
        for (place, line) in value.split("\r\n").enumerate() {
            if place > 0 {
                self.text.push('\n');
            }
            self.text.push_str(line);
        }
        self.values.push(ValuePlace {
            name: start,
            value: middle,
            end: self.text.len(),
        });
    }

    /// Whether the form exceeds this size.
    pub(crate) fn is_larger_than(&self, size: FormSize) -> bool {
        let files = self.files.iter().map(|file| file.bytes.len());
        self.text.len() + files.sum::<usize>() > size.bytes() || self.values.len() > size.values()
    }

    /// Upper bound on a page made from the form, in bytes; `None` if no more than for any page.
    pub(crate) fn page_bytes(&self) -> Option<usize> {
        let shown = self.shown_bytes();
        // a page may contain each value twice, as the page before saving does
        (shown > USUAL_PAGE).then(|| USUAL_PAGE + 2 * shown)
    }

    /// Upper bound on the form's size in a page that gives it back once, in bytes.
    fn shown_bytes(&self) -> usize {
        let files = self.files.iter();
        escaped_bytes(self.text.as_bytes())
            + self.values.len() * AROUND_VALUE
            + files.map(|file| escaped_bytes(&file.bytes)).sum::<usize>()
    }

    /// The bytes of the form's own values, and of those carried along from another form.
    fn lengths(&self) -> (usize, usize) {
        self.values().fold((0, 0), |(own, carried), (name, value)| {
            match name.strip_prefix(CARRIED) {
                Some(name) => (own, carried + name.len() + value.len()),
                None => (own + name.len() + value.len(), carried),
            }
        })
    }
}

/// The media type without its parameters, in lower case; empty when absent.
fn media_type(headers: &HeaderMap) -> String {
    let value = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok());
    let essence = value.and_then(|value| value.split(';').next());
    essence.unwrap_or_default().trim().to_ascii_lowercase()
}

/// The size of a text in HTML, escaped as in the page templates.
fn escaped_bytes(text: &[u8]) -> usize {
    let bytes = text.iter().map(|byte| match byte {
        b'"' => "&quot;".len(),
        b'&' => "&amp;".len(),
        b'<' | b'>' => "&lt;".len(),
        _ => 1,
    });
    bytes.sum()
}

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
mod tests;
