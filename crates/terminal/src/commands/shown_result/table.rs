//! A result as a table: every question with a bar for each probability.

use refract_domain::answer::{Answer, Distribution, Probability};
use refract_domain::key::OutcomeKey;
use refract_domain::lens::{Column, Cutoff, Cutoffs, YesNoLabel};
use refract_domain::prism::Question;
use refract_service::results::ReadableResult;

use crate::terminal::{Palette, bar, columns_of, fit, plain};

/// The most outcomes shown for one question.
const MOST_OUTCOMES: usize = 10;
/// The widest table in columns: a wider one is no easier to read.
const WIDEST: usize = 100;
/// The narrowest table in columns.
const NARROWEST: usize = 40;
const CHOSEN: &str = "▸ ";
const NOT_CHOSEN: &str = "  ";
const NO_VALID_ANSWER: &str = "No valid answer";

/// The table of a result for a terminal of `width` columns.
pub(super) fn of(result: &ReadableResult, width: usize) -> String {
    let view = result.view();
    let palette = Palette::of_stdout();
    let mut head = format!("{} · version {}", view.prism, view.version);
    if let Some(reference) = view.reference {
        head = format!("{head} · ref {}", plain(reference));
    }
    let head = palette.heading.apply_to(head);
    let facts = palette
        .faint
        .apply_to(format!("{} ms · {}", view.took_ms, view.id));
    let mut lines = vec![format!("{head} · {facts}")];
    let Some(answers) = view.status.answers() else {
        lines.push(palette.bad.apply_to("failed").to_string());
        return lines.join("\n") + "\n";
    };
    let answered = view.questions.iter().filter_map(|question| {
        let answer = answers.get(&question.key)?;
        Some((question, answer))
    });
    let widest = answered.clone().map(|(question, _)| label_width(question));
    let width = width.clamp(NARROWEST, WIDEST);
    let layout = Layout {
        labels: widest.max().unwrap_or(0).min(width / 3),
        width,
        palette,
    };
    for (question, answer) in answered {
        lines.push(String::new());
        layout.question(question, answer, result.columns().lens, &mut lines);
    }
    lines.join("\n") + "\n"
}

fn label_width(question: &Question) -> usize {
    let labels = question.outcomes().map(|outcome| columns_of(outcome.label));
    labels.chain([columns_of("Unsure")]).max().unwrap_or(0)
}

/// The widths and styles of a table.
struct Layout {
    labels: usize,
    width: usize,
    palette: Palette,
}

impl Layout {
    fn question(
        &self,
        question: &Question,
        answer: &Answer,
        lens: &[Column],
        lines: &mut Vec<String>,
    ) {
        let key = self.palette.heading.apply_to(question.key.as_str());
        let room = self.width.saturating_sub(question.key.as_str().len() + 2);
        let text = fit(&question.text, room);
        lines.push(format!("{key}  {}", text.trim_end()));
        match answer {
            Answer::Choice {
                value,
                probabilities,
                ..
            } => {
                if value.is_none() {
                    let words = self.palette.bad.apply_to(NO_VALID_ANSWER);
                    lines.push(format!("{CHOSEN}{words}"));
                }
                self.outcomes(question, value.as_ref(), probabilities, lines);
            }
            Answer::Scale {
                level,
                probabilities,
            } => self.outcomes(question, Some(level), probabilities, lines),
            Answer::YesNo { probability } => {
                let of_question = lens.iter().filter(|column| column.question == question.key);
                let labels =
                    of_question.filter_map(|column| Some((column, column.output.cutoffs()?)));
                let before = lines.len();
                for (column, cutoffs) in labels {
                    self.label(question, column, cutoffs, *probability, lines);
                }
                if lines.len() == before {
                    self.both_sides(*probability, &[], None, lines);
                }
            }
        }
    }

