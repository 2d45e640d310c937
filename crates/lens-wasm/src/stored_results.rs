//! Stored results with the versions that answered, read from their prism files, and what a lens
//! makes of them.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use refract_authoring::lens_file;
use refract_authoring::prism_file::PrismFile;
use refract_domain::json::Json;
use refract_domain::lens::{Column, Lens};
use refract_domain::prism::{PrismVersion, VersionNumber};
use refract_domain::result::{AnswersView, ResultView, RowColumns};
use refract_lens_rendering::{Format, RawResult, RowFormat, RowWriter, render};
use serde_json::value::RawValue;

use crate::checked_files::StoredInputError;

/// Results of one prism, read once and rendered any number of times.
pub struct StoredResults {
    versions: PrismVersions,
    results: Vec<RawResult>,
}

impl StoredResults {
    /// Reads results in the form of the API's format `raw`, in a list or one after another, each with
    /// the field values that were sent under `fields`; and the prism files of the versions that
    /// answered and of the latest one, by version number.
    ///
    /// # Errors
    /// When one of them cannot be read, or the answers of a result do not belong to its version.
    pub fn read(results: &str, versions: &str) -> Result<Self, StoredInputError> {
        let versions = PrismVersions::read(versions)?;
        let read = read_results(results).map_err(|error| StoredInputError::Results {
            line: error.line(),
            column: error.column(),
        })?;
        let mut matched = Vec::with_capacity(read.len());
        for (index, result) in read.into_iter().enumerate() {
            let result = RawResult::read(result.get(), |number| versions.get(number));
            matched.push(result.map_err(|reason| StoredInputError::Result { index, reason })?);
        }
        Ok(Self {
            results: matched,
            versions,
        })
    }

    /// The bytes of the API in a format, through a lens file or, without one, through the automatic
    /// lens. The formats csv, tsv and jsonl take any number of results, under one header; json and raw
    /// take one.
    ///
    /// # Errors
    /// When there is no such format, when it does not fit the number of results, and when the lens file
    /// has problems.
    pub fn render(&self, format: &str, lens: Option<&str>) -> Result<Vec<u8>, StoredInputError> {
        let format = Format::parse(format).ok_or(StoredInputError::Format)?;
        let lens = self.columns(lens)?;
        let columns = RowColumns {
            fields: self.latest().fields(),
            lens: &lens,
        };
        let mut out = Vec::new();
        let written = match format {
            Format::Json | Format::Raw => {
                let results = self.results.len();
                let format_name = format.name();
                let one = self.views().next().filter(|_| results == 1);
                let one = one.ok_or(StoredInputError::NotOneResult {
                    format: format_name,
                    results,
                })?;
                render(format, &columns, &one, &mut out)
            }
            Format::Csv => self.write_rows(RowFormat::Csv, columns, &mut out),
            Format::Tsv => self.write_rows(RowFormat::Tsv, columns, &mut out),
            Format::Jsonl => self.write_rows(RowFormat::Jsonl, columns, &mut out),
        };
        written.map(|()| out).map_err(StoredInputError::Memory)
    }

    fn write_rows(
        &self,
        format: RowFormat,
        columns: RowColumns<'_>,
        out: &mut Vec<u8>,
    ) -> io::Result<()> {
        let mut rows = RowWriter::new(format, columns, out);
        rows.write_header()?;
        self.views().try_for_each(|result| rows.write_row(&result))
    }

    /// Everything that a format shows, result by result.
    fn views(&self) -> impl Iterator<Item = ResultView<'_>> {
        self.results.iter().map(RawResult::view)
    }

    /// The answered results, as a lens reads them.
    pub(crate) fn answered(&self) -> impl Iterator<Item = AnswersView<'_>> {
        let answered = self.views().filter(|view| view.status.answers().is_some());
        answered.map(|view| view.answers())
    }

    /// The version with the highest number.
    pub(crate) fn latest(&self) -> &PrismVersion {
        self.versions.latest()
    }

    /// The columns of a lens file, or of the automatic lens.
    pub(crate) fn columns(
        &self,
        lens: Option<&str>,
    ) -> Result<Cow<'_, [Column]>, StoredInputError> {
        let latest = self.latest();
        let Some(text) = lens else {
            return Ok(Cow::Borrowed(latest.columns(&Lens::Automatic)));
        };
        let lens = lens_file::read_lens(text.as_bytes(), latest).map_err(StoredInputError::Lens)?;
        Ok(match lens {
            Lens::Automatic => Cow::Borrowed(latest.columns(&Lens::Automatic)),
            Lens::Custom(columns) => Cow::Owned(columns),
        })
    }
}

/// Splits a list of results, or results one after another.
fn read_results(text: &str) -> serde_json::Result<Vec<&RawValue>> {
    if text.trim_start().starts_with('[') {
        return serde_json::from_str(text);
    }
    let results = serde_json::Deserializer::from_str(text);
    results.into_iter().collect()
}

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
