use super::*;

#[test]
fn expected_outcomes_are_an_object_in_json() {
    let json = r#"{"topic":"billing","angry":"yes"}"#;
    let expected: ExpectedOutcomes = serde_json::from_str(json).unwrap();
    let angry = QuestionKey::parse("angry").unwrap();
    assert_eq!(expected.get(&angry).unwrap().as_str(), "yes");
    let other = QuestionKey::parse("urgency").unwrap();
    assert_eq!(expected.get(&other), None);
    assert_eq!(serde_json::to_string(&expected).unwrap(), json);
    assert!(ExpectedOutcomes::default().is_empty() && !expected.is_empty());
}

#[test]
fn a_chosen_slug_has_the_shape_of_a_made_one() {
    for slug in ["support-triage", "a", "2-b-3", &"a".repeat(64)] {
        assert_eq!(Slug::parse(slug).unwrap().as_str(), slug);
    }
    for wrong in [
        "",
        "-a",
        "a-",
        "a--b",
        "Support",
        "a_b",
        "a b",
        "\u{fc}",
        &"a".repeat(65),
        "0190b8f2-0000-7000-8000-0000000000aa",
    ] {
        assert_eq!(Slug::parse(wrong), None, "{wrong}");
    }
}

#[test]
fn a_uuid_shape_selects_an_id() {
    let id = "0190B8F2-0000-7000-8000-0000000000AA";
    assert!(matches!(PrismSelector::parse(id), Ok(PrismSelector::Id(_))));
    assert!(matches!(
        PrismSelector::parse("support"),
        Ok(PrismSelector::Slug(_))
    ));
    assert_eq!(
        PrismSelector::parse(&"a".repeat(65)),
        Err(vec![ValidationError::StringTooLong(64)])
    );
}

/// A version with a first question of this many options and a second one of two.
fn version(options: usize) -> PrismVersion {
    let list = |count: usize| {
        let keys = ["a", "b", "c", "d", "e"].iter().take(count);
        let options = keys.map(|key| format!(r#"{{ "key": "{key}", "label": "{key}" }}"#));
        options.collect::<Vec<_>>().join(",")
    };
    serde_json::from_str(&format!(
        r#"{{ "fields": [{{ "key": "text", "label": "T" }}], "context": "shop", "questions": [
            {{ "key": "topic", "type": "choice", "text": "?", "options": [{}] }},
            {{ "key": "angry", "type": "yes_no", "text": "?" }},
            {{ "key": "two", "type": "choice", "text": "?", "options": [{}] }} ] }}"#,
        list(options),
        list(2)
    ))
    .unwrap()
}

/// The orders of each question, as `topic:bca two:ba`.
fn listed(options: usize, most: usize) -> Vec<String> {
    let versions = in_other_orders(&version(options), most);
    let question = |question: &Question| {
        let keys = question.own_outcomes().iter();
        let keys: String = keys.map(|option| option.key.as_str()).collect();
        format!("{}:{keys}", question.key)
    };
    let words = |version: &PrismVersion| {
        let questions: Vec<_> = version.questions().iter().map(question).collect();
        questions.join(" ")
    };
    versions.iter().map(words).collect()
}

#[test]
fn options_are_moved_up_and_then_reversed() {
    let expected = [
        "topic:bca two:ba",
        "topic:cab",
        "topic:cba",
        "topic:bac",
        "topic:acb",
    ];
    assert_eq!(listed(3, 9), expected);
    assert_eq!(listed(3, 2), expected[..2]);
    assert_eq!(listed(3, 0), [""; 0]);
    assert_eq!(listed(2, 9), ["topic:ba two:ba"]);
    assert_eq!(listed(5, 100).len(), 9);
}

#[test]
fn an_order_keeps_all_but_the_order() {
    let version = version(4);
    for other in in_other_orders(&version, 3) {
        assert_eq!(other.context(), version.context());
        assert_eq!(other.fields(), version.fields());
        let topic = &other.questions()[0];
        let built_in: Vec<_> = topic
            .outcomes()
            .skip(4)
            .map(|outcome| outcome.key)
            .collect();
        assert_eq!(built_in, ["other", "insufficient_information"]);
    }
}
