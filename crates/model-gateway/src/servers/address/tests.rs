use super::*;

#[test]
fn endpoints_beside_v1_are_known_where_the_address_ends_in_it() {
    for (text, path) in [
        ("http://127.0.0.1:8080/v1/", Some("/completion")),
        ("https://models.example/llama/v1", Some("/llama/completion")),
        ("http://127.0.0.1:8080", None),
        ("http://127.0.0.1:8080/v1/openai", None),
    ] {
        let address = ServerAddress::parse(text).unwrap();
        let found = address.path_beside_v1("completion");
        assert_eq!(found.as_ref().map(PathAndQuery::as_str), path, "{text}");
    }
}

#[test]
fn nothing_is_appended_to_the_whole_address_of_an_endpoint() {
    for (text, endpoint) in [
        (
            "https://models.example/providers/microsoft/v1/systemone",
            "https://models.example/providers/microsoft/v1/systemone",
        ),
        ("http://h/v1/systemone/", "http://h/v1/systemone"),
        (
            "https://api.perplexity.ai/v1/decisions",
            "https://api.perplexity.ai/v1/decisions",
        ),
        (
            "https://w.example/serving-endpoints/jev/invocations",
            "https://w.example/serving-endpoints/jev/invocations",
        ),
        (
            "https://w.example/api/2.0/ai-functions/ai-decide",
            "https://w.example/api/2.0/ai-functions/ai-decide",
        ),
        (
            "https://m.example/v1/models/m:decide",
            "https://m.example/v1/models/m:decide",
        ),
        (
            "https://c.example/client/v4/accounts/1/ai/run/@cf/cloudflare/clef",
            "https://c.example/client/v4/accounts/1/ai/run/@cf/cloudflare/clef",
        ),
        // base addresses that look like endpoints
        ("http://[::1]:8000", "http://[::1]:8000/systemone"),
        ("http://systemone", "http://systemone/systemone"),
        ("http://h/systemone/v1", "http://h/systemone/v1/systemone"),
        ("http://h/my-decisions", "http://h/my-decisions/systemone"),
        ("http://h/a:b/v1", "http://h/a:b/v1/systemone"),
        ("http://h/ai/run", "http://h/ai/run/systemone"),
    ] {
        let address = ServerAddress::parse(text).unwrap();
        assert_eq!(address.endpoint("systemone").unwrap(), endpoint, "{text}");
        let has_more = address.path_below("models").is_some();
        assert_eq!(has_more, !address.is_whole(), "{text}");
    }
    let run = ServerAddress::parse("http://h/ai/run/m/v1").unwrap();
    assert_eq!(run.path_beside_v1("completion"), None);
}

#[test]
fn an_endpoint_of_another_protocol_is_known() {
    let contradicted = |text: &str| {
        let address = ServerAddress::parse(text).unwrap();
        let protocols = Protocol::ALL.into_iter();
        let contradicted = protocols.filter(|protocol| address.contradicts(*protocol));
        contradicted.map(Protocol::name).collect::<Vec<_>>()
    };
    assert_eq!(
        contradicted("http://h/v1/systemone/"),
        ["decisions", "gemini", "chat", "stated"]
    );
    assert_eq!(contradicted("http://h/v1/decisions"), ["chat", "stated"]);
    for any in ["http://h/m/invocations", "http://h/v1", "http://systemone"] {
        assert_eq!(contradicted(any), [""; 0], "{any}");
    }
}

#[test]
fn an_address_is_turned_into_its_neighbour_with_or_without_v1() {
    for (text, other) in [
        ("http://h/v1", Some("http://h")),
        ("http://h/", Some("http://h/v1")),
        ("http://h/openai/v1/", Some("http://h/openai")),
        ("http://h/v1beta", Some("http://h/v1beta/v1")),
        ("http://h/v1/systemone", None),
    ] {
        let address = ServerAddress::parse(text).unwrap();
        let found = address.with_or_without_v1();
        assert_eq!(found.map(|it| it.to_string()).as_deref(), other, "{text}");
    }
}

#[test]
fn an_address_that_goes_on_to_the_completions_is_refused() {
    for text in ["http://h/v1/chat/completions", "http://h/chat/completions/"] {
        let refused = ServerAddress::parse(text);
        assert_eq!(refused, Err(AddressError::Completions), "{text}");
    }
}

#[test]
fn a_server_is_named_by_host_and_port_alone() {
    for (text, name) in [
        ("http://GPU-1.example/secret-path/v1", "gpu-1.example:80"),
        ("https://models.example/v1", "models.example:443"),
        ("http://[::1]:8000", "[::1]:8000"),
    ] {
        assert_eq!(ServerAddress::parse(text).unwrap().name(), name);
    }
}

#[test]
fn addresses_of_one_place_are_the_same_however_they_are_spelled() {
    let is_same = |one: &str, other: &str| {
        let [one, other] = [one, other].map(|text| ServerAddress::parse(text).unwrap());
        one.is_same_as(&other)
    };
    assert!(is_same("http://gpu/v1", "http://GPU:80/v1/"));
    assert!(is_same("https://gpu", "https://gpu:443/"));
    assert!(!is_same("http://gpu/v1", "http://gpu:8000/v1"));
    assert!(!is_same("http://gpu/a/v1", "http://gpu/b/v1"));
}
