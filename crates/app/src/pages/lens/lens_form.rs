//! A lens as a form, and the lens file made from it.

use refract_domain::lens::{Column, Output};
use serde_json::{Map, Value, json};

use super::percent_text::{to_percent, to_share};
use crate::pages::list_change::rearrange;
use crate::requests::form::Form;
use crate::requests::page_request::Query;

/// The most columns read from a form; the rules of lenses allow fewer.
const MOST: usize = 1000;

/// The typed columns, each value as text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct LensForm {
    pub(super) columns: Vec<ColumnInput>,
}

/// A typed column.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ColumnInput {
    pub(super) name: String,
    /// The question's key and the output's name, joined with a slash.
    pub(super) shows: String,
    /// In percent; empty for none.
    pub(super) no_below: String,
    /// In percent; empty for none.
    pub(super) yes_from: String,
}

impl ColumnInput {
    /// Whether the column shows Yes / No labels, which have cutoffs.
    pub(super) fn is_label(&self) -> bool {
        self.shows.ends_with("/label")
    }

    fn of(column: &Column) -> Self {
        let (mut no_below, mut yes_from) = (String::new(), String::new());
        if let Output::Label(cutoffs) = column.output {
            no_below = to_percent(cutoffs.no_ends_at().value());
            yes_from = cutoffs
                .yes_from()
                .map_or_else(|| no_below.clone(), |cutoff| to_percent(cutoff.value()));
        }
        Self {
            name: column.name.to_string(),
            shows: format!("{}/{}", column.question, column.output.name()),
            no_below,
            yes_from,
        }
    }

    fn file(&self) -> Value {
        let (question, output) = self.shows.split_once('/').unwrap_or((&self.shows, ""));
        let mut file = Map::new();
        if !self.name.trim().is_empty() {
            file.insert("name".to_owned(), json!(self.name.trim()));
        }
        file.insert("question".to_owned(), json!(question));
        file.insert("output".to_owned(), json!(output));
        if self.is_label() {
            let (no_below, yes_from) = (self.no_below.trim(), self.yes_from.trim());
            if !no_below.is_empty() {
                file.insert("no_below".to_owned(), cutoff(no_below));
            }
            // equal cutoffs leave no Unsure band; a lens file then omits the second one
            if !yes_from.is_empty() && yes_from != no_below {
                file.insert("yes_from".to_owned(), cutoff(yes_from));
            }
        }
        Value::Object(file)
    }
}

/// A cutoff in percent as the number of a lens file. Anything else stays text, so that the rules of
/// lens files report the error.
fn cutoff(percent: &str) -> Value {
    let share = to_share(percent).and_then(|share| share.parse::<f64>().ok());
    share.map_or_else(|| json!(percent), |share| json!(share))
}

impl LensForm {
    /// The form of these columns.
    pub(super) fn of(columns: &[Column]) -> Self {
        Self {
            columns: columns.iter().map(ColumnInput::of).collect(),
        }
    }

    /// Parses the submitted form.
    pub(super) fn read(form: &Form) -> Self {
        let value = |place: usize, name: &str| form.get(&format!("columns.{place}.{name}"));
        let places = (0..MOST).take_while(|place| form.has(&format!("columns.{place}.shows")));
        let column = |place| ColumnInput {
            name: value(place, "name").to_owned(),
            shows: value(place, "shows").to_owned(),
            no_below: value(place, "no_below").to_owned(),
            yes_from: value(place, "yes_from").to_owned(),
        };
        Self {
            columns: places.map(column).collect(),
        }
    }

    /// Sets the cutoffs of an address in the first label column of its question.
    pub(super) fn with_cutoffs_of(mut self, query: &Query) -> Self {
        let shows = query.get("question").map(|key| format!("{key}/label"));
        let column = self
            .columns
            .iter_mut()
            .find(|column| Some(&column.shows) == shows.as_ref());
        if let Some(column) = column {
            let sent = |name| query.get(name)?.parse::<f64>().ok().map(to_percent);
            if let Some(no_below) = sent("no_below") {
                column.yes_from.clone_from(&no_below);
                column.no_below = no_below;
            }
            if let Some(yes_from) = sent("yes_from") {
                column.yes_from = yes_from;
            }
        }
        self
    }

