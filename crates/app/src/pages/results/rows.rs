//! The results as rows of a table: the texts, the columns of the lens, and the marks where the list is
//! asked for by its marks.

use std::collections::HashMap;

use maud::{Markup, html};
use refract_domain::answer::Answer;
use refract_domain::ids::{ApiKeyId, PersonId, ResultId};
use refract_domain::lens::{Column, Value};
use refract_domain::result::mark::Mark;
use refract_domain::result::{ResultActor, ResultStatus, ResultView, RowColumns};
use refract_evaluation::counting::least_sure;
use refract_identity::people::ActorName;
use refract_lens_rendering::cell_text;
use refract_service::lenses::PrismLens;
use refract_service::results::{FoundRow, MarkCondition};

use super::filter_values::FilterValues;
use crate::components::{
    FormField, answer_in_short, bar, clamped, count, cutoffs, describe_answer, fitting, label,
    moment, stacked_table_with, yes_no_bar,
};
use crate::replies::PageError;
use crate::requests::{Query, Visit};

/// The most bytes of all field texts of a row together, and the fewest for each.
const TEXTS: usize = 300;
const FEWEST: usize = 40;
/// The most bytes of any other cell.
const CELL: usize = 120;
/// The most cells of fields and answers in a row, and the number of answers that it has at least.
const CELLS: usize = 11;
const ANSWERS: usize = 4;
/// The most cells of fields and answers in a row whose answers have bars.
const CELLS_WITH_BARS: usize = 6;
/// The most characters of a question in a heading.
const HEADING: usize = 40;
/// The id of the place before the first row.
pub(super) const ROWS: &str = "rows";
/// The query parameter of a result's page that has the list from which one came.
pub(crate) const LIST: &str = "list";

