//! Holds the shape of the house: arrows, file lengths, inherited lints. All of it is in `tests`.
