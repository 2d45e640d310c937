//! The form that a request sends: names with values, and files.

use std::time::Duration;

use actix_multipart::Multipart;
use actix_web::dev::Payload;
use actix_web::http::header::{CONTENT_TYPE, HeaderMap};
use actix_web::web::BytesMut;
use futures_util::{StreamExt as _, TryStreamExt as _};

use crate::page_refusal::PageRefusal;

/// The largest form: eight fields of 100,000 characters, percent-encoded, with their context.
const FORM_BYTES: usize = 16 * 1024 * 1024;
/// The most values that a form may have. The largest prism, with 100 questions of 253 options, has
/// about 76,500 when every option has its inputs.
const FORM_VALUES: usize = 100_000;
/// How long a form may take to arrive.
const ARRIVAL: Duration = Duration::from_mins(1);

/// The values of a form in the order sent, and its files.
#[derive(Clone, Default)]
pub(crate) struct Form {
    values: Vec<(String, String)>,
    files: Vec<SentFile>,
}

/// A file that a form sends.
#[derive(Clone)]
pub(crate) struct SentFile {
    /// The name of the file input.
    input: String,
    /// The name of the file where it was chosen.
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
}

impl Form {
    /// Reads the form of a request that may have one.
    ///
    /// # Errors
    /// [`PageRefusal::FormTooLarge`] and [`PageRefusal::NoForm`].
    pub(crate) async fn read(headers: &HeaderMap, payload: Payload) -> Result<Self, PageRefusal> {
        let reading = async {
            match media_type(headers).as_str() {
                "application/x-www-form-urlencoded" => read_encoded(payload).await,
                "multipart/form-data" => read_multipart(headers, payload).await,
                "" => Ok(Self::default()),
                _ => Err(PageRefusal::NoForm),
            }
        };
        let read = tokio::time::timeout(ARRIVAL, reading).await;
        read.unwrap_or(Err(PageRefusal::NoForm))
    }

    /// The first value of a name as it was typed, with line breaks as `\n`; empty when absent.
    pub(crate) fn get(&self, name: &str) -> &str {
        let found = self.values.iter().find(|(known, _)| known == name);
        found.map_or("", |(_, value)| value)
    }

    /// Whether the name was sent at all, as a pressed button or a ticked box is.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.values.iter().any(|(known, _)| known == name)
    }

    /// All names with their values, in the order sent.
    pub(crate) fn values(&self) -> &[(String, String)] {
        &self.values
    }

    /// An uploaded file; `None` when no file was chosen.
    pub(crate) fn file(&self, input: &str) -> Option<&SentFile> {
        let mut files = self.files.iter();
        files.find(|file| file.input == input && !file.bytes.is_empty())
    }

    /// Adds a value.
    pub(crate) fn push(&mut self, name: &str, value: &str) {
        self.values.push((name.to_owned(), line_feeds(value)));
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

/// A form sends line breaks as CR LF; texts have had LF where they were written.
fn line_feeds(text: &str) -> String {
    text.replace("\r\n", "\n")
}

async fn read_encoded(mut payload: Payload) -> Result<Form, PageRefusal> {
    let mut bytes = BytesMut::new();
    while let Some(chunk) = payload.next().await {
        let chunk = chunk.map_err(|_| PageRefusal::NoForm)?;
        if bytes.len() + chunk.len() > FORM_BYTES {
            return Err(PageRefusal::FormTooLarge);
        }
        bytes.extend_from_slice(&chunk);
    }
    let mut form = Form::default();
    for (name, value) in form_urlencoded::parse(&bytes).take(FORM_VALUES + 1) {
        form.push(&name, &value);
    }
    check_number(form)
}

async fn read_multipart(headers: &HeaderMap, payload: Payload) -> Result<Form, PageRefusal> {
    let mut parts = Multipart::new(headers, payload);
    let mut form = Form::default();
    let mut size = 0;
    while let Some(mut part) = parts.try_next().await.map_err(|_| PageRefusal::NoForm)? {
        let mut bytes = Vec::new();
        while let Some(chunk) = part.try_next().await.map_err(|_| PageRefusal::NoForm)? {
            size += chunk.len();
            if size > FORM_BYTES {
                return Err(PageRefusal::FormTooLarge);
            }
            bytes.extend_from_slice(&chunk);
        }
        let disposition = part.content_disposition();
        let name = disposition.and_then(|disposition| disposition.get_name());
        let name = name.unwrap_or_default().to_owned();
        let file_name = disposition.and_then(|disposition| disposition.get_filename());
        match file_name {
            Some(file_name) => form.files.push(SentFile {
                input: name,
                name: file_name.to_owned(),
                bytes,
            }),
            None => form.push(&name, &String::from_utf8_lossy(&bytes)),
        }
        if form.values.len() + form.files.len() > FORM_VALUES {
            return Err(PageRefusal::FormTooLarge);
        }
    }
    Ok(form)
}

fn check_number(form: Form) -> Result<Form, PageRefusal> {
    if form.values.len() > FORM_VALUES {
        Err(PageRefusal::FormTooLarge)
    } else {
        Ok(form)
    }
}
