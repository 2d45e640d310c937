//! Checks whether answers are robust: asks the model about answered texts again, once as they are and
//! once under each perturbation, and saves nothing.

use futures_util::stream;
use refract_domain::answer::Answers;
use refract_domain::key::QuestionKey;
use refract_domain::prism::PrismVersion;
use refract_domain::submission::{Submission, budget};
use refract_evaluation::flips::{AnswerSensitivity, SensitivityMeasures};
use refract_evaluation::robustness::{Perturbation, PerturbedBy};
use refract_model_gateway::CostEstimate;

use crate::InternalError;
use crate::asking::{
    AskedTexts, AskingPace, EarlyEnd, Next, PacedModel, add_cost, ask_each, failure_threshold,
};
use crate::measures::Measures;
use crate::results::read::ReadableResult;

/// A version in all forms in which the model is asked about each text.
pub struct PerturbedForms {
    version: PrismVersion,
    forms: Vec<AskedForm>,
}

/// One form in which the model is asked.
struct AskedForm {
    /// The perturbation; `None` to ask again without one, which measures the noise.
    by: Option<Perturbation>,
    version: PrismVersion,
}

/// How perturbations changed the answers to many texts.
#[derive(Clone, Debug)]
pub struct RobustnessReport {
    /// Texts that the model was asked about, once for each form.
    pub asked: AskedTexts,
    /// Texts that were not asked about in some form, because they were too large with it.
    pub too_large: u64,
    /// The questions in the version's order.
    pub questions: Vec<PerturbedQuestion>,
}

/// A question that was asked under perturbations about many texts.
#[derive(Clone, Debug)]
pub struct PerturbedQuestion {
    /// The question.
    pub question: QuestionKey,
    noise: AnswerSensitivity,
    perturbed: Vec<(Perturbation, AnswerSensitivity)>,
}

impl Measures<'_> {
    /// Estimated cost of asking about the texts of these results in every form.
    ///
    /// # Errors
    /// When there is no model to ask.
    pub fn robustness_cost(
        self,
        forms: &PerturbedForms,
        results: &[ReadableResult],
    ) -> Result<CostEstimate, InternalError> {
        let model = self.refract.model()?;
        let mut cost = CostEstimate::default();
        for form in &forms.forms {
            let estimator = model.estimator(&form.version);
            for result in results {
                if let Some(submission) = forms.submission(form, result) {
                    add_cost(&mut cost, &estimator, &form.version, &submission);
                }
            }
        }
        Ok(cost)
    }

    /// Asks about the text of each result in every form, and compares the answers with the result's.
    /// Failed results are skipped. Requests have the priority of file rows. After `stop`, or when the
    /// model is away, the model is asked about no further text. `progress` gets the report after each
    /// text and form.
    ///
    /// # Errors
    /// When there is no model to ask.
    pub async fn check_robustness(
        self,
        forms: &PerturbedForms,
        results: &[ReadableResult],
        pace: AskingPace,
        stop: impl Future<Output = ()>,
        mut progress: impl FnMut(&RobustnessReport),
    ) -> Result<RobustnessReport, InternalError> {
        let threshold = failure_threshold(pace.concurrency);
        let model = PacedModel::new(self.refract.model()?, threshold);
        let texts = results.iter().flat_map(|result| {
            let forms = forms.forms.iter();
            forms.map(move |form| (form, result))
        });
        let mut report = forms.report(pace);
        let begun = report.asked.begun();
        let requests = texts.map(async |(form, result)| {
            let begun = begun.begin();
            let submission = forms.submission(form, result);
            let outcome = match &submission {
                Some(submission) => Some(model.answer(&form.version, submission).await),
                None => None,
            };
            (begun, form, result, outcome)
        });
        let asking = ask_each(stream::iter(requests), pace.concurrency, stop, |reply| {
            let Some((begun, form, result, outcome)) = reply else {
                report.asked.end = Some(EarlyEnd::Asked);
                return Next::Drop;
            };
            let Some(outcome) = outcome else {
                report.too_large += 1;
                return Next::Begin;
            };
            let outcome = outcome.map_err(|error| error.to_string());
            let compared = outcome.and_then(|answers| {
                let stored = result.view().status.answers();
                stored.map_or(Ok(()), |stored| {
                    report.compare(&forms.version, form, stored, &answers)
                })
            });
            report.asked.count(begun, compared);
            progress(&report);
            Next::begin_if(report.asked.end.is_none())
        });
        asking.await;
        Ok(report)
    }
}

