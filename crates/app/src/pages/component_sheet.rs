//! `/components` in debug builds: every component, with ordinary and with extreme values, and sample
//! answers of every type.

use chrono::{DateTime, NaiveDate};
use maud::{Markup, html};
use refract_authoring::prism_file::PrismFile;
use refract_authoring::version_difference::{ChangedWording, Severity, VersionDifference};
use refract_domain::answer::{Answer, Distribution, Probability};
use refract_domain::key::OutcomeKey;
use refract_domain::lens::Cutoffs;
use refract_domain::prism::{Question, QuestionType};
use refract_service::prisms::SUPPORT_TRIAGE;
use refract_service::results::DayCount;

use crate::components::{
    COPY_SCRIPT, DrawnCutoffs, FormField, NoticeKind, bar, bars_of, copyable, day_chart,
    definition, describe_answer, differences, differences_in_short, empty_state, histogram, moment,
    notice, percent, stacked_table, table, whole_text, yes_no_bar,
};
use crate::replies::PageReply;
use crate::requests::OpenVisit;

/// A text that breaks a page if it is not escaped, bounded and isolated.
const HOSTILE: &str = "<script>alert(1)</script> \u{202e}right to left\u{202c} 🦊 =1+1 aVeryLongWordWithoutAnySpaceInItThatMustNotPushTheTableOutOfThePage";

/// Shows the page.
pub(crate) fn show(visit: &OpenVisit) -> PageReply {
    let main = html! {
        h1 { "Components" }
        h2 { "Bars" }
        (bars())
        (sample_answers())
        h2 { "Histogram and days" }
        div.plot { (histogram(&bell(), DrawnCutoffs { no_below: 40.0, yes_from: 60.0 }, Some(DrawnCutoffs { no_below: 50.0, yes_from: 50.0 }))) }
        (day_chart(&days()))
        h2 { "Tables" }
        (rows())
        (stacked_rows())
        h2 { "Differences" }
        (differences(&changes()))
        p { "In short:" }
        (differences_in_short(&changes(), 2, "/"))
        h2 { "Texts" }
        (whole_text(&HOSTILE.repeat(20)))
        (whole_text(""))
        (copyable("call", "A call", &format!("curl -sS 'http://127.0.0.1:8080/v1/prisms/support-triage/results' \\\n  -d '{HOSTILE}'")))
        h2 { "Form" }
        (form())
        h2 { "Notices and what is empty" }
        (notice(NoticeKind::Done, &html! { "Version 3 is saved." }))
        (notice(NoticeKind::Warning, &html! { "Two columns go." }))
        (notice(NoticeKind::Refused, &html! { "The name is taken: " bdi { (HOSTILE) } }))
        (empty_state("A prism is a set of questions that texts are asked.", &html! {
            a.button.main href="/" { "Make the first prism" }
        }))
    };
    visit.page("Components", main).script(COPY_SCRIPT).reply()
}

fn probability(millionths: u32) -> Probability {
    Probability::from_millionths(millionths).unwrap_or_default()
}

fn bars() -> Markup {
    html! {
        p { (bar(probability(0), false)) }
        p { (bar(probability(372_000), false)) }
        p { (bar(probability(940_000), true)) }
        p { (bar(Probability::CERTAIN, true)) }
        p { (yes_no_bar(probability(520_000), Cutoffs::new(Some(0.4), Some(0.6)).unwrap_or_default())) }
    }
}

/// A bell curve around 30 percent.
fn bell() -> Vec<u64> {
    (0_u64..101)
        .map(|percent| 900 / (1 + percent.abs_diff(30).pow(2) / 20))
        .collect()
}

fn rows() -> Markup {
    let cells = html! {
        tr { th scope="row" { "Where is my order?" } td { (bar(probability(812_000), true)) } td.number { "1,204" } td { (moment(DateTime::UNIX_EPOCH)) } }
        tr { th scope="row" { span.text dir="auto" { (HOSTILE) } } td { (bar(probability(1_000), false)) } td.number { "7" } td { (moment(DateTime::UNIX_EPOCH)) } }
    };
    table(
        "Texts and how likely they are angry",
        &["Text", "Angry", "Results", "Made"],
        &cells,
    )
}

