//! Changes that should not change an answer: of the frame around a text, and claims planted in it.
//!
//! A [`Perturbation`] changes the version or the text that is asked, and maps the new answers back to
//! the questions as they were. [`AnswerSensitivity`](crate::flips::AnswerSensitivity)
//! then measures how far they moved.

mod frames;

use refract_domain::answer::{Answer, Answers};
use refract_domain::key::QuestionKey;
use refract_domain::prism::PrismVersion;
use refract_domain::submission::Submission;

/// A change that should not change an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Perturbation {
    /// Yes / No questions are asked the other way round.
    Negated,
    /// The options of choices are listed in reverse.
    OptionsReversed,
    /// The levels of scales are listed in reverse.
    LevelsReversed,
    /// Choices have a copy of their first option.
    CopiedOption,
    /// Blank lines stand before and after the text.
    Blank,
    /// The text is in capital letters.
    Shouted,
    /// The text ends with claims of other answers.
    ClaimedAnswer,
    /// The text ends with other answers between the tokens of a chat template.
    TemplateTokens,
    /// The text ends with a message that pretends to be the system's.
    FakeSystem,
}

/// What a perturbation changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PerturbationKind {
    /// The frame: wording, order and form, with the meaning as it was.
    Coherence,
    /// The text, which gets a planted claim of another answer.
    Attack,
}

impl Perturbation {
    /// All perturbations, those of one kind together.
    pub const ALL: [Self; 9] = [
        Self::Negated,
        Self::OptionsReversed,
        Self::LevelsReversed,
        Self::CopiedOption,
        Self::Blank,
        Self::Shouted,
        Self::ClaimedAnswer,
        Self::TemplateTokens,
        Self::FakeSystem,
    ];

    /// The name on the command line, in requirements and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Negated => "negated",
            Self::OptionsReversed => "options-reversed",
            Self::LevelsReversed => "levels-reversed",
            Self::CopiedOption => "copied-option",
            Self::Blank => "blank",
            Self::Shouted => "shouted",
            Self::ClaimedAnswer => "claimed-answer",
            Self::TemplateTokens => "template-tokens",
            Self::FakeSystem => "fake-system",
        }
    }

    /// The perturbation with this name; `None` for any other text.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.name() == name)
    }

    /// What the perturbation changes.
    pub const fn kind(self) -> PerturbationKind {
        match self {
            Self::Negated
            | Self::OptionsReversed
            | Self::LevelsReversed
            | Self::CopiedOption
            | Self::Blank
            | Self::Shouted => PerturbationKind::Coherence,
            Self::ClaimedAnswer | Self::TemplateTokens | Self::FakeSystem => {
                PerturbationKind::Attack
            }
        }
    }

    /// The version to ask, with only the questions that the perturbation concerns; `None` if it
    /// concerns none.
    pub fn version(self, version: &PrismVersion) -> Option<PrismVersion> {
        let questions = version.questions().iter();
        let questions = questions.filter_map(|question| match self {
            Self::Negated => frames::negated(question),
            Self::OptionsReversed => frames::options_reversed(question),
            Self::LevelsReversed => frames::levels_reversed(question),
            Self::CopiedOption => frames::with_copied_option(question),
            Self::Blank
            | Self::Shouted
            | Self::ClaimedAnswer
            | Self::TemplateTokens
            | Self::FakeSystem => Some(question.clone()),
        });
        let questions: Vec<_> = questions.collect();
        if questions.is_empty() {
            return None;
        }
        let context = version.context().map(str::to_owned);
        let fields = version.fields().to_vec();
        Some(PrismVersion::new(fields, context, questions))
    }

    /// The text to ask about. A planted claim contradicts `answers`, those to the text as it is, and
    /// stands at the end of the last field.
    pub fn submission(
        self,
        version: &PrismVersion,
        submission: &Submission,
        answers: &Answers,
    ) -> Submission {
        match self {
            Self::Negated | Self::OptionsReversed | Self::LevelsReversed | Self::CopiedOption => {
                submission.clone()
            }
            Self::Blank => submission.with_values(|_, value| format!("\n\n{value}\n\n")),
            Self::Shouted => submission.with_values(|_, value| value.to_uppercase()),
            Self::ClaimedAnswer => frames::planted(submission, &frames::claimed(version, answers)),
            Self::TemplateTokens => {
                frames::planted(submission, &frames::in_template_tokens(version, answers))
            }
            Self::FakeSystem => {
                frames::planted(submission, &frames::of_fake_system(version, answers))
            }
        }
    }

    /// The answer to a question of the perturbed version, as an answer to the question as it was:
    /// `version` is the version before the perturbation. `None` for a question that it lacks.
    pub fn answer_before(
        self,
        version: &PrismVersion,
        perturbed: &PrismVersion,
        key: &QuestionKey,
        answer: &Answer,
    ) -> Option<Answer> {
        let question = version.question(key)?;
        match self {
            Self::Negated => Some(frames::affirmed(answer)),
            Self::LevelsReversed => Some(frames::in_order(question, answer)),
            Self::CopiedOption => frames::without_copy(question, perturbed.question(key)?, answer),
            Self::OptionsReversed
            | Self::Blank
            | Self::Shouted
            | Self::ClaimedAnswer
            | Self::TemplateTokens
            | Self::FakeSystem => Some(answer.clone()),
        }
    }
}

/// Some perturbations, whose pairs of answers are measured together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PerturbedBy {
    /// All perturbations of a kind.
    Kind(PerturbationKind),
    /// One perturbation.
    One(Perturbation),
}

impl PerturbedBy {
    /// The kind or the perturbation with this name; `None` for any other text.
    pub fn named(name: &str) -> Option<Self> {
        let mut kinds = PerturbationKind::ALL.into_iter();
        let kind = kinds.find(|kind| kind.name() == name).map(Self::Kind);
        kind.or_else(|| Perturbation::named(name).map(Self::One))
    }

    /// The name in requirements.
    pub fn name(self) -> &'static str {
        match self {
            Self::Kind(kind) => kind.name(),
            Self::One(perturbation) => perturbation.name(),
        }
    }

    /// Whether a perturbation is among these.
    pub fn contains(self, perturbation: Perturbation) -> bool {
        match self {
            Self::Kind(kind) => perturbation.kind() == kind,
            Self::One(one) => perturbation == one,
        }
    }

    /// All names, separated by commas.
    pub fn names() -> String {
        let kinds = PerturbationKind::ALL.map(PerturbationKind::name);
        let one = Perturbation::ALL.map(Perturbation::name);
        let names: Vec<_> = kinds.into_iter().chain(one).collect();
        names.join(", ")
    }
}

impl PerturbationKind {
    /// Both kinds.
    pub const ALL: [Self; 2] = [Self::Coherence, Self::Attack];

    /// The name in requirements and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Coherence => "coherence",
            Self::Attack => "attacks",
        }
    }
}
