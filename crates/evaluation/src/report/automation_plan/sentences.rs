//! The words of a plan, the same in the terminal and in the app.

use refract_domain::prism::QuestionType;

use super::guarantee_sentences::{of_thousand, of_thousand_at_most};
use super::{AutomationPlan, AutomationRow, ExpectedErrors, RowBasis, others};
use crate::cutoffs::{CertifiedGoal, CutoffAdvice, CutoffGoal, FEW_MARKS};
use crate::measures::{Interval, Proportion};

/// What the columns after the cutoffs count.
pub const COUNT_HEADINGS: [&str; 3] = [
    "Answered automatically",
    "Wrong of those marked",
    "Wrong of 1,000 new",
];

/// Why two figures of one cutoff differ.
pub const TWO_FIGURES: &str = "Cutoffs look better than they are on the marks that they were chosen by. So \
    for new texts a rule of thumb counts other marks, and a guarantee names the most that may be wrong.";

impl AutomationRow {
    /// What the row is.
    pub fn name(&self) -> &'static str {
        match self.basis {
            RowBasis::Now => "Now",
            RowBasis::Guarantee => "Guarantee",
            RowBasis::RuleOfThumb => "Rule of thumb",
        }
    }

    /// How many of 1,000 automatic answers to new texts are wrong: `at most 43`, `about 47 (30 to 70)`.
    pub fn wrong_of_thousand(&self) -> String {
        match self.expected.share() {
            None => "–".to_owned(),
            Some((share, None)) => format!("at most {}", of_thousand_at_most(share)),
            Some((share, Some(Interval { low, high }))) => format!(
                "about {} ({} to {})",
                of_thousand(share),
                of_thousand(low),
                of_thousand(high)
            ),
        }
    }

    /// The share of texts that is answered automatically, of 1,000.
    fn automatic_of_thousand(&self) -> String {
        of_thousand(self.automatic.value().unwrap_or_default())
    }
}

impl AutomationPlan {
    /// What is wanted: `At most 50 of 1,000 automatic answers wrong`.
    pub fn wanted(&self) -> String {
        match (self.promise, self.goal) {
            (Some(promise), _) => format!(
                "At most {} of 1,000 automatic answers wrong",
                of_thousand(promise.error())
            ),
            (None, CutoffGoal::Precision(share)) => format!(
                "At most {} of 1,000 automatic answers wrong",
                of_thousand(1.0 - share)
            ),
            (None, CutoffGoal::YesPrecision(share)) => {
                format!("At most {} of 1,000 Yes wrong", of_thousand(1.0 - share))
            }
            (None, CutoffGoal::Recall(share)) => {
                format!("At least {} of 1,000 true Yes found", of_thousand(share))
            }
            (
                None,
                CutoffGoal::Costs {
                    wrong_yes,
                    wrong_no,
                },
            ) => {
                format!(
                    "Least costs, where a wrong Yes costs {wrong_yes} and a wrong No {wrong_no}"
                )
            }
        }
    }

    /// What a rule of thumb lacks; `None` if there is one.
    pub fn no_rule(&self) -> Option<String> {
        let has_rule = |row: &AutomationRow| row.basis == RowBasis::RuleOfThumb;
        if self.rows.iter().any(has_rule) {
            return None;
        }
        Some(match &self.advice {
            _ if self.marks == 0 => "needs marks".to_owned(),
            Some(advice) if !advice.has_both_marks() => {
                let only = if advice.marked_yes == 0 { "No" } else { "Yes" };
                format!("needs marks of Yes and of No, all are {only}")
            }
            Some(_) | None if self.marks < FEW_MARKS => {
                format!("none from {} marks, mark more", self.marks)
            }
            Some(_) if matches!(self.goal, CutoffGoal::Precision(_)) => {
                "no cutoff does for Yes and for No".to_owned()
            }
            Some(_) | None => "no cutoff does on marks that did not choose it".to_owned(),
        })
    }

