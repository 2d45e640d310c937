//! What people read about a figure, said once: sentences and tables whose cells keep their exact
//! values. The terminal and the app only draw them: a share has three decimals in one and is a
//! percentage with a bar in the other, an outcome is a key in one and a label in the other.
//!
//! This module knows neither text layout nor HTML.

mod answers;
pub mod automation_plan;
mod measures;

use std::borrow::Cow;

use refract_domain::key::OutcomeKey;

use crate::measures::{Interval, Proportion};

pub use self::automation_plan::{
    AutomationPlan, AutomationRow, COUNT_HEADINGS, GUARANTEE, RowBasis, RowCutoffs, TWO_FIGURES,
    others,
};

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
    /// Whether the cell is a bare number, which stands at the right of its column.
    pub fn is_number(&self) -> bool {
        match self {
            Self::Count(_) | Self::Number(_) => true,
            Self::Share(figure) => figure.interval.is_none(),
            Self::Words(_) | Self::Counted(..) | Self::Outcome(_) | Self::Difference(_) => false,
        }
    }

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

/// A measure with three decimals; a dash if undefined.
pub fn number(value: Option<f64>) -> String {
    value.map_or_else(|| "–".to_owned(), |value| format!("{value:.3}"))
}

/// A measure with its interval: `0.913 (0.871 to 0.942)`.
pub fn range(value: Option<f64>, interval: Option<Interval>) -> String {
    let value = number(value);
    match interval {
        Some(Interval { low, high }) => format!("{value} ({low:.3} to {high:.3})"),
        None => value,
    }
}

/// A difference with its sign and interval: `+0.042 (-0.010 to +0.095)`.
pub fn signed(difference: Option<f64>, interval: Option<Interval>) -> String {
    match (difference, interval) {
        (Some(difference), Some(Interval { low, high })) => {
            format!("{difference:+.3} ({low:+.3} to {high:+.3})")
        }
        (Some(_) | None, _) => "–".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_measure_that_is_not_defined_is_a_dash() {
        assert_eq!(number(Some(0.912_6)), "0.913");
        assert_eq!(number(None), "–");
        let interval = Interval {
            low: 0.8,
            high: 1.0,
        };
        assert_eq!(range(Some(0.9), Some(interval)), "0.900 (0.800 to 1.000)");
        assert_eq!(range(None, None), "–");
        assert_eq!(
            signed(Some(0.9), Some(interval)),
            "+0.900 (+0.800 to +1.000)"
        );
        assert_eq!(signed(Some(0.9), None), "–");
    }
}
