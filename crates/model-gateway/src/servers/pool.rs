//! Chooses the server of a request, and learns from the request's end.
//!
//! The choice is the power of two choices: of two servers at random the one with fewer requests in
//! flight. It needs no comparison of all loads and no coordination between nodes, and comes close
//! to the best balance.

use std::time::{Duration, Instant};

use super::address::ServerAddress;
use super::catch_up::{self, CatchUp};
use super::load::{ServerLoad, ServerUse};
use super::pace::{HostLimits, ServerPace};
use super::{EachServer, ServerPlace, ServerSet};

/// The model servers of a process, shared by all threads.
#[derive(Debug)]
pub(crate) struct ServerPool {
    loads: EachServer<ServerLoad>,
    paces: EachServer<ServerPace>,
    catch_up: CatchUp,
    /// Times are durations since this moment.
    origin: Instant,
}

/// The server chosen for a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ChosenServer {
    pub(crate) place: ServerPlace,
    /// Whether the request is the probe of an ejected server.
    pub(crate) is_probe: bool,
}

/// A request in flight to a server. Dropping it reports an inconclusive end.
#[must_use]
pub(crate) struct AskedServer<'a> {
    pool: &'a ServerPool,
    load: &'a ServerLoad,
    is_probe: bool,
}

impl ServerPool {
    /// A pool of the servers at these addresses, each of whose hosts has the same limits.
    pub(crate) fn new(addresses: &EachServer<ServerAddress>, host: HostLimits) -> Self {
        Self {
            loads: addresses.map(|address| ServerLoad::new(address.name())),
            paces: addresses.map(|_| ServerPace::new(host)),
            catch_up: CatchUp::new(catch_up::LONGEST),
            origin: Instant::now(),
        }
    }

    /// Chooses a server outside `avoided`; `None` if all are avoided.
    pub(crate) fn choose(&self, avoided: ServerSet) -> Option<ChosenServer> {
        if self.loads.are_several() {
            return self.choose_at(self.now(), avoided);
        }
        avoided.is_empty().then_some(ChosenServer {
            place: ServerPlace::default(),
            is_probe: false,
        })
    }

    /// Whether the server is ejected now. The server of a list of one never is.
    pub(crate) fn is_ejected(&self, place: ServerPlace) -> bool {
        self.loads.are_several() && self.loads.of(place).health().is_ejected()
    }

    /// Counts a request just before it is sent.
    pub(crate) fn ask(&self, chosen: ChosenServer) -> AskedServer<'_> {
        let load = self.loads.of(chosen.place);
        load.begin();
        AskedServer {
            pool: self,
            load,
            is_probe: chosen.is_probe,
        }
    }

    /// Whether a server catches up, if there is no other that could take its requests.
    pub(crate) fn catch_up(&self) -> Option<&CatchUp> {
        (!self.loads.are_several()).then_some(&self.catch_up)
    }

    /// The pace of requests to a server.
    pub(crate) fn pace(&self, place: ServerPlace) -> &ServerPace {
        self.paces.of(place)
    }

    /// Number of requests that a server works on.
    pub(crate) fn in_flight(&self, place: ServerPlace) -> usize {
        self.loads.of(place).in_flight()
    }

    /// Notes that a server has answered within the time limit.
    pub(crate) fn note_answer(&self, place: ServerPlace) {
        self.loads.of(place).note_answer();
    }

    /// Whether a server has ever answered within the time limit.
    pub(crate) fn has_answered(&self, place: ServerPlace) -> bool {
        self.loads.of(place).has_answered()
    }

    /// The use of each server, in the order of the list.
    pub(crate) fn uses(&self) -> impl Iterator<Item = ServerUse> {
        let servers = self.loads.iter().zip(self.paces.iter());
        servers.map(|(load, pace)| load.server_use(pace))
    }

    /// Chooses among several servers: one that is due for a probe, else a healthy one, else the one
    /// that is due first. A request that avoids a server has failed once and risks no probe if a
    /// healthy server exists.
    fn choose_at(&self, now: Duration, avoided: ServerSet) -> Option<ChosenServer> {
        let mut well = ServerSet::default();
        let mut due_first: Option<(Duration, ServerPlace)> = None;
        for (place, load) in self.loads.places() {
            if avoided.contains(place) {
                continue;
            }
            let health = load.health();
            if !health.is_ejected() {
                well = well.with(place);
            } else if avoided.is_empty() && health.is_due(now) && load.begins_probe(now) {
                return Some(ChosenServer {
                    place,
                    is_probe: true,
                });
            } else if due_first.is_none_or(|(due, _)| health.due() < due) {
                due_first = Some((health.due(), place));
            }
        }
        if let Some(place) = self.less_busy_of_two(well) {
            return Some(ChosenServer {
                place,
                is_probe: false,
            });
        }
        due_first.map(|(_, place)| ChosenServer {
            place,
            is_probe: self.loads.of(place).begins_probe(now),
        })
    }

    /// Draws two servers at random and returns the one with fewer requests in flight. A single
    /// server is returned as it is.
    fn less_busy_of_two(&self, servers: ServerSet) -> Option<ServerPlace> {
        let count = servers.count();
        if count < 2 {
            return servers.places().next();
        }
        let first = rand::random_range(0..count);
        let second = (first + rand::random_range(1..count)) % count;
        let mut one = None;
        let mut other = None;
        for (place, number) in servers.places().zip(0..) {
            if number == first {
                one = Some(place);
            } else if number == second {
                other = Some(place);
            }
        }
        let in_flight = |place| self.loads.of(place).in_flight();
        // of equally busy servers, the one drawn first, which may be either
        [one?, other?]
            .into_iter()
            .min_by_key(|place| in_flight(*place))
    }

    fn now(&self) -> Duration {
        self.origin.elapsed()
    }
}

impl AskedServer<'_> {
    /// Reports an answer that shows a healthy server.
    pub(crate) fn answered(mut self) {
        if self.pool.loads.are_several() {
            self.is_probe = false;
            self.load.answered();
        }
    }

    /// Reports no answer, or one that shows a failing server.
    pub(crate) fn failed(mut self) {
        self.load.count_failure();
        if self.pool.loads.are_several() {
            self.load.failed(self.is_probe, self.pool.now());
            self.is_probe = false;
        }
    }
}

impl Drop for AskedServer<'_> {
    fn drop(&mut self) {
        self.load.end();
        if self.is_probe {
            self.load.probe_is_inconclusive(self.pool.now());
        }
    }
}

#[cfg(test)]
mod tests;
