//! How many connections a server may hold, out of the descriptors that the process may have.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// The most connections of one worker, however many descriptors there are.
const MOST: usize = 25_600;

/// The number of connections that each worker of a server may hold, when the server's connections may
/// take one part in `parts` of the process's descriptors and are `most` at most. Further connections
/// wait in the listener's queue.
///
/// The rest is for the database, the model and files: without it, clients that only connect would make
/// the calls of others fail. Raises the process's limit of descriptors as far as the system allows.
pub(crate) fn connections_of_each_worker(workers: usize, parts: usize, most: usize) -> usize {
    at_most(share(descriptors(), workers, parts), workers, most)
}

fn at_most(share: usize, workers: usize, most: usize) -> usize {
    share.min(most / workers.max(1)).max(1)
}

fn share(descriptors: usize, workers: usize, parts: usize) -> usize {
    (descriptors / parts.max(1) / workers.max(1)).clamp(1, MOST)
}

fn descriptors() -> usize {
    let limit = getrlimit(Resource::Nofile);
    let highest = Rlimit {
        current: limit.maximum,
        maximum: limit.maximum,
    };
    // where the system refuses it, the lower limit holds
    let current = match setrlimit(Resource::Nofile, highest) {
        Ok(()) => limit.maximum,
        Err(_) => limit.current,
    };
    current
        .and_then(|number| usize::try_from(number).ok())
        .unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_share_their_part_of_the_descriptors() {
        assert_eq!(share(1024, 2, 2), 256);
        assert_eq!(share(20_000, 4, 4), 1250);
        assert_eq!(
            share(3, 8, 2),
            1,
            "a worker without connections serves nobody"
        );
        assert_eq!(share(usize::MAX, 2, 2), MOST);
    }

    #[test]
    fn workers_share_what_the_server_may_have_at_most() {
        assert_eq!(at_most(10_000, 2, 12_288), 6_144);
        assert_eq!(at_most(1_000, 2, 12_288), 1_000);
        assert_eq!(at_most(1_000, 600, 512), 1);
    }

    #[test]
    fn the_limit_is_raised_as_far_as_it_goes() {
        descriptors();
        let limit = getrlimit(Resource::Nofile);
        assert_eq!(limit.current, limit.maximum);
    }
}
