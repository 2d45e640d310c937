//! The newest wrong results of each outcome, without their texts.

use std::collections::{HashMap, VecDeque};

use refract_domain::ids::ResultId;
use refract_domain::key::OutcomeKey;

/// Most wrong results that are listed for each outcome.
pub const MOST_WRONG_RESULTS: usize = 20;

/// A marked result that was answered with another outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongResult {
    /// The result.
    pub result: ResultId,
    /// The outcome that the answer predicts.
    pub predicted: OutcomeKey,
}

/// The newest wrong results by their marked outcome. An answer that predicts nothing is not wrong.
#[derive(Clone, Debug)]
pub struct WrongResults {
    before: Option<ResultId>,
    /// Newest first, and one more than is listed if there are older ones.
    newest: HashMap<OutcomeKey, VecDeque<WrongResult>>,
}

impl WrongResults {
    /// Lists the newest results, or the newest that are older than `before`.
    pub(super) fn new(before: Option<ResultId>) -> Self {
        Self {
            before,
            newest: HashMap::new(),
        }
    }

    /// Adds a marked result that is newer than all results before, if it is wrong.
    pub(super) fn add(
        &mut self,
        result: ResultId,
        predicted: Option<&OutcomeKey>,
        mark: &OutcomeKey,
    ) {
        let Some(predicted) = predicted.filter(|predicted| *predicted != mark) else {
            return;
        };
        if self.before.is_some_and(|before| result >= before) {
            return;
        }
        let wrong = WrongResult {
            result,
            predicted: predicted.clone(),
        };
        match self.newest.get_mut(mark) {
            Some(newest) => {
                newest.push_front(wrong);
                newest.truncate(MOST_WRONG_RESULTS + 1);
            }
            None => {
                self.newest.insert(mark.clone(), VecDeque::from([wrong]));
            }
        }
    }

    /// The newest wrong results that are marked with an outcome, newest first: at most
    /// [`MOST_WRONG_RESULTS`].
    pub fn of(&self, mark: &OutcomeKey) -> impl Iterator<Item = &WrongResult> {
        let newest = self.newest.get(mark).into_iter().flatten();
        newest.take(MOST_WRONG_RESULTS)
    }

    /// The last listed result of an outcome if older ones are wrong too: the `before` of the next
    /// list.
    pub fn last_before_older(&self, mark: &OutcomeKey) -> Option<ResultId> {
        let newest = self.newest.get(mark)?;
        let has_older = newest.len() > MOST_WRONG_RESULTS;
        let last = newest.get(MOST_WRONG_RESULTS.checked_sub(1)?)?;
        has_older.then_some(last.result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &str) -> OutcomeKey {
        OutcomeKey::parse(text).unwrap()
    }

    fn ids() -> Vec<ResultId> {
        let first = ResultId::LOWEST.just_after();
        std::iter::successors(Some(first), |id| Some(id.just_after()))
            .take(45)
            .collect()
    }

    fn listed(before: Option<ResultId>) -> (Vec<ResultId>, Option<ResultId>) {
        let mut wrong = WrongResults::new(before);
        for id in ids() {
            wrong.add(id, Some(&key("b")), &key("a"));
            wrong.add(id, Some(&key("b")), &key("b"));
            wrong.add(id, None, &key("a"));
        }
        assert_eq!(wrong.of(&key("b")).count(), 0);
        let a = key("a");
        let listed = wrong.of(&a).map(|wrong| wrong.result);
        (listed.collect(), wrong.last_before_older(&a))
    }

    #[test]
    fn wrong_results_are_listed_newest_first_and_page_by_page() {
        let newest_first: Vec<_> = ids().into_iter().rev().collect();
        let (first, next) = listed(None);
        assert_eq!(first, newest_first[..20]);
        let (second, next) = listed(next);
        assert_eq!(second, newest_first[20..40]);
        let (third, next) = listed(next);
        assert_eq!((third.as_slice(), next), (&newest_first[40..], None));
    }
}
