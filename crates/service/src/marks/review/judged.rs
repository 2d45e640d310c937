//! Which questions of results are judged already.

use std::collections::{HashMap, HashSet};

use refract_domain::ids::ResultId;
use refract_domain::key::QuestionKey;
use refract_domain::result::mark::source::MarksFrom;
use refract_persistence::{Database, Prism};

use crate::InternalError;
use crate::prisms::versions::find_saved_version;

/// The questions of results that nobody has judged yet.
#[derive(Default)]
pub(super) struct OpenQuestions(HashMap<ResultId, Vec<QuestionKey>>);

impl OpenQuestions {
    /// Finds the open questions of some results: of all their questions, or of one. Results that
    /// were deleted, or are failed, have none. A few thousand results at most.
    ///
    /// A fair sample takes no notice of marks that are no part of a fair sample: without the results
    /// that somebody chose before, the rest would be no fair sample.
    pub(super) async fn find(
        database: &Database,
        prism: &Prism,
        results: &[ResultId],
        question: Option<&QuestionKey>,
        is_fair: bool,
    ) -> Result<Self, InternalError> {
        let ids = || results.to_vec();
        let from = if is_fair {
            MarksFrom::Random
        } else {
            MarksFrom::All
        };
        let marks = database.list_marks_of(ids()).await?.into_iter();
        let marks = marks.filter(|mark| from.counts(mark.source));
        let mut judged: HashSet<_> = marks.map(|mark| (mark.result, mark.question)).collect();
        for abstention in database.list_abstentions_of(ids()).await? {
            judged.insert((abstention.result, abstention.question));
        }
        let mut open = HashMap::new();
        let found = database.find_markable_results(prism.account, prism.id, ids());
        for result in found.await?.into_iter().filter(|result| result.is_ok) {
            let version = find_saved_version(database, prism.id, result.version).await?;
            let questions = version.questions().iter();
            let keys = questions.map(|it| &it.key).filter(|key| {
                question.is_none_or(|wanted| wanted == *key)
                    && !judged.contains(&(result.id, (*key).clone()))
            });
            open.insert(result.id, keys.cloned().collect());
        }
        Ok(Self(open))
    }

    /// The open questions of a result, in the order of its version.
    pub(super) fn of(&self, result: ResultId) -> &[QuestionKey] {
        self.0.get(&result).map(Vec::as_slice).unwrap_or_default()
    }
}
