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
use uuid::Uuid;

pub use self::ask::AskedExamples;
pub use self::checked::{CheckedExample, ExampleState, ExpectedAnswer};
use super::text_hash::TextHash;
use crate::prisms::Prisms;
use crate::results::ReadableResult;
use crate::{InternalError, Refract};

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
