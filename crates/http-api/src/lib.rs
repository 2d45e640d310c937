//! The HTTP API of Refract.
