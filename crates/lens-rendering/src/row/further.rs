//! Columns that an export adds after those of the lens: marks, stored probabilities, and how an answer
//! came about. The API's rows have none.

use refract_domain::key::ColumnName;
use refract_domain::lens::Value;
use refract_domain::result::Cost;

/// A column after those of the lens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FurtherColumn {
    /// The name, which no other column of the rows has.
    pub name: String,
    /// The type of its cells.
    pub kind: FurtherKind,
}

/// The type of a column after those of the lens, for formats whose cells have types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FurtherKind {
    /// Texts, and keys of outcomes.
    Text,
    /// Whole numbers.
    Integer,
    /// Probabilities and costs.
    Decimal,
}

/// The value of a column after those of the lens.
#[derive(Clone, Copy)]
pub enum FurtherValue<'a> {
    /// A mark, or what a lens may show.
    OfQuestion(Value<'a>),
    /// A text; `None` if it is not known.
    Text(Option<&'a str>),
    /// A whole number.
    Integer(u64),
    /// A cost; `None` if it is not known.
    Cost(Option<Cost>),
}

impl<'a> From<Value<'a>> for FurtherValue<'a> {
    fn from(value: Value<'a>) -> Self {
        Self::OfQuestion(value)
    }
}

impl From<&ColumnName> for FurtherColumn {
    /// A column of marks.
    fn from(name: &ColumnName) -> Self {
        Self {
            name: name.as_str().to_owned(),
            kind: FurtherKind::Text,
        }
    }
}

/// A column about how an answer came about, which an export adds when it is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProvenanceColumn {
    /// The model, as its server reported it.
    Model,
    /// How long the model took to answer, in milliseconds.
    TookMs,
    /// What the answer cost, in the currency of the host.
    Cost,
    /// The id of the stored file run that made the result.
    Run,
}

impl ProvenanceColumn {
    /// All columns, in their order.
    pub const ALL: [Self; 4] = [Self::Model, Self::TookMs, Self::Cost, Self::Run];

    /// The column with this name; `None` for anything else. Names are case-sensitive.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|column| column.name() == name)
    }

    /// The column's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::TookMs => "took_ms",
            Self::Cost => "cost",
            Self::Run => "run",
        }
    }

    /// The column's type.
    fn kind(self) -> FurtherKind {
        match self {
            Self::Model | Self::Run => FurtherKind::Text,
            Self::TookMs => FurtherKind::Integer,
            Self::Cost => FurtherKind::Decimal,
        }
    }
}

impl From<ProvenanceColumn> for FurtherColumn {
    fn from(column: ProvenanceColumn) -> Self {
        Self {
            name: column.name().to_owned(),
            kind: column.kind(),
        }
    }
}
