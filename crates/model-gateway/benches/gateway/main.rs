//! Compares the gateway with a bare `hyper` client that sends equal requests: submissions per
//! second with a server that answers at once, and memory per waiting submission.
//!
//! The server and each measurement of memory run in separate processes. To print one of the
//! tables: `cargo bench --bench gateway -- calls`, or `-- waiting`. `-- lone` prints the time of
//! calls that come one by one over https.
#![expect(
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a bench prints what it found and fails where it cannot"
)]

mod bare;
mod calls;
mod lone;
mod processes;
mod prompts;
mod waiting;

use std::env;

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match *arguments {
        ["serve", delay] => processes::serve(delay),
        ["wait", protocol, server] => waiting::measure(protocol, server),
        _ => {
            let is_wanted = |table| {
                let named = |name| arguments.contains(&name);
                named(table) || !["calls", "waiting", "lone"].into_iter().any(named)
            };
            if is_wanted("calls") {
                calls::print();
            }
            if is_wanted("waiting") {
                waiting::print();
            }
            if is_wanted("lone") {
                lone::print();
            }
        }
    }
}
