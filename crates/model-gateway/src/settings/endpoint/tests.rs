use super::*;

/// The addresses of the `systemone` endpoint at each server.
fn endpoints(text: &str) -> Vec<String> {
    let Ok(ModelEndpoint::Servers(addresses)) = text.parse() else {
        panic!("{text}")
    };
    let endpoint = |address: &ServerAddress| address.endpoint("systemone").unwrap().to_string();
    addresses.iter().map(endpoint).collect()
}

#[test]
fn an_endpoint_is_the_scorer_or_the_address_of_a_server() {
    assert_eq!("builtin:lexical".parse(), Ok(ModelEndpoint::DemoScorer));
    for (text, endpoint) in [
        (
            "http://127.0.0.1:8000/v1",
            "http://127.0.0.1:8000/v1/systemone",
        ),
        (
            "https://models.example/api/v1//",
            "https://models.example/api/v1/systemone",
        ),
        (" http://[::1]:8000 ", "http://[::1]:8000/systemone"),
    ] {
        assert_eq!(endpoints(text), [endpoint]);
    }
}

#[test]
fn a_list_of_servers_is_taken_in_its_order() {
    let text = "http://b:1/v1, https://a/llama/v1/ ,http://[::1]";
    let expected = [
        "http://b:1/v1/systemone",
        "https://a/llama/v1/systemone",
        "http://[::1]/systemone",
    ];
    assert_eq!(endpoints(text), expected);
    let endpoint: ModelEndpoint = text.parse().unwrap();
    let shown = "http://b:1/v1, https://a/llama/v1, http://[::1]";
    assert_eq!(endpoint.to_string(), shown);
    let alone = endpoint.each_alone();
    let alone: Vec<String> = alone.iter().map(ToString::to_string).collect();
    assert_eq!(alone.join(", "), shown);
    let many = |servers: usize| {
        let addresses: Vec<_> = (1..=servers)
            .map(|port| format!("http://h:{port}"))
            .collect();
        addresses.join(",").parse::<ModelEndpoint>()
    };
    assert!(many(64).is_ok());
    assert_eq!(many(65), Err(SettingError::EndpointCount));
}

#[test]
fn a_list_is_refused_for_its_first_address_that_cannot_be_used() {
    for (text, words) in [
        ("http://a,", "address 2 of the model URL's list is empty"),
        (",http://a", "address 1 of the model URL's list is empty"),
        (
            "http://a/v1,http://b/v1,http://A:80/v1/",
            "address 3 of the model URL's list is the same as address 1",
        ),
        (
            "http://a,builtin:lexical",
            "address 2 of the model URL's list is `builtin:lexical`, which stands alone",
        ),
        (
            "http://a,http://user:secret@b/v1",
            "address 2 of the model URL's list holds credentials: set the model API key \
             instead",
        ),
        (
            "http://a,http://b/v1/chat/completions",
            "address 2 of the model URL's list must end before `/chat/completions`, which \
             Refract appends",
        ),
        (
            "http://a,secret:8000,http://a",
            "address 2 of the model URL's list is not that of a model server up to and \
             including its `/v1`, such as `http://127.0.0.1:8000/v1`",
        ),
    ] {
        let error = text.parse::<ModelEndpoint>().unwrap_err();
        assert_eq!(error.to_string(), words, "{text}");
    }
}

#[test]
fn what_is_no_endpoint_is_refused_without_being_repeated() {
    for text in [
        "",
        "lexical",
        "builtin:other",
        "127.0.0.1:8000",
        "ftp://host/v1",
        "http://host:80800/v1",
        "http://[::1]:65536/v1",
        "http://host/m\u{f6}dell/v1",
        "http://",
        "/v1",
        "http://h/v1?a=b",
    ] {
        assert_eq!(
            text.parse::<ModelEndpoint>(),
            Err(SettingError::Endpoint),
            "{text}"
        );
    }
    let error = "http://h/v1/chat/completions".parse::<ModelEndpoint>();
    assert_eq!(error, Err(SettingError::EndpointCompletions));
    let error = "http://user:secret@host/v1"
        .parse::<ModelEndpoint>()
        .unwrap_err();
    assert_eq!(error, SettingError::EndpointCredentials);
    assert!(!error.to_string().contains("secret"));
}

fn header(name: &str) -> ModelKeyHeader {
    name.parse().unwrap()
}

#[test]
fn a_key_is_a_bearer_token_in_authorization_and_bare_elsewhere() {
    for (name, value) in [
        ("Authorization", "Bearer sk-1"),
        ("AUTHORIZATION", "Bearer sk-1"),
        (" x-api-key ", "sk-1"),
        ("api-key", "sk-1"),
        ("X-Goog-Api-Key", "sk-1"),
    ] {
        let sent = header(name).value("sk-1").unwrap();
        assert_eq!(sent, value, "{name}");
        assert!(sent.is_sensitive());
    }
}

#[test]
fn gemini_has_a_header_of_its_own() {
    let of = |protocol| ModelKeyHeader::of_protocol(protocol).to_string();
    assert_eq!(of(Protocol::Gemini), "x-goog-api-key");
    for protocol in [
        Protocol::SystemOne,
        Protocol::Decisions,
        Protocol::Chat,
        Protocol::Stated,
    ] {
        assert_eq!(of(protocol), "authorization");
    }
}

#[test]
fn what_is_no_header_for_a_key_is_refused() {
    for name in [
        "",
        " ",
        "api key",
        "x-api-key:",
        "schlüssel",
        "Host",
        "content-length",
        "Transfer-Encoding",
        "traceparent",
    ] {
        let refused = name.parse::<ModelKeyHeader>();
        assert_eq!(refused, Err(SettingError::KeyHeader), "{name}");
    }
}
