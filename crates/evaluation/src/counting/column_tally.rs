//! Counts the values in one column of a lens over many results.
//!
//! `refract lens preview` compares the counts of a column under two lenses, and a file run sums up
//! each column of its output.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use refract_domain::answer::probability::ONE;
use refract_domain::lens::{Column, Output, Value, YesNoLabel};
use refract_domain::prism::Question;
use serde::ser::SerializeStruct as _;
use serde::{Serialize, Serializer};

/// Names of the ten equal bins for probabilities.
const PROBABILITY_BINS: [&str; 10] = [
    "0 to 0.1",
    "0.1 to 0.2",
    "0.2 to 0.3",
    "0.3 to 0.4",
    "0.4 to 0.5",
    "0.5 to 0.6",
    "0.6 to 0.7",
    "0.7 to 0.8",
    "0.8 to 0.9",
    "0.9 to 1",
];

/// How often each value occurs in the cells of one column.
///
/// Outcomes and Yes / No labels are counted as they are, probabilities in ten bins, averages by the
/// nearest level. In a column that lists all outcomes, a cell counts for each outcome in proportion
/// to its probability.
#[derive(Clone, Debug, Serialize)]
pub struct ColumnTally {
    /// The column.
    #[serde(skip)]
    pub column: Column,
    /// One entry per value: first the question's values in its order or from low to high, then
    /// values that occur only in results of other versions.
    pub values: Vec<ValueCount>,
    /// Number of empty cells.
    pub empty: u64,
    #[serde(skip)]
    numbers: NumberRange,
}

/// How often one value occurs in a column, as `lens preview --json` prints it.
#[derive(Clone, Debug)]
pub struct ValueCount {
    /// The value as json and jsonl write it.
    pub key: String,
    /// The value as people read it.
    pub label: String,
    /// The count in millionths of a cell: a cell that lists all outcomes is divided among them.
    millionths: u64,
}

/// A column's counts in one line.
#[derive(Clone, Debug, PartialEq)]
pub enum ColumnSummary {
    /// Labels or level numbers with the number of their cells, the most frequent first.
    Labels(Vec<(String, u64)>),
    /// Probabilities or averages.
    Numbers {
        /// The mean of the numbers.
        mean: f64,
        /// The lowest number.
        lowest: f64,
        /// The highest number.
        highest: f64,
    },
}

/// Count, sum, minimum and maximum of the numbers in a column.
#[derive(Clone, Debug, Default)]
struct NumberRange {
    count: u64,
    sum: f64,
    lowest: f64,
    highest: f64,
}

impl ValueCount {
    fn new(key: &str, label: &str) -> Self {
        Self {
            key: key.to_owned(),
            label: label.to_owned(),
            millionths: 0,
        }
    }

    /// Number of cells, rounded to the nearest whole number.
    pub fn cells(&self) -> u64 {
        (self.millionths + u64::from(ONE / 2)) / u64::from(ONE)
    }
}

impl Serialize for ValueCount {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut value = serializer.serialize_struct("ValueCount", 3)?;
        value.serialize_field("value", &self.key)?;
        value.serialize_field("label", &self.label)?;
        value.serialize_field("cells", &self.cells())?;
        value.end()
    }
}

impl ColumnTally {
    /// An empty tally. `question` is the column's question in a version whose outcomes are listed
    /// even if no cell has them.
    pub fn new(column: &Column, question: Option<&Question>) -> Self {
        let outcomes = || question.into_iter().flat_map(Question::outcomes);
        let values = match column.output {
            Output::Top | Output::AllOptions | Output::Level | Output::AllLevels => outcomes()
                .map(|outcome| ValueCount::new(outcome.key, outcome.label))
                .collect(),
            Output::Label(_) => [YesNoLabel::Yes, YesNoLabel::Unsure, YesNoLabel::No]
                .map(|label| ValueCount::new(label.key(), label.label()))
                .into(),
            Output::Number | Output::Average => outcomes()
                .zip(1_u32..)
                .map(|(_, position)| position.to_string())
                .map(|position| ValueCount::new(&position, &position))
                .collect(),
            Output::TopProbability | Output::YesProbability | Output::LevelProbability => {
                PROBABILITY_BINS.map(|bin| ValueCount::new(bin, bin)).into()
            }
        };
        Self {
            column: column.clone(),
            values,
            empty: 0,
            numbers: NumberRange::default(),
        }
    }

    /// Counts one cell of this column.
    pub fn add(&mut self, value: Value<'_>) {
        match value {
            Value::Null => self.empty += 1,
            Value::Outcome { key, label } => self.count(0, key, label, ONE),
            Value::YesNo(label) => self.count(0, label.key(), label.label(), ONE),
            Value::Probability(probability) => {
                self.numbers.add(probability.to_f64());
                let last = PROBABILITY_BINS.len() - 1;
                let bin = probability.millionths() / (ONE / 10);
                let bin = usize::try_from(bin).unwrap_or(last).min(last);
                if let Some(counted) = self.values.get_mut(bin) {
                    counted.millionths += u64::from(ONE);
                }
            }
            Value::Position(position) => self.count_level(position),
            Value::Average(average) => {
                // an average has no conversion to f64, and its text is exact
                self.numbers
                    .add(average.to_string().parse().unwrap_or_default());
                self.count_level(average.nearest_level());
            }
            Value::All {
                question,
                probabilities,
            } => {
                for (place, (key, probability)) in probabilities.iter().enumerate() {
                    let label = question.label_of(key).unwrap_or(key.as_str());
                    self.count(place, key.as_str(), label, probability.millionths());
                }
            }
        }
    }

