//! Divides the process's file descriptors among the connections of its servers.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// The most connections of one worker, even if there are more descriptors.
const MOST: usize = 25_600;
/// The fewest connections of one worker with which a node may start.
const FEWEST: usize = 4;

/// The descriptor needs of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DescriptorNeeds {
    /// Threads that serve the API, at least 1.
    pub api_workers: usize,
    /// Threads that serve the app; 0 without an app.
    pub app_workers: usize,
    /// Descriptors that are not client connections: the database, the model, files, the runtime
    /// itself.
    pub others: usize,
}

/// The most connections of each worker, by server. Further ones wait in the listener's queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionShares {
    /// Connections of each API worker.
    pub api: usize,
    /// Connections of each app worker.
    pub app: usize,
}

/// The process's limit of file descriptors is too low.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{limit} open files and connections are allowed, and at least {needed} are needed: raise the limit \
     (`ulimit -n {needed}`)"
)]
pub struct TooFewDescriptors {
    /// The process's limit.
    pub limit: usize,
    /// The least number needed.
    pub needed: usize,
}

impl DescriptorNeeds {
    /// Raises the process's descriptor limit as far as the system allows, and divides it: at most
    /// half for the API's connections, a quarter for the app's, and never those for the database,
    /// the model and files. Otherwise idle connections could make other clients' calls fail.
    ///
    /// # Errors
    /// [`TooFewDescriptors`] when the limit is too low.
    pub fn share(&self) -> Result<ConnectionShares, TooFewDescriptors> {
        self.shares_of(descriptors())
    }

    fn shares_of(&self, limit: usize) -> Result<ConnectionShares, TooFewDescriptors> {
        let Self {
            api_workers,
            app_workers,
            others,
        } = *self;
        let needed = others + FEWEST * (api_workers + app_workers);
        if limit < needed {
            return Err(TooFewDescriptors { limit, needed });
        }
        let clients = limit - others;
        let share_of_app = if app_workers == 0 {
            0
        } else {
            (limit / 4).min(clients / 3)
        };
        let rest = (limit / 2).min(clients - share_of_app);
        Ok(ConnectionShares {
            api: of_each(rest, api_workers),
            app: of_each(share_of_app, app_workers),
        })
    }
}

/// The share of each worker.
pub(crate) fn of_each(connections: usize, workers: usize) -> usize {
    (connections / workers.max(1)).clamp(1, MOST)
}

fn descriptors() -> usize {
    let limit = getrlimit(Resource::Nofile);
    let highest = Rlimit {
        current: limit.maximum,
        maximum: limit.maximum,
    };
    // if the system refuses, the lower limit applies
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

    /// The needs of a node with these numbers of workers for the API and the app.
    fn needs(workers: [usize; 2]) -> DescriptorNeeds {
        DescriptorNeeds {
            api_workers: workers[0],
            app_workers: workers[1],
            others: 70,
        }
    }

    fn shares(needs: DescriptorNeeds, limit: usize) -> (usize, usize) {
        let shares = needs.shares_of(limit).unwrap();
        (shares.api, shares.app)
    }

    #[test]
    fn workers_share_their_part_of_the_descriptors() {
        assert_eq!(shares(needs([2, 2]), 1024), (256, 128));
        assert_eq!(shares(needs([4, 4]), 20_000), (2500, 1250));
        assert_eq!(shares(needs([2, 0]), 1024), (256, 1));
        assert_eq!(shares(needs([2, 2]), usize::MAX), (MOST, MOST));
    }

    #[test]
    fn what_is_no_clients_is_never_shared_out() {
        for limit in 86..2000 {
            for needs in [needs([2, 2]), needs([4, 0]), needs([1, 2])] {
                let (api, app) = shares(needs, limit);
                let of_clients = api * needs.api_workers + app * needs.app_workers;
                assert!(of_clients + needs.others <= limit, "{limit}: {needs:?}");
                assert!(api >= FEWEST, "{limit}: {needs:?}");
            }
        }
    }

    #[test]
    fn too_few_are_refused_with_the_number_that_is_needed() {
        let refused = needs([2, 2]).shares_of(85);
        let (limit, needed) = (85, 86);
        assert_eq!(refused, Err(TooFewDescriptors { limit, needed }));
        let words = refused.unwrap_err().to_string();
        assert!(words.contains("ulimit -n 86"), "{words}");
    }

    #[test]
    fn the_limit_is_raised_as_far_as_it_goes() {
        descriptors();
        let limit = getrlimit(Resource::Nofile);
        assert_eq!(limit.current, limit.maximum);
    }
}
