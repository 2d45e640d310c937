//! Writes System One requests: one, or the fewest that fit where one would be too large.

use refract_domain::model_input::{self, State, SystemOneQuestion, json_chars};
use refract_domain::prism::PrismVersion;
use refract_domain::question::Question;
use refract_domain::submission::Submission;

use crate::typed_questions::split::{self, CountedJson, QuestionsFrame, SplitRequest};

/// Characters of `{"state":` `,"questions":{` `}}` around state and questions, for the estimate.
const FRAME_CHARS: usize = r#"{"state":,"questions":{}}"#.len();

/// Writes the questions about a submission into as few requests as fit.
pub(crate) fn split<'a>(
    model: &str,
    version: &'a PrismVersion,
    submission: &Submission,
    request_tokens: usize,
) -> Vec<SplitRequest<'a>> {
    let mut beginning = CountedJson::default();
    beginning.raw(br#"{"model":"#);
    beginning.value(model);
    beginning.raw(br#","state":"#);
    let state_chars = beginning.value(&State {
        prism_context: version.context(),
        submission,
    });
    beginning.raw(br#","questions":{"#);
    let frame = QuestionsFrame {
        beginning,
        end: b"}}",
        chars: FRAME_CHARS + state_chars,
    };
    split::split(frame, version.questions(), request_tokens, write_question)
}

fn write_question(json: &mut CountedJson, question: &Question) -> usize {
    let key_chars = json.value(question.key.as_str());
    json.raw(b":");
    key_chars + ":".len() + json.value(&SystemOneQuestion(question))
}

/// Characters of each question as [`split`] counts them.
pub(crate) fn question_chars(version: &PrismVersion) -> Vec<usize> {
    let written = version.questions().iter().map(|question| {
        json_chars(&question.key) + ":".len() + model_input::question_chars(question)
    });
    written.collect()
}

/// How many requests [`split`] makes for a state of this many characters.
pub(crate) fn requests(questions: &[usize], state_chars: usize, request_tokens: usize) -> usize {
    split::requests(questions, FRAME_CHARS + state_chars, request_tokens)
}