impl PerturbedForms {
    /// The forms of a version: as it is, and under each perturbation that concerns one of its
    /// questions. Without such a perturbation there are none.
    pub fn new(version: &PrismVersion, perturbations: &[Perturbation]) -> Self {
        let perturbed = perturbations.iter().filter_map(|by| {
            Some(AskedForm {
                by: Some(*by),
                version: by.version(version)?,
            })
        });
        let mut forms: Vec<_> = perturbed.collect();
        if !forms.is_empty() {
            let again = AskedForm {
                by: None,
                version: version.clone(),
            };
            forms.insert(0, again);
        }
        Self {
            version: version.clone(),
            forms,
        }
    }

    /// Number of times that the model is asked about each text.
    pub fn len(&self) -> usize {
        self.forms.len()
    }

    /// Whether the model is never asked.
    pub fn is_empty(&self) -> bool {
        self.forms.is_empty()
    }

    /// The text of a result in a form; `None` for a failed result, and for a text that is too large
    /// with the form.
    fn submission(&self, form: &AskedForm, result: &ReadableResult) -> Option<Submission> {
        let answers = result.view().status.answers()?;
        let submission = result.submission();
        let submission = match form.by {
            Some(by) => by.submission(&self.version, submission, answers),
            None => submission.clone(),
        };
        let is_within = budget::check(&form.version, &submission).is_ok();
        is_within.then_some(submission)
    }

    /// The report before the first request to the model.
    fn report(&self, pace: AskingPace) -> RobustnessReport {
        let questions = self.version.questions().iter().map(|question| {
            let forms = self.forms.iter();
            let concerned = forms.filter(|form| form.version.question(&question.key).is_some());
            let perturbed = concerned.filter_map(|form| form.by);
            PerturbedQuestion {
                question: question.key.clone(),
                noise: AnswerSensitivity::default(),
                perturbed: perturbed
                    .map(|by| (by, AnswerSensitivity::default()))
                    .collect(),
            }
        });
        RobustnessReport {
            asked: AskedTexts::new(pace),
            too_large: 0,
            questions: questions
                .filter(|question| !question.perturbed.is_empty())
                .collect(),
        }
    }
}

impl RobustnessReport {
    /// Compares the answers to a text in a form with the saved ones.
    fn compare(
        &mut self,
        version: &PrismVersion,
        form: &AskedForm,
        saved: &Answers,
        answers: &Answers,
    ) -> Result<(), String> {
        for asked in &mut self.questions {
            let key = asked.question.clone();
            let Some((saved, answer)) = saved.get(&key).zip(answers.get(&key)) else {
                continue;
            };
            let answer = match form.by {
                None => Some(answer.clone()),
                Some(by) => by.answer_before(version, &form.version, &key, answer),
            };
            if let (Some(answer), Some(sensitivity)) = (answer, asked.sensitivity(form.by)) {
                let added = sensitivity.add(saved, &answer);
                added.map_err(|error| error.to_string())?;
            }
        }
        Ok(())
    }
}

impl PerturbedQuestion {
    /// How far answers move when a text is asked about twice in one form.
    pub fn noise(&self) -> SensitivityMeasures {
        self.noise.measures()
    }

    /// How far answers move under each perturbation that concerns the question.
    pub fn perturbed(&self) -> impl Iterator<Item = (Perturbation, SensitivityMeasures)> {
        let perturbed = self.perturbed.iter();
        perturbed.map(|(by, sensitivity)| (*by, sensitivity.measures()))
    }

    /// How far answers move under some perturbations together.
    pub fn measures(&self, perturbed_by: PerturbedBy) -> SensitivityMeasures {
        let mut together = AnswerSensitivity::default();
        for (by, sensitivity) in &self.perturbed {
            if perturbed_by.contains(*by) {
                together += *sensitivity;
            }
        }
        together.measures()
    }

    fn sensitivity(&mut self, by: Option<Perturbation>) -> Option<&mut AnswerSensitivity> {
        let Some(by) = by else {
            return Some(&mut self.noise);
        };
        let mut perturbed = self.perturbed.iter_mut();
        let (_, sensitivity) = perturbed.find(|(known, _)| *known == by)?;
        Some(sensitivity)
    }
}
