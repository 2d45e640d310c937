//! Messages about a completed action, an error, an empty list, or keys that need attention. And the
//! faults of typed values in people's words.

use chrono::{DateTime, Utc};
use maud::{Markup, html};
use refract_domain::account::KeyReminder;
use refract_domain::problem::ValidationError;
use refract_identity::keys::RemindedKey;

use super::readable::{count, counted, moment};

/// The kind of a notice. Each kind is also named in words, so that the page does not rely on
/// colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoticeKind {
    /// An action was completed.
    Done,
    /// A warning before the next step.
    Warning,
    /// An action was refused or failed.
    Refused,
}

/// A notice. Screen readers announce it at once.
pub(crate) fn notice(kind: NoticeKind, words: &Markup) -> Markup {
    let (class, word, role) = match kind {
        NoticeKind::Done => ("done", "Done", "status"),
        NoticeKind::Warning => ("warning", "Warning", "status"),
        NoticeKind::Refused => ("refused", "Not done", "alert"),
    };
    html! {
        div.notice.(class) role=(role) {
            strong { (word) ". " }
            (words)
        }
    }
}

/// One sentence about the purpose of the page, and the next action.
pub(crate) fn empty_state(sentence: &str, action: &Markup) -> Markup {
    html! {
        div.empty {
            p { (sentence) }
            (action)
        }
    }
}

/// The notice; empty without a reminder.
pub(crate) fn key_reminders(reminded: &[RemindedKey], now: DateTime<Utc>) -> Markup {
    html! {
        @if !reminded.is_empty() {
            div.notice.warning role="status" {
                p { strong { "Keys need your attention." } }
                ul { @for reminded in reminded { li { (reminder_sentence(reminded, now)) } } }
            }
        }
    }
}

fn reminder_sentence(reminded: &RemindedKey, now: DateTime<Utc>) -> Markup {
    let key = &reminded.key;
    let link = html! {
        a href={ "/keys#key-" (key.id) } { bdi { (key.name) } " (" (key.first_characters) "…)" }
    };
    match reminded.reminder {
        KeyReminder::EndsSoon { ends_at } => html! {
            (link) " is in use and ends in " (days(ends_at, now)) ", on " (moment(ends_at))
            ". Replace it, or give its successor to the programs that still use it."
        },
        KeyReminder::SuccessorUnused => html! {
            (link) " was replaced, but programs still use it, and nobody uses its successor."
            @if let Some(end) = key.expires_at { " It ends in " (days(end, now)) "." }
        },
    }
}

/// The days until a moment, a started one included.
fn days(ends_at: DateTime<Utc>, now: DateTime<Utc>) -> String {
    let whole = (ends_at - now).num_days().saturating_add(1);
    counted(usize::try_from(whole).unwrap_or_default(), "day")
}

/// Rules whose words are written for files, with what people read instead.
const RULES: [(&str, &str); 10] = [
    (
        "must be greater than no_below",
        "Yes cannot start below where No ends.",
    ),
    ("Number must be greater than 0", "This must be above 0 %."),
    ("Number must be less than 1", "This must be below 100 %."),
    (
        "is used twice",
        "Something else here has this already: give it another one.",
    ),
    (
        "is a reserved key",
        "This word means something else: choose another.",
    ),
    (
        "is the name of a row column",
        "Every row has a column of this name: choose another.",
    ),
    (
        "the prism's latest version has no such question",
        "The prism no longer asks this question.",
    ),
    (
        "Prism not found",
        "This prism is archived or gone: it answers nothing.",
    ),
    ("Prism version not found", "This prism has no such version."),
    (
        "must be an email address such as ada@example.com",
        "This is no address such as ada@example.com.",
    ),
];

