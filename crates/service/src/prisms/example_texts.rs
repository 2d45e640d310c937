//! Example texts of a prism: fixed texts with the outcomes that are right for them. A version that
//! answers one differently breaks it, which is reported and forbids nothing.

mod ask;
mod checked;

use refract_boxed_futures::boxed;
use refract_domain::event::{EventAction, EventTarget};
use refract_domain::ids::ExampleId;
use refract_domain::prism::{EXAMPLE_TEXTS, ExampleNote, ExpectedOutcomes, PrismVersion};
use refract_domain::submission::{Ref, Submission, budget};
use refract_identity::people::AccountActor;
use refract_persistence::{
    ExampleSource, ExampleText, ExamplesOutcome, NewExampleText, PersistenceError, Prism,
    SavedExamples,
};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use crate::prisms::Prisms;
use crate::results::ReadableResult;
use crate::{InternalError, Refract};

pub use self::ask::AskedExamples;
pub use self::checked::{CheckedExample, ExampleState, ExpectedAnswer};

/// The use cases of example texts, from [`Prisms::example_texts`].
#[derive(Clone, Copy)]
pub struct ExampleTexts<'a> {
    refract: &'a Refract,
}

/// A text to keep as an example of a prism.
#[derive(Clone, Debug)]
pub struct ExampleInput {
    /// The values and the context.
    pub submission: Submission,
    /// The reference of the text, if there is one.
    pub reference: Option<Ref>,
    /// The right outcomes.
    pub expected: ExpectedOutcomes,
    /// What a person noted.
    pub note: Option<ExampleNote>,
}

/// Why examples are not saved. Nothing was saved.
#[derive(Debug, thiserror::Error)]
pub enum ExampleError {
    /// The prism would have too many examples.
    #[error(
        "the prism would have {0} examples, at most {EXAMPLE_TEXTS} can be kept: remove some first"
    )]
    TooMany(usize),
    /// The result to copy was purged or erased meanwhile.
    #[error("the result was deleted meanwhile: its text is not kept")]
    ResultGone,
    /// The service failed.
    #[error(transparent)]
    Internal(#[from] InternalError),
}

impl<'a> Prisms<'a> {
    /// Example texts with the outcomes that are right for them.
    pub fn example_texts(self) -> ExampleTexts<'a> {
        ExampleTexts {
            refract: self.refract,
        }
    }
}

#[boxed]
impl ExampleTexts<'_> {
    /// Keeps a text as an example; `result` is the result whose text it is. A text that the prism
    /// has gets these outcomes.
    ///
    /// # Errors
    /// When the prism has too many examples, the result was deleted, or the database fails.
    pub async fn keep(
        self,
        actor: &AccountActor,
        prism: &Prism,
        input: ExampleInput,
        result: Option<&ReadableResult>,
    ) -> Result<SavedExamples, ExampleError> {
        let mut new = new_example(input);
        let of_result = result.filter(|result| *result.submission() == new.submission);
        new.result = of_result.map(ReadableResult::id);
        self.save(actor, prism, vec![new], ExampleSource::Form)
            .await
    }

    /// Keeps the texts of a file as examples, all or none. Texts that the prism has get the
    /// outcomes of the file.
    ///
    /// # Errors
    /// When the prism would have too many examples, or the database fails.
    pub async fn upload(
        self,
        actor: &AccountActor,
        prism: &Prism,
        inputs: Vec<ExampleInput>,
    ) -> Result<SavedExamples, ExampleError> {
        let new = inputs.into_iter().map(new_example).collect();
        self.save(actor, prism, new, ExampleSource::File).await
    }

    async fn save(
        self,
        actor: &AccountActor,
        prism: &Prism,
        new: Vec<NewExampleText>,
        source: ExampleSource,
    ) -> Result<SavedExamples, ExampleError> {
        let (database, stamp) = (&self.refract.database, actor.event_stamp());
        let saving = database.save_examples(prism.id, new, EXAMPLE_TEXTS, source, stamp);
        match saving.await {
            Ok(ExamplesOutcome::Saved(saved)) => Ok(saved),
            Ok(ExamplesOutcome::TooMany(number)) => Err(ExampleError::TooMany(number)),
            Err(PersistenceError::ReferenceGone(_)) => Err(ExampleError::ResultGone),
            Err(error) => Err(InternalError::from(error).into()),
        }
    }

    /// Replaces the outcomes and the note of an example. Expected outcomes that the version no
    /// longer has stay. Returns whether the prism has the example.
    pub async fn change(
        self,
        actor: &AccountActor,
        prism: &Prism,
        example: &ExampleText,
        version: &PrismVersion,
        expected: ExpectedOutcomes,
        note: Option<ExampleNote>,
    ) -> Result<bool, InternalError> {
        let gone = checked::no_longer_asked(&example.expected, version);
        let gone = gone.filter(|(question, _)| expected.get(question).is_none());
        let gone: Vec<_> = gone.cloned().collect();
        let expected = ExpectedOutcomes(expected.0.into_iter().chain(gone).collect());
        if expected == example.expected && note == example.note {
            return Ok(true);
        }
        let (database, stamp) = (&self.refract.database, actor.event_stamp());
        let changing = database.change_example(prism.id, example.id, &expected, note, stamp);
        Ok(changing.await?)
    }

    /// Removes an example. Returns whether the prism had it.
    pub async fn remove(
        self,
        actor: &AccountActor,
        prism: &Prism,
        id: ExampleId,
    ) -> Result<bool, InternalError> {
        let (database, stamp) = (&self.refract.database, actor.event_stamp());
        Ok(database.remove_example(prism.id, id, stamp).await?)
    }

    /// Saves the event that the examples of a prism are downloaded.
    pub async fn record_download(
        self,
        actor: &AccountActor,
        prism: &Prism,
    ) -> Result<(), InternalError> {
        let (action, target) = (EventAction::ExamplesExported, EventTarget::Prism(prism.id));
        let event = actor.event_stamp().event(action, target);
        Ok(self.refract.database.save_event(event).await?)
    }
}

