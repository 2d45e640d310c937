//! Facts about a result beside its answers, in lines of a name and a value.

use indicatif::HumanCount;
use refract_answering::ReadableResult;
use refract_domain::ids::ResultId;
use refract_persistence::Provenance;

use crate::terminal::{Palette, plain};

/// The number of characters of a field's value that are shown.
const MOST_CHARACTERS: usize = 2_000;

/// Facts about a result: names and values, in the order in which they are printed.
#[derive(Default)]
pub(crate) struct Facts(Vec<(String, String)>);

impl Facts {
    /// The facts of a saved result: when it was saved, which model was asked, why it failed, which
    /// result retried it, and the field values.
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

    /// Adds a fact.
    pub(crate) fn add(&mut self, name: &str, value: String) {
        self.0.push((name.to_owned(), value));
    }

    /// The facts as lines, after an empty line; the lines of one value stand below each other.
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
/// recorded.
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
