//! Probabilities drawn as bars of characters.

/// The block characters that are one to seven eighths full.
const EIGHTHS: [char; 7] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉'];
const FULL: char = '█';
const EMPTY: char = ' ';
const TICK: char = '│';

/// A bar of exactly `columns` characters for a share from 0 to 1, with a vertical line at each of
/// `marks`, also shares from 0 to 1.
pub(crate) fn bar(share: f64, marks: &[f64], columns: usize) -> String {
    let eighths = scaled(share, columns * 8);
    let (full, rest) = (eighths / 8, eighths % 8);
    let partial = rest.checked_sub(1).and_then(|index| EIGHTHS.get(index));
    let filled = std::iter::repeat_n(FULL, full).chain(partial.copied());
    let mut cells: Vec<char> = filled
        .chain(std::iter::repeat(EMPTY))
        .take(columns)
        .collect();
    for mark in marks {
        let last = columns.saturating_sub(1);
        if let Some(cell) = cells.get_mut(scaled(*mark, columns).min(last)) {
            *cell = TICK;
        }
    }
    cells.into_iter().collect()
}

/// Converts a share to steps, rounded; any share above 0 gets at least one step.
fn scaled(share: f64, steps: usize) -> usize {
    let steps = u32::try_from(steps).unwrap_or(u32::MAX);
    let step = (share.clamp(0.0, 1.0) * f64::from(steps)).round();
    #[expect(
        clippy::as_conversions,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "from 0 to `steps`, which is a u32"
    )]
    let step = step as usize;
    step.max(usize::from(share > 0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_has_its_width_whatever_the_share() {
        assert_eq!(bar(0.0, &[], 4), "    ");
        assert_eq!(bar(0.000_001, &[], 4), "▏   ");
        assert_eq!(bar(0.5, &[], 4), "██  ");
        assert_eq!(bar(0.53, &[], 4), "██▏ ");
        assert_eq!(bar(1.0, &[], 4), "████");
        assert_eq!(bar(f64::NAN, &[], 3).chars().count(), 3);
        assert_eq!(bar(1.0, &[], 0), "");
    }

    #[test]
    fn a_mark_stands_where_its_share_is() {
        assert_eq!(bar(0.8, &[0.4, 0.6], 10), "████│█│█  ");
        assert_eq!(bar(0.1, &[1.0], 4), "▍  │");
    }
}