    /// What to do, in a few words.
    pub fn headline(&self) -> String {
        let weak = self.weak_answer();
        let words = match (self.recommended_row().map(|row| row.basis), weak) {
            (None, _) if matches!(self.goal, CutoffGoal::YesPrecision(_)) => {
                "Let people check each Yes"
            }
            (None, Some(_)) => "Let people check some of the answers",
            (None, None) => "Let people answer",
            (Some(RowBasis::Now), _) => "Keep the cutoffs as they are now",
            (Some(RowBasis::Guarantee), _) => "Take the guarantee",
            (Some(RowBasis::RuleOfThumb), _) => match self.goal {
                CutoffGoal::Precision(_) => {
                    "Take the rule of thumb, and have some of its answers checked"
                }
                CutoffGoal::YesPrecision(_) => "With the rule of thumb Yes is right that often",
                CutoffGoal::Recall(_) => "The rule of thumb finds so many",
                CutoffGoal::Costs { .. } => "The rule of thumb costs least",
            },
        };
        match weak.filter(|_| self.recommended.is_some()) {
            Some((answer, _)) => format!("{words}, and have each {answer} checked."),
            None => format!("{words}."),
        }
    }

    /// What then happens: how much is answered automatically, how much of that may be wrong, how sure
    /// that is, and what is left to people.
    pub fn outlook(&self) -> String {
        let weak = self.weak_answer().map(|(label, wrong)| {
            let wrong = of_thousand(wrong);
            format!(
                "But of 1,000 {label} about {wrong} are wrong: let a person check each {label}."
            )
        });
        if let (None, Some(weak), Some(now)) = (self.recommended, &weak, self.rows.first()) {
            return format!(
                "As it is now: {} {} {weak}",
                automatic(now),
                self.errors(now)
            );
        }
        let Some(row) = self.recommended_row() else {
            return match self.goal {
                CutoffGoal::Precision(_) => {
                    "These marks show no cutoff with so few wrong answers: allow more wrong ones, or mark \
                     more results."
                }
                CutoffGoal::YesPrecision(_) => return self.no_cutoff_for_yes(),
                CutoffGoal::Recall(_) | CutoffGoal::Costs { .. } => {
                    "These marks show no cutoff that reaches the goal."
                }
            }
            .to_owned();
        };
        // what is in force can be what another row is sure of
        let alike = |other: &&AutomationRow| other.cutoffs.are(row.cutoffs);
        let behind = self.rows.iter().skip(1).find(alike).unwrap_or(row);
        let is_kept_untried = row.basis == RowBasis::Now && behind.basis != RowBasis::Guarantee;
        let checks = if is_kept_untried && weak.is_none() {
            "Have some of the answers checked."
        } else {
            ""
        };
        let sentences = [
            automatic(row),
            self.errors(behind),
            checks.to_owned(),
            self.rest(row),
            self.guaranteed_instead(row).unwrap_or_default(),
            self.false_alarms(row).to_owned(),
            weak.unwrap_or_default(),
        ];
        let filled = sentences.into_iter().filter(|it| !it.is_empty());
        filled.collect::<Vec<_>>().join(" ")
    }

    /// Why no cutoff is known from which Yes is right as often as wanted.
    fn no_cutoff_for_yes(&self) -> String {
        let [wrong, _] = self.wrong_alone.unwrap_or_default();
        let right = wrong.others();
        let chance = if right.of < FEW_MARKS {
            " So few Yes cannot show one: mark more results."
        } else {
            ""
        };
        format!(
            "These marks show no cutoff that reaches the goal. As it is now, {} of {} Yes are right.{chance}",
            right.count, right.of
        )
    }

    /// Where the recommended cutoffs, or else those in force, reach the goal, but only for Yes and No
    /// together: the answer that alone does not, and how many of these are wrong.
    fn weak_answer(&self) -> Option<(&'static str, f64)> {
        let CutoffGoal::Precision(right) = self.goal else {
            return None;
        };
        let misses = |wrong: &f64| *wrong > others(right);
        let row = self.recommended_row().or(self.rows.first())?;
        let (wrong, _) = row.expected.share()?;
        let is_rule = row.basis == RowBasis::RuleOfThumb;
        if is_rule || self.marks < FEW_MARKS || misses(&wrong) {
            return None;
        }
        let [yes, no] = self.wrong_alone?;
        let mut alone = [("Yes", yes), ("No", no)].into_iter();
        alone.find_map(|(answer, wrong)| Some((answer, wrong.value().filter(misses)?)))
    }