    /// The counts in one line; `None` when all cells are empty, and for a column that lists all
    /// outcomes.
    pub fn summary(&self) -> Option<ColumnSummary> {
        match self.column.output {
            Output::AllOptions | Output::AllLevels => None,
            Output::Top | Output::Label(_) | Output::Level | Output::Number => self.labels(),
            Output::TopProbability
            | Output::YesProbability
            | Output::LevelProbability
            | Output::Average => self.numbers.summary(),
        }
    }

    fn labels(&self) -> Option<ColumnSummary> {
        // two outcomes with one label share a line
        let mut cells = BTreeMap::<&str, u64>::new();
        for value in self.values.iter().filter(|value| value.millionths > 0) {
            *cells.entry(&value.label).or_default() += value.cells();
        }
        let cells = cells.into_iter();
        let mut cells: Vec<_> = cells
            .map(|(label, cells)| (label.to_owned(), cells))
            .collect();
        cells.sort_by_key(|(_, cells)| Reverse(*cells));
        (!cells.is_empty()).then_some(ColumnSummary::Labels(cells))
    }

    fn count_level(&mut self, position: u32) {
        let text = position.to_string();
        let place = usize::try_from(position).unwrap_or_default();
        self.count(place.saturating_sub(1), &text, &text, ONE);
    }

    /// Counts a value. The entry at `place` is checked first, because a search compares every
    /// entry.
    fn count(&mut self, place: usize, key: &str, label: &str, millionths: u32) {
        let is_it = |counted: &ValueCount| counted.key == key;
        let found = match self.values.get(place) {
            Some(counted) if is_it(counted) => Some(place),
            Some(_) | None => self.values.iter().position(is_it),
        };
        let found = found.and_then(|place| self.values.get_mut(place));
        if let Some(counted) = found {
            counted.millionths += u64::from(millionths);
            return;
        }
        self.values.push(ValueCount {
            millionths: u64::from(millionths),
            ..ValueCount::new(key, label)
        });
    }
}

impl NumberRange {
    fn add(&mut self, number: f64) {
        let is_first = self.count == 0;
        if is_first || number < self.lowest {
            self.lowest = number;
        }
        if is_first || number > self.highest {
            self.highest = number;
        }
        self.sum += number;
        self.count += 1;
    }

    #[expect(
        clippy::as_conversions,
        clippy::cast_precision_loss,
        reason = "an f64 holds every count of results below 2^53 exactly"
    )]
    fn summary(&self) -> Option<ColumnSummary> {
        (self.count > 0).then(|| ColumnSummary::Numbers {
            mean: self.sum / self.count as f64,
            lowest: self.lowest,
            highest: self.highest,
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use refract_domain::answer::{Answer, Probability};

    fn tally(question_type: &str, output: &str) -> ColumnTally {
        let column = json!({"name": "c", "question": "q", "type": question_type, "output": output});
        ColumnTally::new(&serde_json::from_value(column).unwrap(), None)
    }

    fn outcome<'a>(key: &'a str, label: &'a str) -> Value<'a> {
        Value::Outcome { key, label }
    }

    #[test]
    fn labels_are_summed_up_from_the_most_frequent_on_and_equal_ones_together() {
        let mut tally = tally("choice", "top");
        assert_eq!(tally.summary(), None);
        for value in [
            outcome("billing", "Billing"),
            outcome("late", "Delivery"),
            outcome("lost", "Delivery"),
            outcome("apps", "Apps"),
            Value::Null,
        ] {
            tally.add(value);
        }
        let labels = [("Delivery", 2), ("Apps", 1), ("Billing", 1)];
        let labels = labels.map(|(label, cells)| (label.to_owned(), cells));
        assert_eq!(tally.summary(), Some(ColumnSummary::Labels(labels.into())));
        assert_eq!((tally.values.len(), tally.empty), (4, 1));
    }

    #[test]
    fn probabilities_are_summed_up_by_their_mean_and_ends() {
        let mut tally = tally("yes_no", "probability");
        assert_eq!(tally.summary(), None);
        for probability in [0.5, 0.25, 0.75] {
            let probability = Probability::from_f64(probability).unwrap();
            tally.add(Value::Probability(probability));
        }
        let expected = ColumnSummary::Numbers {
            mean: 0.5,
            lowest: 0.25,
            highest: 0.75,
        };
        assert_eq!(tally.summary(), Some(expected));
    }

    #[test]
    fn averages_are_summed_up_as_numbers_and_counted_by_the_nearest_level() {
        let mut tally = tally("scale", "average");
        let question = json!({"key": "q", "type": "scale", "text": "?",
            "levels": [{"key": "a", "label": "A"}, {"key": "b", "label": "B"}]});
        let question: Question = serde_json::from_value(question).unwrap();
        for share in [0.5, 0.25] {
            let answer = json!({"type": "scale", "level": "a",
                "probabilities": {"a": share, "b": 1.0 - share}});
            let answer: Answer = serde_json::from_value(answer).unwrap();
            let value = tally.column.value(Some(&question), Some(&answer));
            tally.add(value);
        }
        let expected = ColumnSummary::Numbers {
            mean: 1.625,
            lowest: 1.5,
            highest: 1.75,
        };
        assert_eq!(tally.summary(), Some(expected));
        let nearest: Vec<_> = tally.values.iter().map(|value| &value.key).collect();
        assert_eq!(nearest, ["2"]);
    }
}
