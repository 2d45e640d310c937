//! The prism file.
