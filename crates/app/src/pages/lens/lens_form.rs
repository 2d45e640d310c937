//! A lens as a form, and the lens file made from it. People type cutoffs in percent, lens files have
//! them in the range 0 to 1: the decimal point moves in the text, so that no digit is lost.

use refract_domain::lens::{Column, Cutoffs, Output};
use refract_domain::prism::PrismVersion;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::components::to_percent;
use crate::pages::rearrange;
use crate::requests::{Form, Query};

/// The most columns read from a form; the rules of lenses allow fewer.
const MOST: usize = 1000;

/// The hidden input with the cutoff that one input shows.
pub(super) const ONE: &str = "one";
/// The part of an address with the cutoffs that were moved in other columns than the one in the
/// middle: `0-angry-0.30-0.75` is place, question and cutoffs of one, and a space is between two.
pub(super) const ALSO: &str = "also";
/// The width of a new Unsure band in percent, and the lowest end of No that it has.
const BAND: f64 = 10.0;
const LOWEST: f64 = 1.0;

/// The typed columns, each value as text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub(super) struct LensForm {
    pub(super) columns: Vec<ColumnInput>,
    /// Why the lens is changed.
    #[serde(default)]
    pub(super) note: String,
}

/// A typed column.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub(super) struct ColumnInput {
    pub(super) name: String,
    /// The question's key and the output's name, joined with a slash.
    pub(super) shows: String,
    /// In percent; empty for none.
    pub(super) no_below: String,
    /// In percent; empty for none.
    pub(super) yes_from: String,
    /// Whether the histogram of this column is in the middle of the page.
    #[serde(skip)]
    pub(super) is_chosen: bool,
    /// Whether the inputs of this column are shown.
    #[serde(skip)]
    pub(super) is_open: bool,
}

impl ColumnInput {
    /// Whether the column shows Yes / No labels, which have cutoffs.
    pub(super) fn is_label(&self) -> bool {
        self.shows.ends_with("/label")
    }

    /// The key of the question.
    pub(super) fn question(&self) -> &str {
        self.shows
            .split_once('/')
            .map_or("", |(question, _)| question)
    }

    /// Whether there is an Unsure band: otherwise both cutoffs are one, with one input.
    pub(super) fn has_band(&self) -> bool {
        self.no_below.trim() != self.yes_from.trim()
    }

    /// Whether the other column shows the same with the same cutoffs.
    fn has_cutoffs_of(&self, other: &Self) -> bool {
        let cutoffs = |of: &Self| [&of.no_below, &of.yes_from].map(|text| to_share(text.trim()));
        self.shows == other.shows && cutoffs(self) == cutoffs(other)
    }

    /// Leaves a band of Unsure below Yes, or none.
    fn set_band(&mut self, has_band: bool) {
        if !has_band {
            self.no_below.clone_from(&self.yes_from);
        } else if let Ok(yes_from) = self.yes_from.trim().parse::<f64>() {
            self.no_below = to_percent((yes_from - BAND).clamp(LOWEST, 100.0) / 100.0);
        }
    }

    /// Sets the cutoffs.
    pub(super) fn set_cutoffs(&mut self, cutoffs: Cutoffs) {
        self.no_below = to_percent(cutoffs.no_ends_at().value());
        self.yes_from = match cutoffs.yes_from() {
            Some(yes_from) => to_percent(yes_from.value()),
            None => self.no_below.clone(),
        };
    }

