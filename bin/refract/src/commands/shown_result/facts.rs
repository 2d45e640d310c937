//! What else is known of a result, in lines of a name and a value.

use indicatif::HumanCount;
use refract_answering::ReadableResult;
use refract_domain::ids::ResultId;
use refract_persistence::Provenance;

use crate::terminal::{Palette, plain};

/// Characters of a field's value that are shown.
const MOST_CHARACTERS: usize = 2_000;

/// Names and values, in the order in which they are shown.
#[derive(Default)]
pub(crate) struct Facts(Vec<(String, String)>);

impl Facts {
    /// When a result was saved, who was asked, why it failed, what retried it, and what was sent.
    pub(crate) fn of(
        result: &ReadableResult,
        provenance: &Provenance,
        retried_as: Option<ResultId>,
    ) -> Self {
        let view = result.view();
        let mut facts = Self::default();
        facts.add(
            "saved",
            view.created_at.format("%Y-%m-%d %H:%M:%S UTC").to_string(),
        );
        if let Some(asked) = asked(provenance) {
            facts.add("asked", asked);
        }
        if let Some(error) = view.status.error() {
            facts.add("error", error.to_owned());
        }
        if let Some(retry) = retried_as {
            facts.add("retried as", retry.to_string());
        }
        for (key, value) in &view.fields.0 {
            facts.add(key.as_str(), beginning(value));
        }
        facts
    }

    /// One more.
    pub(crate) fn add(&mut self, name: &str, value: String) {
        self.0.push((name.to_owned(), value));
    }

    /// The lines, after an empty one; values of more lines go on below each other.
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

/// Protocol and model, and what the call cost; nothing for a result that is older than this
/// knowledge.
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
        (provenance.output_tokens, "tokens written"),
        (provenance.requests.map(u64::from), "requests"),
        (provenance.attempts.map(u64::from), "attempts"),
    ];
    let counts = counts
        .into_iter()
        .filter_map(|(count, of)| Some(format!("{of} {}", HumanCount(count?))));
    let counts: Vec<_> = counts.collect();
    Some(format!("{asked}; {}", counts.join(", ")))
}

fn beginning(value: &str) -> String {
    let mut characters = value.chars();
    let beginning: String = characters.by_ref().take(MOST_CHARACTERS).collect();
    match characters.count() {
        0 => beginning,
        more => format!("{beginning}\n… and {more} more characters"),
    }
}
