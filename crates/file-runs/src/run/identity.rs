//! The idempotency keys by which a restarted run recognizes its rows.

use refract_domain::ids::PrismId;
use refract_domain::prism::VersionNumber;
use refract_domain::submission::reference::{IdempotencyKey, Ref};
use sha2::{Digest as _, Sha256};

use crate::input::{InputRow, RowContent};

/// Identifies a run.
///
/// The identity depends on the content of the rows, not on the file's name: a file can be moved,
/// split over machines or corrected, and its unchanged rows are not asked about again.
#[derive(Clone, Debug)]
pub(crate) struct RunIdentity {
    pub(crate) prism: PrismId,
    pub(crate) version: VersionNumber,
    /// The run's name, usually empty. A different name makes a different run.
    pub(crate) name: String,
}

impl RunIdentity {
    /// The idempotency key of a row: a hash of the run, the row's number and the row's values.
    pub(crate) fn key(&self, row: &InputRow, content: &RowContent) -> IdempotencyKey {
        let mut hash = Sha256::new();
        let mut part = |bytes: &[u8]| {
            // the length before each part distinguishes lists with equal concatenations
            hash.update(bytes.len().to_be_bytes());
            hash.update(bytes);
        };
        part(self.prism.uuid().as_bytes());
        part(&self.version.get().to_be_bytes());
        part(self.name.as_bytes());
        part(&row.number.to_be_bytes());
        for (key, value) in content.submission.fields() {
            part(key.as_str().as_bytes());
            part(value.as_bytes());
        }
        part(content.submission.context().unwrap_or_default().as_bytes());
        let reference = content.reference.as_ref().map(Ref::as_str);
        part(reference.unwrap_or_default().as_bytes());
        let digest = base16ct::lower::encode_string(&hash.finalize());
        IdempotencyKey::saved(format!("run:{digest}"))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use refract_domain::key::FieldKey;
    use refract_domain::submission::{CallContext, FieldValues, Submission};
    use uuid::Uuid;

    use super::*;
    use crate::gold::GoldCells;

    fn key(version: i32, name: &str, number: u64, values: [&str; 2], ends: [&str; 2]) -> String {
        let run = RunIdentity {
            prism: PrismId::new(Uuid::from_u128(7)),
            version: VersionNumber::new(version).unwrap(),
            name: name.to_owned(),
        };
        let fields = ["a", "b"].map(|key| FieldKey::parse(key).unwrap());
        let fields = fields.into_iter().zip(values.map(str::to_owned)).collect();
        let content = RowContent {
            submission: Submission::saved(
                FieldValues::new(fields),
                CallContext::saved(ends[0].to_owned()),
            ),
            reference: Ref::parse(ends[1]).ok(),
        };
        let row = InputRow {
            line: 99,
            number,
            content: Err(String::new()),
            cells: Vec::new(),
            gold: GoldCells::default(),
        };
        run.key(&row, &content).as_str().to_owned()
    }

    #[test]
    fn every_part_of_a_row_and_its_place_make_the_key() {
        let keys = [
            key(1, "", 1, ["x", "y"], ["", ""]),
            key(2, "", 1, ["x", "y"], ["", ""]),
            key(1, "again", 1, ["x", "y"], ["", ""]),
            key(1, "", 2, ["x", "y"], ["", ""]),
            key(1, "", 1, ["xy", ""], ["", ""]),
            key(1, "", 1, ["x", "y"], ["c", ""]),
            key(1, "", 1, ["x", "y"], ["", "c"]),
        ];
        assert_eq!(keys[0], key(1, "", 1, ["x", "y"], ["", ""]));
        assert!(keys.iter().all(|key| key.len() == 68), "{keys:?}");
        assert_eq!(HashSet::from(keys).len(), 7);
    }
}
