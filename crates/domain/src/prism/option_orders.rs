//! Alternative orders of a Choice question's options.
//!
//! A model may prefer an option because it is listed first. Asking again in other orders shows how
//! far answers depend on the order.

use crate::prism::PrismVersion;
use crate::prism::question::{Outcome, Question, QuestionKind};

/// Up to `most` versions with only the Choice questions of `version`, each with its options in
/// another order. A question with fewer other orders occurs only in the first versions; the list is
/// empty when no question has another order.
///
/// The orders are the rotations of the options (by one, by two and so on), then the reversed list
/// and its rotations. The built-in outcomes stay last.
pub fn in_other_orders(version: &PrismVersion, most: usize) -> Vec<PrismVersion> {
    let questions = version.questions().iter();
    let mut orders: Vec<_> = questions.filter_map(|q| orders(q, most)).collect();
    let with = |questions| {
        let context = version.context().map(str::to_owned);
        PrismVersion::new(version.fields().to_vec(), context, questions)
    };
    let next = || -> Option<Vec<Question>> {
        let questions: Vec<_> = orders.iter_mut().filter_map(Iterator::next).collect();
        (!questions.is_empty()).then_some(questions)
    };
    std::iter::from_fn(next).map(with).collect()
}

/// A Choice question in at most `most` other orders; `None` for other types.
fn orders(question: &Question, most: usize) -> Option<std::vec::IntoIter<Question>> {
    let own = match &question.kind {
        QuestionKind::Choice { options } => options,
        QuestionKind::YesNo | QuestionKind::Scale { .. } => return None,
    };
    let reversed: Vec<_> = own.iter().rev().cloned().collect();
    let moved = (1..own.len()).map(|places| moved_up(own, places));
    let reversed = (0..own.len()).map(|places| moved_up(&reversed, places));
    let mut found: Vec<Vec<Outcome>> = Vec::new();
    for order in moved.chain(reversed) {
        if found.len() == most {
            break;
        }
        if order != *own && !found.contains(&order) {
            found.push(order);
        }
    }
    let questions = found.into_iter().map(|options| Question {
        kind: QuestionKind::Choice { options },
        ..question.clone()
    });
    Some(questions.collect::<Vec<_>>().into_iter())
}

fn moved_up(options: &[Outcome], places: usize) -> Vec<Outcome> {
    let mut moved = options.to_vec();
    moved.rotate_left(places);
    moved
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
