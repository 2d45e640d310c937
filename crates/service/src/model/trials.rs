//! The trials of a model: one of every question type, how many outcomes and questions it takes, and
//! questions without an obvious answer, which bound the error of its probabilities.

mod material;
mod sizes;

use refract_boxed_futures::boxed;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

use refract_model_gateway::{
    Model, ModelEndpoint, ModelError, ModelGateway, ModelSettings, Protocol, SettingError,
};

use self::material::{FORWARD, REVERSED};
use self::sizes::{SizeSearch, SizeStep};
pub use self::sizes::{SizeUnit, TakenSize};
use crate::model::trial::{AskedTrial, FailedTrial, ModelTrialError, Trial};
use crate::model::{LongText, TrialReport};

pub(super) use self::material::yes_no;

/// The name of the trial of a long text.
const LONG_TEXT: &str = "long text";

/// Which trials are asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrialScope {
    /// All of them.
    Full,
    /// One small call of every question type.
    Quick,
}

/// The results of the trials of a model.
#[derive(Default)]
pub struct ModelTrials {
    /// The trials that the model answered, in the order in which they were asked.
    pub reports: Vec<TrialReport>,
    /// How much the server takes in one request.
    pub sizes: Vec<TakenSize>,
    /// How the server took a long text; `None` if it was not tried.
    pub long_text: Option<LongText>,
    /// The draw that the model did not answer; none was asked after it.
    pub unmeasured: Option<FailedTrial>,
    /// The trial for which the model cannot serve; no trial was asked after it.
    pub failed: Option<FailedTrial>,
}

impl ModelTrials {
    /// How far the probability of the correct option moves when the options are reversed.
    pub fn moved_by_order(&self) -> Option<f64> {
        let of = |name| {
            let found = self.reports.iter().find(|report| report.trial == name);
            Some(found?.probability)
        };
        Some((of(FORWARD)? - of(REVERSED)?).abs())
    }
}

/// Trials of one model, asked one after the other.
pub struct TrialRun {
    settings: ModelSettings,
    model: Model,
    steps: VecDeque<TrialStep>,
    trials: ModelTrials,
}

/// What is asked next.
enum TrialStep {
    /// A question that every model can answer.
    Easy(Trial),
    /// Requests of falling size.
    Size(SizeSearch),
    /// A question of this many outcomes without an obvious answer.
    Draw(usize, Trial),
    /// A text that is longer than a usual context.
    LongText,
}

/// How one trial of a run ended.
pub struct TrialEnd {
    /// The trial's name.
    pub trial: &'static str,
    /// Time from the first attempt to the answer.
    pub took: Duration,
    /// Why it was not answered.
    pub failure: Option<ModelError>,
}

#[boxed(local)]
impl TrialRun {
    /// Plans the trials of a model. Requests of many questions are for protocols that send them
    /// together. A model that answers with codes also gets questions without an obvious answer: a
    /// confident answer leaves nothing unread.
    pub fn new(gateway: &ModelGateway, settings: &ModelSettings, scope: TrialScope) -> Self {
        let mut steps = VecDeque::from([
            TrialStep::Easy(yes_no()),
            TrialStep::Easy(material::scale()),
            TrialStep::Easy(material::choice()),
        ]);
        if scope == TrialScope::Full {
            steps.push_back(TrialStep::Easy(material::reversed_choice()));
            steps.extend(SizeSearch::begin(SizeUnit::Outcomes).map(TrialStep::Size));
            if let ModelEndpoint::Servers(_) = settings.endpoint {
                steps.extend(more_of(settings.protocol));
                steps.push_back(TrialStep::LongText);
            }
        }
        Self {
            settings: settings.clone(),
            model: gateway.model(),
            steps,
            trials: ModelTrials::default(),
        }
    }

