//! A report as HTML: shares in percent with their bars, outcomes by their labels, and the exact value
//! of each figure in an attribute.

use maud::{Markup, html};
use refract_domain::key::OutcomeKey;
use refract_domain::lens::YesNoLabel;
use refract_domain::prism::{Question, QuestionType};
use refract_domain::result::mark::MarksFrom;
use refract_evaluation::measures::Interval;
use refract_evaluation::report::{
    Cell, NamedFigure, Report, ReportPart, ReportTable, Weight, number,
};

use super::bars::{interval_bar, share_range};
use super::lists::stacked_table;
use super::notice::{NoticeKind, notice};
use super::readable::{count, counted, measured_percent};

/// The sentences and tables. The outcomes are those of `question`.
pub(crate) fn report(report: &Report<'_>, question: &Question) -> Markup {
    html! {
        @for part in &report.parts {
            @match part {
                ReportPart::Sentence(weight, pieces) => {
                    @let words = sentence(pieces, question);
                    @match weight {
                        Weight::Plain => p { (words) },
                        Weight::Strong => p { strong { (words) } },
                        Weight::Warning => (notice(NoticeKind::Warning, &words)),
                    }
                },
                ReportPart::Table(table) => (report_table(table, question)),
            }
        }
    }
}

/// What the marks that count are called.
pub(crate) const fn marks_noun(from: MarksFrom) -> &'static str {
    match from {
        MarksFrom::Random => "random or imported mark",
        MarksFrom::All => "mark",
    }
}

/// How many of the marks are on an answer that predicts an outcome; nothing if all are.
pub(crate) fn without_outcome(marks: u64, answered: u64, of: QuestionType) -> Markup {
    html! {
        @if answered < marks {
            ", " (count(answered)) " of them on an answer; the others answered "
            @match of {
                QuestionType::YesNo => { "Unsure" }
                QuestionType::Choice | QuestionType::Scale => { "nothing valid" }
            }
        }
    }
}

/// The words of a sentence.
pub(crate) fn sentence(pieces: &[Cell<'_>], question: &Question) -> Markup {
    html! {
        @for piece in pieces {
            (cell(piece, question))
            @if let Some(bar) = bar_of(piece) { " " (bar) }
        }
    }
}

/// A table. If its rows have one share each, the bars of these are in a column of their own, so that
/// they begin at the same place.
pub(crate) fn report_table(table: &ReportTable<'_>, question: &Question) -> Markup {
    let is_share = |cell: &&Cell<'_>| matches!(cell, Cell::Share(_));
    let mut rows = table.rows.iter();
    let has_bars = rows.all(|row| row.iter().filter(is_share).count() == 1);
    let bar_of = |cell| bar_of(cell).filter(|_| has_bars);
    let headings = table.headings.iter().enumerate();
    let headings = headings.flat_map(|(column, heading)| {
        let mut cells = table.rows.iter().filter_map(|row| row.get(column));
        let of_bar = cells.any(|cell| bar_of(cell).is_some()).then_some("");
        std::iter::once(*heading).chain(of_bar)
    });
    let headings: Vec<_> = headings.collect();
    let rows = html! {
        @for row in &table.rows {
            tr {
                @for (column, (piece, heading)) in row.iter().zip(table.headings).enumerate() {
                    @let bar = bar_of(piece);
                    @if column == 0 { th scope="row" { (cell(piece, question)) } }
                    @else { td.number[piece.is_number()] data-label=(heading) { (cell(piece, question)) } }
                    @if let Some(bar) = bar { td { (bar) } }
                }
            }
        }
    };
    stacked_table(table.caption, &headings, &rows)
}

/// The bar of a share with an interval.
fn bar_of(cell: &Cell<'_>) -> Option<Markup> {
    let Cell::Share(figure) = cell else {
        return None;
    };
    let interval = figure.interval?;
    Some(interval_bar(figure.value, Some(interval)))
}

fn cell(cell: &Cell<'_>, question: &Question) -> Markup {
    let exact = |figure: &NamedFigure, shown: String| {
        html! { data data-figure=[figure.name] value=[figure.value] { (shown) } }
    };
    html! {
        @match cell {
            Cell::Words(words) => (words),
            Cell::Count(number) => (count(*number)),
            Cell::Counted(number, noun) => (counted(*number, noun)),
            Cell::Outcome(outcome) => bdi { (label(question, *outcome)) },
            Cell::Share(figure) => (exact(figure, share_range(figure.value, figure.interval))),
            Cell::Difference(figure) => (exact(figure, in_points(figure))),
            Cell::Number(figure) => (exact(figure, number(figure.value))),
        }
    }
}

/// A difference of shares in points of percent: `+4.2 points (-1.0 to +9.5)`.
fn in_points(figure: &NamedFigure) -> String {
    let points = |difference: f64| {
        let sign = if difference < 0.0 { '-' } else { '+' };
        format!("{sign}{}", measured_percent(Some(difference.abs())))
    };
    match (figure.value, figure.interval) {
        (Some(difference), Some(Interval { low, high })) => format!(
            "{} points ({} to {})",
            points(difference),
            points(low),
            points(high)
        ),
        (Some(_) | None, _) => "–".to_owned(),
    }
}

/// The label of an outcome; its key if only another version has it.
pub(crate) fn label<'a>(question: &'a Question, outcome: Option<&'a OutcomeKey>) -> &'a str {
    let Some(outcome) = outcome else {
        return "no outcome";
    };
    let label = match question.question_type() {
        QuestionType::YesNo => {
            let mut labels = [YesNoLabel::Yes, YesNoLabel::Unsure, YesNoLabel::No].into_iter();
            let found = labels.find(|label| label.key() == outcome.as_str());
            found.map(YesNoLabel::label)
        }
        QuestionType::Choice | QuestionType::Scale => question.label_of(outcome),
    };
    label.unwrap_or(outcome.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_of_shares_is_in_points() {
        let figure = |value, low, high| NamedFigure {
            name: None,
            value: Some(value),
            interval: Some(Interval { low, high }),
        };
        let shown = in_points(&figure(0.042, -0.01, 0.095_4));
        assert_eq!(shown, "+4.2 points (-1.0 to +9.5)");
        let none = NamedFigure {
            value: None,
            ..figure(0.0, 0.0, 0.0)
        };
        assert_eq!(in_points(&none), "–");
    }
}