    fn of(column: &Column) -> Self {
        let mut input = Self {
            name: column.name.to_string(),
            shows: format!("{}/{}", column.question, column.output.name()),
            ..Self::default()
        };
        if let Output::Label(cutoffs) = column.output {
            input.set_cutoffs(cutoffs);
        }
        input
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
            note: String::new(),
        }
    }

    /// Parses the submitted form.
    pub(super) fn read(form: &Form) -> Self {
        let value = |place: usize, name: &str| form.get(&format!("columns.{place}.{name}"));
        let places = (0..MOST).take_while(|place| form.has(&format!("columns.{place}.shows")));
        let column = |place| {
            let (no_below, yes_from) = (value(place, "no_below"), value(place, "yes_from"));
            // with one input for both, No still ends where it did before something was typed
            let one = format!("columns.{place}.{ONE}");
            let is_one = form.has(&one) && form.get(&one) == no_below;
            ColumnInput {
                name: value(place, "name").to_owned(),
                shows: value(place, "shows").to_owned(),
                no_below: if is_one { yes_from } else { no_below }.to_owned(),
                yes_from: yes_from.to_owned(),
                ..ColumnInput::default()
            }
        };
        let read = Self {
            columns: places.map(column).collect(),
            note: form.get("note").to_owned(),
        };
        read.with_view(form.get("column"), form.get("open"))
    }

    /// Chooses the label column in the middle and the column whose inputs are shown, by their
    /// places. Without a label column at `chosen`, the first one is in the middle.
    pub(super) fn with_view(mut self, chosen: &str, open: &str) -> Self {
        let chosen = chosen.parse().ok();
        let is_label = |place: &usize| self.columns.get(*place).is_some_and(ColumnInput::is_label);
        let first = || self.columns.iter().position(ColumnInput::is_label);
        let chosen = chosen.filter(is_label).or_else(first);
        let open = open.parse().ok();
        for (place, column) in self.columns.iter_mut().enumerate() {
            column.is_chosen = Some(place) == chosen;
            column.is_open = Some(place) == open;
        }
        self
    }

    /// The place of the column in the middle.
    pub(super) fn chosen(&self) -> Option<usize> {
        self.columns.iter().position(|column| column.is_chosen)
    }

    /// The place of the column whose inputs are shown.
    pub(super) fn open(&self) -> Option<usize> {
        self.columns.iter().position(|column| column.is_open)
    }

    /// The column in the middle.
    pub(super) fn chosen_column(&self) -> Option<&ColumnInput> {
        self.columns.iter().find(|column| column.is_chosen)
    }

    /// The column in the middle, to change its cutoffs.
    pub(super) fn chosen_column_mut(&mut self) -> Option<&mut ColumnInput> {
        self.columns.iter_mut().find(|column| column.is_chosen)
    }

    /// The cutoffs that differ from those of the saved lens, without the column in the middle.
    pub(super) fn moved_beside(&self, saved: &Self) -> String {
        let columns = self.columns.iter().enumerate();
        let others = columns.filter(|(place, column)| {
            let is_same = |it: &ColumnInput| it.has_cutoffs_of(column);
            let is_saved = saved.columns.get(*place).is_some_and(is_same);
            column.is_label() && !column.is_chosen && !is_saved
        });
        let moved = others.filter_map(|(place, column)| {
            let no_below = to_share(column.no_below.trim())?;
            let yes_from = to_share(column.yes_from.trim())?;
            Some(format!(
                "{place}-{}-{no_below}-{yes_from}",
                column.question()
            ))
        });
        moved.collect::<Vec<_>>().join(" ")
    }

    /// Sets cutoffs that [`moved_beside`](Self::moved_beside) wrote: in the column at their place, if
    /// that has their question, or else in the first label column of the question.
    fn set_moved(&mut self, moved: &str) {
        let parts: Vec<_> = moved.split('-').collect();
        let [place, question, no_below, yes_from] = parts[..] else {
            return;
        };
        let shows = format!("{question}/label");
        let is_wanted = |column: &ColumnInput| column.shows == shows;
        let place = place.parse().ok();
        let place = place.filter(|place| self.columns.get(*place).is_some_and(is_wanted));
        let place = place.or_else(|| self.columns.iter().position(is_wanted));
        let column = place.and_then(|place| self.columns.get_mut(place));
        let percent = |share: &str| share.parse::<f64>().ok().map(to_percent);
        if let (Some(column), Some(no_below), Some(yes_from)) =
            (column, percent(no_below), percent(yes_from))
        {
            (column.no_below, column.yes_from) = (no_below, yes_from);
        }
    }

    /// Sets the cutoffs of an address: those of other columns, and those of its question in the
    /// column in the middle, if that has the question, or else in the first label column of the
    /// question, which it puts into the middle.
    pub(super) fn with_cutoffs_of(mut self, query: &Query) -> Self {
        for moved in query.get(ALSO).unwrap_or_default().split_whitespace() {
            self.set_moved(moved);
        }
        let Some(shows) = query.get("question").map(|key| format!("{key}/label")) else {
            return self;
        };
        let is_wanted = |column: &ColumnInput| column.shows == shows;
        let chosen = self.chosen_column().is_some_and(is_wanted);
        if !chosen && self.columns.iter().any(is_wanted) {
            let first = self.columns.iter().position(is_wanted);
            for (place, column) in self.columns.iter_mut().enumerate() {
                column.is_chosen = Some(place) == first;
            }
        }
        if let Some(column) = self
            .columns
            .iter_mut()
            .find(|it| it.is_chosen && is_wanted(it))
        {
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

    /// Carries out a button's action such as `up.2`, `remove.0`, `open.1` or `add`. `added` is the
    /// question of a new column, or its question and output joined with a slash.
    pub(super) fn apply(&mut self, act: &str, added: &str, latest: &PrismVersion) {
        let (what, place) = act.split_once('.').unwrap_or((act, ""));
        let place = place.parse().ok();
        if let Some(place) = place.filter(|place| *place < self.columns.len()) {
            if what == "open" {
                self.open_only(Some(place));
            } else {
                rearrange(&mut self.columns, place, &[what]);
            }
        } else if what == "close" {
            self.open_only(None);
        } else if what == "band" || what == "no-band" {
            if let Some(column) = self.chosen_column_mut() {
                column.set_band(what == "band");
            }
        } else if what == "add"
            && let Some(shows) = shown_by_default(added, latest)
        {
            self.columns.push(ColumnInput {
                shows,
                no_below: "50".to_owned(),
                yes_from: "50".to_owned(),
                ..ColumnInput::default()
            });
            self.open_only(self.columns.len().checked_sub(1));
        }
    }

    fn open_only(&mut self, open: Option<usize>) {
        for (place, column) in self.columns.iter_mut().enumerate() {
            column.is_open = Some(place) == open;
        }
    }

    /// The lens file made from the form.
    pub(super) fn file(&self) -> Vec<u8> {
        let columns: Vec<_> = self.columns.iter().map(ColumnInput::file).collect();
        json!({ "columns": columns }).to_string().into_bytes()
    }
}

/// A question's key and an output's name, joined with a slash: as they are, or the first output of a
/// question. `None` for a question that the version lacks.
fn shown_by_default(added: &str, latest: &PrismVersion) -> Option<String> {
    let (key, output) = added.split_once('/').unwrap_or((added, ""));
    let mut questions = latest.questions().iter();
    let question = questions.find(|question| question.key.as_str() == key)?;
    let first = Output::names(question.question_type()).first()?;
    let output = if output.is_empty() { first } else { output };
    Some(format!("{key}/{output}"))
}

/// Converts percent to the range 0 to 1; `None` if the text is not a plain decimal number.
pub(super) fn to_share(percent: &str) -> Option<String> {
    let (whole, decimals) = percent.split_once('.').unwrap_or((percent, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || whole.len() > 3 || !digits(whole) || !digits(decimals) {
        return None;
    }
    let padded = format!("{whole:0>3}");
    let (ones, hundredths) = padded.split_at_checked(padded.len() - 2)?;
    Some(format!("{ones}.{hundredths}{decimals}"))
}

#[cfg(test)]
mod tests;
