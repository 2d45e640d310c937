//! The versions of a prism by number, read from their prism files.

use std::collections::BTreeMap;
use std::sync::Arc;

use refract_authoring::prism_file::PrismFile;
use refract_domain::json::Json;
use refract_domain::prism::{PrismVersion, VersionNumber};

use crate::input_error::StoredInputError;

/// At least one version of a prism.
pub(crate) struct PrismVersions {
    by_number: BTreeMap<VersionNumber, Arc<PrismVersion>>,
    latest: Arc<PrismVersion>,
}

impl PrismVersions {
    /// Reads an object of prism files by version number.
    pub(crate) fn read(text: &str) -> Result<Self, StoredInputError> {
        let json = Json::parse(text.as_bytes()).map_err(StoredInputError::MalformedVersions)?;
        let files = json.into_object().map_err(StoredInputError::Versions)?;
        let mut by_number = BTreeMap::new();
        for (key, _) in files.iter() {
            let number = key.text.parse().ok().and_then(VersionNumber::new);
            let number = number.ok_or(StoredInputError::VersionNumber)?;
            let file = files.written(&key.text).unwrap_or_default();
            let file = PrismFile::read(file.as_bytes(), None)
                .map_err(|problems| StoredInputError::Version { number, problems })?;
            by_number.insert(number, Arc::new(file.version));
        }
        let (_, latest) = by_number
            .last_key_value()
            .ok_or(StoredInputError::NoVersion)?;
        Ok(Self {
            latest: Arc::clone(latest),
            by_number,
        })
    }

    /// The version with this number.
    pub(crate) fn get(&self, number: VersionNumber) -> Option<Arc<PrismVersion>> {
        self.by_number.get(&number).map(Arc::clone)
    }

    /// The version with the highest number.
    pub(crate) fn latest(&self) -> &PrismVersion {
        &self.latest
    }
}
