//! Certified cutoffs as text.

use indicatif::HumanCount;
use refract_evaluation::cutoffs::certificate::{Certificate, Certification, CertifiedRegion};
use refract_evaluation::cutoffs::promise::CertifiedCutoffs;

use super::advice_text::{cutoff, describe};
use crate::terminal::{Palette, counted};

/// The certificate; the first line has the cutoffs, or says why there are none.
pub(super) fn lines(certificate: &Certificate) -> Vec<String> {
    let palette = Palette::of_stdout();
    let outcome = outcome(certificate);
    let marks = counted(certificate.marks, "mark");
    let Some(region) = certificate.certified() else {
        return vec![outcome, format!("from {marks}")];
    };
    vec![
        palette.chosen.apply_to(outcome).to_string(),
        format!(
            "certified from {marks}, with a probability of {} over their drawing",
            certificate.goal.sure()
        ),
        format!(
            "{} of {} automatic answers are wrong: at most {:.3} of all such answers",
            HumanCount(region.wrong.count),
            HumanCount(region.wrong.of),
            region.error_at_most
        ),
        format!(
            "{} of all answers are automatic",
            describe(certificate.coverage())
        ),
    ]
}

/// The outcome in one sentence.
pub(super) fn outcome(certificate: &Certificate) -> String {
    let error = certificate.goal.error();
    match certificate.certification {
        Certification::Certified(CertifiedRegion { cutoffs, .. }) => {
            let cutoffs = match cutoffs {
                CertifiedCutoffs::YesNo { no_below, yes_from } => {
                    format!(
                        "no below {} and yes from {}",
                        cutoff(no_below),
                        cutoff(yes_from)
                    )
                }
                CertifiedCutoffs::Confidence(percent) => {
                    format!("from a confidence of {}", cutoff(percent))
                }
            };
            format!("{cutoffs}, at most {error} of the answers are wrong")
        }
        Certification::MoreMarks(more) => format!(
            "not enough marks to certify an error of {error}: about {} more needed if \
             answers stay as good",
            HumanCount(more)
        ),
        Certification::OutOfReach => {
            format!("no cutoff does: answers are wrong too often for an error of {error}")
        }
    }
}
