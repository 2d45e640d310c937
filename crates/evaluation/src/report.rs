//! What people read about a figure, said once: sentences and tables whose cells keep their exact
//! values. The terminal and the app only draw them: a share has three decimals in one and is a
//! percentage with a bar in the other, an outcome is a key in one and a label in the other.
//!
//! This module knows neither text layout nor HTML.

mod measures;

use std::borrow::Cow;

use refract_domain::key::OutcomeKey;

use crate::comparison::{Comparison, ComparisonVerdict};
use crate::cutoffs::advice::FEW_MARKS;
use crate::drift::alarm::{Alarm, AlarmCause, WatchedSpan};
use crate::drift::question_drift::QuestionDrift;
use crate::drift::share_change::ShareChange;
use crate::flips::FlipMeasures;
use crate::measures::proportion::{Interval, Proportion};

/// The most directions of flips that are listed.
const MOST_DIRECTIONS: usize = 8;

/// Sentences and tables, in the order in which they are read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report<'a> {
    /// The sentences and tables.
    pub parts: Vec<ReportPart<'a>>,
}

/// A sentence or a table.
#[derive(Clone, Debug, PartialEq)]
pub enum ReportPart<'a> {
    /// A sentence, in pieces.
    Sentence(Weight, Vec<Cell<'a>>),
    /// A table.
    Table(ReportTable<'a>),
}

/// How much a sentence matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// As much as others.
    Plain,
    /// What is to be remembered.
    Strong,
    /// What speaks against relying on the figures.
    Warning,
}

/// A table; the first cell of a row names it.
#[derive(Clone, Debug, PartialEq)]
pub struct ReportTable<'a> {
    /// What the table is about.
    pub caption: &'static str,
    /// The name of each column.
    pub headings: &'static [&'static str],
    /// The rows, with a cell for each heading.
    pub rows: Vec<Vec<Cell<'a>>>,
}

/// A cell of a table, or a piece of a sentence.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell<'a> {
    /// Words.
    Words(Cow<'static, str>),
    /// A count.
    Count(u64),
    /// A count with its noun in the singular.
    Counted(u64, &'static str),
    /// An outcome; `None` if nothing is predicted.
    Outcome(Option<&'a OutcomeKey>),
    /// A share, 0 to 1.
    Share(NamedFigure),
    /// A difference of two shares, -1 to 1.
    Difference(NamedFigure),
    /// A number on a scale of its own.
    Number(NamedFigure),
}

/// The exact value of a figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NamedFigure {
    /// The name in the question's JSON object; `None` if it is not there by itself.
    pub name: Option<&'static str>,
    /// The value; `None` if it is not defined.
    pub value: Option<f64>,
    /// The 95 % interval; `None` if there is none.
    pub interval: Option<Interval>,
}

impl<'a> Report<'a> {
    fn say(&mut self, weight: Weight, sentence: Vec<Cell<'a>>) {
        self.parts.push(ReportPart::Sentence(weight, sentence));
    }
}

impl Cell<'_> {
    /// A share with its interval.
    fn share(name: Option<&'static str>, share: Proportion) -> Self {
        Self::Share(NamedFigure {
            name,
            value: share.value(),
            interval: share.interval(),
        })
    }

    /// A share without an interval.
    fn bare_share(name: Option<&'static str>, value: Option<f64>) -> Self {
        Self::Share(NamedFigure {
            name,
            value,
            interval: None,
        })
    }

    fn number(name: &'static str, value: Option<f64>) -> Self {
        Self::Number(NamedFigure {
            name: Some(name),
            value,
            interval: None,
        })
    }

    fn counted(number: usize, noun: &'static str) -> Self {
        Self::Counted(u64::try_from(number).unwrap_or(u64::MAX), noun)
    }
}

impl From<&'static str> for Cell<'_> {
    fn from(words: &'static str) -> Self {
        Self::Words(Cow::Borrowed(words))
    }
}

impl Comparison {
    /// The report on two sides, A and B. `unanswered` marked texts are left out, for which a side
    /// names no outcome.
    pub fn report(&self, unanswered: usize) -> Report<'static> {
        let mut report = Report::default();
        if unanswered > 0 {
            report.say(
                Weight::Plain,
                vec![
                    Cell::counted(unanswered, "marked text"),
                    " left out: A or B names no outcome.".into(),
                ],
            );
        }
        if self.rows == 0 {
            let none = "No text that both answered is marked.";
            report.say(Weight::Plain, vec![none.into()]);
            return report;
        }
        report.say(Weight::Strong, vec![self.verdict_in_words("A is", "B is")]);
        if self.rows < FEW_MARKS {
            let few =
                format!("Fewer than {FEW_MARKS} marked texts: the intervals are wide.").into();
            report.say(Weight::Warning, vec![Cell::Words(few)]);
        }
        let side = |side: &'static str, right, only| {
            vec![side.into(), Cell::share(None, right), Cell::Count(only)]
        };
        report.parts.push(ReportPart::Table(ReportTable {
            caption: "Both sides",
            headings: &["Side", "Right", "Only this right"],
            rows: vec![
                side("A", self.a, self.only_a_right),
                side("B", self.b, self.only_b_right),
            ],
        }));
        report.say(
            Weight::Plain,
            vec![
                Cell::Counted(self.rows, "marked text"),
                "; B minus A ".into(),
                Cell::Difference(NamedFigure {
                    name: Some("difference"),
                    value: self.difference,
                    interval: self.interval,
                }),
                "; McNemar p ".into(),
                Cell::number("mcnemar_p", Some(self.mcnemar_p)),
            ],
        );
        report
    }

    /// Which side is better; `a` and `b` name the sides with their verb.
    fn verdict_in_words(&self, a: &str, b: &str) -> Cell<'static> {
        let better =
            |side| format!("{side} better: so large a difference is unlikely to be chance.");
        match self.verdict() {
            ComparisonVerdict::Equal => "Both are right equally often.".into(),
            ComparisonVerdict::MayBeChance => "The difference may be chance.".into(),
            ComparisonVerdict::FirstIsBetter => Cell::Words(better(a).into()),
            ComparisonVerdict::SecondIsBetter => Cell::Words(better(b).into()),
        }
    }
}

