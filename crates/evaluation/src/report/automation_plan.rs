//! What can be answered automatically: the cutoffs in force, those of a guarantee and those of a rule
//! of thumb in one table, one of them recommended, in words that need no statistics.

use std::cmp::Reverse;

use refract_domain::lens::Cutoffs;
use refract_domain::prism::QuestionType;

use crate::cutoffs::{
    Certificate, Certification, CertifiedCutoffs, CertifiedGoal, CutoffAdvice, CutoffGoal,
    CutoffMeasures,
};
use crate::marked::MarkedAnswers;
use crate::measures::{Interval, Proportion};

mod guarantee_sentences;
mod sentences;

pub use self::guarantee_sentences::GUARANTEE;
pub use self::sentences::{COUNT_HEADINGS, TWO_FIGURES};

/// The shares of wrong answers of which the next one within reach is named.
const STEPS: [f64; 13] = [
    0.5, 0.4, 0.3, 0.2, 0.15, 0.1, 0.08, 0.06, 0.05, 0.03, 0.02, 0.01, 0.005,
];
/// So many further marks are within reach, or as many again as there are.
const WITHIN_REACH: u64 = 500;

/// Where the cutoffs of a row come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowBasis {
    /// They are in force.
    Now,
    /// They are certified for the promise.
    Guarantee,
    /// They reach the goal on marks that did not choose them.
    RuleOfThumb,
}

/// What decides that an answer is automatic.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RowCutoffs {
    /// The cutoffs of a Yes / No question: Yes and No are automatic.
    YesNo(Cutoffs),
    /// The confidence from which the answer to a choice or scale is automatic.
    Confidence(f64),
}

/// How many of the automatic answers to new texts are wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ExpectedErrors {
    /// At most this share, with the probability of the promise.
    AtMost(f64),
    /// About this share: counted on marks that did not choose the cutoffs.
    About(Proportion),
}

/// Cutoffs, and what to expect of them.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct AutomationRow {
    /// Where the cutoffs come from.
    pub basis: RowBasis,
    /// The cutoffs.
    pub cutoffs: RowCutoffs,
    /// The automatic answers among all marks.
    pub automatic: Proportion,
    /// The wrong ones among the automatic answers, over all marks.
    pub wrong: Proportion,
    /// What to expect of new texts.
    pub expected: ExpectedErrors,
}

/// A guarantee that more marks would give.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct NextGuarantee {
    /// The share of wrong answers.
    pub error: f64,
    /// About so many more marks are needed, at least 1.
    pub more_marks: u64,
}

/// The ways to answer automatically, for one goal.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct AutomationPlan {
    /// The type of the question.
    pub question_type: QuestionType,
    /// The goal of the rule of thumb.
    pub goal: CutoffGoal,
    /// The promise of the guarantee; `None` if none is asked for.
    pub promise: Option<CertifiedGoal>,
    /// All marks.
    pub marks: u64,
    /// The cutoffs in force, then what reaches the goal.
    pub rows: Vec<AutomationRow>,
    /// The place of the recommended row; `None` if people had better answer.
    pub recommended: Option<usize>,
    /// The search for certified cutoffs.
    pub certificate: Option<Certificate>,
    /// The rule of thumb of a Yes / No question.
    pub advice: Option<CutoffAdvice>,
    /// How many of the answers that say Yes, and of those that say No, are wrong by the recommended
    /// cutoffs, or else by those in force; `None` for other questions.
    pub wrong_alone: Option<[Proportion; 2]>,
    /// The next guarantee.
    pub next: Option<NextGuarantee>,
    /// The share of wrong answers that the marks guarantee already, where the promise is not kept.
    pub laxer: Option<f64>,
}

