//! Drift alarms as sentences; empty without an alarm.

use maud::{Markup, html};
use refract_domain::key::OutcomeKey;
use refract_domain::lens::cutoffs::YesNoLabel;
use refract_domain::prism::question::Question;
use refract_evaluation::drift::alarm::{Alarm, AlarmCause, WatchedSpan};
use refract_service::measures::{PrismWatch, WatchedAnswers};

use crate::components::moment::moment;
use crate::components::notice::{NoticeKind, notice};

/// A notice of the alarms of the last day and of models that answer for the first time.
pub(super) fn drift(watch: &PrismWatch) -> Markup {
    let alarms = watch.questions.iter();
    let alarms = alarms.filter_map(|watched| Some((watched, watched.alarm.as_ref()?)));
    let alarms: Vec<_> = alarms.collect();
    let models: Vec<_> = watch.new_models().collect();
    if alarms.is_empty() && models.is_empty() {
        return html! {};
    }
    let sentences = html! {
        @for (watched, alarm) in alarms { (change(watch, watched, alarm)) ". " }
        @for model in models {
            "The server answers as "
            code { (model.value.as_deref().unwrap_or("a model without a name")) }
            @if let Some(since) = model.since { " since " (moment(since)) }
            ". "
        }
    };
    notice(NoticeKind::Warning, &sentences)
}

/// A change: since when, by how much, of what.
fn change(watch: &PrismWatch, watched: &WatchedAnswers, alarm: &Alarm) -> Markup {
    let period = match (alarm.span, watch.newest) {
        (WatchedSpan::Newest, Some(newest)) => newest,
        (WatchedSpan::Newest | WatchedSpan::Window, _) => watch.window,
    };
    let question = &watched.question;
    let moved = match &alarm.cause {
        AlarmCause::Share(outcome) => points(watched, outcome),
        AlarmCause::Probabilities => "other probabilities".to_owned(),
    };
    html! {
        "Since " (moment(period.from)) " " (moved) " for “" bdi { (question.text) } "”, more than chance"
    }
}

/// By how many points the share of an outcome changed.
fn points(watched: &WatchedAnswers, outcome: &OutcomeKey) -> String {
    let mut shares = watched.alarmed().shares.iter();
    let change = shares.find(|share| share.outcome == *outcome);
    let difference = change.and_then(|share| share.change.difference());
    let difference = difference.unwrap_or_default();
    let direction = if difference < 0.0 { "fewer" } else { "more" };
    let points = format!("{:.0}", difference.abs() * 100.0);
    format!(
        "{points} points {direction} {}",
        label(&watched.question, outcome)
    )
}

fn label<'a>(question: &'a Question, outcome: &'a OutcomeKey) -> &'a str {
    let labels = [YesNoLabel::Yes, YesNoLabel::Unsure, YesNoLabel::No];
    let of_yes_no = labels
        .into_iter()
        .find(|label| label.key() == outcome.as_str());
    let own = question.label_of(outcome);
    own.or(of_yes_no.map(YesNoLabel::label))
        .unwrap_or(outcome.as_str())
}
