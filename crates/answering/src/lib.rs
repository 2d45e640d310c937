//! The use cases of Refract: create, read and retry a result.
