//! Alarms: which differences between two windows are more than chance, over all questions of a
//! prism and all looks at it.
//!
//! A difference has to pass two bounds. It has to be *unlikely*: the chance that a look at a prism
//! without any change finds an alarm in a span is at most [`WatchedSpan::false_alarm`], shared by
//! all questions (Holm) and by all tests of a question (Bonferroni, weighted). And it has to be
//! *large* enough to matter: with a million results every share differs a little from that of last
//! week.
//!
//! Source: S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal
//! of Statistics 6 (1979).

use std::cmp::Ordering;

use refract_domain::key::OutcomeKey;

use crate::drift::question_drift::{OutcomeShare, QuestionDrift};
use crate::measures::to_f64;

/// The fewest results in which a look searches for a change of the newest answers.
pub const NEWEST_RESULTS: u64 = 500;

/// The part of a question's chance for the shares of outcomes; the distribution of probabilities has
/// the rest. It needs little: chance hardly ever reaches [`SMALLEST_PSI`].
const OF_SHARES: f64 = 0.95;
/// The smallest index of the distribution of probabilities that raises an alarm.
const SMALLEST_PSI: f64 = 0.1;

/// The results in which a change was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchedSpan {
    /// The whole window.
    Window,
    /// The newest results of the window, about [`NEWEST_RESULTS`] of them: a window with many more
    /// would show a change late.
    Newest,
}

/// What changed more than chance explains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AlarmCause {
    /// The share of an outcome.
    Share(OutcomeKey),
    /// The distribution of probabilities, but the share of no outcome.
    Probabilities,
}

/// A change of a question's answers that is more than chance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alarm {
    /// What changed.
    pub cause: AlarmCause,
    /// The results in which the change was found.
    pub span: WatchedSpan,
}

/// The drift of a question in the spans that a look compares with the window before.
#[derive(Clone, Debug, PartialEq)]
pub struct WatchedQuestion {
    /// The drift of the whole window.
    pub window: QuestionDrift,
    /// The drift of the newest results; `None` if these are most of the window.
    pub newest: Option<QuestionDrift>,
}

/// The strongest sign of a change in a span of a question.
struct Evidence {
    /// The place of the question.
    question: usize,
    /// The chance of at least such a sign in this span without a change.
    p: f64,
    alarm: Alarm,
}

/// The alarms of one look at a prism, one entry for each question.
pub fn alarms(watched: &[WatchedQuestion]) -> Vec<Option<Alarm>> {
    let mut alarms = vec![None; watched.len()];
    for span in [WatchedSpan::Window, WatchedSpan::Newest] {
        let drifts = watched.iter().map(|watched| watched.drift(span));
        let drifts: Vec<_> = drifts.collect();
        let comparable = drifts
            .iter()
            .flatten()
            .filter(|drift| drift.is_comparable());
        let compared = u64::try_from(comparable.count()).unwrap_or(u64::MAX);
        let evidence = drifts.iter().enumerate().filter_map(|(question, drift)| {
            let (p, cause) = strongest((*drift)?, span)?;
            let alarm = Alarm { cause, span };
            Some(Evidence { question, p, alarm })
        });
        let mut evidence: Vec<_> = evidence.collect();
        evidence.sort_by(|one, other| one.p.partial_cmp(&other.p).unwrap_or(Ordering::Equal));
        for (rejected, evidence) in (0..).zip(evidence) {
            if evidence.p > span.false_alarm() / to_f64(compared - rejected) {
                break;
            }
            if let Some(alarm) = alarms.get_mut(evidence.question) {
                alarm.get_or_insert(evidence.alarm);
            }
        }
    }
    alarms
}

impl WatchedQuestion {
    fn drift(&self, span: WatchedSpan) -> Option<&QuestionDrift> {
        match span {
            WatchedSpan::Window => Some(&self.window),
            WatchedSpan::Newest => self.newest.as_ref(),
        }
    }
}

impl WatchedSpan {
    /// The chance that a look at a prism whose answers do not change finds an alarm in this span.
    ///
    /// Windows of consecutive looks have most results in common, so that their alarms come
    /// together; the newest results may be others at every look. Looked at every hour for 30 days,
    /// either span of such a prism has about one alarm in three months.
    pub const fn false_alarm(self) -> f64 {
        match self {
            Self::Window => 0.002,
            Self::Newest => 0.000_4,
        }
    }

    /// The smallest difference of a share that raises an alarm. That of the newest results is
    /// larger, because texts of the morning may differ from those of the night.
    fn smallest_difference(self) -> f64 {
        match self {
            Self::Window => 0.02,
            Self::Newest => 0.05,
        }
    }
}

/// The least likely change of a span among those that are large enough, with its chance, corrected
/// for the number of tests.
fn strongest(drift: &QuestionDrift, span: WatchedSpan) -> Option<(f64, AlarmCause)> {
    let occurring = |share: &&OutcomeShare| share.change.now.count + share.change.before.count > 0;
    let occurring: Vec<_> = drift.shares.iter().filter(occurring).collect();
    // of two outcomes, one's share determines the other's
    let tests = match occurring.len() {
        0..=2 => 1.0,
        many => to_f64(u64::try_from(many).unwrap_or(u64::MAX)),
    };
    let is_large = |share: &&OutcomeShare| {
        let difference = share.change.difference().unwrap_or_default();
        difference.abs() >= span.smallest_difference()
    };
    let shares = occurring.into_iter().filter(is_large).map(|share| {
        let cause = AlarmCause::Share(share.outcome.clone());
        (share.change.p() * tests / OF_SHARES, cause)
    });
    let probabilities = drift.probabilities.filter(|it| it.psi >= SMALLEST_PSI);
    let probabilities =
        probabilities.map(|it| (it.p / (1.0 - OF_SHARES), AlarmCause::Probabilities));
    let all = shares.chain(probabilities);
    // of equal ones the first: a share says more than a distribution
    all.min_by(|(one, _), (other, _)| one.partial_cmp(other).unwrap_or(Ordering::Equal))
}
