//! What `refract watch` found, as text.

use std::fmt::Write as _;

use chrono::{DateTime, Utc};
use indicatif::HumanCount;
use refract_domain::lens::Cutoffs;
use refract_evaluation::drift::{ResultTally, ShareChange};
use refract_evaluation::report::{number, range, signed};
use refract_service::measures::{CutoffCheck, Occurrence, PrismWatch, WatchedAnswers};

use crate::commands::selection::to_the_second;
use crate::output::report;
use crate::terminal::{self, Palette, counted};

/// The fewest terminal columns of an outcome.
const OUTCOME: usize = 8;

/// The periods, the questions, and what all results of the prism have in common.
pub(super) fn render(watch: &PrismWatch, checks: &[CutoffCheck]) -> String {
    let palette = Palette::of_stdout();
    let mut text = String::new();
    let _ = writeln!(
        text,
        "{} from {} to {}",
        counted(watch.results_now.results, "result"),
        to_the_second(watch.window.from),
        to_the_second(watch.window.to),
    );
    let mut questions = watch.questions.iter();
    if questions.any(|watched| watched.drift.window.is_comparable()) {
        let _ = writeln!(
            text,
            "compared with {} to {}",
            to_the_second(watch.before.from),
            to_the_second(watch.before.to),
        );
    } else {
        text.push_str("there is nothing to compare with\n");
    }
    for watched in &watch.questions {
        text.push('\n');
        push_question(&mut text, watched, &palette);
    }
    text.push('\n');
    push_results(&mut text, watch);
    push_models(&mut text, watch, &palette);
    for at in &watch.lens_changes {
        let _ = writeln!(
            text,
            "The lens was changed at {}: both periods are labelled as it is now.",
            to_the_second(*at)
        );
    }
    for check in checks {
        push_cutoffs(&mut text, check, &palette);
    }
    text
}

fn push_question(text: &mut String, watched: &WatchedAnswers, palette: &Palette) {
    let (question, drift) = (&watched.question, &watched.drift.window);
    let key = palette.heading.apply_to(question.key.as_str());
    let _ = writeln!(text, "{key}: {}", terminal::plain(&question.text));
    let _ = writeln!(
        text,
        "{} now, {} before",
        counted(drift.now, "answer"),
        HumanCount(drift.before)
    );
    let outcomes = drift
        .shares
        .iter()
        .map(|share| share.outcome.as_str().len());
    let width = outcomes.max().unwrap_or(0).max(OUTCOME);
    let header = format!("{:width$}    NOW  BEFORE  DIFFERENCE", "OUTCOME");
    let _ = writeln!(text, "{}", palette.faint.apply_to(header));
    for share in &drift.shares {
        let change = share.change;
        let _ = writeln!(
            text,
            "{:width$}  {:>5}  {:>6}  {}",
            share.outcome.as_str(),
            number(change.now.value()),
            number(change.before.value()),
            signed(change.difference(), change.interval()),
        );
    }
    if let Some(probabilities) = drift.probabilities {
        let _ = writeln!(
            text,
            "probabilities: PSI {:.3} (chance alone: up to {:.3}), Jensen–Shannon distance {:.3} (up \
             to {:.3})",
            probabilities.psi,
            probabilities.psi_by_chance,
            probabilities.js,
            probabilities.js_by_chance,
        );
    }
    if let Some(alarm) = &watched.alarm {
        let alarm = report::sentence(&alarm.sentence(watched.alarmed()));
        let _ = writeln!(text, "{} {alarm}", palette.bad.apply_to("ALARM"));
    }
}

