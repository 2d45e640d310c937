//! The order of the elements that two versions have in common.

/// Whether the elements that both lists contain differ in order. Neither list contains an element
/// twice.
pub(super) fn is_other_order<T: PartialEq>(before: &[T], after: &[T]) -> bool {
    let kept_before = before.iter().filter(|element| after.contains(element));
    let kept_after = after.iter().filter(|element| before.contains(element));
    kept_before.ne(kept_after)
}