    /// What a goal that is not about wrong answers may cost: of what is rare, cutoffs that find nearly
    /// all call much else Yes too.
    fn false_alarms(&self, row: &AutomationRow) -> &'static str {
        let held_out = self.advice.as_ref().map(|advice| advice.held_out.precision);
        match (row.basis, held_out.and_then(Proportion::value)) {
            (RowBasis::RuleOfThumb, Some(precision)) if precision < 0.5 => {
                "Most Yes are then false alarms: let a person check each of them."
            }
            (_, _) => "",
        }
    }

    fn errors(&self, row: &AutomationRow) -> String {
        let sure = self.promise.map(CertifiedGoal::sure);
        if let (CutoffGoal::YesPrecision(_), Some(advice)) = (self.goal, &self.advice) {
            return errors_of_yes(advice);
        }
        match (row.expected, row.expected.share(), sure) {
            (ExpectedErrors::AtMost(share), _, Some(sure)) => format!(
                "Of 1,000 such answers at most {} are wrong. You can be {} % sure of that: of {:.0} such \
                 samples of marks, one promises too much.",
                of_thousand_at_most(share),
                percent(sure),
                1.0 / (1.0 - sure)
            ),
            (_, Some((share, Some(Interval { high, .. }))), _) => format!(
                "Of 1,000 such answers about {} are wrong, perhaps {}{}; this is no guarantee.",
                of_thousand(share),
                of_thousand(high),
                self.errors_now(row)
            ),
            (_, _, _) => String::new(),
        }
    }

    /// How many are wrong now, beside a goal that is about something else.
    fn errors_now(&self, row: &AutomationRow) -> String {
        let now = self
            .rows
            .first()
            .filter(|now| !now.cutoffs.are(row.cutoffs));
        match (self.goal, now.and_then(|now| now.expected.share())) {
            (CutoffGoal::Precision(_), _) | (_, None) => String::new(),
            (_, Some((share, _))) => format!(" (now about {})", of_thousand(share)),
        }
    }

    fn rest(&self, row: &AutomationRow) -> String {
        let left = row.automatic.others();
        let Some(share) = left.value().filter(|_| left.count > 0) else {
            return String::new();
        };
        let left = of_thousand(share);
        match self.question_type {
            QuestionType::YesNo => {
                format!("The other {left} are Unsure: let a person answer them.")
            }
            QuestionType::Choice | QuestionType::Scale => {
                format!("The other {left} have less confidence: let a person answer them.")
            }
        }
    }
}

/// How many Yes are wrong, counted on marks that did not choose the cutoff.
fn errors_of_yes(advice: &CutoffAdvice) -> String {
    let wrong = advice.held_out.precision.others();
    let Some((share, Interval { high, .. })) = wrong.value().zip(wrong.interval()) else {
        return String::new();
    };
    let chance = if advice.is_of_few_marks() {
        format!(
            " It rests on only {} marks and may be chance.",
            advice.behind
        )
    } else {
        String::new()
    };
    format!(
        "Of 1,000 Yes about {} are wrong, perhaps {}; this is no guarantee.{chance}",
        of_thousand(share),
        of_thousand(high)
    )
}

fn automatic(row: &AutomationRow) -> String {
    if row.automatic.others().count == 0 {
        return "All new texts are answered automatically.".to_owned();
    }
    let automatic = row.automatic_of_thousand();
    format!("Of 1,000 new texts about {automatic} are answered automatically.")
}

/// A probability in percent, with as many decimals as it has.
fn percent(share: f64) -> String {
    let text = format!("{:.4}", share * 100.0);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
