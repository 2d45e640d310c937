//! The order of what two versions have in common.

/// Whether the elements that both lists have stand in another order. Each element is in a list once.
pub(super) fn is_other_order<T: PartialEq>(before: &[T], after: &[T]) -> bool {
    let kept_before = before.iter().filter(|element| after.contains(element));
    let kept_after = after.iter().filter(|element| before.contains(element));
    kept_before.ne(kept_after)
}
