//! A measured question with what its sections need: which marks are measured, labels and links; and the
//! form that chooses the question and the marks.

use maud::{Markup, html};
use refract_domain::key::OutcomeKey;
use refract_domain::lens::Cutoffs;
use refract_domain::prism::Question;
use refract_domain::result::mark::MarksFrom;
use refract_evaluation::measures::QuestionMeasures;
use refract_service::marks::QueueKind;
use refract_service::measures::QuestionQuality;
use refract_service::prisms::PrismHistory;
use refract_service::results::ResultFilter;

use crate::components::{FormField, ListFilters, clamped, label, prism_address};
use crate::requests::{Query, version_number};

/// A measured question.
pub(super) struct QualityView<'a> {
    pub(super) history: &'a PrismHistory,
    pub(super) filters: &'a QualityFilters,
    pub(super) quality: QuestionQuality,
    pub(super) measures: QuestionMeasures,
    /// The query of the address, with what the sections were asked for.
    asked: Query,
}

impl<'a> QualityView<'a> {
    /// Makes the measures of the marked answers.
    pub(super) fn new(
        history: &'a PrismHistory,
        filters: &'a QualityFilters,
        asked: &Query,
        quality: QuestionQuality,
    ) -> Self {
        Self {
            history,
            filters,
            measures: quality.evaluated.marked.measures(),
            quality,
            asked: asked.clone(),
        }
    }

    /// The question, in the wording of the newest version that has it.
    pub(super) fn question(&self) -> &Question {
        &self.quality.evaluated.question
    }

    /// Whether the latest version has the question, so that its words and cutoffs can change.
    pub(super) fn is_in_latest(&self) -> bool {
        let latest = self.history.versions.last();
        latest.is_some_and(|latest| latest.question(&self.question().key).is_some())
    }

    /// The label of an outcome; its key if only an older version has it.
    pub(super) fn label<'b>(&'b self, outcome: &'b OutcomeKey) -> &'b str {
        label(self.question(), Some(outcome))
    }

    /// The models that gave marked answers.
    pub(super) fn models(&self) -> Vec<&str> {
        let models = self.quality.by_model.keys();
        models.filter_map(Option::as_deref).collect()
    }

    /// What a section was asked for in the address.
    pub(super) fn asked(&self, name: &str) -> Option<&str> {
        self.asked.get(name)
    }

    /// The filters with the question, whether the address has it or not.
    pub(super) fn query(&self) -> Query {
        let question = self.question().key.as_str();
        self.filters.query.with("question", Some(question))
    }

    /// The address of this page with the filters of this query.
    pub(super) fn link(&self, query: &Query) -> String {
        format!("{}{}", address(self.history), query.in_address())
    }

    /// The address of another page of the prism, such as `/lens`, with a query.
    pub(super) fn link_to(&self, page: &str, query: &Query) -> String {
        let prism = prism_address(&self.history.prism);
        format!("{prism}{page}{}", query.in_address())
    }

    /// The address of the lens with these cutoffs as a draft; `None` if the latest version lacks the
    /// question.
    pub(super) fn draft(&self, cutoffs: Cutoffs) -> Option<String> {
        let query = Query::default().with("question", Some(self.question().key.as_str()));
        let no_below = cutoffs.no_ends_at().value().to_string();
        let yes_from = cutoffs.yes_from().map(|cutoff| cutoff.value().to_string());
        let query = query.with("no_below", Some(&no_below));
        let query = query.with("yes_from", yes_from.as_deref());
        self.is_in_latest().then(|| self.link_to("/lens", &query))
    }

    /// The address of a queue for this question.
    pub(super) fn queue(&self, kind: QueueKind) -> String {
        let query = Query::default().with("queue", Some(kind.name()));
        let query = query.with("question", Some(self.question().key.as_str()));
        self.link_to("/review", &query)
    }

    /// The address of the results that are marked with one outcome and answered with another.
    pub(super) fn results(&self, marked: &OutcomeKey, predicted: &OutcomeKey) -> String {
        let key = &self.question().key;
        let named = |outcome: &OutcomeKey| format!("{key}:{outcome}");
        let kept = ["version", "from", "to"].into_iter();
        let kept = kept.fold(Query::default(), |query, name| {
            query.with(name, self.filters.query.get(name))
        });
        let query = kept
            .with("answer", Some(&named(predicted)))
            .with("marks", Some(&named(marked)));
        self.link_to("/results", &query)
    }
}

/// The address of the page without a query.
pub(super) fn address(history: &PrismHistory) -> String {
    format!("{}/quality", prism_address(&history.prism))
}

/// The query parameters of the filters, which are also the names of the form's inputs.
const NAMES: [&str; 6] = ["question", "marks", "version", "model", "from", "to"];

/// Which marks are measured.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct MeasuredMarks {
    /// Which marks of these results count.
    pub(super) from: MarksFrom,
    /// The results whose marks count.
    pub(super) results: ResultFilter,
}

/// The parsed filters of the marks, with their validation errors.
pub(super) type QualityFilters = ListFilters<MeasuredMarks>;

