//! The words of a plan's guarantees: what one means, what one lacks, and which is next.

use super::{AutomationPlan, AutomationRow, NextGuarantee, RowBasis};
use crate::cutoffs::{Certification, CertifiedGoal};

/// What a guarantee means, and for what it holds.
pub const GUARANTEE: &str = "A guarantee is about all automatic answers together, for new texts like those that \
    were marked. To be 95 % sure means: of 20 such samples of marks, one promises too much.";

impl AutomationPlan {
    /// What a guarantee lacks; `None` if there is one, or none was asked for.
    pub fn no_guarantee(&self) -> Option<String> {
        let reach = self.marks.max(super::WITHIN_REACH);
        match self.certificate?.certification {
            Certification::Certified(_) => None,
            Certification::MoreMarks(more) if more <= reach => {
                Some(format!("about {} needed", more_of(more, "mark")))
            }
            Certification::MoreMarks(_) => Some("out of reach without very many marks".to_owned()),
            Certification::OutOfReach => {
                Some("out of reach, answers are wrong too often".to_owned())
            }
        }
    }

    /// The guarantee, where the recommended cutoffs are others: those that the marks show to be better
    /// are not those that they guarantee.
    pub(super) fn guaranteed_instead(&self, row: &AutomationRow) -> Option<String> {
        let mut rows = self.rows.iter();
        let guarantee = rows.find(|row| row.basis == RowBasis::Guarantee)?;
        let (most, _) = guarantee.expected.share()?;
        (!guarantee.cutoffs.are(row.cutoffs)).then(|| {
            format!(
                "Only the cutoffs of the row Guarantee are guaranteed: at most {} of 1,000 wrong.",
                of_thousand_at_most(most)
            )
        })
    }

    /// The next guarantee within reach with the marks that it needs, and the one that these marks give.
    pub fn next_step(&self) -> Option<String> {
        let sentences = [self.more_marks(), self.laxer_guarantee()];
        let sentences: Vec<_> = sentences.into_iter().flatten().collect();
        (!sentences.is_empty()).then(|| sentences.join(" "))
    }

    fn laxer_guarantee(&self) -> Option<String> {
        let most = of_thousand(self.laxer?);
        Some(format!(
            "These marks are enough to guarantee at most {most} wrong of 1,000: ask for that if you can \
             live with it."
        ))
    }

    fn more_marks(&self) -> Option<String> {
        let NextGuarantee {
            error, more_marks, ..
        } = self.next?;
        let limit = format!("at most {} wrong of 1,000", of_thousand(error));
        let results = more_of(more_marks, "result");
        let promised = self.promise.map(CertifiedGoal::error);
        let begin = match promised {
            Some(promised) if promised < error => format!(
                "A guarantee of at most {} is out of reach. For one of {limit}",
                of_thousand(promised)
            ),
            Some(promised) if promised > error => format!("For a stricter guarantee, {limit}"),
            Some(_) | None => format!("To guarantee {limit}"),
        };
        Some(format!(
            "{begin}, mark about {results}, drawn at random, and look again only when all are done."
        ))
    }
}

pub(super) fn more_of(more: u64, noun: &str) -> String {
    let plural = if more == 1 { "" } else { "s" };
    format!("{more} more {noun}{plural}")
}

/// A share of 1,000, rounded.
pub(super) fn of_thousand(share: f64) -> String {
    thousand(share * 1000.0)
}

/// A share of 1,000, rounded up: a limit stays one.
pub(super) fn of_thousand_at_most(share: f64) -> String {
    // what is a whole number but for the double's last digits stays that
    thousand((share * 1000.0 - 1e-9).ceil())
}

fn thousand(number: f64) -> String {
    match format!("{number:.0}") {
        all if all == "1000" => "1,000".to_owned(),
        text => text,
    }
}
