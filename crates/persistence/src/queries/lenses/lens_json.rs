//! Lenses as they are stored, in the columns `lens` of prisms and of the history.

use refract_domain::lens::{Column, Lens};

use crate::error::PersistenceError;

/// The JSON that is stored for a lens: the columns of a custom lens, `None` for the automatic lens.
pub(crate) fn lens_to_json(lens: &Lens) -> Result<Option<String>, PersistenceError> {
    match lens {
        Lens::Automatic => Ok(None),
        Lens::Custom(columns) => columns_to_json(columns).map(Some),
    }
}

fn columns_to_json(columns: &[Column]) -> Result<String, PersistenceError> {
    serde_json::to_string(columns)
        .map_err(|_| PersistenceError::Refused("a lens has no JSON".to_owned()))
}

pub(crate) fn lens_from_json(json: Option<&str>) -> Result<Lens, PersistenceError> {
    let Some(json) = json else {
        return Ok(Lens::Automatic);
    };
    let columns = serde_json::from_str(json);
    columns
        .map(Lens::Custom)
        .map_err(|_| PersistenceError::Unreadable {
            column: "prisms.lens",
        })
}
