//! The rules about wording, their names and reasons, and a warning of one of them.

/// A rule about the wording of questions, options or levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum WordingRule {
    /// Two outcomes have labels with the same words, and no descriptions that distinguish them.
    SimilarLabels,
    /// Two options, or an option and a built-in outcome, can both be correct for one text.
    OverlappingLabels,
    /// A description repeats another description or its own label.
    DuplicateDescriptions,
    /// A choice has more outcomes than there are single letters.
    ManyOptions,
    /// The levels of a scale are listed highest first.
    DescendingScale,
    /// A level does not belong on its scale, such as `Not applicable`.
    LevelOffScale,
    /// A question asks two things.
    TwoQuestions,
    /// A yes/no question is phrased as a negation.
    NegatedQuestion,
}

impl WordingRule {
    /// All rules.
    pub const ALL: [Self; 8] = [
        Self::SimilarLabels,
        Self::OverlappingLabels,
        Self::DuplicateDescriptions,
        Self::ManyOptions,
        Self::DescendingScale,
        Self::LevelOffScale,
        Self::TwoQuestions,
        Self::NegatedQuestion,
    ];

    /// The rule's name, in reports and in settings that switch it off.
    pub fn name(self) -> &'static str {
        match self {
            Self::SimilarLabels => "similar-labels",
            Self::OverlappingLabels => "overlapping-labels",
            Self::DuplicateDescriptions => "duplicate-descriptions",
            Self::ManyOptions => "many-options",
            Self::DescendingScale => "descending-scale",
            Self::LevelOffScale => "level-off-scale",
            Self::TwoQuestions => "two-questions",
            Self::NegatedQuestion => "negated-question",
        }
    }

    /// The rule with this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|rule| rule.name() == name)
    }

    /// Why the wording makes answers worse and how to improve it, in two or three sentences with
    /// the public source.
    pub fn reason(self) -> &'static str {
        match self {
            Self::SimilarLabels => {
                "A model that wavers between two outcomes decides by their places in the list \
                 (Pezeshkpour and Hruschka 2024, Findings of NAACL; Zheng et al. 2024, ICLR). \
                 Describe what tells the two apart, or make them one."
            }
            Self::OverlappingLabels => {
                "Answers must exclude each other (Krosnick and Presser 2010, Handbook of Survey \
                 Research): where two outcomes are right, their probability is split and the order \
                 of the list decides. Describe when each is right, or make them one."
            }
            Self::DuplicateDescriptions => {
                "A model reads the description to tell outcomes apart, and descriptions are what \
                 helps it most without examples (Gao et al. 2023, EMNLP). A repeated one tells \
                 nothing: say what belongs to this outcome alone, or leave it out."
            }
            Self::ManyOptions => {
                "On the chat protocol one capital letter names an outcome of up to 20; above that a \
                 code is a letter and a digit, which costs further model requests and leaves some \
                 probability unread. Ask for a group first and for the details in questions of \
                 their own, or use a decision model."
            }
            Self::DescendingScale => {
                "Levels are listed lowest first: a level's number and the average count from 1 for \
                 the first level, and a tie goes to the earlier one. Listed highest first, all of \
                 them are upside down. Turn the list around."
            }
            Self::LevelOffScale => {
                "A scale has one direction, and its averages take every level for an amount of it. \
                 A level for `no answer` counts as the least or the most. Leave it out and ask \
                 whether the text says anything about it in a yes/no question of its own."
            }
            Self::TwoQuestions => {
                "A question that asks two things has no right answer where only one of them holds: \
                 ask one thing at a time (Krosnick and Presser 2010, Handbook of Survey Research). \
                 Make it two questions; they are asked about the same text."
            }
            Self::NegatedQuestion => {
                "People misread negations (Krosnick and Presser 2010, Handbook of Survey Research), \
                 and so do language models (Truong et al. 2023, *SEM), so yes and no are easily \
                 swapped. Ask whether it is so, and read `no` where it is not."
            }
        }
    }
}

/// A finding of a rule, and its path in the prism file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WordingWarning {
    /// The rule that warns.
    pub rule: WordingRule,
    /// Keys and positions in the prism file, joined with dots, such as `questions.0.options.1`.
    pub path: String,
    /// The finding, with the labels or words in question; one sentence without a full stop.
    pub message: String,
}

impl WordingWarning {
    /// A warning of a rule about the value at a path.
    pub(super) fn new(rule: WordingRule, path: String, message: String) -> Self {
        Self {
            rule,
            path,
            message,
        }
    }
}
