//! Faults under load: servers that restart, connections that break, full disks, killed nodes. Every
//! acknowledged result is saved exactly once, no call hangs, and the service recovers by itself.
//!
//! Each test starts its own PostgreSQL server. `make test-faults` runs all tests at full length,
//! `make test` runs them shortened.
#![expect(clippy::print_stdout, reason = "a test prints its figures")]

mod load;

mod cuts;
mod failover;
mod file_runs;
mod file_runs_interrupted;
mod hangs;
mod keys;
mod kills;
mod nodes;
mod pooler;
mod refusals;
mod restarts;
mod retests;
mod sqlite;
mod standby;
mod start;
