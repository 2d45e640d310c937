//! An answer as a label with its probability, as the lens reads it.

use refract_domain::answer::Answer;
use refract_domain::answer::probability::Probability;
use refract_domain::lens::Column;
use refract_domain::lens::cutoffs::Cutoffs;
use refract_domain::prism::question::Question;

/// The label of a Choice whose answer is not an option of the prism.
pub(crate) const NO_VALID_ANSWER: &str = "No valid answer";

/// The answer's label and its probability; for a Yes / No, the probability of yes.
pub(crate) fn describe_answer<'a>(
    question: &'a Question,
    answer: &'a Answer,
    lens: &[Column],
) -> (&'a str, Option<Probability>) {
    match answer {
        Answer::Choice { value: None, .. } => (NO_VALID_ANSWER, None),
        Answer::Choice {
            value: Some(key), ..
        }
        | Answer::Scale { level: key, .. } => {
            let label = question.label_of(key).unwrap_or(NO_VALID_ANSWER);
            (label, answer.probability_of(key))
        }
        Answer::YesNo { probability } => {
            let label = cutoffs(question, lens).label(*probability);
            (label.label(), Some(*probability))
        }
    }
}

/// The cutoffs of the first column that labels a Yes / No; those of the automatic lens if there is
/// none.
pub(crate) fn cutoffs(question: &Question, lens: &[Column]) -> Cutoffs {
    let mut of_question = lens.iter().filter(|column| column.question == question.key);
    let found = of_question.find_map(|column| column.output.cutoffs());
    found.unwrap_or(Cutoffs::AUTOMATIC)
}
