//! How sure the answers of a result are, to find the results that are worth a look first.

use refract_domain::answer::probability::{ONE, Probability};
use refract_domain::answer::{Answer, Answers, confidence};
use refract_domain::key::QuestionKey;

/// The confidence in the least sure answer of a result, from 0 to 1; `None` without answers.
///
/// The confidence of an answer is Refract's own ([`confidence`]), from the probability of its most
/// probable outcome: what a server calls its confidence is another measure on each server.
pub fn least_confidence(answers: &Answers) -> Option<Probability> {
    least_sure(answers).map(|(_, answer)| confidence_of(answer))
}

/// The least sure answer of a result with its question, the first of equally sure ones; `None`
/// without answers.
pub fn least_sure(answers: &Answers) -> Option<(&QuestionKey, &Answer)> {
    let answers = answers.as_slice().iter();
    let least = answers.min_by_key(|(_, answer)| confidence_of(answer));
    least.map(|(question, answer)| (question, answer))
}

/// The confidence in an answer, from 0 to 1.
pub fn confidence_of(answer: &Answer) -> Probability {
    match answer {
        Answer::Choice { probabilities, .. } | Answer::Scale { probabilities, .. } => {
            let highest = probabilities.iter().map(|(_, probability)| *probability);
            let highest = highest.max().unwrap_or_default();
            let outcomes = u32::try_from(probabilities.len()).unwrap_or(u32::MAX);
            confidence(highest.to_f64(), outcomes)
        }
        Answer::YesNo { probability } => {
            let yes = probability.millionths();
            confidence(f64::from(yes.max(ONE - yes)) / f64::from(ONE), 2)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn least(json: &str) -> Option<f64> {
        let answers = serde_json::from_str(json).unwrap();
        least_confidence(&answers).map(Probability::to_f64)
    }

    #[test]
    fn the_least_sure_answer_counts() {
        let even = r#"{"type":"yes_no","probability":0.5}"#;
        let no = r#"{"type":"yes_no","probability":0.05}"#;
        let topic = r#"{"type":"choice","value":"a","confidence":0.0,
            "probabilities":{"a":0.6,"b":0.2,"c":0.2}}"#;
        assert_eq!(least(&format!(r#"{{"a":{even},"b":{no}}}"#)), Some(0.0));
        assert_eq!(least(&format!(r#"{{"a":{no}}}"#)), Some(0.9));
        assert_eq!(least(&format!(r#"{{"t":{topic},"a":{no}}}"#)), Some(0.4));
        assert_eq!(least("{}"), None);
    }
}
