//! Whether all answers have the same origin.

/// The single value seen so far, or the fact that there were several.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum OneOrSeveral<T> {
    /// No value was seen.
    #[default]
    None,
    /// Every value was this one.
    One(T),
    /// There were different values.
    Several,
}

impl<T: PartialEq + Clone> OneOrSeveral<T> {
    /// Adds a value.
    pub(super) fn add(&mut self, value: &T) {
        match self {
            Self::None => *self = Self::One(value.clone()),
            Self::One(one) if one == value => {}
            Self::One(_) | Self::Several => *self = Self::Several,
        }
    }

    /// The only value; `None` when there are several or none.
    pub(super) fn one(&self) -> Option<&T> {
        match self {
            Self::One(one) => Some(one),
            Self::None | Self::Several => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_equal_values_are_one() {
        let mut seen = OneOrSeveral::default();
        assert_eq!(seen.one(), None);
        seen.add(&1);
        seen.add(&1);
        assert_eq!(seen.one(), Some(&1));
        seen.add(&2);
        assert_eq!(seen.one(), None);
        seen.add(&1);
        assert_eq!(seen.one(), None);
    }
}
