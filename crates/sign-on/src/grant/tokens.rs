//! The answers of the token endpoint.

use crate::document::Document;
use crate::error::DocumentFault;
use crate::grant::Grant;

/// The tokens that the provider gave. It has no `Debug`, so that no log shows one by accident.
#[expect(clippy::struct_field_names, reason = "the names of RFC 6749")]
pub(crate) struct TokenAnswer {
    pub(crate) access_token: Option<String>,
    pub(crate) id_token: Option<String>,
    pub(crate) refresh_token: Option<String>,
}

impl TokenAnswer {
    /// The tokens of an answer. Its other members are not used here, so that they may have any type.
    pub(crate) fn of(document: &Document) -> Result<Self, DocumentFault> {
        let text = |name| Ok(document.text(name)?.map(str::to_owned));
        let answer = Self {
            access_token: text("access_token")?,
            id_token: text("id_token")?,
            refresh_token: text("refresh_token")?,
        };
        if answer.access_token.is_none() && answer.id_token.is_none() {
            return Err(DocumentFault::Missing("access_token"));
        }
        Ok(answer)
    }

    /// The grant of a first answer.
    pub(crate) fn granted(&self) -> Grant {
        Grant::new(self.refresh_token.clone(), self.id_token.clone())
    }

    /// The grant after a refresh: what the provider gave no successor for stays.
    pub(crate) fn renewed(&self, before: &Grant) -> Grant {
        let now = self.granted();
        Grant {
            refresh_token: now.refresh_token.or_else(|| before.refresh_token.clone()),
            id_token: now.id_token.or_else(|| before.id_token.clone()),
        }
    }
}

/// The error code of an answer, if it has one: as the standard has it, or inside an object.
pub(crate) fn error_of(document: &Document) -> Option<String> {
    let error = document.get("error")?;
    let inner = |name: &str| error.get(name)?.as_str();
    let code = error.as_str().or_else(|| inner("code"));
    let code = code.or_else(|| inner("type")).unwrap_or_default();
    Some(crate::flow::error_code(code))
}
