use super::*;

fn message(status: u16, body: &str) -> String {
    let reply = ProviderReply {
        status: StatusCode::from_u16(status).unwrap(),
        date: None,
        body: body.as_bytes().to_vec(),
    };
    match token_answer(&reply) {
        Ok(_) => "tokens".to_owned(),
        Err(error) => {
            let is_final = if error.is_final() { "final: " } else { "" };
            format!("{is_final}{error}")
        }
    }
}

/// A session goes on unless the provider itself says that the person is out: what is final ends it.
#[test]
fn an_answer_of_the_token_endpoint_is_distinguished_from_an_outage() {
    let client = "does not accept this installation";
    let away = "the sign-in provider does not answer";
    let grant = "final: the sign-in provider refused: invalid_grant";
    for (status, body, words) in [
        (
            200,
            r#"{"access_token": "a", "expires_in": "300", "scope": ["x"]}"#,
            "tokens",
        ),
        (
            200,
            "\u{feff}{\"access_token\": \"a\", \"refresh_token\": \"\"}",
            "tokens",
        ),
        (
            200,
            "{}",
            "token answer cannot be used: its `access_token` is missing",
        ),
        (
            200,
            r#"{"access_token": 1}"#,
            "its `access_token` cannot be read",
        ),
        (
            200,
            "<html>",
            "the sign-in provider's token answer cannot be used: it is not a JSON",
        ),
        // GitHub refuses so
        (
            200,
            r#"{"error": "bad_verification_code"}"#,
            "refused: bad_verification_code",
        ),
        (400, r#"{"error": "invalid_grant"}"#, grant),
        (401, r#"{"error": "invalid_grant"}"#, grant),
        (
            400,
            r#"{"error": {"code": "invalid_grant", "message": "x"}}"#,
            grant,
        ),
        (400, r#"{"error": "<b>"}"#, "refused: another reason"),
        (400, r#"{"error": "invalid_client"}"#, client),
        (401, r#"{"error": "unauthorized_client"}"#, client),
        (401, r#"{"error": "access_denied"}"#, client),
        (401, "Unauthorized", client),
        (400, r#"{"message": "bad"}"#, "its status is 400"),
        (404, "<html>", "its status is 404"),
        (400, r#"{"error": "server_error"}"#, away),
        (429, r#"{"error": "invalid_grant"}"#, away),
        (503, r#"{"error": "invalid_grant"}"#, away),
    ] {
        let message = message(status, body);
        assert!(message.contains(words), "{status} {body}: {message}");
        assert_eq!(
            message.starts_with("final"),
            message.contains("refused:"),
            "{body}"
        );
    }
}
