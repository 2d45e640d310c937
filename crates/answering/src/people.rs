//! People of the app: what they are called.

mod names;

pub use self::names::{MakerName, names};