/// The table. `list` is the query of the list, which the links to results carry along.
pub(super) fn rows(
    lens: &PrismLens,
    results: &[FoundRow],
    actors: &ResultActors,
    marks: Option<&ListedMarks>,
    values: &FilterValues,
) -> Markup {
    let least_sure = values.is_least_sure_first();
    let columns = lens.columns();
    let (shown, has_bars) = shown(columns);
    let hidden = columns.lens.len().saturating_sub(shown);
    let headings = html! {
        tr {
            @if least_sure { th scope="col" { "Least sure of" } }
            @for (place, field) in columns.fields.iter().enumerate() {
                th scope="col" {
                    bdi { (field.label.as_str()) }
                    @if place == 0 { span.unseen #(ROWS) tabindex="-1" {} }
                }
            }
            @for column in columns.lens.iter().take(shown) {
                th scope="col" { (heading(lens, column, has_bars)) }
            }
            @if marks.is_some() { th scope="col" { "Marked" } }
            @for heading in ["When", "Ref", "Version", "Made by"] { th scope="col" { (heading) } }
        }
    };
    let list = Query::default().and(LIST, &values.query.in_address());
    let list = list.in_address();
    let rows =
        html! { @for found in results { (row(lens, found, actors, marks, &list, least_sure)) } };
    html! {
        (stacked_table_with("Results", &headings, &rows))
        @if hidden > 0 {
            p.hint { "And " (count(hidden)) " more columns of the lens: a result and the downloads have all." }
        }
    }
}

/// The number of columns of the lens that fit, and whether there is room for bars. Fifty rows stay
/// below 100 KB.
fn shown(columns: RowColumns<'_>) -> (usize, bool) {
    let answers = CELLS.saturating_sub(columns.fields.len()).max(ANSWERS);
    let shown = columns.lens.len().min(answers);
    (shown, shown + columns.fields.len() <= CELLS_WITH_BARS)
}

fn row(
    lens: &PrismLens,
    found: &FoundRow,
    actors: &ResultActors,
    marks: Option<&ListedMarks>,
    list: &str,
    least_sure: bool,
) -> Markup {
    let columns = lens.columns();
    let view = found.result.view();
    let each = TEXTS.checked_div(columns.fields.len()).unwrap_or(TEXTS);
    let each = each.max(FEWEST);
    let (shown, has_bars) = shown(columns);
    let address = format!("/results/{}{list}", view.id);
    let is_failed = view.status.error().is_some();
    html! {
        tr {
            @if least_sure { td data-label="Least sure of" { (least_sure_answer(&view, columns.lens)) } }
            @for (place, field) in columns.fields.iter().enumerate() {
                @let text = fitting(view.field(&field.key).unwrap_or_default(), each);
                @if place == 0 {
                    th scope="row" {
                        a.text href=(address) dir="auto" { @if text.trim().is_empty() { "(no text)" } @else { (text) } }
                        @if is_failed { (failure(found)) }
                    }
                } @else {
                    td { div.text dir="auto" { (text) } }
                }
            }
            @if is_failed && shown > 0 {
                // a cell for each column: headings are aligned by the places of cells
                td.soft { "no answers" }
                @for _ in 1..shown { td {} }
            }
            @else {
                @for (column, value) in columns.lens.iter().take(shown).zip(view.values(columns.lens)) {
                    (cell(&view, column, value, has_bars))
                }
            }
            @if let Some(marks) = marks { (marks.cell(&view)) }
            td data-label="When" { (moment(view.created_at)) }
            td data-label="Ref" { bdi { (fitting(view.reference.unwrap_or_default(), CELL)) } }
            td.number data-label="Version" { (view.version) }
            td data-label="Made by" { bdi { (fitting(actors.name(found.actor), CELL)) } }
        }
    }
}

/// The heading of a column: where there is room, its question, and beneath it its name.
fn heading(lens: &PrismLens, column: &Column, has_room: bool) -> Markup {
    let mut questions = lens.latest.questions().iter();
    let asked = questions.find(|asked| has_room && asked.key == column.question);
    html! {
        @match asked {
            Some(asked) => { bdi { (clamped(&asked.text, HEADING)) } br; code { (column.name.as_str()) } }
            None => bdi { (column.name.as_str()) },
        }
    }
}

/// The question whose answer is the least sure one, and this answer.
fn least_sure_answer(view: &ResultView<'_>, lens: &[Column]) -> Markup {
    let least = view.status.answers().and_then(least_sure);
    let Some((key, answer)) = least else {
        return html! {};
    };
    let question = view.questions.iter().find(|question| question.key == *key);
    html! {
        @if let Some(question) = question {
            bdi { (fitting(&question.text, CELL)) } " " (answer_in_short(question, answer, lens))
        }
    }
}

/// Why a result failed, and its retry.
fn failure(found: &FoundRow) -> Markup {
    let view = found.result.view();
    html! {
        @if let ResultStatus::Failed { error } = view.status {
            span.failed { (view.status.name()) }
            @if let Some(retry) = found.retried_as {
                ", " a href={ "/results/" (retry) } { "retried" }
            }
            div.text.soft dir="auto" { (fitting(error, CELL)) }
        }
    }
}

/// A cell of the lens: its text, and the probability behind a label.
fn cell(view: &ResultView<'_>, column: &Column, value: Value<'_>, has_bar: bool) -> Markup {
    let is_number = matches!(
        value,
        Value::Probability(_) | Value::Average(_) | Value::Position(_)
    );
    let text = fitting(&cell_text(value), CELL);
    html! {
        @match value {
            Value::Probability(probability) if has_bar => {
                td data-label=(column.name.as_str()) { (bar(probability, false)) }
            }
            Value::YesNo(label) if has_bar => {
                td.label.(label.key()) data-label=(column.name.as_str()) { bdi { (text) } " " (probability_of(view, column)) }
            }
            Value::YesNo(label) => { td.(label.key()) data-label=(column.name.as_str()) { bdi { (text) } } }
            Value::Outcome { .. } if has_bar => {
                td.label data-label=(column.name.as_str()) { bdi { (text) } " " (probability_of(view, column)) }
            }
            _ if is_number => td.number data-label=(column.name.as_str()) { bdi { (text) } },
            _ => td data-label=(column.name.as_str()) { bdi { (text) } },
        }
    }
}

/// The bar of the answer that a label is made from.
fn probability_of(view: &ResultView<'_>, column: &Column) -> Markup {
    let mut questions = view.questions.iter();
    let question = questions.find(|question| question.key == column.question);
    let answers = view.status.answers();
    let answer = answers.and_then(|answers| answers.get(&column.question));
    let (Some(question), Some(answer)) = (question, answer) else {
        return html! {};
    };
    let lens = std::slice::from_ref(column);
    if let (Answer::YesNo { probability }, Some(_)) = (answer, column.output.cutoffs()) {
        return yes_no_bar(*probability, cutoffs(question, lens));
    }
    let (_, probability) = describe_answer(question, answer, lens);
    html! { @if let Some(probability) = probability { (bar(probability, true)) } }
}

/// The marks of each listed result that the list is asked for by.
pub(super) struct ListedMarks(HashMap<ResultId, Vec<Mark>>);

impl ListedMarks {
    /// Loads them; `None` where the list is not asked for by marks.
    pub(super) async fn load(
        visit: &Visit,
        results: &[FoundRow],
        condition: Option<&MarkCondition>,
    ) -> Result<Option<Self>, PageError> {
        let Some(condition) = condition.filter(|it| **it != MarkCondition::Unmarked) else {
            return Ok(None);
        };
        let ids = results.iter().map(|row| row.result.id()).collect();
        let mut marks: HashMap<_, Vec<Mark>> = HashMap::new();
        for mark in visit.refract.marks().of_results(ids).await? {
            let is_wanted = match condition {
                MarkCondition::By(person) => mark.marked_by.person == Some(*person),
                MarkCondition::Outcome(question, _) => mark.question == *question,
                MarkCondition::Marked | MarkCondition::Unmarked => true,
            };
            if is_wanted {
                marks.entry(mark.result).or_default().push(mark);
            }
        }
        Ok(Some(Self(marks)))
    }

    /// The cell of a result: what was marked, of which question, by whom and when.
    pub(super) fn cell(&self, view: &ResultView<'_>) -> Markup {
        let marks = self.0.get(&view.id).into_iter().flatten();
        html! {
            td.marked data-label="Marked" {
                @for mark in marks {
                    @let question = view.questions.iter().find(|question| question.key == mark.question);
                    div {
                        bdi { (question.map_or(mark.outcome.as_str(), |it| label(it, Some(&mark.outcome)))) }
                        span.soft {
                            @if let Some(question) = question && view.questions.len() > 1 { ", " bdi { (question.text) } }
                            @if let Some(name) = &mark.marked_by.name { " by " bdi { (name.as_str()) } }
                            ", " (moment(mark.marked_at))
                        }
                    }
                }
            }
        }
    }
}

/// The keys and people of an account, with their names.
pub(super) struct ResultActors {
    /// The form's value and the name of each actor, keys before people.
    listed: Vec<(String, String)>,
    keys: HashMap<ApiKeyId, String>,
    people: HashMap<PersonId, ActorName>,
}

impl ResultActors {
    /// Loads the actors of the visitor's account, and those that created these results.
    pub(super) async fn load(visit: &Visit, results: &[FoundRow]) -> Result<Self, PageError> {
        let account = visit.account();
        let keys = visit.refract.keys().labels(account).await?;
        let present = visit.refract.people().list(account).await?;
        let mut wanted: Vec<_> = present.iter().map(|person| person.id).collect();
        wanted.extend(results.iter().filter_map(|row| match row.actor {
            ResultActor::Person(person) => Some(person),
            ResultActor::Key(_) | ResultActor::Operator => None,
        }));
        let people = visit.refract.people().names(account, &wanted).await?;
        let listed_keys = keys
            .iter()
            .map(|(key, name)| (format!("key:{key}"), name.clone()));
        let listed_people = present.iter().filter_map(|person| {
            let name = people.get(&person.id)?;
            Some((format!("person:{}", person.id), name.to_string()))
        });
        Ok(Self {
            listed: listed_keys.chain(listed_people).collect(),
            keys: keys.into_iter().collect(),
            people,
        })
    }

    /// The select of all actors.
    pub(super) fn choice(&self, field: &FormField<'_>) -> Markup {
        field.select(&html! {
            option value="" { "anybody" }
            @for (sent, name) in &self.listed { (field.option(sent, name)) }
            (field.option("terminal", "terminal"))
        })
    }

    /// The name of an actor that the form sent.
    pub(super) fn chosen<'a>(&'a self, sent: &'a str) -> &'a str {
        let mut listed = self.listed.iter();
        let found = listed.find(|(value, _)| value == sent);
        found.map_or(sent, |(_, name)| name)
    }

    /// The name of the actor that created a result.
    pub(super) fn name(&self, actor: ResultActor) -> &str {
        match actor {
            ResultActor::Key(key) => self.keys.get(&key).map_or("key", String::as_str),
            ResultActor::Person(person) => {
                self.people.get(&person).map_or("person", ActorName::as_str)
            }
            ResultActor::Operator => "terminal",
        }
    }
}
