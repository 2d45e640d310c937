//! The actions of the form's buttons on a draft: add, remove, move, open and close.

use refract_domain::prism::QuestionType;

use super::carried_draft::{FormAction, RemovedItem};
use super::draft::{DraftField, DraftQuestion, EditDraft, EditedOutcome};
use super::editing::Editing;
use super::trial::MOST_TEXTS;
use crate::pages::{self, ListChange};

/// A list of the form.
struct ListPlace<'a> {
    /// The path of the list.
    path: &'a str,
    /// The noun for an item of the list.
    noun: &'a str,
    /// The end of the path of the button that adds an item.
    add: &'a str,
}

const FIELDS: ListPlace<'_> = ListPlace {
    path: "fields",
    noun: "Field",
    add: "add",
};
const QUESTIONS: ListPlace<'_> = ListPlace {
    path: "questions",
    noun: "Question",
    add: "add.choice",
};

/// Carries out the action of a button, and remembers what it removes.
pub(crate) fn press(editing: &mut Editing, button: &str) {
    editing.extras.proposed.clear();
    if button.starts_with("texts.") {
        editing.extras.acted = act_on_texts(&mut editing.extras.texts, button);
        return;
    }
    if button == "undo" {
        let removed = editing.extras.removed.take();
        let acted = removed.map(|removed| removed.put_back(&mut editing.draft));
        editing.extras.acted = acted.unwrap_or_default();
        return;
    }
    let removed = RemovedItem::of(&editing.draft, button);
    editing.extras.acted = act(&mut editing.draft, button);
    // after another change of the lists, the place of the removed item is another one
    if !editing.extras.acted.focus.is_empty() {
        editing.extras.removed = removed;
    }
}

/// Adds or removes a test text.
fn act_on_texts(texts: &mut Vec<Vec<String>>, button: &str) -> FormAction {
    let parts: Vec<&str> = button.split('.').collect();
    match parts.as_slice() {
        ["texts", "add"] if texts.len() < MOST_TEXTS => {
            let fields = texts.first().map_or(1, Vec::len);
            texts.push(vec![String::new(); fields]);
            FormAction {
                focus: format!("texts.{}.0", texts.len() - 1),
                message: format!("Test text {} is new.", texts.len()),
            }
        }
        ["texts", place, "remove"] => {
            let place = place.parse().ok().filter(|place| *place < texts.len());
            if let Some(place) = place {
                texts.remove(place);
            }
            FormAction {
                focus: "texts.add".to_owned(),
                message: "The test text is removed.".to_owned(),
            }
        }
        _ => FormAction::default(),
    }
}

/// Carries out an action such as `questions.2.up` or `fields.add`.
pub(super) fn act(draft: &mut EditDraft, button: &str) -> FormAction {
    let parts: Vec<&str> = button.split('.').collect();
    done(draft, &parts).unwrap_or_default()
}

fn done(draft: &mut EditDraft, parts: &[&str]) -> Option<FormAction> {
    match parts {
        ["fields", "add"] => {
            draft.fields.push(DraftField::default());
            Some(added(&FIELDS, draft.fields.len(), "label"))
        }
        ["fields", place, change @ ..] => {
            rearrange(&mut draft.fields, &FIELDS, place.parse().ok()?, change)
        }
        ["questions", "add", question_type] => {
            let question_type = QuestionType::parse(question_type)?;
            draft.questions.push(new_question(question_type));
            let number = draft.questions.len();
            draft.fold_besides(Some(number - 1));
            Some(added(&QUESTIONS, number, "text"))
        }
        ["questions", place, change @ ("open" | "close")] => {
            let place: usize = place.parse().ok()?;
            let is_open = *change == "open";
            draft.questions.get_mut(place)?.is_folded = !is_open;
            draft.fold_besides(is_open.then_some(place));
            let (next, what) = if is_open {
                ("text", "open")
            } else {
                ("open", "closed")
            };
            Some(FormAction {
                focus: format!("questions.{place}.{next}"),
                message: format!("Question {} is {what}.", place + 1),
            })
        }
        ["questions", place, "options" | "levels", rest @ ..] => {
            let place: usize = place.parse().ok()?;
            let acted = outcome(draft.questions.get_mut(place)?, place, rest)?;
            draft.fold_besides(Some(place));
            Some(acted)
        }
        ["questions", place, change @ ..] => {
            let place = place.parse().ok()?;
            rearrange(&mut draft.questions, &QUESTIONS, place, change)
        }
        _ => None,
    }
}

