//! The marks of several people on one question of one result, and which of them counts.

use super::source::MarkSource;
use super::{Annotator, Mark};

/// The marks of one question of one result: at most one of each person, and one more for each
/// person who settled a disagreement.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QuestionMarks {
    /// Of equal moments, a later place is a later mark. The mark that counts comes last.
    marks: Vec<Mark>,
}

impl QuestionMarks {
    /// The mark that counts, and those beside it.
    pub fn new(counting: Option<Mark>, mut beside: Vec<Mark>) -> Self {
        beside.extend(counting);
        Self { marks: beside }
    }

    /// Adds a mark, or changes the person's saved one as [`Mark::changes`] says. Returns whether
    /// anything changed. A mark of nobody that says what counts already changes nothing: an export
    /// of results names no people.
    pub fn add(&mut self, mark: Mark) -> bool {
        let Some(place) = self.place_of(&mark) else {
            self.marks.push(mark);
            return true;
        };
        let Some(saved) = self.marks.get_mut(place) else {
            return false;
        };
        if !mark.changes(saved) {
            return false;
        }
        let by = if mark.marked_by.person.is_some() || saved.marked_by.is_unnamed() {
            mark.marked_by.clone()
        } else {
            saved.marked_by.clone()
        };
        // a person who corrects a mark did not choose the result when it was drawn
        let source = if saved.source.is_some_and(MarkSource::is_fair) {
            mark.source.filter(|it| it.is_fair()).or(saved.source)
        } else {
            mark.source
        };
        *saved = Mark {
            marked_by: by,
            source,
            is_adjudicated: saved.is_adjudicated,
            ..mark
        };
        true
    }

    /// The place of the mark that a new one may change.
    fn place_of(&self, mark: &Mark) -> Option<usize> {
        let by = &mark.marked_by;
        if by.is_unnamed()
            && let Some(place) = self.counting_place()
            && self.marks.get(place)?.outcome == mark.outcome
        {
            return Some(place);
        }
        let find = |is_by: &dyn Fn(&Annotator) -> bool| {
            let mut marks = self.marks.iter();
            marks.position(|it| it.is_adjudicated == mark.is_adjudicated && is_by(&it.marked_by))
        };
        // the mark with the same id rather than an older one with the name alone
        find(&|it| by.person.is_some() && it.person == by.person)
            .or_else(|| find(&|it| it == by))
            .or_else(|| find(&|it| it.is(by)))
    }

    /// Withdraws the mark of a person: the one that settled a disagreement, or the ordinary one, or
    /// else a mark of nobody.
    pub fn withdraw(&mut self, by: &Annotator, is_adjudicated: bool) {
        let before = self.marks.len();
        let of_kind = |it: &Mark| it.is_adjudicated == is_adjudicated;
        self.marks
            .retain(|it| !(of_kind(it) && it.marked_by.is(by)));
        if self.marks.len() == before {
            self.marks
                .retain(|it| !(of_kind(it) && it.marked_by.is_unnamed()));
        }
    }

    /// Whether people differ and nobody has settled it.
    pub fn differ(&self) -> bool {
        let mut outcomes = self.marks.iter().map(|mark| &mark.outcome);
        let first = outcomes.next();
        !self.marks.iter().any(|mark| mark.is_adjudicated)
            && outcomes.any(|outcome| Some(outcome) != first)
    }

    /// All marks, the one that counted when they were read before those that were added.
    pub fn marks(&self) -> &[Mark] {
        &self.marks
    }

    /// The mark that counts, and the others: the latest adjudicated mark, else what all agree on,
    /// else the latest. Where any of the marks is of a fair sample, so is the mark that counts: the
    /// result was drawn at random before the others looked at it.
    pub fn split(mut self) -> (Option<Mark>, Vec<Mark>) {
        let Some(place) = self.counting_place() else {
            return (None, self.marks);
        };
        let mut counting = self.marks.remove(place);
        if !counting.source.is_some_and(MarkSource::is_fair) {
            let mut sources = self.marks.iter().filter_map(|mark| mark.source);
            counting.source = sources.find(|it| it.is_fair()).or(counting.source);
        }
        (Some(counting), self.marks)
    }

    fn counting_place(&self) -> Option<usize> {
        let marks = || self.marks.iter().enumerate();
        let adjudicated = marks().filter(|(_, mark)| mark.is_adjudicated);
        let adjudicated = adjudicated.max_by_key(|(_, mark)| mark.marked_at);
        let counting = match adjudicated {
            Some(adjudicated) => Some(adjudicated),
            // the first of those who agree, so that a second one changes no figure
            None if !self.differ() => marks().rev().min_by_key(|(_, mark)| mark.marked_at),
            None => marks().max_by_key(|(_, mark)| mark.marked_at),
        };
        counting.map(|(place, _)| place)
    }
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;
    use proptest::prelude::*;
    use uuid::Uuid;

    use super::*;
    use crate::ids::{PersonId, ResultId};
    use crate::key::{OutcomeKey, QuestionKey};
    use crate::result::mark::Marker;