fn stacked_rows() -> Markup {
    let rows = html! {
        tr {
            th scope="row" { (moment(DateTime::UNIX_EPOCH)) }
            td data-label="Ref" { "M-17" }
            td.number data-label="Version" { "2" }
            td { div.text dir="auto" { (HOSTILE) } }
            td data-label="topic" { "Billing" }
            td.changed data-label="angry" { "Unsure" }
        }
    };
    let headings = ["When", "Ref", "Version", "Message", "topic", "angry"];
    stacked_table("Results with one changed cell", &headings, &rows)
}

/// A difference of each severity, with and without texts.
fn changes() -> [VersionDifference; 3] {
    let difference = |severity, text: &str, wording| VersionDifference {
        severity,
        path: "questions.topic".to_owned(),
        text: text.to_owned(),
        wording,
    };
    let wording = |before: Option<&str>, after: Option<&str>| {
        Some(ChangedWording {
            before: before.map(str::to_owned),
            after: after.map(str::to_owned),
        })
    };
    [
        difference(
            Severity::Cosmetic,
            "The label of the field 'text' is worded differently.",
            wording(Some("Text"), Some("Message")),
        ),
        difference(
            Severity::ForAnswers,
            "The instructions of 'topic' are new.",
            wording(None, Some(HOSTILE)),
        ),
        difference(
            Severity::ForCallers,
            "The option 'Billing' of 'topic' is gone.",
            None,
        ),
    ]
}

/// A week with days of few and many results.
fn days() -> [DayCount; 7] {
    let mut day = NaiveDate::default();
    [0, 3, 12, 7, 0, 1, 40].map(|ok| {
        day = day.succ_opt().unwrap_or_default();
        DayCount { day, ok, failed: 0 }
    })
}

fn form() -> Markup {
    let filled = |name, label| {
        let field = FormField::new(name, label).value(HOSTILE).required();
        field.hint("What people call the prism.")
    };
    let name = filled("name", "Name").error("must be at most 200 characters");
    let role = FormField::new("role", "Role").value("editor");
    html! {
        form {
            (name.line("text", "off"))
            (filled("text", "Text").area(3))
            (role.choice(&[("reviewer", "Reviewer"), ("editor", "Editor")]))
            button.main type="button" { "The main thing" }
            button type="button" { "Another" }
            button.quiet type="button" { "A quiet one" }
        }
    }
}

/// Falling probabilities, in millionths.
const FALLING: [u32; 5] = [724_000, 132_000, 80_000, 40_000, 24_000];

/// The example prism with an answer to each of its questions.
fn sample_answers() -> Markup {
    let Ok(file) = PrismFile::read(SUPPORT_TRIAGE.file, None) else {
        return html! { p { "The example prism is broken." } };
    };
    let questions = file.version.questions();
    html! {
        h2 { "Answers" }
        @for question in questions {
            @let answers = [Some(answer(question)), without_outcome(question)];
            @for answer in answers.iter().flatten() {
                @let (word, probability) = describe_answer(question, answer, &[]);
                h3 { bdi { (question.text) } " " code.soft { (question.key) } }
                (bars_of(question, answer, &[]))
                p.soft {
                    "In words: " (word)
                    @if let Some(probability) = probability { ", " (percent(probability)) " %" }
                }
            }
        }
        h2 { "Definition" }
        (definition(&file.version))
    }
}

fn answer(question: &Question) -> Answer {
    let certain = Answer::YesNo {
        probability: Probability::CERTAIN,
    };
    match question.question_type() {
        QuestionType::Choice => Answer::Choice {
            value: falling(question).into_iter().next().map(|(first, _)| first),
            probabilities: falling(question),
            confidence: Probability::CERTAIN,
        },
        QuestionType::Scale => Answer::scale(falling(question)).unwrap_or(certain),
        QuestionType::YesNo => certain,
    }
}

/// The answer of a model that named an option outside the prism; `None` unless the question is a
/// choice.
fn without_outcome(question: &Question) -> Option<Answer> {
    match question.question_type() {
        QuestionType::Choice => Some(Answer::Choice {
            value: None,
            probabilities: falling(question),
            confidence: Probability::default(),
        }),
        QuestionType::Scale | QuestionType::YesNo => None,
    }
}

fn falling(question: &Question) -> Distribution {
    let outcomes = question.outcomes();
    let keys = outcomes.filter_map(|outcome| OutcomeKey::parse(outcome.key).ok());
    keys.zip(FALLING)
        .filter_map(|(key, share)| Some((key, Probability::from_millionths(share)?)))
        .collect()
}