/// Carries out an action on the options or levels of the question at `place`.
fn outcome(question: &mut DraftQuestion, place: usize, parts: &[&str]) -> Option<FormAction> {
    let list = ListPlace {
        path: &format!("questions.{place}.{}", question.list()?),
        noun: match question.question_type {
            QuestionType::Choice => "Option",
            QuestionType::YesNo | QuestionType::Scale => "Level",
        },
        add: "add",
    };
    match parts {
        ["add"] => {
            question.outcomes.push(EditedOutcome::default());
            Some(added(&list, question.outcomes.len(), "label"))
        }
        [place, change @ ..] => {
            rearrange(&mut question.outcomes, &list, place.parse().ok()?, change)
        }
        [] => None,
    }
}

/// The effect of adding an item at the end; its `input` gets the focus.
fn added(ListPlace { path, noun, .. }: &ListPlace<'_>, number: usize, input: &str) -> FormAction {
    FormAction {
        focus: format!("{path}.{}.{input}", number - 1),
        message: format!("{noun} {number} is new."),
    }
}

/// Moves or removes an item of a list.
fn rearrange<T>(
    items: &mut Vec<T>,
    ListPlace { path, noun, add }: &ListPlace<'_>,
    from: usize,
    change: &[&str],
) -> Option<FormAction> {
    let count = items.len();
    let (focus, message) = match pages::rearrange(items, from, change)? {
        ListChange::Removed => {
            let focus = match items.len().checked_sub(1) {
                None => format!("{path}.{add}"),
                Some(end) => format!("{path}.{}.remove", from.min(end)),
            };
            (focus, format!("is removed. {} left.", items.len()))
        }
        ListChange::Moved(to) => {
            // the pressed button keeps the focus, unless the item is at the end
            let button = match count - 1 {
                0 => "remove",
                end if to == 0 || (to >= from && to < end) => "down",
                _ => "up",
            };
            let focus = format!("{path}.{to}.{button}");
            (focus, format!("is number {} of {count}.", to + 1))
        }
    };
    Some(FormAction {
        focus,
        message: format!("{noun} {} {message}", from + 1),
    })
}

