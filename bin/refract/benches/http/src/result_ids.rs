//! The ids of generated results, computed from a result's number.

use uuid::Uuid;

/// The moment of the first result, in milliseconds since 1970; results follow every 10 ms.
pub const BEGIN: u64 = 1_700_000_000_000;

/// The id of a result by its number, the same as in the statements of
/// [`Filled`](crate::filling::Filled).
pub fn id_of(number: u64) -> Uuid {
    Uuid::from_u64_pair((BEGIN + number * 10) << 16 | 0x7000, 0x8000 << 48 | number)
}