impl FlipMeasures {
    /// The report: how many answers flip, towards what, and which answers marks prefer.
    pub fn report(&self) -> Report<'_> {
        let mut report = Report::default();
        report.say(
            Weight::Plain,
            vec![
                Cell::Counted(self.flip_rate.count, "flip"),
                " of ".into(),
                Cell::Counted(self.flip_rate.of, "answer"),
                ": ".into(),
                Cell::share(Some("flip_rate"), self.flip_rate),
            ],
        );
        let listed = self.towards.iter().take(MOST_DIRECTIONS);
        let rows = listed.map(|direction| {
            let [from, to] = [&direction.from, &direction.to].map(Option::as_ref);
            let count = Cell::Count(direction.count);
            vec![Cell::Outcome(from), Cell::Outcome(to), count]
        });
        if !self.towards.is_empty() {
            report.parts.push(ReportPart::Table(ReportTable {
                caption: "Flips by outcome",
                headings: &["Before", "After", "Flips"],
                rows: rows.collect(),
            }));
        }
        let rest = self.towards.iter().skip(MOST_DIRECTIONS);
        let rest: u64 = rest.map(|direction| direction.count).sum();
        if rest > 0 {
            let otherwise = vec![
                "and ".into(),
                Cell::Counted(rest, "flip"),
                " otherwise".into(),
            ];
            report.say(Weight::Plain, otherwise);
        }
        if let Some(marked) = &self.marked {
            let verdict = marked.verdict_in_words("The answers before are", "The new answers are");
            report.say(Weight::Strong, vec![verdict]);
            report.say(
                Weight::Plain,
                vec![
                    Cell::Counted(marked.rows, "marked text"),
                    "; only the answer before is right on ".into(),
                    Cell::Count(marked.only_a_right),
                    ", only the new one on ".into(),
                    Cell::Count(marked.only_b_right),
                    "; McNemar p ".into(),
                    Cell::number("mcnemar_p", Some(marked.mcnemar_p)),
                ],
            );
        }
        report
    }
}

impl Alarm {
    /// The sentence about the change, without its end. `drift` is that of the span in which the
    /// change was found.
    pub fn sentence<'a>(&'a self, drift: &QuestionDrift) -> Vec<Cell<'a>> {
        let among = match self.span {
            WatchedSpan::Window => vec![],
            WatchedSpan::Newest => {
                vec![" in the newest ".into(), Cell::Counted(drift.now, "answer")]
            }
        };
        let (what, change) = match &self.cause {
            AlarmCause::Share(outcome) => {
                let mut shares = drift.shares.iter();
                let change = shares.find(|share| share.outcome == *outcome);
                let change = change.map(|share| share.change);
                let difference = Cell::Difference(NamedFigure {
                    name: None,
                    value: change.and_then(ShareChange::difference),
                    interval: change.and_then(ShareChange::interval),
                });
                let change = vec![": ".into(), difference, ", more than chance".into()];
                (Cell::Outcome(Some(outcome)), change)
            }
            AlarmCause::Probabilities => (
                "the probabilities".into(),
                vec![" moved more than chance moves them".into()],
            ),
        };
        std::iter::once(what).chain(among).chain(change).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::PairedAnswers;

    #[test]
    fn the_verdict_comes_first_and_few_marks_are_a_warning() {
        let mut pairs = PairedAnswers::default();
        for _ in 0..9 {
            pairs.add(false, true);
        }
        let report = pairs.compare().report(0);
        let [
            ReportPart::Sentence(Weight::Strong, verdict),
            ReportPart::Sentence(Weight::Warning, few),
            ReportPart::Table(sides),
            ReportPart::Sentence(Weight::Plain, _),
        ] = report.parts.as_slice()
        else {
            panic!("{report:?}");
        };
        let words = |words: &'static str| vec![Cell::from(words)];
        let better = "B is better: so large a difference is unlikely to be chance.";
        assert_eq!(*verdict, words(better));
        let wide = "Fewer than 30 marked texts: the intervals are wide.";
        assert_eq!(*few, words(wide));
        assert_eq!(sides.rows.len(), 2);
    }

    #[test]
    fn texts_without_an_outcome_are_left_out_and_no_mark_is_no_verdict() {
        let report = PairedAnswers::default().compare().report(2);
        let sentence = |cells| ReportPart::Sentence(Weight::Plain, cells);
        let left_out = " left out: A or B names no outcome.".into();
        let expected = [
            sentence(vec![Cell::Counted(2, "marked text"), left_out]),
            sentence(vec!["No text that both answered is marked.".into()]),
        ];
        assert_eq!(report.parts, expected);
    }
}
