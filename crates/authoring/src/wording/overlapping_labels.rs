//! The rule `overlapping-labels` between the options of a choice.

use refract_domain::prism::question::Outcome;

use super::label::{LabelWords, compared, has_any};
use super::rule::WordingRule;
use super::similar_labels::are_close;
use super::warning::WordingWarning;
use crate::file_reader::join;

/// Words that make a longer label exclude the shorter one, or name something else: `Not delivered`
/// is not `Delivered`, and `New Mexico` is not `Mexico`.
const EXCLUDING: [&str; 43] = [
    "not",
    "no",
    "non",
    "never",
    "without",
    "very",
    "slightly",
    "somewhat",
    "rather",
    "fairly",
    "quite",
    "extremely",
    "highly",
    "strongly",
    "mostly",
    "partly",
    "partially",
    "mildly",
    "moderately",
    "after",
    "before",
    "self",
    "ex",
    "former",
    "over",
    "under",
    "full",
    "half",
    "part",
    "almost",
    "nearly",
    "new",
    "north",
    "south",
    "east",
    "west",
    "northern",
    "southern",
    "eastern",
    "western",
    "central",
    "equatorial",
    "upper",
];

/// Warns of each option whose label overlaps an earlier one, unless both have a description;
/// `path` names the options.
pub(super) fn check(options: &[Outcome], path: &str) -> Vec<WordingWarning> {
    let labels: Vec<OptionLabel<'_>> = options.iter().map(OptionLabel::of).collect();
    let mut warnings = Vec::new();
    for (index, label) in labels.iter().enumerate() {
        let earlier = labels.iter().take(index);
        let mut found = earlier.filter_map(|earlier| overlap(earlier, label));
        if let Some(message) = found.next() {
            let rule = WordingRule::OverlappingLabels;
            warnings.push(WordingWarning::new(rule, join(path, index), message));
        }
    }
    warnings
}

/// The label of an option, whole and in parts.
struct OptionLabel<'a> {
    whole: LabelWords<'a>,
    /// The parts of a label such as `Billing and refunds`; empty when the label names one thing.
    parts: Vec<Vec<String>>,
    /// Whether words alone cannot decide what the label covers, because it has numbers or an
    /// excluding word.
    is_special: bool,
}

impl<'a> OptionLabel<'a> {
    fn of(option: &'a Outcome) -> Self {
        let whole = LabelWords::of(option);
        // a comma may also invert words, as in `Korea, South`
        let listed = option.label.replace('/', " and ");
        let words = compared(&listed);
        let parts = words.split(|word| word == "and" || word == "or");
        let mut parts: Vec<Vec<String>> = parts
            .filter(|part| !part.is_empty())
            .map(<[String]>::to_vec)
            .collect();
        // in `Lost or stolen card`, `lost` is not a thing by itself
        let length = parts.first().map_or(0, Vec::len);
        if parts.len() == 1 || parts.iter().any(|part| part.len() != length) {
            parts.clear();
        }
        let is_special = whole.has_digits || has_any(&whole.words, &["both", "only"]);
        Self {
            whole,
            parts,
            is_special,
        }
    }
}

/// Describes how the labels of two options overlap; `None` if they do not, or if a rule excludes
/// the pair.
fn overlap(one: &OptionLabel<'_>, other: &OptionLabel<'_>) -> Option<String> {
    let (first, second) = (&one.whole, &other.whole);
    let are_described = first.outcome.description.is_some() && second.outcome.description.is_some();
    if are_described || one.is_special || other.is_special || are_close(first, second) {
        return None;
    }
    for (longer, shorter) in [(first, second), (second, first)] {
        let mut beyond = longer.beyond(shorter);
        if longer.contains(shorter) && !beyond.any(|word| EXCLUDING.contains(&word)) {
            return Some(format!(
                "'{}' has every word of '{}', so both can be right for one text",
                longer.outcome.label, shorter.outcome.label
            ));
        }
    }
    let shared = one.parts.iter().find(|part| other.parts.contains(part))?;
    Some(format!(
        "'{}' and '{}' both name '{}', so both can be right for one text",
        first.outcome.label,
        second.outcome.label,
        shared.join(" ")
    ))
}