    fn mark(name: &str, outcome: &str, second: i64) -> Mark {
        Mark {
            result: ResultId::new(Uuid::nil()),
            question: QuestionKey::parse("angry").unwrap(),
            outcome: OutcomeKey::parse(outcome).unwrap(),
            marked_by: Annotator {
                person: None,
                name: Marker::parse(name).ok(),
            },
            marked_at: DateTime::from_timestamp(second, 0).unwrap(),
            source: None,
            note: None,
            is_adjudicated: false,
        }
    }

    fn person(number: u128, mut mark: Mark) -> Mark {
        mark.marked_by.person = Some(PersonId::new(Uuid::from_u128(number)));
        mark
    }

    fn of(marks: &[Mark]) -> QuestionMarks {
        let mut all = QuestionMarks::default();
        for mark in marks {
            all.add(mark.clone());
        }
        all
    }

    fn counting(marks: &[Mark]) -> (String, String) {
        let mark = of(marks).split().0.unwrap();
        let name = mark
            .marked_by
            .name
            .map_or_else(String::new, |it| it.to_string());
        (name, mark.outcome.to_string())
    }

    fn pair(name: &str, outcome: &str) -> (String, String) {
        (name.to_owned(), outcome.to_owned())
    }

    #[test]
    fn the_latest_counts_unless_all_agree_or_somebody_settled_it() {
        let (ada, olga) = (mark("Ada", "yes", 1), mark("Olga", "no", 2));
        let settled = Mark {
            is_adjudicated: true,
            ..mark("Ada", "yes", 3)
        };
        assert_eq!(counting(&[ada.clone(), olga.clone()]), pair("Olga", "no"));
        let agreed = [ada.clone(), mark("Olga", "yes", 2)];
        assert_eq!(counting(&agreed), pair("Ada", "yes"));
        let later = mark("Rob", "no", 9);
        let all = [ada, olga, settled.clone(), later];
        assert!(of(&all[..2]).differ() && !of(&all).differ());
        assert_eq!(counting(&all), pair("Ada", "yes"));
        let again = Mark {
            is_adjudicated: true,
            ..mark("Rob", "no", 10)
        };
        assert_eq!(counting(&[settled, again]), pair("Rob", "no"));
        // of equal moments the later row of a file
        assert_eq!(
            counting(&[mark("Ada", "no", 1), mark("Olga", "yes", 1)]),
            pair("Olga", "yes")
        );
    }

    #[test]
    fn people_of_one_name_are_distinguished_by_their_ids() {
        let first = person(1, mark("Ada", "yes", 1));
        let mut marks = of(&[first.clone(), person(2, mark("Ada", "no", 2))]);
        assert_eq!(marks.marks().len(), 2);
        // a mark that has only a name belongs to the first who has that name
        assert!(!marks.add(mark("Ada", "yes", 3)));
        let mut old = of(&[mark("Ada", "no", 1)]);
        assert!(old.add(person(1, mark("Ada", "yes", 2))));
        assert_eq!(old.marks(), [person(1, mark("Ada", "yes", 2))]);
        marks.withdraw(&first.marked_by, false);
        assert_eq!(marks.marks(), [person(2, mark("Ada", "no", 2))]);
    }

    #[test]
    fn a_mark_of_nobody_stands_beside_unless_it_is_what_counts() {
        let mut marks = of(&[mark("Ada", "yes", 1)]);
        assert!(!marks.add(mark("", "yes", 2)));
        assert!(marks.add(mark("", "no", 2)));
        assert_eq!(marks.marks().len(), 2);
        let rob = Annotator::named(Marker::parse("Rob").unwrap());
        marks.withdraw(&rob, false);
        assert_eq!(marks.marks(), [mark("Ada", "yes", 1)]);
    }

    #[test]
    fn a_drawn_result_stays_in_the_sample_when_others_mark_it_or_its_mark_is_corrected() {
        let drawn = Mark {
            source: Some(MarkSource::Random),
            ..mark("Ada", "yes", 1)
        };
        for later in [mark("Olga", "no", 2), mark("Ada", "no", 2)] {
            let counting = of(&[drawn.clone(), later]).split().0.unwrap();
            assert_eq!(counting.outcome.as_str(), "no");
            assert_eq!(counting.source, Some(MarkSource::Random));
        }
    }

    proptest! {
        #[test]
        fn what_counts_stays_when_it_is_saved_and_read_again(
            made in prop::collection::vec((0u128..4, 0usize..3, 0i64..4, any::<bool>()), 1..8),
        ) {
            let made = made.into_iter().map(|(who, outcome, second, is_adjudicated)| {
                let mark = mark("Ada", ["yes", "no", "other"][outcome], second);
                Mark { is_adjudicated, ..person(who, mark) }
            });
            let marks = of(&made.collect::<Vec<_>>());
            let (counting, beside) = marks.clone().split();
            prop_assert_eq!(beside.len() + 1, marks.marks().len());
            let again = QuestionMarks::new(counting.clone(), beside.clone());
            prop_assert_eq!(again.differ(), marks.differ());
            prop_assert_eq!(again.split(), (counting, beside));
        }
    }
}