/// A fault as a sentence beside its input.
pub(crate) fn fault_sentence(fault: &ValidationError) -> String {
    match fault {
        ValidationError::Expected { expected, received } => {
            format!("This must be a {expected}, and is a {received}.")
        }
        ValidationError::StringTooLong(most) => format!("At most {}.", counted(*most, "character")),
        ValidationError::Required | ValidationError::StringTooShort(1) => {
            "Fill this in.".to_owned()
        }
        ValidationError::StringTooShort(least) => {
            format!("At least {}.", counted(*least, "character"))
        }
        ValidationError::NotAnInteger => "This must be a whole number.".to_owned(),
        ValidationError::NumberTooSmall(least) => format!("At least {least}."),
        ValidationError::NumberTooBig(most) => format!("At most {most}."),
        ValidationError::ArrayTooLong(most) => format!("At most {} of these.", count(*most)),
        ValidationError::ArrayTooShort(least) => format!("At least {} of these.", count(*least)),
        ValidationError::ForbiddenCharacters => {
            "This has a character that no text can have: type it anew.".to_owned()
        }
        ValidationError::NotOneOf(allowed) => format!("Choose one of: {}.", allowed.join(", ")),
        ValidationError::UnrecognizedKeys(keys) => {
            format!("This has parts that it cannot have: {}.", keys.join(", "))
        }
        ValidationError::InvalidUuid => "This is no id.".to_owned(),
        ValidationError::Rule(words) => sentence(words),
    }
}

/// A fault as a sentence that also says what the value is, where a number makes it clearer.
pub(crate) fn fault_sentence_of(fault: &ValidationError, value: &str) -> String {
    let sentence = fault_sentence(fault);
    if let ValidationError::StringTooLong(_) = fault {
        let characters = count(value.chars().count());
        return format!("{}; this has {characters}.", sentence.trim_end_matches('.'));
    }
    sentence
}

/// Why a row of a file is refused, from the specification's words (`fields.text: Required; ref: …`);
/// other words stay.
pub(crate) fn row_sentence(reason: &str) -> String {
    let faults = reason
        .split("; ")
        .map(|fault| match fault.split_once(": ") {
            Some((path, words))
                if path.starts_with("fields.") || ["ref", "context"].contains(&path) =>
            {
                let name = path.trim_start_matches("fields.");
                format!("{name}: {}", fault_sentence(&fault_of_words(words)))
            }
            _ => fault.to_owned(),
        });
    faults.collect::<Vec<_>>().join(" ")
}

/// The fault that the specification words so.
fn fault_of_words(words: &str) -> ValidationError {
    let most = words
        .strip_prefix("String must contain at most ")
        .and_then(|rest| rest.strip_suffix(" character(s)"))
        .and_then(|most| most.parse().ok());
    let plain = [
        ValidationError::Required,
        ValidationError::ForbiddenCharacters,
    ];
    most.map(ValidationError::StringTooLong)
        .or_else(|| plain.into_iter().find(|fault| fault.to_string() == words))
        .unwrap_or_else(|| ValidationError::rule(words))
}

/// The words of a rule as a sentence: `is used twice` becomes `This is used twice.`
pub(crate) fn sentence(words: &str) -> String {
    if let Some((_, sentence)) = RULES.iter().find(|(known, _)| words.starts_with(known)) {
        return (*sentence).to_owned();
    }
    let is_predicate = ["is ", "was ", "has ", "must ", "contains "]
        .iter()
        .any(|verb| words.starts_with(verb));
    let mut sentence = if is_predicate {
        format!("This {words}")
    } else {
        capitalised(words)
    };
    if !sentence.ends_with(['.', '!', '?']) {
        sentence.push('.');
    }
    sentence
}

fn capitalised(words: &str) -> String {
    let mut letters = words.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_sentences_without_the_words_of_files() {
        for (fault, sentence) in [
            (ValidationError::Required, "Fill this in."),
            (ValidationError::StringTooShort(1), "Fill this in."),
            (
                ValidationError::StringTooShort(10),
                "At least 10 characters.",
            ),
            (ValidationError::ArrayTooShort(2), "At least 2 of these."),
            (
                ValidationError::rule("must be greater than no_below"),
                "Yes cannot start below where No ends.",
            ),
            (ValidationError::rule("is too near"), "This is too near."),
            (ValidationError::rule("no such version"), "No such version."),
        ] {
            assert_eq!(fault_sentence(&fault), sentence);
        }
        for (reason, sentences) in [
            (
                "fields.text: String must contain at most 100000 character(s); ref: must not contain NUL or unpaired surrogate characters",
                "text: At most 100,000 characters. ref: This has a character that no text can have: type it anew.",
            ),
            ("fields.body: Required", "body: Fill this in."),
            ("too many tokens", "too many tokens"),
        ] {
            assert_eq!(row_sentence(reason), sentences);
        }
        let long = "ä".repeat(102_000);
        assert_eq!(
            fault_sentence_of(&ValidationError::StringTooLong(100_000), &long),
            "At most 100,000 characters; this has 102,000."
        );
    }
}
