//! The lens file: the columns of a custom lens.
//!
//! A file is an object with a list of 1 to 300 `columns`, each an object (spec 2.5):
//!
//! | key | value |
//! |---|---|
//! | `question` | key of a question of the latest version |
//! | `output` | choice: `top`, `probability`, `all`; yes / no: `label`, `probability`; scale: `level`, `number`, `average`, `probability`, `all` |
//! | `name` | the column's name; if absent, the question's key, with `_probability`, `_all`, `_number` or `_average` after it for such an output |
//! | `no_below` | of a `label`: below this probability of yes it is no. Above 0, below 1; 0.5 if absent |
//! | `yes_from` | of a `label`: from this probability on it is yes, and unsure from `no_below` up to it. Above `no_below`, at most 1; if absent, it is yes from `no_below` on |

use refract_domain::json::{Json, Object};
use refract_domain::key::{ColumnName, QuestionKey};
use refract_domain::lens::{Column, Cutoff, Cutoffs, Lens, Output};
use refract_domain::limits::LENS_COLUMNS;
use refract_domain::prism::{PrismVersion, Question};
use refract_domain::problem::{Problems, ValidationError};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::file_reader::{FileReader, ROOT, join};

/// The most questions that an error names.
const MOST_NAMED: usize = 20;

/// Reads a lens file for a prism with this latest version.
///
/// # Errors
/// Every problem in the file, with its path such as `columns.0.no_below`.
pub fn read(bytes: &[u8], latest: &PrismVersion) -> Result<Vec<Column>, Problems> {
    let mut reader = FileReader::default();
    let Some(file) = reader.root(bytes) else {
        return Err(reader.problems);
    };
    reader.refuse_keys_besides(ROOT, &file, &["columns"]);
    let elements = reader
        .list(ROOT, &file, "columns", &LENS_COLUMNS)
        .unwrap_or_default();
    let mut columns: Vec<Column> = Vec::with_capacity(elements.len());
    for (index, json) in elements.into_iter().enumerate() {
        let path = join("columns", index);
        let Some(column) = read_column(&mut reader, &path, json, latest) else {
            continue;
        };
        let name = column.name.as_str();
        let rule = if columns.iter().any(|other| other.name == column.name) {
            Some(format!("the name '{name}' is used twice"))
        } else if latest
            .fields()
            .iter()
            .any(|field| field.key.as_str() == name)
        {
            Some(format!("the name '{name}' is a field's key"))
        } else {
            None
        };
        reader
            .problems
            .add_all(&join(&path, "name"), rule.map(ValidationError::rule));
        columns.push(column);
    }
    reader.problems.none_or(columns)
}

/// Reads a lens for a prism with this latest version: a lens file, or what `refract lens show --json`
/// prints, which has a `mode` beside the columns, `automatic` or `custom`.
///
/// # Errors
/// Every problem in the file, with its path such as `columns.0.no_below`. The mode `automatic` beside
/// columns that the automatic lens does not have, as when somebody edited them.
pub fn read_lens(bytes: &[u8], latest: &PrismVersion) -> Result<Lens, Problems> {
    let shown = Json::parse(bytes).map(|json| json.into_object().ok());
    let shown = shown.ok().flatten().unwrap_or_default();
    let mode = shown.get("mode").and_then(|mode| mode.into_string().ok());
    let Some(mode) = mode else {
        return read(bytes, latest).map(Lens::Custom);
    };
    let is_automatic = match mode.text.as_str() {
        "automatic" => true,
        "custom" => false,
        _ => {
            let modes = ValidationError::NotOneOf(&["automatic", "custom"]);
            return Err(Problems::one("mode", modes));
        }
    };
    let columns = match shown.written("columns") {
        None if is_automatic => return Ok(Lens::Automatic),
        None => read(b"{}", latest)?,
        Some(columns) => read(format!("{{\"columns\":{columns}}}").as_bytes(), latest)?,
    };
    if !is_automatic {
        return Ok(Lens::Custom(columns));
    }
    if columns == latest.columns(&Lens::Automatic) {
        return Ok(Lens::Automatic);
    }
    let rule = "the columns are not those of the automatic lens: leave out the mode to use them";
    Err(Problems::one("mode", ValidationError::rule(rule)))
}

fn read_column(
    reader: &mut FileReader,
    path: &str,
    json: Json<'_>,
    latest: &PrismVersion,
) -> Option<Column> {
    let object = reader.object(path, json)?;
    let known = ["name", "question", "output", "no_below", "yes_from"];
    reader.refuse_keys_besides(path, &object, &known);
    let name = match reader.optional_string(path, &object, "name") {
        Some(sent) => Some(reader.parsed(&join(path, "name"), ColumnName::parse(&sent.text))?),
        None if object.has("name") => return None,
        None => None,
    };
    let question = read_question(reader, path, &object, latest);
    let output = reader.required_string(path, &object, "output");
    let no_below = read_cutoff(reader, path, &object, "no_below");
    let yes_from = read_cutoff(reader, path, &object, "yes_from");
    let question = question?;
    let names = Output::names(question.question_type());
    let parsed = Output::parse(question.question_type(), &output?.text);
    let output = reader.parsed(
        &join(path, "output"),
        parsed.ok_or(ValidationError::NotOneOf(names)),
    )?;
    let output = with_cutoffs(reader, path, output, no_below?, yes_from?)?;
    let name = if let Some(name) = name {
        name
    } else {
        let name = Column::default_name(&question.key, output);
        reader.parsed(&join(path, "name"), name)?
    };
    Some(Column {
        name,
        question: question.key.clone(),
        output,
    })
}