    /// Carries out a button's action such as `up.2`, `remove.0` or `add`.
    pub(super) fn apply(&mut self, act: &str, added: &str) {
        let (what, place) = act.split_once('.').unwrap_or((act, ""));
        let place = place.parse().ok();
        if let Some(place) = place.filter(|place| *place < self.columns.len()) {
            rearrange(&mut self.columns, place, &[what]);
        } else if what == "add" && !added.is_empty() {
            self.columns.push(ColumnInput {
                shows: added.to_owned(),
                no_below: "50".to_owned(),
                yes_from: "50".to_owned(),
                ..ColumnInput::default()
            });
        }
    }

    /// The lens file made from the form.
    pub(super) fn file(&self) -> Vec<u8> {
        let columns: Vec<_> = self.columns.iter().map(ColumnInput::file).collect();
        json!({ "columns": columns }).to_string().into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use refract_authoring::lens_file;
    use refract_authoring::prism_file::PrismFile;

    use super::*;

    const PRISM: &[u8] = include_bytes!("../../../../../docs/examples/support-triage.json");
    const LENS: &[u8] = include_bytes!("../../../../../docs/examples/support-triage.lens.json");

    #[test]
    fn a_lens_comes_back_from_its_form() {
        let prism = PrismFile::read(PRISM, None).unwrap().version;
        let columns = lens_file::read(LENS, &prism).unwrap();
        let form = LensForm::of(&columns);
        assert_eq!(lens_file::read(&form.file(), &prism).unwrap(), columns);
    }

    #[test]
    fn a_finer_cutoff_is_kept() {
        let prism = PrismFile::read(PRISM, None).unwrap().version;
        let file = br#"{"columns":[{"name":"a","question":"angry","output":"label","no_below":0.405,"yes_from":0.4571}]}"#;
        let columns = lens_file::read(file, &prism).unwrap();
        let form = LensForm::of(&columns);
        assert_eq!(form.columns[0].no_below, "40.5");
        assert_eq!(form.columns[0].yes_from, "45.71");
        assert_eq!(lens_file::read(&form.file(), &prism).unwrap(), columns);
    }

    #[test]
    fn what_is_no_number_is_refused_where_it_stands() {
        let prism = PrismFile::read(PRISM, None).unwrap().version;
        let mut form = LensForm::default();
        form.apply("add", "angry/label");
        form.columns[0].no_below = "4o".to_owned();
        let problems = lens_file::read(&form.file(), &prism).unwrap_err();
        assert_eq!(problems.as_slice()[0].path, "columns.0.no_below");
    }

    #[test]
    fn buttons_move_and_remove() {
        let mut form = LensForm::default();
        for shows in ["topic/top", "angry/label", "urgency/level"] {
            form.apply("add", shows);
        }
        form.apply("up.2", "");
        form.apply("down.0", "");
        let shows = |form: &LensForm| {
            let columns = form.columns.iter();
            columns.map(|it| it.shows.clone()).collect::<Vec<_>>()
        };
        assert_eq!(shows(&form), ["urgency/level", "topic/top", "angry/label"]);
        form.apply("remove.1", "");
        for nothing in ["up.0", "down.1", "remove.7", "up.x", "", "add"] {
            form.apply(nothing, "");
        }
        assert_eq!(shows(&form), ["urgency/level", "angry/label"]);
    }

    #[test]
    fn an_address_puts_cutoffs_into_the_draft() {
        let prism = PrismFile::read(PRISM, None).unwrap().version;
        let columns = lens_file::read(LENS, &prism).unwrap();
        let query = Query::parse("question=angry&no_below=0.3&yes_from=0.75");
        let form = LensForm::of(&columns).with_cutoffs_of(&query);
        let label = form.columns.iter().find(|column| column.is_label());
        let label = label.unwrap();
        assert_eq!((&*label.no_below, &*label.yes_from), ("30", "75"));
    }
}
