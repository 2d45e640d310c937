//! An answer in a word with its probability, as the lens reads it.

use refract_domain::answer::Answer;
use refract_domain::answer::probability::Probability;
use refract_domain::lens::Column;
use refract_domain::lens::cutoffs::Cutoffs;
use refract_domain::prism::question::Question;

/// What a Choice says when the model named an option that the prism does not have.
pub(crate) const NO_VALID_ANSWER: &str = "No valid answer";

/// The answer's word, and the probability that belongs to it: for a Yes / No that of yes.
pub(crate) fn answer_words<'a>(
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

/// The cutoffs of the first column that labels a Yes / No; without one, those of the automatic lens.
pub(crate) fn cutoffs(question: &Question, lens: &[Column]) -> Cutoffs {
    let mut of_question = lens.iter().filter(|column| column.question == question.key);
    let found = of_question.find_map(|column| column.output.cutoffs());
    found.unwrap_or(Cutoffs::AUTOMATIC)
}
