//! Moving and removing the items of a list in a form.

/// What was done to an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ListChange {
    /// The item is at this place now; at the end of a list it may be the one where it was.
    Moved(usize),
    /// The item is gone.
    Removed,
}

/// Does what a button says, such as `up`, `down`, `remove` or `to` with a place, to the item at a
/// place; `None` for another button and for a place that the list does not have.
pub(super) fn rearrange<T>(items: &mut Vec<T>, from: usize, button: &[&str]) -> Option<ListChange> {
    let end = items.len().checked_sub(1)?;
    if from > end {
        return None;
    }
    let to = match button {
        ["up"] => from.saturating_sub(1),
        ["down"] => (from + 1).min(end),
        ["to", place] => place.parse::<usize>().ok()?.min(end),
        ["remove"] => {
            items.remove(from);
            return Some(ListChange::Removed);
        }
        _ => return None,
    };
    let item = items.remove(from);
    items.insert(to, item);
    Some(ListChange::Moved(to))
}
