//! How often each thing stands in a column: its distribution over many results.

use refract_domain::cutoffs::YesNoLabel;
use refract_domain::lens::{Output, Value};
use refract_domain::probability::ONE;
use refract_domain::question::Question;

/// Tenths from 0 to 1 that probabilities are counted in.
const TENTHS: [&str; 10] = [
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

/// The distribution of a column.
///
/// Outcomes and labels are counted as they are, probabilities by tenths, averages by the nearest
/// level. Where a cell lists every outcome, each counts with its probability.
pub struct CellTally {
    /// In the prism's order, or from low to high; what only older versions know comes last.
    pub values: Vec<Counted>,
    /// Cells with nothing in them.
    pub empty: u64,
}

/// One thing that stands in cells.
pub struct Counted {
    /// As json has it.
    pub key: String,
    /// For people.
    pub label: String,
    /// In millionths of a cell, since probabilities count too.
    millionths: u64,
}

impl Counted {
    fn new(key: &str, label: &str) -> Self {
        Self {
            key: key.to_owned(),
            label: label.to_owned(),
            millionths: 0,
        }
    }

    /// Cells, to the nearest whole one.
    pub fn cells(&self) -> u64 {
        (self.millionths + u64::from(ONE / 2)) / u64::from(ONE)
    }
}

impl CellTally {
    /// Nothing counted yet; what the latest version knows stands ready.
    pub(crate) fn new(output: Output, question: Option<&Question>) -> Self {
        let outcomes = || question.into_iter().flat_map(Question::outcomes);
        let levels = || {
            let levels = outcomes().zip(1_u32..);
            levels.map(|(_, position)| Counted::new(&position.to_string(), &position.to_string()))
        };
        let values = match output {
            Output::Top | Output::AllOptions | Output::Level | Output::AllLevels => outcomes()
                .map(|outcome| Counted::new(outcome.key, outcome.label))
                .collect(),
            Output::Label(_) => [YesNoLabel::Yes, YesNoLabel::Unsure, YesNoLabel::No]
                .map(|label| Counted::new(label.key(), label.label()))
                .into(),
            Output::Number | Output::Average => levels().collect(),
            Output::TopProbability | Output::YesProbability | Output::LevelProbability => {
                TENTHS.map(|tenth| Counted::new(tenth, tenth)).into()
            }
        };
        Self { values, empty: 0 }
    }

    pub(crate) fn add(&mut self, value: Value<'_>) {
        match value {
            Value::Null => self.empty += 1,
            Value::Outcome { key, label } => self.count(0, key, label, ONE),
            Value::YesNo(label) => self.count(0, label.key(), label.label(), ONE),
            Value::Probability(probability) => {
                let last = TENTHS.len() - 1;
                let tenth = probability.millionths() / (ONE / 10);
                let tenth = usize::try_from(tenth).unwrap_or(last).min(last);
                if let Some(counted) = self.values.get_mut(tenth) {
                    counted.millionths += u64::from(ONE);
                }
            }
            Value::Position(position) => self.count_level(position),
            Value::Average(average) => self.count_level(average.nearest_level()),
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

    fn count_level(&mut self, level: u32) {
        let text = level.to_string();
        self.count(0, &text, &text, ONE);
    }

    /// Counts a thing that probably stands at this place.
    fn count(&mut self, place: usize, key: &str, label: &str, millionths: u32) {
        let is_it = |counted: &Counted| counted.key == key;
        let found = match self.values.get(place) {
            Some(counted) if is_it(counted) => Some(place),
            Some(_) | None => self.values.iter().position(is_it),
        };
        let found = found.and_then(|place| self.values.get_mut(place));
        if let Some(counted) = found {
            counted.millionths += u64::from(millionths);
            return;
        }
        self.values.push(Counted {
            millionths: u64::from(millionths),
            ..Counted::new(key, label)
        });
    }
}