impl MarkedAnswers {
    /// The ways to reach a goal, with a guarantee of the promise if there is one. A promise needs
    /// marks that are a random sample. The rule of thumb of a choice or scale is for the promise.
    ///
    /// Recommended is the guarantee, else the rule of thumb; the cutoffs in force where they are not
    /// worse on the marks.
    pub fn automation_plan(
        &self,
        goal: CutoffGoal,
        promise: Option<CertifiedGoal>,
    ) -> AutomationPlan {
        let certificate = promise.map(|promise| self.certify(promise));
        let advice = self.advise_cutoffs(goal);
        let now = self.row_in_force();
        let guarantee = certificate.as_ref().and_then(guaranteed);
        let rule = match (&advice, goal) {
            (Some(advice), _) => self.row_of_advice(advice),
            (None, CutoffGoal::Precision(wanted)) => self.row_of_confidence(wanted),
            (None, _) => None,
        };
        let rows: Vec<_> = [Some(now), guarantee, rule].into_iter().flatten().collect();
        let is_of_errors = matches!(goal, CutoffGoal::Precision(_)) || guarantee.is_some();
        let recommended = rows.get(1).map(|row| {
            let is_kept = row.cutoffs.are(now.cutoffs) || (is_of_errors && now.beats(row));
            usize::from(!is_kept)
        });
        let shown = recommended.and_then(|place| rows.get(place));
        let shown = shown.map_or(now.cutoffs, |row| row.cutoffs);
        let (next, laxer) = certificate
            .map(|certificate| self.next_guarantees(&certificate))
            .unwrap_or_default();
        let measures = match shown {
            RowCutoffs::YesNo(cutoffs) => self.measures_at(cutoffs),
            RowCutoffs::Confidence(_) => None,
        };
        AutomationPlan {
            question_type: self.question_type(),
            goal,
            promise,
            marks: now.automatic.of,
            next,
            laxer,
            wrong_alone: measures.map(|it| [it.precision.others(), it.no_precision.others()]),
            rows,
            recommended,
            certificate,
            advice,
        }
    }

    fn row_in_force(&self) -> AutomationRow {
        if let Some(measures) = self.measures_in_force() {
            let wrong = wrong_answers(&measures);
            let cutoffs = RowCutoffs::YesNo(self.cutoffs_in_force());
            return AutomationRow::new(RowBasis::Now, cutoffs, measures.coverage, wrong);
        }
        let right = self.measures().accuracy;
        let automatic = Proportion {
            count: right.of,
            of: u64::try_from(self.len()).unwrap_or(u64::MAX),
        };
        let cutoffs = RowCutoffs::Confidence(0.0);
        AutomationRow::new(RowBasis::Now, cutoffs, automatic, right.others())
    }

    fn row_of_advice(&self, advice: &CutoffAdvice) -> Option<AutomationRow> {
        let cutoffs = advice.cutoffs(self.cutoffs_in_force())?;
        let all = self.measures_at(cutoffs)?;
        let mut held_out = advice.held_out;
        if advice.no_below.is_none() {
            // where No ends was not chosen by these marks
            held_out.no_precision = all.no_precision;
        }
        let cutoffs = RowCutoffs::YesNo(cutoffs);
        let basis = RowBasis::RuleOfThumb;
        let row = AutomationRow::new(basis, cutoffs, all.coverage, wrong_answers(&all));
        Some(row.expecting(ExpectedErrors::About(wrong_answers(&held_out))))
    }

    fn row_of_confidence(&self, wanted: f64) -> Option<AutomationRow> {
        let advice = self.coverage_for(wanted)?;
        let cutoffs = RowCutoffs::Confidence(advice.confidence);
        let (all, wrong) = (advice.all, advice.all.accuracy.others());
        let row = AutomationRow::new(RowBasis::RuleOfThumb, cutoffs, all.coverage, wrong);
        let held_out = advice.held_out.accuracy.others();
        Some(row.expecting(ExpectedErrors::About(held_out)))
    }

