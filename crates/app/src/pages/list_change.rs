//! Moves and removes the items of a list in a form.

/// A change to an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ListChange {
    /// The item is at this place now; unchanged if it was already at the end of the list.
    Moved(usize),
    /// The item is gone.
    Removed,
}

/// Applies a button's action (`up`, `down`, `remove`, or `to` with a place) to the item at `from`;
/// `None` for an unknown action or a place outside the list.
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
