//! What certified cutoffs promise, and the cutoffs themselves.

use refract_domain::lens::Cutoffs;

/// The promise that certified cutoffs make.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CertifiedGoal {
    error: f64,
    sure: f64,
}

/// The cutoffs that decide which answers are automatic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CertifiedCutoffs {
    /// The cutoffs of a Yes / No question in whole percents.
    YesNo {
        /// The percent below which the answer is no, 1 to 50.
        no_below: u32,
        /// The percent from which the answer is yes, 50 to 100. If it equals `no_below`, there is
        /// no `unsure`.
        yes_from: u32,
    },
    /// The confidence in whole percents, 0 to 100, from which the answer to a choice or scale is
    /// automatic: Refract's own
    /// ([`confidence`](refract_domain::answer::confidence)).
    Confidence(u32),
}

impl CertifiedCutoffs {
    /// The cutoffs for a lens; `None` for a confidence, which no lens has.
    pub fn cutoffs(self) -> Option<Cutoffs> {
        let share = |percent| f64::from(percent) / 100.0;
        match self {
            Self::Confidence(_) => None,
            Self::YesNo { no_below, yes_from } => {
                let yes_from = (yes_from > no_below).then(|| share(yes_from));
                Cutoffs::new(Some(share(no_below)), yes_from).ok()
            }
        }
    }
}

impl CertifiedGoal {
    /// At most the share `error` of automatic answers is wrong, with at least the probability `sure`.
    /// `None` unless both are above 0 and below 1.
    pub fn new(error: f64, sure: f64) -> Option<Self> {
        let is_share = |share: f64| share > 0.0 && share < 1.0;
        (is_share(error) && is_share(sure)).then_some(Self { error, sure })
    }

    /// The largest share of wrong answers among the automatic ones.
    pub fn error(self) -> f64 {
        self.error
    }

    /// The least probability, over the drawing of the marks, that the promise holds.
    pub fn sure(self) -> f64 {
        self.sure
    }

    /// The largest probability of a wrong certificate.
    pub(crate) fn level(self) -> f64 {
        1.0 - self.sure
    }
}
