//! The form of a request: names with values, and files.

use std::future::ready;
use std::time::Duration;

use actix_multipart::Multipart;
use actix_web::http::header::{CONTENT_TYPE, HeaderMap};
use bytes::Bytes;
use futures_util::TryStreamExt as _;
use refract_http_serving::{ArrivedBody, BodyLimits, BodyReadError, HeldRoom, SentBody};

use crate::replies::PageError;
use crate::requests::form_size::{CARRIED, FormSize};

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

#[cfg(test)]
mod tests {
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
}
