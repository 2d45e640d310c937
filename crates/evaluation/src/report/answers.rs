//! Answers beside other answers: two sides, before and after, and an alarm.

use super::{Cell, NamedFigure, Report, ReportPart, ReportTable, Weight};
use crate::comparison::{Comparison, ComparisonVerdict};
use crate::cutoffs::FEW_MARKS;
use crate::drift::{Alarm, AlarmCause, QuestionDrift, ShareChange, WatchedSpan};
use crate::flips::FlipMeasures;

/// The most directions of flips that are listed.
const MOST_DIRECTIONS: usize = 8;

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
            let row = |answers: &'static str, right| vec![answers.into(), Cell::share(None, right)];
            report.parts.push(ReportPart::Table(ReportTable {
                caption: "Right answers to marked texts",
                headings: &["Answers", "Right"],
                rows: vec![row("before", marked.a), row("new", marked.b)],
            }));
            report.say(
                Weight::Plain,
                vec![
                    Cell::Counted(marked.rows, "marked text"),
                    "; ".into(),
                    Cell::Count(marked.only_b_right),
                    " better, ".into(),
                    Cell::Count(marked.only_a_right),
                    " worse; McNemar p ".into(),
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
