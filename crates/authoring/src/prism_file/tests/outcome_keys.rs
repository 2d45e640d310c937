//! Options and levels, and the keys made for them.

use super::*;

#[test]
fn options_belong_to_choices_and_levels_to_scales() {
    let mut file = minimal();
    file["questions"][0]["options"] = labels(2);
    assert_eq!(
        refusal(&file),
        "questions.0: Unrecognized key(s) in object: 'options'"
    );
    let mut both = choice("q", labels(2));
    both["levels"] = labels(2);
    assert_eq!(
        refusal(&with_questions(json!([both]))),
        "questions.0: Unrecognized key(s) in object: 'levels'"
    );
    let mut bare = choice("q", labels(2));
    bare.as_object_mut().unwrap().remove("options");
    assert_eq!(
        refusal(&with_questions(json!([bare]))),
        "questions.0.options: Required"
    );
}

#[test]
fn option_keys_are_made_unique_and_never_a_built_in_one() {
    let options = json!([
        { "label": "Other" }, { "label": "Late!" }, { "label": "late" }, { "label": "x", "key": "late_2" },
        { "label": "Insufficient information" }, { "label": "日本" }, { "label": "日" }
    ]);
    let version = read(&with_questions(json!([choice("q", options.clone())])))
        .unwrap()
        .version;
    assert_eq!(
        keys(&version, 0),
        [
            "other_2",
            "late",
            "late_3",
            "late_2",
            "insufficient_information_2",
            "option",
            "option_2"
        ]
    );
    let version = read(&with_questions(json!([scale("q", options)])))
        .unwrap()
        .version;
    assert_eq!(keys(&version, 0)[..2], ["other", "late"]);
}

#[test]
fn a_key_that_is_given_twice_is_refused() {
    let options = json!([{ "label": "a", "key": "k" }, { "label": "b", "key": "k" }]);
    assert_eq!(
        refusal(&with_questions(json!([choice("q", options)]))),
        "questions.0.options.1.key: is used twice"
    );
}