impl QualityFilters {
    /// Parses the filters of an address.
    pub(super) fn read(query: &Query) -> Self {
        let mut read = Self::unread(query, &NAMES);
        let mut marks = MeasuredMarks::default();
        let filter = &mut marks.results;
        (filter.since, filter.until) = read.read_period();
        filter.version = read.read_one("version", "is no version", version_number);
        filter.model = read.query.get("model").map(ToOwned::to_owned);
        let from = "is no choice of marks: choose one of the list";
        let from = read.read_one("marks", from, MarksFrom::named);
        marks.from = from.unwrap_or_default();
        read.filter = marks;
        read
    }
}

/// The most questions that are links; more are a list to choose from.
const MOST_LINKS: usize = 8;
/// The most characters of a question in a link.
const LINK: usize = 40;
/// The most characters of a question's text in the list.
const TEXT: usize = 60;

/// Which marks count, and their labels.
const MARKS: [(&str, &str); 2] = [("random", "random and imported"), ("all", "all")];

/// Links to the questions, and the form with the values that were sent, valid or not. `models` gave
/// marked answers.
pub(super) fn filter_form(
    filters: &QualityFilters,
    history: &PrismHistory,
    asked: &[&Question],
    chosen: &Question,
    models: &[&str],
) -> Markup {
    let address = address(history);
    html! {
        @if asked.len() <= MOST_LINKS {
            (links(filters, &address, asked, chosen))
        } @else {
            (list(filters, &address, asked, chosen))
        }
        details open[filters.is_narrowed() || filters.has_errors()] {
            summary { "Which marks count" }
            form.filters method="get" action=(address) aria-label="Which marks count" {
                input type="hidden" name="question" value=(chosen.key);
                (filters.field("marks", "Marks").choice(&MARKS))
                (versions(&filters.field("version", "Version"), history))
                (self::models(&filters.field("model", "Model"), models))
                (filters.period())
                button type="submit" { "Measure" }
                @if filters.is_narrowed() || filters.has_errors() {
                    @let question = Query::default().with("question", Some(chosen.key.as_str()));
                    a.button href={ (address) (question.in_address()) } { "Clear" }
                }
            }
        }
    }
}

fn links(
    filters: &QualityFilters,
    address: &str,
    asked: &[&Question],
    chosen: &Question,
) -> Markup {
    html! {
        nav.row aria-label="Questions" {
            @for question in asked {
                @let query = filters.query.with("question", Some(question.key.as_str()));
                a href={ (address) (query.in_address()) }
                    aria-current=[(question.key == chosen.key).then_some("page")] { bdi { (clamped(&question.text, LINK)) } " " code.soft { (question.key) } }
            }
        }
    }
}

fn list(filters: &QualityFilters, address: &str, asked: &[&Question], chosen: &Question) -> Markup {
    let field = FormField::new("question", "Question").value(chosen.key.as_str());
    let questions = html! {
        @for question in asked {
            (field.option(question.key.as_str(), &format!("{}: {}", question.key, clamped(&question.text, TEXT))))
        }
    };
    html! {
        form.filters method="get" action=(address) aria-label="Questions" {
            (filters.query.with("question", None).inputs())
            (field.select(&questions))
            button type="submit" { "Show" }
        }
    }
}

fn versions(field: &FormField<'_>, history: &PrismHistory) -> Markup {
    let latest = history.prism.latest_version.get();
    field.select(&html! {
        option value="" { "any" }
        @for number in (1..=latest).rev() {
            @let number = number.to_string();
            (field.option(&number, &number))
        }
    })
}

fn models(field: &FormField<'_>, models: &[&str]) -> Markup {
    let is_listed = field.value.is_empty() || models.contains(&field.value);
    field.select(&html! {
        option value="" { "any" }
        @for model in models { (field.option(model, model)) }
        @if !is_listed { (field.option(field.value, field.value)) }
    })
}

#[cfg(test)]
mod tests {
    use refract_domain::prism::VersionNumber;

    use super::*;

    #[test]
    fn each_filter_is_read() {
        let query = "question=angry&version=2&model=m&from=2026-05-04&to=2026-05-04&goal=recall";
        let read = QualityFilters::read(&Query::parse(query));
        let filter = &read.filter.results;
        assert!(!read.has_errors() && read.is_narrowed());
        assert_eq!(filter.version.map(VersionNumber::get), Some(2));
        assert_eq!(filter.model.as_deref(), Some("m"));
        assert!(filter.since < filter.until);
        assert_eq!(read.query.get("goal"), None);
        let all = QualityFilters::read(&Query::parse("question=angry&version=&model="));
        assert!(!all.is_narrowed());
        let all = QualityFilters::read(&Query::parse("marks=all"));
        assert_eq!(all.filter.from, MarksFrom::All);
        for name in ["version", "marks"] {
            let wrong = QualityFilters::read(&Query::parse(&format!("{name}=0")));
            assert!(!wrong.error(name).is_empty());
        }
    }
}