/// Failures, cut texts, time and tokens.
fn push_results(text: &mut String, watch: &PrismWatch) {
    let share = |change: ShareChange| {
        format!(
            "{}, before {}: {}",
            number(change.now.value()),
            number(change.before.value()),
            signed(change.difference(), change.interval())
        )
    };
    let (now, before) = (&watch.results_now, &watch.results_before);
    let _ = writeln!(text, "failed     {}", share(watch.failed()));
    if now.truncated + before.truncated > 0 {
        let _ = writeln!(text, "cut texts  {}", share(watch.truncated()));
    }
    let _ = writeln!(text, "took       {}, before {}", took(now), took(before));
    if now.input_tokens + before.input_tokens > 0 {
        let _ = writeln!(
            text,
            "tokens     {}, before {}",
            tokens(now),
            tokens(before)
        );
    }
}

/// The median and the time that one result in twenty exceeds.
fn took(tally: &ResultTally) -> String {
    let milliseconds = |part| {
        let took = tally.took.quantile(part);
        took.map_or_else(|| "–".to_owned(), |took| format!("{took:.0} ms"))
    };
    format!("{} (95 %: {})", milliseconds(0.5), milliseconds(0.95))
}

/// The mean numbers of tokens that were read and written.
fn tokens(tally: &ResultTally) -> String {
    let half = tally.results / 2;
    let mean = |tokens: u64| match tokens.saturating_add(half).checked_div(tally.results) {
        Some(mean) => HumanCount(mean).to_string(),
        None => "–".to_owned(),
    };
    format!(
        "{} read, {} written",
        mean(tally.input_tokens),
        mean(tally.output_tokens)
    )
}

fn push_models(text: &mut String, watch: &PrismWatch, palette: &Palette) {
    let new: Vec<_> = watch.new_models().map(|model| &model.value).collect();
    for model in &watch.models {
        let name = model.value.as_deref().unwrap_or("not named");
        let mark = if new.contains(&&model.value) {
            palette.bad.apply_to("  NEW").to_string()
        } else {
            String::new()
        };
        push_occurrence(text, "model", &terminal::plain(name), model, &mark);
    }
    for prompts in watch.prompts.iter().filter(|_| watch.prompts.len() > 1) {
        let value = prompts
            .value
            .map_or_else(|| "none".to_owned(), |it| it.to_string());
        push_occurrence(text, "prompts", &value, prompts, "");
    }
    for version in watch.versions.iter().filter(|_| watch.versions.len() > 1) {
        push_occurrence(text, "version", &version.value.to_string(), version, "");
    }
}

fn push_occurrence<T>(
    text: &mut String,
    what: &str,
    value: &str,
    occurrence: &Occurrence<T>,
    mark: &str,
) {
    let since = |at: DateTime<Utc>| format!(" since {}", to_the_second(at));
    let _ = writeln!(
        text,
        "{what:9}  {value}: {} now{}, {} before{mark}",
        counted(occurrence.now, "answer"),
        occurrence.since.map(since).unwrap_or_default(),
        HumanCount(occurrence.before),
    );
}

fn push_cutoffs(text: &mut String, check: &CutoffCheck, palette: &Palette) {
    let right = check.right;
    let verdict = match check.holds() {
        None => "no newer marks to check them".to_owned(),
        Some(true) => "they hold".to_owned(),
        Some(false) => palette.bad.apply_to("they no longer hold").to_string(),
    };
    let _ = writeln!(
        text,
        "cutoffs of {}, {}, set {}: right in {} of {}, before {}: {verdict}",
        check.question,
        describe_cutoffs(check.cutoffs),
        to_the_second(check.since),
        range(right.now.value(), right.now.interval()),
        counted(right.now.of, "newer mark"),
        number(right.before.value()),
    );
}

fn describe_cutoffs(cutoffs: Cutoffs) -> String {
    let no_below = cutoffs.no_ends_at().value();
    match cutoffs.yes_from() {
        Some(yes_from) => format!("no below {no_below} and yes from {}", yes_from.value()),
        None => format!("yes from {no_below}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_tokens_are_rounded() {
        let mut tally = ResultTally::default();
        assert_eq!(tokens(&tally), "– read, – written");
        (tally.results, tally.input_tokens, tally.output_tokens) = (5, 6_172, 9);
        assert_eq!(tokens(&tally), "1,234 read, 2 written");
    }
}
