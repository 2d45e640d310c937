//! How far people agree who marked the same texts. All counts are whole numbers and are summed in
//! the order of the outcomes, so that no order of marks or people changes a figure.

use std::collections::{BTreeMap, BTreeSet};

use refract_domain::key::OutcomeKey;
use refract_domain::prism::{Question, QuestionType};
use serde::Serialize;

use crate::marked::PlacedOutcome;
use crate::measures::proportion::{Proportion, signed_ratio, to_f64};

/// A marked outcome: by key, or a level by its place in the version that answered.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Category {
    Outcome(OutcomeKey),
    Level(usize),
}

impl Category {
    /// The level's place; 0 for outcomes without an order.
    fn place(&self) -> i128 {
        match self {
            Self::Outcome(_) => 0,
            Self::Level(place) => i128::try_from(*place).unwrap_or_default(),
        }
    }
}

/// Collects the marks of the texts of one question, each person as a number of the caller's.
#[derive(Clone, Debug, Default)]
pub struct AgreementCounts {
    /// The people who marked a text that somebody else marked.
    people: BTreeSet<usize>,
    /// Number of texts that several people marked.
    texts: u64,
    /// Ordered pairs of marks of one text, by the number of its marks and the pair of outcomes.
    pairs: BTreeMap<(usize, Category, Category), u64>,
    /// Marks of texts that several people marked, by outcome.
    values: BTreeMap<Category, u64>,
    /// Texts by two people, the lower number first, and what each marked.
    of_two: BTreeMap<(usize, usize), BTreeMap<(Category, Category), u64>>,
    is_ordinal: bool,
}

/// How far people agree about one question.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Agreement {
    /// Number of people who marked a text that somebody else marked too.
    pub people: usize,
    /// Number of texts that several people marked.
    pub texts: u64,
    /// Pairs of marks of one text that are equal, of all pairs.
    pub pairs: Proportion,
    /// Cohen's kappa of two people: agreement beyond what chance gives. `None` for other numbers of
    /// people, and where all marks are alike.
    ///
    /// Source: J. Cohen, "A coefficient of agreement for nominal scales", Educational and
    /// Psychological Measurement 20 (1960).
    pub kappa: Option<f64>,
    /// Cohen's kappa with quadratic weights, for scales.
    pub quadratic_kappa: Option<f64>,
    /// Krippendorff's alpha of any number of people, of whom not all need have marked every text:
    /// ordinal for scales, else nominal. `None` where all marks are alike.
    ///
    /// Source: K. Krippendorff, "Computing Krippendorff's alpha-reliability" (2011).
    pub alpha: Option<f64>,
    /// The level of measurement of alpha.
    pub level: AlphaLevel,
    /// Why a figure is not defined.
    pub undefined: Option<UndefinedAgreement>,
}

/// The level of measurement of Krippendorff's alpha.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AlphaLevel {
    /// Outcomes are equal or not.
    Nominal,
    /// Levels have an order.
    Ordinal,
}

/// Why a figure of agreement is not defined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UndefinedAgreement {
    /// No text has marks of two people.
    NoPair,
    /// All marks are one outcome.
    AllAlike,
    /// Cohen's kappa is of two people.
    MoreThanTwo,
}

impl UndefinedAgreement {
    /// The reason as a sentence.
    pub const fn message(self) -> &'static str {
        match self {
            Self::NoPair => "No text was marked by two people, so nothing can be compared.",
            Self::AllAlike => {
                "All marks are the same answer, so agreement cannot be distinguished from chance."
            }
            Self::MoreThanTwo => {
                "Kappa is for two people; with more, alpha says how far all of them agree."
            }
        }
    }
}

impl AgreementCounts {
    /// No marks yet of a question of this type.
    pub fn new(question_type: QuestionType) -> Self {
        Self {
            is_ordinal: question_type == QuestionType::Scale,
            ..Self::default()
        }
    }

