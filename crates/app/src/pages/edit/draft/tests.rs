//! A draft and the prism file made from it.

use std::sync::Arc;

use proptest::prelude::*;
use refract_authoring::made_names::slugs;
use refract_authoring::prism_file::PrismFile;
use refract_domain::prism::Slug;

use super::*;
use crate::pages::edit::carried_draft::DraftBase;

/// Texts with characters that break a form or file without escaping.
fn words() -> impl Strategy<Value = String> {
    "[a-zA-Zäß日🦊 \"'<>&=\\\\{}\u{202e}]{0,12}x"
}

fn question() -> impl Strategy<Value = Value> {
    let outcomes = proptest::collection::vec((words(), words()), 2..6);
    (0..3_usize, words(), words(), outcomes).prop_map(|(kind, text, instructions, outcomes)| {
        let outcomes: Value = outcomes
            .into_iter()
            .map(|(label, description)| json!({ "label": label, "description": description }))
            .collect();
        match kind {
            0 => json!({ "type": "choice", "text": text, "instructions": instructions, "options": outcomes }),
            1 => json!({ "type": "scale", "text": text, "levels": outcomes }),
            _ => json!({ "type": "yes_no", "text": text, "instructions": instructions }),
        }
    })
}

fn file() -> impl Strategy<Value = Value> {
    let questions = proptest::collection::vec(question(), 1..6);
    (
        words(),
        words(),
        proptest::collection::vec(words(), 1..5),
        questions,
    )
        .prop_map(|(name, context, fields, mut questions)| {
            for (place, question) in questions.iter_mut().enumerate() {
                question["key"] = format!("q{place}").into();
            }
            let fields = fields.into_iter().enumerate();
            let fields: Value = fields
                .map(|(place, label)| json!({ "key": format!("f{place}"), "label": label }))
                .collect();
            json!({ "name": name, "context": context, "fields": fields, "questions": questions })
        })
}

proptest! {
    #[test]
    fn any_prism_comes_back_from_its_draft(file in file()) {
        let read = PrismFile::read(file.to_string().as_bytes(), None).unwrap();
        let draft = EditDraft::of(read.name.as_str(), &read.version);
        prop_assert_eq!(PrismFile::read(&draft.file(), None).unwrap(), read.clone());
        for base in [DraftBase::default(), DraftBase(Some(Arc::new(read.version.clone())))] {
            prop_assert_eq!(&base.read(base.carry(&draft)).unwrap(), &draft);
            for question in &draft.questions {
                let carried = base.carry_question(question);
                prop_assert_eq!(&base.read_question(&carried).unwrap(), question);
            }
        }
        prop_assert_eq!(PrismFile::read(&draft.into_new().file(), None).unwrap(), read);
    }
}

#[test]
fn fields_and_questions_without_a_key_get_different_ones() {
    let mut draft = EditDraft::blank();
    draft.name = "Triage".to_owned();
    draft.questions[0].text = "Text".to_owned();
    draft.questions.push(draft.questions[0].clone());
    let version = PrismFile::read(&draft.file(), None).unwrap().version;
    let keys: Vec<_> = version.questions().iter().map(|q| q.key.as_str()).collect();
    assert_eq!(keys, ["text_2", "text_3"]);
}

#[test]
fn the_rules_are_those_of_the_prism_file() {
    let refusal = PrismFile::read(&EditDraft::blank().file(), None).unwrap_err();
    let problems: Vec<_> = refusal.as_slice().iter().map(|p| p.path.as_str()).collect();
    assert_eq!(problems, ["name", "questions.0.text"]);
}

#[test]
fn an_unchanged_question_is_carried_by_its_key() {
    let file = json!({
        "name": "Triage",
        "fields": [{ "key": "text", "label": "Text" }],
        "questions": [
            { "key": "topic", "type": "yes_no", "text": "About a refund?" },
            { "key": "angry", "type": "yes_no", "text": "Angry?" },
        ],
    });
    let version = PrismFile::read(file.to_string().as_bytes(), None)
        .unwrap()
        .version;
    let mut draft = EditDraft::of("Triage", &version);
    draft.questions[1].text = "Is it angry?".to_owned();
    draft.questions[0].is_folded = true;
    let base = DraftBase(Some(Arc::new(version)));
    let carried = base.carry(&draft);
    let json = serde_json::to_string(&carried).unwrap();
    assert!(!json.contains("refund") && json.contains("Is it angry?"));
    assert_eq!(base.read(carried.clone()).unwrap(), draft);
    let other = DraftBase::default().read(carried);
    assert!(other.is_err(), "a key of no version names nothing");
}

#[test]
fn equal_labels_of_one_question_are_refused_in_words() {
    let labelled = |labels: &[&str]| {
        let outcome = |label: &&str| EditedOutcome {
            label: (*label).to_owned(),
            ..EditedOutcome::default()
        };
        let mut question = DraftQuestion::new(QuestionType::Choice);
        question.outcomes = labels.iter().map(outcome).collect();
        EditDraft {
            questions: vec![DraftQuestion::new(QuestionType::YesNo), question],
            ..EditDraft::default()
        }
    };
    let problems = labelled(&["怒り", "Calm", "怒り ", "calm", "", ""]).equal_labels();
    let paths: Vec<_> = problems.as_slice().iter().map(|it| &*it.path).collect();
    let second = ["questions.1.options.2.label", "questions.1.options.3.label"];
    assert_eq!(paths, second);
    assert!(labelled(&["Angry", "Calm"]).equal_labels().is_empty());
    let mut saved = labelled(&["Calm", "calm"]);
    saved.questions[1].outcomes[1].key = DraftKey::Saved("calm_2".to_owned());
    assert!(saved.equal_labels().is_empty(), "as the version has them");
}

#[test]
fn words_of_other_scripts_are_spelled_in_latin_letters() {
    let cases = [
        ("怒り", "nuri"),
        ("これは苦情ですか", "korehakuqingdesuka"),
        ("כועס", "khvs"),
        ("غاضب", "ghdb"),
        ("Сердитый клиент", "serdityy-klient"),
        ("Θυμωμένος", "thymomenos"),
        ("화난 고객", "hwanan-gogaeg"),
        ("ไทย", "aithy"),
        ("नमस्ते", "nmste"),
        ("በርበሬ", "berbere"),
        ("怒り 2", "nuri-2"),
        ("2024", "2024"),
        ("blog 한글", "blog"),
        ("Ärger", "arger"),
        ("!?", "prism"),
    ];
    let made = cases.map(|(words, _)| slugs(&spelled(words)).next().unwrap());
    let made: Vec<_> = made.iter().map(Slug::as_str).collect();
    assert_eq!(made, cases.map(|(_, slug)| slug));
    assert!(is_foreign("怒り") && is_foreign("怒り 2") && is_foreign("!?"));
    assert!(!is_foreign("Ärger") && !is_foreign("2024") && !is_foreign(" "));
    let long = slugs(&spelled(&"知识库 ".repeat(30))).next().unwrap();
    assert!(!long.as_str().ends_with('-'), "{}", long.as_str());
}
