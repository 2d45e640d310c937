//! Hashes that match equal texts.

use refract_domain::submission::Submission;
use sha2::{Digest as _, Sha256};

/// The first 128 bits of a SHA-256: enough that two different texts of a prism never share a hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct TextHash(u128);

impl TextHash {
    /// The hash of a caller's reference. It differs from the hash of every submission.
    pub(crate) fn of_reference(reference: &str) -> Self {
        Self::of([b"ref", reference.as_bytes()].into_iter())
    }

    /// The hash of fields and context. It ignores the order of the fields, which may differ between
    /// versions.
    pub(crate) fn of_submission(submission: &Submission) -> Self {
        let mut fields: Vec<_> = submission.fields().iter().collect();
        fields.sort_by_key(|(key, _)| key);
        let context = submission.context().unwrap_or_default().as_bytes();
        let fields = fields.into_iter();
        let fields = fields.flat_map(|(key, value)| [key.as_str().as_bytes(), value.as_bytes()]);
        Self::of([&b"fields"[..], context].into_iter().chain(fields))
    }

    /// The hash of a list of texts. It differs from the hash of every reference and submission.
    pub(crate) fn of_parts<'a>(parts: impl IntoIterator<Item = &'a str>) -> Self {
        let parts = parts.into_iter().map(str::as_bytes);
        Self::of([&b"parts"[..]].into_iter().chain(parts))
    }

    /// The hash as 32 hexadecimal digits.
    pub(crate) fn hex(self) -> String {
        format!("{:032x}", self.0)
    }

    /// The hash as bytes, for a column.
    pub(crate) fn bytes(self) -> Vec<u8> {
        self.0.to_be_bytes().to_vec()
    }

    fn of<'a>(parts: impl Iterator<Item = &'a [u8]>) -> Self {
        let mut hash = Sha256::new();
        for part in parts {
            // the length prefix keeps two different lists of parts apart
            hash.update(part.len().to_be_bytes());
            hash.update(part);
        }
        let digest = hash.finalize();
        let bytes = digest.iter().take(16);
        Self(bytes.fold(0, |number, byte| number << 8 | u128::from(*byte)))
    }
}

#[cfg(test)]
mod tests {
    use refract_domain::key::FieldKey;
    use refract_domain::submission::{CallContext, FieldValues};

    use super::*;

    fn hash(fields: &[(&str, &str)], context: &str) -> TextHash {
        let fields = fields.iter();
        let fields = fields.map(|(key, text)| (FieldKey::parse(key).unwrap(), (*text).to_owned()));
        let fields = FieldValues::new(fields.collect());
        TextHash::of_submission(&Submission::saved(
            fields,
            CallContext::saved(context.to_owned()),
        ))
    }

    #[test]
    fn equal_fields_and_context_are_equal_in_any_order_and_nothing_else_is() {
        let first = hash(&[("a", "x"), ("b", "y")], "");
        assert_eq!(first, hash(&[("b", "y"), ("a", "x")], ""));
        let others = [
            hash(&[("a", "y"), ("b", "x")], ""),
            hash(&[("a", "x"), ("b", "y")], "c"),
            hash(&[("a", "x")], ""),
            hash(&[("a", "xb"), ("b", "")], ""),
            hash(&[], ""),
            TextHash::of_reference("x"),
            TextHash::of_reference(""),
            TextHash::of_parts(["a", "x", "b", "y"]),
            TextHash::of_parts(["", "a", "x", "b", "y"]),
        ];
        for (number, other) in others.iter().enumerate() {
            assert_ne!(*other, first, "{number}");
            assert!(!others[..number].contains(other), "{number}");
        }
    }
}
