use refract_authoring::prism_file::PrismFile;

use super::*;
use crate::pages::edit::draft::{DraftField, EditedOutcome};

#[test]
fn the_keys_that_are_shown_are_those_that_are_saved() {
    let mut draft = EditDraft::blank();
    draft.name = "Triage".to_owned();
    draft.fields.push(DraftField {
        label: "Subject line".to_owned(),
        ..DraftField::default()
    });
    let mut question = DraftQuestion::new(QuestionType::Choice);
    question.text = "What is the message about?".to_owned();
    for label in ["Spare parts", "Other", "Spare parts!"] {
        question.outcomes.push(EditedOutcome {
            label: label.to_owned(),
            ..EditedOutcome::default()
        });
    }
    draft.questions = vec![question];
    let keys = made_keys(&draft, &DraftBase::default());
    let shown: Vec<_> = keys.iter().map(|(_, key)| key.as_str()).collect();
    let version = PrismFile::read(&draft.file(), None).unwrap().version;
    let fields = version.fields().iter().map(|field| field.key.as_str());
    let mut saved: Vec<_> = fields.skip(1).collect();
    for question in version.questions() {
        saved.push(question.key.as_str());
        saved.extend(question.own_outcomes().iter().map(|it| it.key.as_str()));
    }
    // the first field's key was typed
    assert_eq!(shown[1..], saved);
    assert_eq!(
        saved,
        [
            "subject_line",
            "about",
            "spare_parts",
            "other_2",
            "spare_parts_2"
        ]
    );
    draft.questions[0].text = " ".to_owned();
    let keys = made_keys(&draft, &DraftBase::default());
    assert!(keys.contains(&("questions.0.key".to_owned(), String::new())));
    draft.questions[0].outcomes = vec![EditedOutcome::default(); 254];
    assert!(made_keys(&draft, &DraftBase::default()).is_empty());
    let refusal = PrismFile::read(&draft.file(), None).unwrap_err();
    let mut paths = refusal
        .as_slice()
        .iter()
        .map(|problem| problem.path.as_str());
    assert!(paths.any(|path| path == "questions.0.options"));
}

#[test]
fn keys_of_words_in_other_scripts_are_asked_for_with_a_proposal() {
    let mut draft = EditDraft::blank();
    draft.name = "怒り".to_owned();
    draft.fields.push(DraftField {
        label: "Сообщение".to_owned(),
        ..DraftField::default()
    });
    let mut question = DraftQuestion::new(QuestionType::Choice);
    question.text = "これは苦情ですか".to_owned();
    for label in ["כועס", "Calm", "화난"] {
        question.outcomes.push(EditedOutcome {
            label: label.to_owned(),
            ..EditedOutcome::default()
        });
    }
    draft.questions = vec![question];
    let base = DraftBase::default();
    let asked_for = |draft: &EditDraft| {
        let mut problems = Problems::default();
        ask(draft, true, &mut problems);
        let paths = problems.as_slice().iter().map(|it| it.path.clone());
        paths.collect::<Vec<_>>()
    };
    let paths = [
        "slug",
        "fields.1.key",
        "questions.0.key",
        "questions.0.options.0.key",
        "questions.0.options.2.key",
    ];
    assert_eq!(asked_for(&draft), paths);
    let shown = made_keys(&draft, &base);
    assert_eq!(propose(&mut draft, &base, "nuri"), paths);
    assert_eq!(asked_for(&draft), [""; 0]);
    let version = PrismFile::read(&draft.file(), None).unwrap().version;
    let question = &version.questions()[0];
    let saved = [
        question.key.as_str(),
        question.own_outcomes()[0].key.as_str(),
    ];
    for (path, key) in ["questions.0.key", "questions.0.options.0.key"]
        .iter()
        .zip(saved)
    {
        assert!(
            shown.contains(&((*path).to_owned(), key.to_owned())),
            "{path}: {shown:?}"
        );
    }
    assert!(propose(&mut draft, &base, "nuri").is_empty(), "once");
    draft.slug = "No slug".to_owned();
    assert_eq!(asked_for(&draft), ["slug"]);
    let slugs: Vec<_> = made_slugs("怒り").take(2).collect();
    assert_eq!([slugs[0].as_str(), slugs[1].as_str()], ["nuri", "nuri-2"]);
    assert!(made_slugs(" ").next().is_none());
}

#[test]
fn a_path_names_its_question() {
    assert_eq!(question_of("questions.12.options.3.key"), Some(12));
    assert_eq!(question_of("questions"), None);
    assert_eq!(question_of("fields.0.key"), None);
}