    /// The name of the trial that is asked next; `None` at the end.
    pub fn next_name(&self) -> Option<&'static str> {
        self.steps.front().map(|step| match step {
            TrialStep::Easy(trial) | TrialStep::Draw(_, trial) => trial.name,
            TrialStep::Size(search) => search.name(),
            TrialStep::LongText => LONG_TEXT,
        })
    }

    /// Asks the next trial; `None` at the end.
    ///
    /// # Errors
    /// When a trial cannot be asked.
    pub async fn ask_next(&mut self) -> Result<Option<TrialEnd>, ModelTrialError> {
        let Some(step) = self.steps.pop_front() else {
            return Ok(None);
        };
        let end = match step {
            TrialStep::Easy(trial) => {
                let asked = trial.ask(&self.model).await?;
                let end = TrialEnd::of(trial.name, &asked);
                match asked.outcome {
                    Ok(report) => self.trials.reports.push(report),
                    Err(failed) => self.fail(failed),
                }
                end
            }
            TrialStep::Size(search) => {
                let asked = search.trial().ask(&self.model_for(search.unit())?).await?;
                let end = TrialEnd::of(search.name(), &asked);
                self.end_size(search, asked);
                end
            }
            TrialStep::Draw(_, trial) => {
                let asked = trial.ask(&self.model).await?;
                let end = TrialEnd::of(trial.name, &asked);
                match asked.outcome {
                    Ok(report) => self.trials.reports.push(report),
                    Err(failed) => {
                        self.trials.unmeasured = Some(failed);
                        self.steps
                            .retain(|step| !matches!(step, TrialStep::Draw(..)));
                    }
                }
                end
            }
            TrialStep::LongText => {
                let began = Instant::now();
                let asked = LongText::ask(&self.model, &self.trials.reports).await?;
                self.trials.long_text = Some(asked);
                TrialEnd {
                    trial: LONG_TEXT,
                    took: began.elapsed(),
                    failure: None,
                }
            }
        };
        Ok(Some(end))
    }

    /// The model for a trial of a size. What one number of questions has taught a gateway would
    /// split the next: each is asked over a gateway that has learned nothing.
    fn model_for(&self, unit: SizeUnit) -> Result<Model, SettingError> {
        Ok(match unit {
            SizeUnit::Outcomes => self.model.clone(),
            SizeUnit::Questions => ModelGateway::new(self.settings.clone())?.model(),
        })
    }

    /// Whether a trial failed for which the model cannot serve.
    pub fn has_failed(&self) -> bool {
        self.trials.failed.is_some()
    }

    /// What the trials so far have shown.
    pub fn end(self) -> ModelTrials {
        self.trials
    }

    fn end_size(&mut self, search: SizeSearch, asked: AskedTrial) {
        let unit = search.unit();
        let step = match asked.outcome {
            Ok(_) if asked.is_split && unit == SizeUnit::Questions => search.split(),
            Ok(report) => {
                // the table has a row for one question, not for many
                if unit == SizeUnit::Outcomes {
                    self.trials.reports.push(report);
                }
                search.answered()
            }
            Err(failed) => search.refused(failed),
        };
        match step {
            SizeStep::Taken(size) => {
                if unit == SizeUnit::Outcomes {
                    self.leave_out_draws_over(size.taken);
                }
                self.trials.sizes.push(size);
            }
            SizeStep::Smaller(search) => self.steps.push_front(TrialStep::Size(search)),
            SizeStep::Failed(failed) => self.fail(failed),
        }
    }

    fn leave_out_draws_over(&mut self, most: usize) {
        self.steps.retain(|step| match step {
            TrialStep::Draw(outcomes, _) => *outcomes <= most,
            TrialStep::Easy(_) | TrialStep::Size(_) | TrialStep::LongText => true,
        });
    }

    fn fail(&mut self, failed: FailedTrial) {
        self.trials.failed = Some(failed);
        self.steps.clear();
    }
}

/// The trials of a server in this protocol besides those of every model.
fn more_of(protocol: Protocol) -> Vec<TrialStep> {
    match protocol {
        Protocol::SystemOne | Protocol::Decisions | Protocol::Gemini => {
            let search = SizeSearch::begin(SizeUnit::Questions);
            search.map(TrialStep::Size).into_iter().collect()
        }
        Protocol::Chat => {
            let draws = material::draws().into_iter();
            draws
                .map(|(outcomes, trial)| TrialStep::Draw(outcomes, trial))
                .collect()
        }
        Protocol::Stated => Vec::new(),
    }
}

impl TrialEnd {
    fn of(trial: &'static str, asked: &AskedTrial) -> Self {
        let failure = asked.outcome.as_ref().err();
        Self {
            trial,
            took: asked.took,
            failure: failure.map(|failed| failed.failure.clone()),
        }
    }
}

/// A bound on the total variation distance between the probabilities of an answer and the model's
/// own, for questions with at most `outcomes` outcomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DistanceBound {
    /// The largest number of outcomes for which the bound holds.
    pub outcomes: usize,
    /// The distance in thousandths, rounded up.
    pub thousandths: u32,
}

impl ModelTrials {
    /// The trials without a correct outcome, whose answers should be flat.
    pub fn draws(&self) -> impl Iterator<Item = &TrialReport> {
        self.reports.iter().filter(|report| report.right.is_none())
    }

    /// A bound for each number of outcomes of the trials without a correct outcome, smallest number
    /// first: the largest unread part of all trials with at most that many outcomes. A bound that
    /// holds for a larger number too is left out.
    pub fn distance_bounds(&self) -> Vec<DistanceBound> {
        let mut bounds: Vec<DistanceBound> = Vec::new();
        for draw in self.draws() {
            let reports = self.reports.iter();
            let smaller = reports.filter(|report| report.outcomes <= draw.outcomes);
            let Some(unread) = smaller.filter_map(|report| report.unread).max() else {
                continue;
            };
            let bound = DistanceBound {
                outcomes: draw.outcomes,
                thousandths: unread.millionths().div_ceil(1_000),
            };
            bounds.retain(|smaller| smaller.thousandths != bound.thousandths);
            bounds.push(bound);
        }
        bounds
    }
}
