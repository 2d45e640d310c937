//! The end of an attempt for a trace: status, failure, model and tokens, never an answer.

use refract_traces::AttemptEnd;

use crate::connection::ServerReply;
use crate::error::ModelError;
use crate::report::ReportedUsage;

/// Reads the end of a sampled attempt from the server's reply. The protocol reads the answer again
/// after the attempt.
pub(crate) fn of(reply: &Result<ServerReply, ModelError>) -> AttemptEnd {
    match reply {
        Ok(ServerReply::Answer(body)) => reported_in(body),
        Ok(ServerReply::CallError(refusal)) => AttemptEnd {
            status: Some(refusal.status),
            ..AttemptEnd::default()
        },
        Err(failure) => AttemptEnd {
            failure: Some(failure.kind()),
            ..AttemptEnd::default()
        },
    }
}

fn reported_in(body: &[u8]) -> AttemptEnd {
    let usage = ReportedUsage::in_body(body);
    AttemptEnd {
        status: Some(200),
        failure: None,
        model: usage.model,
        input_tokens: usage.input_tokens,
        output_tokens: usage.output_tokens,
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    fn reported(body: &str) -> (Option<String>, Option<u64>, Option<u64>) {
        let end = of(&Ok(ServerReply::Answer(Bytes::from(body.to_owned()))));
        assert_eq!((end.status, end.failure), (Some(200), None));
        (end.model, end.input_tokens, end.output_tokens)
    }

    #[test]
    fn model_and_tokens_are_read_by_the_names_of_either_format() {
        let model = Some("m-1".to_owned());
        for (body, expected) in [
            (
                r#"{"model":"m-1","answers":{},"usage":{"input_tokens":318,"output_tokens":34}}"#,
                (model.clone(), Some(318), Some(34)),
            ),
            (
                r#"{"model":"m-1","usage":{"prompt_tokens":7,"completion_tokens":1}}"#,
                (model.clone(), Some(7), Some(1)),
            ),
            (
                r#"{"answers":{},"usage":{"total_input_tokens":7,"total_output_tokens":0}}"#,
                (None, Some(7), Some(0)),
            ),
            (
                r#"{"result":{"model":"m-1","answers":{},"usage":{"input_tokens":7}},"success":true}"#,
                (model, Some(7), None),
            ),
            (r#"{"model":7,"usage":"none"}"#, (None, None, None)),
            (r#"[{"tokens_evaluated":7}]"#, (None, None, None)),
            ("no json", (None, None, None)),
        ] {
            assert_eq!(reported(body), expected, "{body}");
        }
    }

    #[test]
    fn a_failure_is_reported_by_its_kind() {
        let end = of(&Err(ModelError::Disconnected));
        assert_eq!((end.status, end.failure), (None, Some("disconnected")));
    }
}
