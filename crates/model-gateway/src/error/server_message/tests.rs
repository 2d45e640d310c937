use super::*;

fn line(body: &str) -> Option<String> {
    ServerMessage::in_body(body.as_bytes())?.for_terminal(None)
}

#[test]
fn the_message_is_found_wherever_servers_put_it() {
    for (body, expected) in [
        (
            r#"{"error":{"code":501,"message":"This model is not a decision model","type":"not_supported_error"}}"#,
            "This model is not a decision model",
        ),
        (r#"{"error":"model 'm' not found"}"#, "model 'm' not found"),
        (r#"{"object":"error","message":"no","code":400}"#, "no"),
        (r#"{"error":true,"message":"no"}"#, "no"),
        (
            r#"{"error":{"code":"","message":null},"detail":"no"}"#,
            "no",
        ),
        (r#"{"detail":"Not Found"}"#, "Not Found"),
        (
            r#"{"detail":[{"loc":["body","questions",0],"msg":"Field required","input":{"text":"echo"}},{"msg":"and more"}]}"#,
            "body.questions.0: Field required; and more",
        ),
        (r#"[{"error":{"message":"no","status":"INVALID"}}]"#, "no"),
        (
            r#"{"error":{"message":"Provider returned error","code":429,"metadata":{"raw":"slow down","provider_name":"P"}}}"#,
            "Provider returned error: slow down",
        ),
        (
            r#"{"choices":null,"base_resp":{"status_code":1002,"status_msg":"rate limit"}}"#,
            "rate limit",
        ),
        (
            r#"{"choices":[{"error":{"message":"upstream"}}]}"#,
            "upstream",
        ),
        (
            r#"{"detail":{"error_type":"max_tokens_exceeded"}}"#,
            "max_tokens_exceeded",
        ),
        (
            r#"{"detail":{"error_type":"api_usage_error","message":"Unknown model: default"}}"#,
            "Unknown model: default",
        ),
        (
            r#"{"result":null,"success":false,"errors":[{"code":5006,"message":"no"}]}"#,
            "no",
        ),
        ("\"no\"", "no"),
        (" Ollama is running\n", "Ollama is running"),
        ("\u{feff}no", "no"),
        (
            "<html>\n<head><TITLE>502 Bad Gateway</TITLE></head><body>nginx</body></html>",
            "502 Bad Gateway",
        ),
    ] {
        assert_eq!(line(body).as_deref(), Some(expected), "{body}");
    }
}

#[test]
fn a_text_without_content_is_no_message() {
    for body in [
        "",
        " \n",
        "{}",
        "{\"error\":",
        r#"{"error":{"code":500}}"#,
        r#"{"error":null,"message":" "}"#,
        r#"{"choices":[{"message":{"role":"assistant","content":"yes"}}]}"#,
        "<html><body>502</body></html>",
        "<title></title>",
        "\"\u{1b}\"",
        "\u{1b}\u{200b}",
    ] {
        assert_eq!(line(body), None, "{body}");
    }
}

#[test]
fn a_terminal_gets_one_line_of_300_characters_without_anything_that_steers_it() {
    let body = r#"{"error":"\u001b[31mred\u0007\r\n\tand \u202eback\u009b2J\u2028end"}"#;
    assert_eq!(line(body).as_deref(), Some("[31mred and back2J end"));
    let most = "ü".repeat(300);
    assert_eq!(line(&most).as_deref(), Some(most.as_str()));
    assert_eq!(line(&format!("{most}ü")), Some(format!("{most}…")));
}

#[test]
fn the_api_key_is_left_out_even_where_the_message_is_cut() {
    let key: ModelApiKey = "sk-secret".parse().unwrap();
    let before = "x".repeat(295);
    for (words, expected) in [
        (
            "Bearer sk-secret?".to_owned(),
            "Bearer [the API key]?".to_owned(),
        ),
        (format!("{before}sk-secret"), format!("{before}[the …")),
        ("sk-\u{7}secret".to_owned(), "[the API key]".to_owned()),
    ] {
        let message = ServerMessage::in_body(words.as_bytes()).unwrap();
        assert_eq!(message.for_terminal(Some(&key)), Some(expected));
        assert_eq!(format!("{message:?}"), "ServerMessage(..)");
    }
}
