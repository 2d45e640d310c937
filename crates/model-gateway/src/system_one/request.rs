//! Writes System One requests: one, or the fewest that fit where one would be too large.

use refract_domain::model_input::{State, json_chars};
use refract_domain::prism::PrismVersion;
use refract_domain::submission::Submission;

use crate::typed_questions::split::{self, QuestionsFrame, SplitRequest, write_json};

/// Characters of `{"state":` `,"questions":{` `}}` around state and questions, for the estimate.
const FRAME_CHARS: usize = r#"{"state":,"questions":{}}"#.len();

/// Writes the questions about a submission into as few requests as fit.
pub(crate) fn split<'a>(
    model: &str,
    version: &'a PrismVersion,
    submission: &Submission,
    request_tokens: usize,
) -> Vec<SplitRequest<'a>> {
    let state = State {
        prism_context: version.context(),
        submission,
    };
    let questions = version.questions_json();
    let room = state.unescaped_bytes() + split::room_for_questions(version);
    let mut beginning = Vec::with_capacity(room);
    beginning.extend_from_slice(br#"{"model":"#);
    write_json(&mut beginning, model);
    beginning.extend_from_slice(br#","state":"#);
    write_json(&mut beginning, &state);
    beginning.extend_from_slice(br#","questions":{"#);
    let end = b"}}";
    split::split(
        QuestionsFrame { beginning, end },
        version.questions(),
        request_tokens,
        || FRAME_CHARS + json_chars(&state),
        |json, index, question| {
            write_json(json, question.key.as_str());
            json.push(b':');
            let question = questions.get(index).map(|json| json.as_bytes());
            json.extend_from_slice(question.unwrap_or_default());
        },
    )
}

/// Characters of each question as [`split`] counts them.
pub(crate) fn question_chars(version: &PrismVersion) -> Vec<usize> {
    let questions = version.questions().iter().zip(version.questions_json());
    let chars = questions
        .map(|(question, json)| json_chars(&question.key) + ":".len() + json.chars().count());
    chars.collect()
}

/// How many requests [`split`] makes for a state of this many characters.
pub(crate) fn requests(questions: &[usize], state_chars: usize, request_tokens: usize) -> usize {
    split::requests(questions, FRAME_CHARS + state_chars, request_tokens)
}