    /// Adds the outcomes' lines, most probable first.
    fn outcomes(
        &self,
        question: &Question,
        chosen: Option<&OutcomeKey>,
        probabilities: &Distribution,
        lines: &mut Vec<String>,
    ) {
        let mut ranked: Vec<_> = probabilities.iter().collect();
        // equally probable outcomes stay in the prism's order, but the chosen one comes first
        ranked.sort_by_key(|(key, probability)| {
            (std::cmp::Reverse(*probability), Some(key) != chosen)
        });
        for (index, (key, probability)) in ranked.iter().enumerate() {
            let is_chosen = Some(key) == chosen;
            if index < MOST_OUTCOMES || is_chosen {
                let label = question.label_of(key).unwrap_or(key.as_str());
                lines.push(self.line(label, *probability, &[], is_chosen));
            }
        }
        let rest = ranked.iter().skip(MOST_OUTCOMES);
        let unshown = rest.filter(|(key, _)| Some(key) != chosen);
        let unshown: Vec<_> = unshown.map(|(_, probability)| *probability).collect();
        if !unshown.is_empty() {
            let sum: f64 = unshown.iter().map(|probability| probability.to_f64()).sum();
            let words = format!("and {} more, together {}", unshown.len(), percent(sum));
            lines.push(format!(
                "{NOT_CHOSEN}{}",
                self.palette.faint.apply_to(words)
            ));
        }
    }

    /// Adds the lines of yes and of no, the chosen one first; the cutoffs are marked on that of yes.
    fn both_sides(
        &self,
        yes: Probability,
        marks: &[f64],
        chosen: Option<YesNoLabel>,
        lines: &mut Vec<String>,
    ) {
        let [of_yes, of_no] = [YesNoLabel::Yes, YesNoLabel::No].map(|label| {
            let (probability, marks) = match label {
                YesNoLabel::No => (yes.complement(), &[][..]),
                YesNoLabel::Yes | YesNoLabel::Unsure => (yes, marks),
            };
            self.line(label.label(), probability, marks, chosen == Some(label))
        });
        match chosen {
            Some(YesNoLabel::No) => lines.extend([of_no, of_yes]),
            Some(YesNoLabel::Unsure) => {
                let unsure = self.palette.chosen.apply_to(YesNoLabel::Unsure.label());
                lines.extend([format!("{CHOSEN}{unsure}"), of_yes, of_no]);
            }
            Some(YesNoLabel::Yes) | None => lines.extend([of_yes, of_no]),
        }
    }

    /// Adds the lines of one column: both sides, and the column's cutoffs.
    fn label(
        &self,
        question: &Question,
        column: &Column,
        cutoffs: Cutoffs,
        probability: Probability,
        lines: &mut Vec<String>,
    ) {
        let no_below = cutoffs.no_ends_at().value();
        let yes_from = cutoffs.yes_from().map(Cutoff::value);
        let marks: Vec<_> = [no_below].into_iter().chain(yes_from).collect();
        self.both_sides(probability, &marks, Some(cutoffs.label(probability)), lines);
        let mut words = match yes_from {
            Some(yes_from) => format!(
                "no below {} · yes from {}",
                percent(no_below),
                percent(yes_from)
            ),
            None => format!("yes from {}", percent(no_below)),
        };
        if column.name.as_str() != question.key.as_str() {
            words = format!("{}: {words}", column.name.as_str());
        }
        let indent = " ".repeat(NOT_CHOSEN.len() + self.labels + 1);
        lines.push(format!("{indent}{}", self.palette.faint.apply_to(words)));
    }

    fn line(&self, label: &str, probability: Probability, marks: &[f64], chosen: bool) -> String {
        // the chosen mark, the label, the percentage and two spaces
        let room = self.width.saturating_sub(2 + self.labels + 1 + 1 + 6);
        let label = fit(label, self.labels);
        let bar = bar(probability.to_f64(), marks, room);
        let percent = percent(probability.to_f64());
        let line = format!("{label} {bar} {percent:>6}");
        if chosen {
            format!("{CHOSEN}{}", self.palette.chosen.apply_to(line))
        } else {
            format!("{NOT_CHOSEN}{line}")
        }
    }
}

/// A share as a percentage, with one decimal unless that is 0.
fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent > 0.0 && percent < 0.05 {
        return "<0.1%".to_owned();
    }
    let text = format!("{percent:.1}");
    format!("{}%", text.strip_suffix(".0").unwrap_or(&text))
}
