//! The names and types of this crate in JavaScript.

use serde::Serialize;
use wasm_bindgen::prelude::{JsError, JsValue, wasm_bindgen};

use crate::checked_files::{StoredInputError, check_lens_file, check_prism_file};
use crate::stored_results::StoredResults;

#[wasm_bindgen(typescript_custom_section)]
const TYPES: &str = include_str!("types.d.ts");

#[wasm_bindgen]
extern "C" {
    /// A JSON text as a value of JavaScript.
    #[wasm_bindgen(js_namespace = JSON, js_name = parse)]
    fn json_parse(text: &str) -> JsValue;
}

/// Results of one prism, read once and rendered any number of times.
#[wasm_bindgen(js_name = Results)]
pub struct ResultsInJs {
    stored: StoredResults,
}

#[wasm_bindgen(js_class = Results)]
impl ResultsInJs {
    /// Reads results and versions from JSON texts. `results` are those of the API's `format=raw`, in a
    /// list or one after another, each with the field values that were sent under `fields`. `versions`
    /// is an object of prism files by version number, as `refract prism show` prints them: those that
    /// answered, and the latest. Throws where they cannot be read or do not belong together.
    #[wasm_bindgen(constructor)]
    pub fn new(
        #[wasm_bindgen(unchecked_param_type = "string")] results: &JsValue,
        #[wasm_bindgen(unchecked_param_type = "string")] versions: &JsValue,
    ) -> Result<Self, JsError> {
        let (results, versions) = (text(results, "results")?, text(versions, "versions")?);
        let stored = StoredResults::read(&results, &versions).map_err(thrown)?;
        Ok(Self { stored })
    }

    /// The bytes that the API sends in this format. `lens` is the text of a lens file, absent for the
    /// automatic lens. `json` and `raw` show one result, the others any number under one header. `csv` and
    /// `tsv` show labels, the others keys.
    pub fn render(
        &self,
        #[wasm_bindgen(unchecked_param_type = "Format")] format: &JsValue,
        #[wasm_bindgen(unchecked_optional_param_type = "string | null")] lens: &JsValue,
    ) -> Result<Vec<u8>, JsError> {
        let (format, lens) = (text(format, "format")?, lens_text(lens)?);
        self.stored.render(&format, lens.as_deref()).map_err(thrown)
    }

    /// Counts what the lens `draft` would change where `now` is the lens; null is the automatic lens.
    #[wasm_bindgen(unchecked_return_type = "Preview")]
    pub fn preview(
        &self,
        #[wasm_bindgen(unchecked_param_type = "string | null")] now: &JsValue,
        #[wasm_bindgen(unchecked_param_type = "string | null")] draft: &JsValue,
    ) -> Result<JsValue, JsError> {
        let (now, draft) = (lens_text(now)?, lens_text(draft)?);
        value(self.stored.preview(now.as_deref(), draft.as_deref()))
    }

    /// Counts the probabilities of a Yes / No question, by its key, in 101 bins: index 40 is from 0.4 to
    /// below 0.41.
    pub fn histogram(
        &self,
        #[wasm_bindgen(unchecked_param_type = "string")] question: &JsValue,
    ) -> Result<Vec<u32>, JsError> {
        let question = text(question, "question")?;
        self.stored.histogram(&question).map_err(thrown)
    }

    /// Counts what each cutoff would answer in a column of the lens, by its name.
    #[wasm_bindgen(unchecked_return_type = "Cutoffs")]
    pub fn cutoffs(
        &self,
        #[wasm_bindgen(unchecked_param_type = "string")] column: &JsValue,
        #[wasm_bindgen(unchecked_optional_param_type = "string | null")] lens: &JsValue,
    ) -> Result<JsValue, JsError> {
        let (column, lens) = (text(column, "column")?, lens_text(lens)?);
        value(self.stored.cutoffs(lens.as_deref(), &column))
    }
}

/// Renders results that are needed once: `new Results(results, versions).render(format, lens)`.
#[wasm_bindgen(js_name = render)]
pub fn render_in_js(
    #[wasm_bindgen(unchecked_param_type = "Format")] format: &JsValue,
    #[wasm_bindgen(unchecked_param_type = "string")] results: &JsValue,
    #[wasm_bindgen(unchecked_param_type = "string")] versions: &JsValue,
    #[wasm_bindgen(unchecked_optional_param_type = "string | null")] lens: &JsValue,
) -> Result<Vec<u8>, JsError> {
    ResultsInJs::new(results, versions)?.render(format, lens)
}

/// Checks the text of a prism file as that of a new prism.
#[wasm_bindgen(js_name = checkPrism, unchecked_return_type = "{ problems: Problem[] }")]
pub fn check_prism_in_js(
    #[wasm_bindgen(unchecked_param_type = "string")] file: &JsValue,
) -> Result<JsValue, JsError> {
    value(Ok(check_prism_file(&text(file, "file")?)))
}

/// Checks the text of a lens file for a prism with this prism file. Throws if the prism file has problems.
#[wasm_bindgen(js_name = checkLens, unchecked_return_type = "{ problems: Problem[] }")]
pub fn check_lens_in_js(
    #[wasm_bindgen(unchecked_param_type = "string")] file: &JsValue,
    #[wasm_bindgen(unchecked_param_type = "string")] prism: &JsValue,
) -> Result<JsValue, JsError> {
    let (file, prism) = (text(file, "file")?, text(prism, "prism")?);
    value(check_lens_file(&file, &prism))
}

/// A text that was passed. JavaScript may pass anything.
fn text(passed: &JsValue, name: &str) -> Result<String, JsError> {
    passed
        .as_string()
        .ok_or_else(|| JsError::new(&format!("{name} must be a string")))
}

/// The text of a lens; `None` for null and undefined.
fn lens_text(passed: &JsValue) -> Result<Option<String>, JsError> {
    if passed.is_null() || passed.is_undefined() {
        return Ok(None);
    }
    text(passed, "lens").map(Some)
}

#[expect(clippy::needless_pass_by_value, reason = "`map_err` passes it so")]
fn thrown(error: StoredInputError) -> JsError {
    JsError::new(&error.to_string())
}

fn value(counted: Result<impl Serialize, StoredInputError>) -> Result<JsValue, JsError> {
    let json = serde_json::to_string(&counted.map_err(thrown)?)?;
    Ok(json_parse(&json))
}
