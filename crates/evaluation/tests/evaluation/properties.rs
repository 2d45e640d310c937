//! Rules that hold for all sets of answers, and a second, plain computation of the sums.
