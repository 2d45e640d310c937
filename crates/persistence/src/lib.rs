//! The database of Refract: PostgreSQL or SQLite, each query written once.
