//! A file that is stored while it arrives, in a form of its own.

use actix_multipart::{Field, Multipart, MultipartError};
use actix_web::error::PayloadError;
use actix_web::http::header::HeaderMap;
use bytes::Bytes;
use futures_util::{TryStreamExt as _, stream};
use refract_http_serving::{BodyReadError, SentBody};
use tokio::sync::mpsc;

use crate::replies::PageError;
use crate::requests::form::{FORM_ID, MOST_PARTS};

/// What a form sends besides its file's bytes: borders, names and headers.
const AROUND_FILE: usize = 64 * 1024;
/// The most bytes of a form's id.
const LONGEST_ID: usize = 100;
/// Bytes in a MiB.
const MIB: u64 = 1024 * 1024;

/// The form of an upload, of which nothing was read yet.
pub(crate) struct ArrivingForm {
    parts: Multipart,
    /// The largest file, in MiB.
    most_mib: u64,
}

/// A file of the form.
pub(crate) struct ArrivingFile<'a> {
    /// The file's name on the sender's computer.
    pub(crate) name: String,
    /// The form's id; empty when absent or after the file.
    pub(crate) form_id: String,
    part: Field,
    most_mib: u64,
    // the parts of a form are read one after another
    _form: &'a mut ArrivingForm,
}

/// Sends a body to the [`ArrivingForm`] that a handler reads.
pub(crate) struct FormPump {
    sender: mpsc::Sender<Result<Bytes, PayloadError>>,
    most: usize,
}

/// Both ends of a form whose file has at most `most_bytes` bytes.
pub(crate) fn arriving_form(headers: &HeaderMap, most_bytes: u64) -> (FormPump, ArrivingForm) {
    let (sender, mut receiver) = mpsc::channel(1);
    let arriving = stream::poll_fn(move |cx| receiver.poll_recv(cx));
    let form = ArrivingForm {
        parts: Multipart::new(headers, arriving),
        most_mib: most_bytes / MIB,
    };
    let most = usize::try_from(most_bytes).unwrap_or(usize::MAX);
    let most = most.saturating_add(AROUND_FILE);
    (FormPump { sender, most }, form)
}

impl FormPump {
    /// Reads the body as fast as its handler uses it, until the end or until the handler needs no
    /// more.
    pub(crate) async fn pump(self, headers: &HeaderMap, body: SentBody<'_>) {
        if let Err(error) = self.pump_all(headers, body).await {
            let error = match error {
                BodyReadError::TooLarge => PayloadError::Overflow,
                BodyReadError::Incomplete | BodyReadError::Draining(_) => {
                    PayloadError::Incomplete(None)
                }
            };
            // a handler that has ended needs no error
            let _ = self.sender.send(Err(error)).await;
        }
    }

    async fn pump_all(&self, headers: &HeaderMap, body: SentBody<'_>) -> Result<(), BodyReadError> {
        let mut chunks = body.chunks(headers, self.most).await?;
        while let Some(chunk) = chunks.next().await? {
            let sent = chunks.wait_for(self.sender.send(Ok(chunk))).await;
            if sent.is_err() {
                return Ok(());
            }
        }
        Ok(())
    }
}

impl ArrivingForm {
    /// The first file of the form; `None` when none was chosen.
    ///
    /// # Errors
    /// [`PageError::NoForm`] for a form that is no upload or did not arrive whole.
    pub(crate) async fn file(&mut self) -> Result<Option<ArrivingFile<'_>>, PageError> {
        let most_mib = self.most_mib;
        let mut form_id = String::new();
        // each part costs far more than its bytes
        for _ in 0..MOST_PARTS {
            let part = self.parts.try_next().await;
            let Some(mut part) = part.map_err(|error| refused(&error, most_mib))? else {
                return Ok(None);
            };
            let disposition = part.content_disposition();
            let name = disposition.and_then(|disposition| disposition.get_filename());
            let name = name.unwrap_or_default().to_owned();
            if !name.is_empty() {
                return Ok(Some(ArrivingFile {
                    name,
                    form_id,
                    part,
                    most_mib,
                    _form: self,
                }));
            }
            if part.name() == Some(FORM_ID) {
                let text = part.bytes(LONGEST_ID).await;
                let text = text.map_err(|_| PageError::NoForm)?;
                let text = text.map_err(|error| refused(&error, most_mib))?;
                form_id = String::from_utf8_lossy(&text).into_owned();
            }
        }
        Err(PageError::NoForm)
    }
}

impl ArrivingFile<'_> {
    /// The next bytes of the file; `None` at its end.
    ///
    /// # Errors
    /// [`PageError::UploadTooLarge`] and [`PageError::NoForm`].
    pub(crate) async fn next(&mut self) -> Result<Option<Bytes>, PageError> {
        let next = self.part.try_next().await;
        next.map_err(|error| refused(&error, self.most_mib))
    }
}

fn refused(error: &MultipartError, most_mib: u64) -> PageError {
    if matches!(error, MultipartError::Payload(PayloadError::Overflow)) {
        PageError::UploadTooLarge(most_mib)
    } else {
        PageError::NoForm
    }
}
