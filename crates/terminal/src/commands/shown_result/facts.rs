//! Facts about a result other than its answers, in lines of a name and a value.

use indicatif::HumanCount;
use refract_domain::answer::Probability;
use refract_domain::result::mark::{self, Mark};
use refract_service::results::{Provenance, ReadableResult, ResultDetails};

use crate::terminal::{Palette, counted, plain, widened};

/// The most characters of a field's value that are shown.
const MOST_CHARACTERS: usize = 2_000;

/// Facts about a result: names and values, in printing order.
#[derive(Default)]
pub(crate) struct Facts(Vec<(String, String)>);

impl Facts {
    /// The facts of a saved result: when it was saved, the model, the source of its answers, the
    /// failure, its retry, the sent texts if wanted, and the marks.
    pub(crate) fn of(details: &ResultDetails, has_texts: bool) -> Self {
        let ResultDetails {
            result, provenance, ..
        } = details;
        let view = result.view();
        let mut facts = Self::default();
        facts.add(
            "saved",
            view.created_at.format("%Y-%m-%d %H:%M:%S UTC").to_string(),
        );
        if let Some(asked) = asked(provenance) {
            facts.add("asked", asked);
        }
        if let Some(id) = &provenance.host_request_id {
            facts.add("request", id.clone());
        }
        if let Some(read) = read(provenance) {
            facts.add("read", read);
        }
        if let Some(cut) = cut(provenance) {
            facts.add("cut", cut);
        }
        if let Some(error) = view.status.error() {
            facts.add("error", error.to_owned());
        }
        if let Some(retry) = details.retried_as {
            facts.add("retried as", retry.to_string());
        }
        if has_texts {
            for (key, value) in view.fields.as_slice() {
                facts.add(key.as_str(), beginning(value));
            }
            if let Some(context) = result.submission().context() {
                facts.add("context", beginning(context));
            }
        }
        facts.add_marks(result, &details.marks.iter().chain(&details.other_marks));
        facts
    }

    /// The facts about a new result: the source of its answers, and whether its text was cut.
    pub(crate) fn of_new(provenance: &Provenance) -> Self {
        let facts = [("read", read(provenance)), ("cut", cut(provenance))];
        let facts = facts.into_iter();
        let known = facts.filter_map(|(name, fact)| Some((name.to_owned(), fact?)));
        Self(known.collect())
    }

    /// Adds a fact.
    fn add(&mut self, name: &str, value: String) {
        self.0.push((name.to_owned(), value));
    }

    /// Adds the marks: a line for each question, in the order of the version that answered, with
    /// person and moment. Adds nothing if there are no marks.
    fn add_marks<'m>(
        &mut self,
        result: &ReadableResult,
        marks: &(impl Iterator<Item = &'m Mark> + Clone),
    ) {
        let mut lines = Vec::new();
        for question in result.view().questions {
            // the mark that counts first
            for mark in marks.clone().filter(|mark| mark.question == question.key) {
                let mut outcomes = mark::outcomes(question);
                let outcome = outcomes.find(|outcome| outcome.key == mark.outcome.as_str());
                let outcome = outcome.map_or(mark.outcome.as_str(), |outcome| outcome.label);
                let by = mark.marked_by.name.as_ref();
                let by = by.map_or_else(String::new, |by| format!(" by {by}"));
                let settled = if mark.is_adjudicated { ", settled" } else { "" };
                let when = mark.marked_at.format("%Y-%m-%d %H:%M:%S UTC");
                lines.push(plain(&format!(
                    "{}: {outcome}, marked{by} {when}{settled}",
                    question.key
                )));
            }
        }
        if !lines.is_empty() {
            self.add("marks", lines.join("\n"));
        }
    }

    /// The facts as lines, after an empty line; further lines of a value are aligned below its
    /// first.
    pub(super) fn lines(&self) -> String {
        let palette = Palette::of_stdout();
        let width = self.0.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        let mut lines = Vec::new();
        for (name, value) in &self.0 {
            let mut name = palette.faint.apply_to(format!("{name:width$}")).to_string();
            for line in value.split('\n') {
                lines.push(format!("{name}  {}", plain(line)).trim_end().to_owned());
                name = " ".repeat(width);
            }
        }
        if lines.is_empty() {
            return String::new();
        }
        format!("\n{}\n", lines.join("\n"))
    }
}

/// The protocol, the model and the cost of the answer; `None` for results saved before these were
/// stored.
fn asked(provenance: &Provenance) -> Option<String> {
    let mut asked = provenance.protocol.clone()?;
    if let Some(model) = &provenance.model {
        asked = format!("{asked}, {model}");
    }
    if let Some(version) = provenance.prompt_version {
        asked = format!("{asked}, prompts {version}");
    }
    let counts = [
        (provenance.input_tokens, "tokens read"),
        (provenance.cached_tokens, "from the cache"),
        (provenance.output_tokens, "tokens written"),
        (provenance.requests.map(u64::from), "requests"),
        (provenance.attempts.map(u64::from), "attempts"),
    ];
    let counts = counts
        .into_iter()
        .filter_map(|(count, of)| Some(format!("{of} {}", HumanCount(count?))));
    let cost = provenance.cost.map(|cost| format!("cost {cost}"));
    let counts: Vec<_> = counts.chain(cost).collect();
    Some(format!("{asked}; {}", counts.join(", ")))
}

/// The total probability of the codes, rounded down, and the part of it that was split evenly,
/// rounded up; `None` for a model that does not answer with codes.
fn read(provenance: &Provenance) -> Option<String> {
    let percent = |tenths: u32| format!("{}.{}%", tenths / 10, tenths % 10);
    let fell = match provenance.on_codes? {
        Probability::CERTAIN => "100%".to_owned(),
        on_codes => format!("at least {}", percent(on_codes.millionths() / 1_000)),
    };
    let split = match provenance.unread? {
        Probability::ZERO => "none".to_owned(),
        unread => format!("at most {}", percent(unread.millionths().div_ceil(1_000))),
    };
    Some(format!(
        "{fell} of each question's probability fell on its codes; {split} of that was split evenly"
    ))
}

/// How much of a text was read that the server cut.
fn cut(provenance: &Provenance) -> Option<String> {
    let tokens = HumanCount(provenance.truncated_to?);
    Some(format!(
        "the model server read only {tokens} tokens of a text that has far more"
    ))
}

fn beginning(value: &str) -> String {
    let mut characters = value.chars();
    let beginning: String = characters.by_ref().take(MOST_CHARACTERS).collect();
    match characters.count() {
        0 => beginning,
        more => format!(
            "{beginning}\n… and {}",
            counted(widened(more), "more character")
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_that_was_read_is_rounded_down_and_one_that_was_not_up() {
        for (on_codes, unread, fell, split) in [
            (1_000_000, 0, "100% of each", "; none of that was"),
            (
                999_999,
                1,
                "at least 99.9% of each",
                "; at most 0.1% of that was",
            ),
            (
                50_000,
                1_000_000,
                "at least 5.0% of each",
                "; at most 100.0% of that was",
            ),
        ] {
            let provenance = Provenance {
                on_codes: Probability::from_millionths(on_codes),
                unread: Probability::from_millionths(unread),
                ..Provenance::default()
            };
            let words = read(&provenance).unwrap();
            assert!(words.starts_with(fell) && words.contains(split), "{words}");
        }
        assert_eq!(read(&Provenance::default()), None);
    }
}
