//! Checks the rules of this repository that no compiler checks. The checks are in `tests`.