    /// The nearest guarantee that the marks do not give yet: a stricter one where the promise is kept,
    /// else the promise itself or a laxer one. And the strictest laxer one that they give already.
    fn next_guarantees(&self, certificate: &Certificate) -> (Option<NextGuarantee>, Option<f64>) {
        let reach = certificate.marks.max(WITHIN_REACH);
        let goal = certificate.goal;
        let tried = |error| {
            let step = CertifiedGoal::new(error, goal.sure())?;
            Some((error, self.certify(step).certification))
        };
        let within_reach = |(error, certification)| match certification {
            Certification::MoreMarks(more_marks) if more_marks <= reach => {
                Some(NextGuarantee { error, more_marks })
            }
            Certification::Certified(_)
            | Certification::MoreMarks(_)
            | Certification::OutOfReach => None,
        };
        let is_given =
            |tried: &(f64, Certification)| matches!(tried.1, Certification::Certified(_));
        if certificate.certified().is_some() {
            let stricter = STEPS.into_iter().filter(|step| *step < goal.error());
            let beyond = stricter.filter_map(tried).find(|tried| !is_given(tried));
            return (beyond.and_then(within_reach), None);
        }
        let laxer = STEPS.into_iter().rev().filter(|step| *step > goal.error());
        let mut next = None;
        for tried in std::iter::once(goal.error()).chain(laxer).filter_map(tried) {
            if is_given(&tried) {
                return (next, Some(tried.0));
            }
            next = next.or_else(|| within_reach(tried));
        }
        (next, None)
    }
}

impl AutomationPlan {
    /// The recommended row.
    pub fn recommended_row(&self) -> Option<&AutomationRow> {
        self.rows.get(self.recommended?)
    }

    /// Whether the recommended cutoffs are in force.
    pub fn keeps_cutoffs(&self) -> bool {
        self.recommended == Some(0)
    }
}

impl AutomationRow {
    /// A row that expects of new texts what all marks show.
    fn new(basis: RowBasis, cutoffs: RowCutoffs, automatic: Proportion, wrong: Proportion) -> Self {
        let expected = ExpectedErrors::About(wrong);
        Self {
            basis,
            cutoffs,
            automatic,
            wrong,
            expected,
        }
    }

    fn expecting(self, expected: ExpectedErrors) -> Self {
        Self { expected, ..self }
    }

    /// Whether at least as much is automatic as in another row and at most as much wrong. A guarantee
    /// is only left for what is better.
    fn beats(&self, other: &Self) -> bool {
        let count = |row: &Self| (row.automatic.count, Reverse(row.wrong.count));
        let (mine, theirs) = (count(self), count(other));
        let is_as_good = mine.0 >= theirs.0 && mine.1 >= theirs.1;
        is_as_good && (mine != theirs || other.basis != RowBasis::Guarantee)
    }
}

impl RowCutoffs {
    /// Whether both decide alike: a `yes_from` that is not stated is where no ends.
    pub fn are(self, other: Self) -> bool {
        match (self, other) {
            (Self::YesNo(one), Self::YesNo(other)) => {
                let both = |it: Cutoffs| [it.no_ends_at(), it.yes_begins_at()];
                both(one) == both(other)
            }
            (Self::Confidence(one), Self::Confidence(other)) => one.to_bits() == other.to_bits(),
            (Self::YesNo(_), Self::Confidence(_)) | (Self::Confidence(_), Self::YesNo(_)) => false,
        }
    }
}

impl ExpectedErrors {
    /// The share, and its interval unless it is a bound; `None` for no automatic answer.
    pub fn share(self) -> Option<(f64, Option<Interval>)> {
        match self {
            Self::AtMost(share) => Some((share, None)),
            Self::About(wrong) => Some((wrong.value()?, wrong.interval())),
        }
    }
}

fn guaranteed(certificate: &Certificate) -> Option<AutomationRow> {
    let region = certificate.certified()?;
    let cutoffs = match region.cutoffs {
        CertifiedCutoffs::YesNo { .. } => RowCutoffs::YesNo(region.cutoffs.cutoffs()?),
        CertifiedCutoffs::Confidence(percent) => RowCutoffs::Confidence(f64::from(percent) / 100.0),
    };
    let automatic = certificate.coverage();
    let row = AutomationRow::new(RowBasis::Guarantee, cutoffs, automatic, region.wrong);
    Some(row.expecting(ExpectedErrors::AtMost(region.error_at_most)))
}

/// The wrong ones among Yes and No.
fn wrong_answers(measures: &CutoffMeasures) -> Proportion {
    let mut wrong = measures.precision.others();
    wrong += measures.no_precision.others();
    wrong
}

/// What is left of a share, without the noise of a double's last digits.
pub fn others(share: f64) -> f64 {
    ((1.0 - share) * 1e9).round() / 1e9
}
