//! The operator between a measure and its bound.

/// How the value of a requirement is compared with its bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Relation {
    /// `>=`
    AtLeast,
    /// `>`
    Above,
    /// `<=`
    AtMost,
    /// `<`
    Below,
}

impl Relation {
    const ALL: [Self; 4] = [Self::AtLeast, Self::AtMost, Self::Above, Self::Below];

    /// The operator as it is written.
    pub(crate) fn sign(self) -> &'static str {
        match self {
            Self::AtLeast => ">=",
            Self::AtMost => "<=",
            Self::Above => ">",
            Self::Below => "<",
        }
    }

    /// The text before the operator, the operator, and the text after it.
    pub(crate) fn split(text: &str) -> Option<(&str, Self, &str)> {
        // the two operators of two characters come first: the others are their prefixes
        Self::ALL.into_iter().find_map(|relation| {
            let (path, bound) = text.split_once(relation.sign())?;
            Some((path.trim(), relation, bound.trim()))
        })
    }

    /// Whether a value satisfies the bound.
    pub(crate) fn holds(self, value: f64, bound: f64) -> bool {
        match self {
            Self::AtLeast => value >= bound,
            Self::AtMost => value <= bound,
            Self::Above => value > bound,
            Self::Below => value < bound,
        }
    }
}