fn read_question<'a>(
    reader: &mut FileReader,
    path: &str,
    object: &Object<'_>,
    latest: &'a PrismVersion,
) -> Option<&'a Question> {
    let sent = reader.required_string(path, object, "question")?;
    let found = QuestionKey::parse(&sent.text)
        .ok()
        .and_then(|key| latest.question(&key));
    let lacking = || {
        let keys = latest.questions().iter().take(MOST_NAMED);
        let keys: Vec<_> = keys.map(|question| question.key.as_str()).collect();
        let keys = keys.join(", ");
        ValidationError::rule(format!(
            "the prism's latest version has no such question, but {keys}"
        ))
    };
    reader.parsed(&join(path, "question"), found.ok_or_else(lacking))
}

/// The number under a key: `Some(None)` when it is absent or null, `None` when the value is wrong.
#[expect(
    clippy::option_option,
    reason = "a wrong value and an absent one differ"
)]
fn read_cutoff(
    reader: &mut FileReader,
    path: &str,
    object: &Object<'_>,
    key: &str,
) -> Option<Option<f64>> {
    match object.get(key) {
        None | Some(Json::Null) => Some(None),
        Some(json) => reader
            .parsed(&join(path, key), json.into_number())
            .map(Some),
    }
}

fn with_cutoffs(
    reader: &mut FileReader,
    path: &str,
    output: Output,
    no_below: Option<f64>,
    yes_from: Option<f64>,
) -> Option<Output> {
    if output.cutoffs().is_some() {
        let cutoffs = Cutoffs::new(no_below, yes_from);
        return cutoffs
            .map(Output::Label)
            .map_err(|problems| {
                for problem in problems.as_slice() {
                    let path = join(path, &problem.path);
                    reader.problems.add(path, problem.error.clone());
                }
            })
            .ok();
    }
    let mut good = true;
    for (key, cutoff) in [("no_below", no_below), ("yes_from", yes_from)] {
        if cutoff.is_some() {
            good = false;
            let rule = "is only for the output 'label'";
            reader
                .problems
                .add(join(path, key), ValidationError::rule(rule));
        }
    }
    good.then_some(output)
}

/// The lens file of these columns. [`read`] returns equal columns for a version that has their
/// questions.
pub fn write(columns: &[Column]) -> Vec<u8> {
    // names and numbers can always be written as JSON
    serde_json::to_vec(&LensFile::new(columns)).unwrap_or_default()
}

/// A lens as it is shown to people: the mode, and the columns in the form of the lens file.
#[derive(Serialize)]
pub struct ShownLens<'a> {
    mode: &'static str,
    #[serde(flatten)]
    file: LensFile<'a>,
}

/// A lens file that [`read`] accepts.
#[derive(Serialize)]
pub struct LensFile<'a> {
    columns: Vec<LensFileColumn<'a>>,
}

#[derive(Serialize)]
struct LensFileColumn<'a> {
    name: &'a ColumnName,
    question: &'a QuestionKey,
    output: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    no_below: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    yes_from: Option<Box<RawValue>>,
}

impl<'a> ShownLens<'a> {
    /// A lens with its columns, from [`PrismVersion::columns`].
    pub fn new(lens: &Lens, columns: &'a [Column]) -> Self {
        let mode = match lens {
            Lens::Automatic => "automatic",
            Lens::Custom(_) => "custom",
        };
        Self {
            mode,
            file: LensFile::new(columns),
        }
    }
}

impl<'a> LensFile<'a> {
    /// The file of these columns.
    pub fn new(columns: &'a [Column]) -> Self {
        Self {
            columns: columns.iter().map(LensFileColumn::new).collect(),
        }
    }
}

impl<'a> LensFileColumn<'a> {
    fn new(column: &'a Column) -> Self {
        let cutoffs = column.output.cutoffs().unwrap_or_default();
        // a plain decimal: JSON of a double would be `1e-7` and `1.0`
        let plain = |cutoff: Cutoff| RawValue::from_string(cutoff.value().to_string()).ok();
        Self {
            name: &column.name,
            question: &column.question,
            output: column.output.name(),
            no_below: cutoffs.no_below().and_then(plain),
            yes_from: cutoffs.yes_from().and_then(plain),
        }
    }
}

#[cfg(test)]
mod tests;