/// A new question, with two options or levels if its type has them.
fn new_question(question_type: QuestionType) -> DraftQuestion {
    let mut question = DraftQuestion::new(question_type);
    if question.list().is_some() {
        question.outcomes = vec![EditedOutcome::default(); 2];
    }
    question
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn three() -> EditDraft {
        let mut draft = EditDraft::default();
        for label in ["a", "b", "c"] {
            act(&mut draft, "fields.add");
            draft.fields.last_mut().unwrap().label = label.to_owned();
        }
        draft
    }

    fn labels(draft: &EditDraft) -> String {
        draft
            .fields
            .iter()
            .map(|field| field.label.as_str())
            .collect()
    }

    #[test]
    fn items_move_and_go_and_the_focus_follows() {
        let cases = [
            ("fields.2.up", "acb", "fields.1.up"),
            ("fields.1.up", "bac", "fields.0.down"),
            ("fields.0.up", "abc", "fields.0.down"),
            ("fields.1.down", "acb", "fields.2.up"),
            ("fields.0.to.2", "bca", "fields.2.up"),
            ("fields.0.remove", "bc", "fields.0.remove"),
            ("fields.2.remove", "ab", "fields.1.remove"),
            ("fields.3.remove", "abc", ""),
            ("fields.-1.up", "abc", ""),
        ];
        for (button, expected, focus) in cases {
            let mut draft = three();
            assert_eq!(act(&mut draft, button).focus, focus, "{button}");
            assert_eq!(labels(&draft), expected, "{button}");
        }
    }

    #[test]
    fn a_choice_gets_options_and_a_yes_no_none() {
        let mut draft = EditDraft::default();
        assert_eq!(
            act(&mut draft, "questions.add.choice").focus,
            "questions.0.text"
        );
        let added = act(&mut draft, "questions.0.options.add");
        assert_eq!(added.focus, "questions.0.options.2.label");
        assert_eq!(added.message, "Option 3 is new.");
        act(&mut draft, "questions.add.yes_no");
        assert_eq!(
            act(&mut draft, "questions.1.options.add"),
            FormAction::default()
        );
        assert_eq!(
            act(&mut draft, "questions.add.nonsense"),
            FormAction::default()
        );
        assert_eq!(draft.questions[0].outcomes.len(), 3);
        assert_eq!(draft.questions[1].outcomes.len(), 0);
    }

    #[test]
    fn the_last_item_that_goes_leaves_the_focus_where_the_next_is_added() {
        let mut draft = EditDraft::blank();
        let acted = act(&mut draft, "questions.0.remove");
        assert_eq!(acted.focus, "questions.add.choice");
        assert_eq!(acted.message, "Question 1 is removed. 0 left.");
        assert_eq!(act(&mut draft, "fields.0.up").focus, "fields.0.remove");
        assert_eq!(act(&mut draft, "fields.0.remove").focus, "fields.add");
        act(&mut draft, "questions.add.scale");
        act(&mut draft, "questions.0.levels.1.remove");
        let acted = act(&mut draft, "questions.0.levels.0.remove");
        assert_eq!(acted.focus, "questions.0.levels.add");
        assert_eq!(acted.message, "Level 1 is removed. 0 left.");
    }

    #[test]
    fn one_question_of_a_large_prism_is_open_at_a_time() {
        let mut draft = EditDraft::default();
        for _ in 0..4 {
            act(&mut draft, "questions.add.choice");
        }
        let open = |draft: &EditDraft| {
            let questions = draft.questions.iter().enumerate();
            let open = questions.filter(|(_, question)| !question.is_folded);
            open.map(|(place, _)| place).collect::<Vec<_>>()
        };
        assert_eq!(open(&draft), [0, 1, 2, 3]);
        draft.questions[2].outcomes = vec![EditedOutcome::default(); 650];
        act(&mut draft, "questions.2.options.add");
        assert_eq!(open(&draft), [2]);
        act(&mut draft, "questions.0.open");
        assert_eq!(open(&draft), [0]);
        act(&mut draft, "questions.0.down");
        assert_eq!(open(&draft), [1], "a question that moves stays open");
        act(&mut draft, "questions.1.close");
        assert_eq!(open(&draft), [0; 0]);
    }

    proptest! {
        #[test]
        fn no_button_panics(button in "(fields|questions)(\\.(-?[0-9]{1,20}|up|down|to|add|remove|options|choice|open|close)){0,5}") {
            let mut draft = EditDraft::blank();
            act(&mut draft, "questions.add.choice");
            act(&mut draft, &button);
        }
    }

    #[test]
    fn a_removal_is_taken_back_and_what_was_typed_since_stays() {
        let mut draft = EditDraft::blank();
        act(&mut draft, "questions.add.choice");
        for (place, label) in ["a", "b"].into_iter().enumerate() {
            draft.questions[1].outcomes[place].label = label.to_owned();
        }
        draft
            .questions
            .push(DraftQuestion::new(QuestionType::YesNo));
        for (button, focus) in [
            (
                "questions.1.options.0.remove",
                "questions.1.options.0.label",
            ),
            ("questions.2.remove", "questions.2.text"),
            ("fields.0.remove", "fields.0.label"),
        ] {
            let mut changed = draft.clone();
            let removed = RemovedItem::of(&changed, button).unwrap();
            act(&mut changed, button);
            assert_ne!(changed, draft, "{button}");
            changed.context = "typed since".to_owned();
            assert_eq!(removed.put_back(&mut changed).focus, focus);
            let mut expected = draft.clone();
            expected.context = "typed since".to_owned();
            assert_eq!(changed, expected, "{button}");
        }
        assert_eq!(RemovedItem::of(&draft, "fields.7.remove"), None);
        assert_eq!(RemovedItem::of(&draft, "fields.0.up"), None);
    }
}
