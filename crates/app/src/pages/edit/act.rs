//! What the buttons of the form do to a draft: add, remove, move, open and close.

use refract_domain::question::QuestionType;

use super::draft::{DraftField, DraftKey, DraftOutcome, DraftQuestion, EditDraft};

/// Does what a button such as `questions.2.up` or `fields.add` says. Returns the id of the element
/// that is used next; empty when the button is unknown or names something that is not there.
pub(crate) fn act(draft: &mut EditDraft, button: &str) -> String {
    let parts: Vec<&str> = button.split('.').collect();
    done(draft, &parts).unwrap_or_default()
}

fn done(draft: &mut EditDraft, parts: &[&str]) -> Option<String> {
    match parts {
        ["fields", "add"] => {
            draft.fields.push(DraftField {
                key: DraftKey::new(),
                label: String::new(),
            });
            Some(format!("fields.{}.label", draft.fields.len() - 1))
        }
        ["fields", place, change @ ..] => {
            rearrange(&mut draft.fields, "fields", place.parse().ok()?, change)
        }
        ["questions", "add", question_type] => {
            draft
                .questions
                .push(new_question(QuestionType::parse(question_type)?));
            Some(format!("questions.{}.text", draft.questions.len() - 1))
        }
        ["questions", place, "open"] => {
            draft
                .questions
                .get_mut(place.parse::<usize>().ok()?)?
                .is_folded = false;
            Some(format!("questions.{place}.text"))
        }
        ["questions", place, "close"] => {
            draft
                .questions
                .get_mut(place.parse::<usize>().ok()?)?
                .is_folded = true;
            Some(format!("questions.{place}.open"))
        }
        ["questions", place, "options" | "levels", rest @ ..] => {
            let question = draft.questions.get_mut(place.parse::<usize>().ok()?)?;
            let path = format!("questions.{place}.{}", question.list()?);
            match rest {
                ["add"] => {
                    question.outcomes.push(new_outcome());
                    Some(format!("{path}.{}.label", question.outcomes.len() - 1))
                }
                [place, change @ ..] => {
                    rearrange(&mut question.outcomes, &path, place.parse().ok()?, change)
                }
                [] => None,
            }
        }
        ["questions", place, change @ ..] => rearrange(
            &mut draft.questions,
            "questions",
            place.parse().ok()?,
            change,
        ),
        _ => None,
    }
}

/// Moves or removes an item of a list.
fn rearrange<T>(items: &mut Vec<T>, path: &str, from: usize, change: &[&str]) -> Option<String> {
    if from >= items.len() {
        return None;
    }
    let last = items.len() - 1;
    let to = match change {
        ["up"] => from.saturating_sub(1),
        ["down"] => (from + 1).min(last),
        ["to", place] => place.parse::<usize>().ok()?.min(last),
        ["remove"] => {
            items.remove(from);
            let next = match last {
                0 => format!("{path}.add"),
                last => format!("{path}.{}.remove", from.min(last - 1)),
            };
            return Some(next);
        }
        _ => return None,
    };
    let item = items.remove(from);
    items.insert(to, item);
    // the button that was pressed, unless the item is at the end
    let goes_up = to < from;
    let button = if to == 0 || (!goes_up && to < last) {
        "down"
    } else {
        "up"
    };
    Some(format!("{path}.{to}.{button}"))
}

fn new_question(question_type: QuestionType) -> DraftQuestion {
    let outcomes = match question_type {
        QuestionType::Choice | QuestionType::Scale => vec![new_outcome(), new_outcome()],
        QuestionType::YesNo => Vec::new(),
    };
    DraftQuestion {
        key: DraftKey::new(),
        question_type,
        text: String::new(),
        instructions: String::new(),
        outcomes,
        is_folded: false,
    }
}

fn new_outcome() -> DraftOutcome {
    DraftOutcome {
        key: DraftKey::new(),
        label: String::new(),
        description: String::new(),
    }
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
            assert_eq!(act(&mut draft, button), focus, "{button}");
            assert_eq!(labels(&draft), expected, "{button}");
        }
    }

    #[test]
    fn a_choice_gets_options_and_a_yes_no_none() {
        let mut draft = EditDraft::default();
        assert_eq!(act(&mut draft, "questions.add.choice"), "questions.0.text");
        let added = act(&mut draft, "questions.0.options.add");
        assert_eq!(added, "questions.0.options.2.label");
        act(&mut draft, "questions.add.yes_no");
        assert_eq!(act(&mut draft, "questions.1.options.add"), "");
        assert_eq!(act(&mut draft, "questions.add.nonsense"), "");
        assert_eq!(draft.questions[0].outcomes.len(), 3);
        assert_eq!(draft.questions[1].outcomes.len(), 0);
    }

    proptest! {
        #[test]
        fn no_button_panics(button in "(fields|questions)(\\.(-?[0-9]{1,20}|up|down|to|add|remove|options|choice|open|close)){0,5}") {
            let mut draft = EditDraft::blank();
            act(&mut draft, "questions.add.choice");
            act(&mut draft, &button);
        }
    }
}
