//! Asks a language model a prism's questions and reads its probabilities.