impl ExampleInput {
    /// Whether a version can be asked about the text.
    ///
    /// # Errors
    /// When the text is too large for the version.
    pub fn check_size(&self, version: &PrismVersion) -> Result<(), budget::OverBudget> {
        budget::check(version, &self.submission)
    }

    /// A key that is the same for inputs with equal values and contexts.
    pub fn text_key(&self) -> Vec<u8> {
        TextHash::of_submission(&self.submission).bytes()
    }
}

fn new_example(input: ExampleInput) -> NewExampleText {
    NewExampleText {
        id: ExampleId::new(Uuid::now_v7()),
        text_hash: input.text_key(),
        submission: input.submission,
        reference: input.reference,
        expected: input.expected,
        note: input.note,
        result: None,
    }
}

/// The first 128 bits of a SHA-256: enough that two different texts of a prism never share a hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct TextHash(u128);

impl TextHash {
    /// The hash of a caller's reference. It differs from the hash of every submission.
    pub(crate) fn of_reference(reference: &str) -> Self {
        Self::of([b"ref", reference.as_bytes()].into_iter())
    }

    /// The hash of fields and context. It ignores the order of the fields, which may differ between
    /// versions.
    pub(crate) fn of_submission(submission: &Submission) -> Self {
        let mut fields: Vec<_> = submission.fields().iter().collect();
        fields.sort_by_key(|(key, _)| key);
        let context = submission.context().unwrap_or_default().as_bytes();
        let fields = fields.into_iter();
        let fields = fields.flat_map(|(key, value)| [key.as_str().as_bytes(), value.as_bytes()]);
        Self::of([&b"fields"[..], context].into_iter().chain(fields))
    }

    /// The hash of a list of texts. It differs from the hash of every reference and submission.
    pub(crate) fn of_parts<'a>(parts: impl IntoIterator<Item = &'a str>) -> Self {
        let parts = parts.into_iter().map(str::as_bytes);
        Self::of([&b"parts"[..]].into_iter().chain(parts))
    }

    /// The hash as 32 hexadecimal digits.
    pub(crate) fn hex(self) -> String {
        format!("{:032x}", self.0)
    }

    /// The hash as bytes, for a column.
    pub(crate) fn bytes(self) -> Vec<u8> {
        self.0.to_be_bytes().to_vec()
    }

    fn of<'a>(parts: impl Iterator<Item = &'a [u8]>) -> Self {
        let mut hash = Sha256::new();
        for part in parts {
            // the length prefix keeps two different lists of parts apart
            hash.update(part.len().to_be_bytes());
            hash.update(part);
        }
        let digest = hash.finalize();
        let bytes = digest.iter().take(16);
        Self(bytes.fold(0, |number, byte| number << 8 | u128::from(*byte)))
    }
}

#[cfg(test)]
mod tests {
    use refract_domain::key::FieldKey;
    use refract_domain::submission::{CallContext, FieldValues};

    use super::*;

    fn hash(fields: &[(&str, &str)], context: &str) -> TextHash {
        let fields = fields.iter();
        let fields = fields.map(|(key, text)| (FieldKey::parse(key).unwrap(), (*text).to_owned()));
        let fields = FieldValues::new(fields.collect());
        TextHash::of_submission(&Submission::saved(
            fields,
            CallContext::saved(context.to_owned()),
        ))
    }

    #[test]
    fn equal_fields_and_context_are_equal_in_any_order_and_nothing_else_is() {
        let first = hash(&[("a", "x"), ("b", "y")], "");
        assert_eq!(first, hash(&[("b", "y"), ("a", "x")], ""));
        let others = [
            hash(&[("a", "y"), ("b", "x")], ""),
            hash(&[("a", "x"), ("b", "y")], "c"),
            hash(&[("a", "x")], ""),
            hash(&[("a", "xb"), ("b", "")], ""),
            hash(&[], ""),
            TextHash::of_reference("x"),
            TextHash::of_reference(""),
            TextHash::of_parts(["a", "x", "b", "y"]),
            TextHash::of_parts(["", "a", "x", "b", "y"]),
        ];
        for (number, other) in others.iter().enumerate() {
            assert_ne!(*other, first, "{number}");
            assert!(!others[..number].contains(other), "{number}");
        }
    }
}
