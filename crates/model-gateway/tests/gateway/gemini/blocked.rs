use super::*;

#[actix_rt::test]
async fn a_blocked_text_is_a_refusal_that_names_the_filters_reason() {
    for (feedback, reason) in [
        (json!({"block_reason": "safety"}), "safety"),
        (
            json!({"block_reason": "prohibited_content", "block_reason_message": "sentinel"}),
            "prohibited_content",
        ),
        (json!({"block_reason": "sentinel of the caller"}), "other"),
    ] {
        let body = json!({"prompt_feedback": feedback, "usage": {"total_input_tokens": 7}});
        let call = ask(&ModelServer::start(ScriptedReply::json(&body))).await;
        let failure = call.outcome.unwrap_err();
        assert_eq!(failure, ModelError::Blocked(reason), "{body}");
        let sentence = format!("The model server's content filter blocked the text ({reason}).");
        assert_eq!(failure.to_string(), sentence);
        assert_eq!(failure.kind(), "withheld");
        assert_eq!(call.server_message, None);
        assert_eq!(call.report.input_tokens, Some(7));
    }
}

#[actix_rt::test]
async fn answers_count_whatever_the_filter_reports_beside_them() {
    let mut body = documented();
    body["prompt_feedback"] = json!({"block_reason": "safety"});
    answers_to(&body.to_string()).await.unwrap();
}