    /// Adds the marks of one text, at most one of each person, as outcomes of the version that
    /// answered. Marks that the version does not have, and a text that fewer than two people marked, are left out.
    pub fn add(&mut self, question: &Question, marks: &[(usize, &OutcomeKey)]) {
        let marks = marks.iter().filter_map(|(person, outcome)| {
            let found = PlacedOutcome::find(question, outcome)?;
            Some(if self.is_ordinal {
                (*person, Category::Level(found.place))
            } else {
                (*person, Category::Outcome(found.key.clone()))
            })
        });
        let marks: BTreeMap<usize, Category> = marks.collect();
        if marks.len() < 2 {
            return;
        }
        self.texts += 1;
        for (person, category) in &marks {
            self.people.insert(*person);
            *self.values.entry(category.clone()).or_default() += 1;
            for (other, of_other) in &marks {
                if person == other {
                    continue;
                }
                let pair = (marks.len(), category.clone(), of_other.clone());
                *self.pairs.entry(pair).or_default() += 1;
                if person < other {
                    let of_two = self.of_two.entry((*person, *other)).or_default();
                    *of_two
                        .entry((category.clone(), of_other.clone()))
                        .or_default() += 1;
                }
            }
        }
    }

    /// The figures.
    pub fn agreement(&self) -> Agreement {
        let of = self.pairs.values().sum::<u64>() / 2;
        let equal = self
            .pairs
            .iter()
            .filter(|((_, one, other), _)| one == other);
        let equal = equal.map(|(_, count)| count).sum::<u64>() / 2;
        let two = self
            .of_two
            .values()
            .next()
            .filter(|_| self.people.len() == 2);
        let undefined = if self.texts == 0 {
            Some(UndefinedAgreement::NoPair)
        } else if self.values.len() == 1 {
            Some(UndefinedAgreement::AllAlike)
        } else if self.people.len() > 2 {
            Some(UndefinedAgreement::MoreThanTwo)
        } else {
            None
        };
        Agreement {
            people: self.people.len(),
            texts: self.texts,
            pairs: Proportion { count: equal, of },
            kappa: two.and_then(|two| kappa(two, |one, other| i128::from(one != other))),
            quadratic_kappa: two
                .filter(|_| self.is_ordinal)
                .and_then(|two| kappa(two, |one, other| (one.place() - other.place()).pow(2))),
            alpha: self.alpha(),
            level: if self.is_ordinal {
                AlphaLevel::Ordinal
            } else {
                AlphaLevel::Nominal
            },
            undefined,
        }
    }

    /// One minus the ratio of the observed to the expected disagreement.
    fn alpha(&self) -> Option<f64> {
        let values: u64 = self.values.values().sum();
        // a mark weighs as much in a text with many marks as in one with two
        let mut observed = 0.0;
        for ((marks, one, other), count) in &self.pairs {
            let weight = to_f64(u64::try_from(*marks).unwrap_or(u64::MAX) - 1);
            observed += to_f64(*count) * self.squared_distance(one, other) / weight;
        }
        let mut expected = 0.0;
        for (one, of_one) in &self.values {
            for (other, of_other) in &self.values {
                expected += to_f64(*of_one) * to_f64(*of_other) * self.squared_distance(one, other);
            }
        }
        (expected > 0.0).then(|| 1.0 - to_f64(values - 1) * observed / expected)
    }

    /// The squared distance of two outcomes. That of levels is the number of marks between them,
    /// those of either level by half.
    fn squared_distance(&self, one: &Category, other: &Category) -> f64 {
        if one == other {
            return 0.0;
        }
        if !self.is_ordinal {
            return 1.0;
        }
        let (low, high) = if one < other {
            (one, other)
        } else {
            (other, one)
        };
        let mut twice = 0;
        for (category, count) in self.values.range(low..=high) {
            let is_end = category == low || category == high;
            twice += if is_end { *count } else { 2 * count };
        }
        (to_f64(twice) / 2.0).powi(2)
    }
}

/// Cohen's kappa of a table of two people's outcomes, with these weights of a disagreement: `None`
/// where both gave one and the same outcome throughout.
fn kappa(
    table: &BTreeMap<(Category, Category), u64>,
    weight: impl Fn(&Category, &Category) -> i128,
) -> Option<f64> {
    let mut of_first: BTreeMap<&Category, i128> = BTreeMap::new();
    let mut of_second: BTreeMap<&Category, i128> = BTreeMap::new();
    let (mut texts, mut observed) = (0, 0);
    for ((first, second), count) in table {
        let count = i128::from(*count);
        *of_first.entry(first).or_default() += count;
        *of_second.entry(second).or_default() += count;
        texts += count;
        observed += count * weight(first, second);
    }
    let mut expected = 0;
    for (first, of_first) in &of_first {
        for (second, of_second) in &of_second {
            expected += of_first * of_second * weight(first, second);
        }
    }
    signed_ratio(expected - texts * observed, expected)
}
