//! Agreement: how far people who marked the same texts agree, question by question.

use refract_boxed_futures::boxed;
use refract_domain::key::{OutcomeKey, QuestionKey};
use refract_domain::prism::Question;
use refract_domain::result::mark::{Mark, MarksFrom};
use refract_evaluation::measures::{Agreement, AgreementCounts};
use refract_persistence::{MarkedResult, PrismHistory, ResultFilter};

use crate::InternalError;
use crate::marks::Annotators;
use crate::measures::Measures;
use crate::measures::evaluation::questions;
use crate::prisms::find_saved_version;

/// How far people agree about one question.
#[derive(Clone, Debug)]
pub struct QuestionAgreement {
    /// The question, in the wording of the newest version that has it.
    pub question: Question,
    /// The figures.
    pub agreement: Agreement,
}

#[boxed]
impl Measures<'_> {
    /// How far people agree about the marked results of a prism that match a filter, for all questions
    /// of its history or for `only` one. A mark that settles a disagreement is no judgement of its
    /// own and is left out; a result whose mark `from` does not count is left out too.
    pub async fn agreement(
        self,
        history: &PrismHistory,
        only: Option<&QuestionKey>,
        filter: ResultFilter,
        from: MarksFrom,
    ) -> Result<Vec<QuestionAgreement>, InternalError> {
        let (database, prism) = (&self.refract.database, &history.prism);
        let questions = questions(&history.versions).into_iter();
        let questions = questions.filter(|question| only.is_none_or(|only| question.key == *only));
        let mut counted: Vec<(&Question, AgreementCounts)> = questions
            .map(|question| (question, AgreementCounts::new(question.question_type())))
            .collect();
        let pages = database.marked_pages(prism.id, filter);
        let mut pages = pages.of_several_people();
        // counting everybody's marks takes long, and mostly nobody marks twice
        let mut people = None;
        while let Some(page) = pages.next().await? {
            if page.is_empty() {
                continue;
            }
            if people.is_none() {
                let marks = self.refract.marks();
                people = Some(marks.annotators(prism.account, prism.id).await?);
            }
            let Some(people) = &people else { continue };
            for result in &page {
                let version = find_saved_version(database, prism.id, result.version).await?;
                for (question, counts) in &mut counted {
                    if let Some(asked) = version.question(&question.key) {
                        counts.add(asked, &judgements(result, &question.key, from, people));
                    }
                }
            }
        }
        let measured = counted
            .into_iter()
            .map(|(question, counts)| QuestionAgreement {
                question: question.clone(),
                agreement: counts.agreement(),
            });
        Ok(measured.collect())
    }
}

/// What each person marked, by the person's place among all.
fn judgements<'a>(
    result: &'a MarkedResult,
    question: &QuestionKey,
    from: MarksFrom,
    people: &Annotators,
) -> Vec<(usize, &'a OutcomeKey)> {
    let of_question = |mark: &&Mark| mark.question == *question;
    let counting = result.marks.iter().find(of_question);
    if !counting.is_some_and(|mark| from.counts(mark.source)) {
        return Vec::new();
    }
    let marks = result.marks.iter().chain(&result.other_marks);
    let own = marks
        .filter(of_question)
        .filter(|mark| !mark.is_adjudicated);
    own.filter_map(|mark| Some((people.place_of(&mark.marked_by)?, &mark.outcome)))
        .collect()
}
