//! The names and types of this crate in JavaScript.
#![expect(
    clippy::missing_errors_doc,
    clippy::needless_pass_by_value,
    reason = "the comments are those of the npm package, and JavaScript passes owned texts"
)]

use serde::Serialize;
use wasm_bindgen::prelude::{JsError, JsValue, wasm_bindgen};

use crate::checked_files::{check_lens_file, check_prism_file};
use crate::input_error::StoredInputError;
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
    pub fn new(results: &str, versions: &str) -> Result<Self, JsError> {
        let stored = StoredResults::read(results, versions).map_err(thrown)?;
        Ok(Self { stored })
    }

    /// The bytes that the API sends in this format. `lens` is the text of a lens file, absent for the
    /// automatic lens. `json` and `raw` show one result, the others any number under one header.
    pub fn render(
        &self,
        #[wasm_bindgen(unchecked_param_type = "Format")] format: &str,
        lens: Option<String>,
    ) -> Result<Vec<u8>, JsError> {
        self.stored.render(format, lens.as_deref()).map_err(thrown)
    }

    /// Counts what the lens `draft` would change where `now` is the lens.
    #[wasm_bindgen(unchecked_return_type = "Preview")]
    pub fn preview(&self, now: Option<String>, draft: Option<String>) -> Result<JsValue, JsError> {
        value(self.stored.preview(now.as_deref(), draft.as_deref()))
    }

    /// Counts the probabilities of a Yes / No question in 101 bins: index 40 is from 0.4 to below 0.41.
    pub fn histogram(&self, question: &str) -> Result<Vec<u32>, JsError> {
        self.stored.histogram(question).map_err(thrown)
    }

    /// Counts what each cutoff would answer in a column of the lens.
    #[wasm_bindgen(unchecked_return_type = "Cutoffs")]
    pub fn cutoffs(&self, column: &str, lens: Option<String>) -> Result<JsValue, JsError> {
        value(self.stored.cutoffs(lens.as_deref(), column))
    }
}

/// Renders results that are needed once: `new Results(results, versions).render(format, lens)`.
#[wasm_bindgen(js_name = render)]
pub fn render_in_js(
    #[wasm_bindgen(unchecked_param_type = "Format")] format: &str,
    results: &str,
    versions: &str,
    lens: Option<String>,
) -> Result<Vec<u8>, JsError> {
    ResultsInJs::new(results, versions)?.render(format, lens)
}

/// Checks the text of a prism file as that of a new prism.
#[wasm_bindgen(js_name = checkPrism, unchecked_return_type = "{ problems: Problem[] }")]
pub fn check_prism_in_js(file: &str) -> Result<JsValue, JsError> {
    value(Ok(check_prism_file(file)))
}

/// Checks the text of a lens file for a prism with this prism file.
#[wasm_bindgen(js_name = checkLens, unchecked_return_type = "{ problems: Problem[] }")]
pub fn check_lens_in_js(file: &str, prism: &str) -> Result<JsValue, JsError> {
    value(Ok(check_lens_file(file, prism)))
}

fn thrown(error: StoredInputError) -> JsError {
    JsError::new(&error.to_string())
}

fn value(counted: Result<impl Serialize, StoredInputError>) -> Result<JsValue, JsError> {
    let json = serde_json::to_string(&counted.map_err(thrown)?)?;
    Ok(json_parse(&json))
}
