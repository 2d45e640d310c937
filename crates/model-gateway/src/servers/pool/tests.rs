//! The choice among several servers, at simulated times.

use proptest::prelude::*;

use super::*;

fn pool(servers: u16) -> ServerPool {
    let mut addresses = EachServer::alone(address(1));
    for port in 2..=servers {
        addresses.push(address(port));
    }
    ServerPool::new(&addresses, HostLimits::default())
}

fn address(port: u16) -> ServerAddress {
    ServerAddress::parse(&format!("http://127.0.0.1:{port}/v1")).unwrap()
}

fn place(index: usize) -> ServerPlace {
    ServerPlace::all().nth(index).unwrap()
}

fn set(indexes: &[usize]) -> ServerSet {
    let places = indexes.iter().map(|index| place(*index));
    places.fold(ServerSet::default(), ServerSet::with)
}

/// Fails the server until it is ejected. Returns when it is due.
fn fail(pool: &ServerPool, index: usize, now: Duration) -> Duration {
    let load = pool.loads.of(place(index));
    for _ in 0..3 {
        load.failed(false, now);
    }
    assert!(load.health().is_ejected());
    load.health().due()
}

fn chosen(pool: &ServerPool, now: Duration, avoided: &[usize]) -> (usize, bool) {
    let chosen = pool.choose_at(now, set(avoided)).unwrap();
    (chosen.place.index(), chosen.is_probe)
}

const NOW: Duration = Duration::from_secs(1000);

#[test]
fn the_only_server_is_always_chosen_and_never_ejected() {
    let pool = pool(1);
    for _ in 0..10 {
        pool.ask(pool.choose(ServerSet::default()).unwrap())
            .failed();
    }
    let chosen = pool.choose(ServerSet::default()).unwrap();
    assert_eq!(chosen.place, ServerPlace::default());
    assert!(!chosen.is_probe && !pool.is_ejected(chosen.place));
    assert_eq!(pool.choose(set(&[0])), None);
    let [only] = &pool.uses().collect::<Vec<_>>()[..] else {
        panic!("there is one")
    };
    assert_eq!((only.requests, only.failures, only.in_flight), (10, 10, 0));
    assert!(!only.is_ejected);
}

#[test]
fn of_two_servers_the_one_with_fewer_requests_in_flight_is_chosen() {
    let pool = pool(2);
    let mut in_flight: Vec<AskedServer<'_>> = Vec::new();
    for _ in 0..50 {
        in_flight.push(pool.ask(pool.choose_at(NOW, ServerSet::default()).unwrap()));
        in_flight.push(pool.ask(pool.choose_at(NOW, ServerSet::default()).unwrap()));
        let [one, other] = [0, 1].map(|index| pool.loads.of(place(index)).in_flight());
        assert_eq!(one, other);
    }
    in_flight.clear();
    assert!(pool.uses().all(|server| server.in_flight == 0));
}

#[test]
fn the_busiest_of_several_servers_is_never_chosen_and_every_other_one_is() {
    let pool = pool(5);
    let busy = ChosenServer {
        place: place(3),
        is_probe: false,
    };
    let _in_flight = pool.ask(busy);
    let mut times = [0; 5];
    for _ in 0..1000 {
        times[chosen(&pool, NOW, &[]).0] += 1;
    }
    assert_eq!(times[3], 0, "{times:?}");
    // the average is 250 each; fewer than 150 by chance is practically impossible
    let others = [0, 1, 2, 4].map(|index| times[index]);
    assert!(others.iter().all(|times| *times >= 150), "{times:?}");
}

#[test]
fn a_server_that_is_ejected_gets_one_probe_when_it_is_due() {
    let pool = pool(3);
    let due = fail(&pool, 1, NOW);
    let before = due.saturating_sub(Duration::from_millis(1));
    for _ in 0..100 {
        let (index, is_probe) = chosen(&pool, before, &[]);
        assert!(index != 1 && !is_probe);
    }
    assert_eq!(chosen(&pool, due, &[]), (1, true));
    for _ in 0..100 {
        assert_ne!(chosen(&pool, due, &[]).0, 1);
    }
    // a second attempt does not wait for a probe
    pool.loads.of(place(1)).probe_is_inconclusive(due);
    assert_ne!(chosen(&pool, due, &[0]), (1, true));
    assert_eq!(chosen(&pool, due, &[]), (1, true));
    pool.loads.of(place(1)).answered();
    let is_chosen = |_| chosen(&pool, due, &[]) == (1, false);
    assert!((0..1000).any(is_chosen));
}

#[test]
fn a_probe_that_is_abandoned_is_followed_by_another_one_at_once() {
    let pool = pool(2);
    // by the pool's own clock, the server has long been due
    fail(&pool, 0, Duration::ZERO);
    pool.loads
        .of(place(0))
        .probe_is_inconclusive(Duration::ZERO);
    let probe = pool.choose(ServerSet::default()).unwrap();
    assert!(probe.is_probe);
    let asked = pool.ask(probe);
    assert!(!pool.choose(ServerSet::default()).unwrap().is_probe);
    drop(asked);
    assert!(pool.choose(ServerSet::default()).unwrap().is_probe);
}

#[test]
fn when_all_are_ejected_the_one_that_is_due_first_is_asked() {
    let pool = pool(3);
    let later = fail(&pool, 0, NOW + Duration::from_secs(9));
    fail(&pool, 1, NOW);
    fail(&pool, 2, NOW + Duration::from_secs(5));
    assert_eq!(chosen(&pool, NOW, &[]), (1, false));
    assert_eq!(chosen(&pool, NOW, &[1]), (2, false));
    assert_eq!(chosen(&pool, NOW, &[1, 2]), (0, false));
    assert_eq!(chosen(&pool, later, &[1, 2]), (0, true));
    assert_eq!(pool.choose_at(NOW, set(&[0, 1, 2])), None);
}

#[test]
fn another_server_is_one_that_is_well_where_there_is_one() {
    let pool = pool(3);
    fail(&pool, 1, NOW);
    for _ in 0..100 {
        assert_eq!(chosen(&pool, NOW, &[0]), (2, false));
    }
}

proptest! {
    #[test]
    fn some_server_is_always_chosen_and_one_without_failures_first(
        servers in 2_u16..=8,
        failures in prop::collection::vec((0_usize..8, any::<bool>()), 0..40),
        passed in 0_u64..10_000,
        avoided in prop::collection::vec(0_usize..8, 0..8),
    ) {
        let pool = pool(servers);
        let servers = usize::from(servers);
        let mut now = NOW;
        let mut failed = vec![false; servers];
        for (index, is_probe) in failures {
            let index = index % servers;
            now += Duration::from_millis(passed);
            pool.loads.of(place(index)).failed(is_probe, now);
            failed[index] = true;
        }
        let avoided: Vec<usize> = avoided.iter().map(|index| index % servers).collect();
        let is_any_left = (0..servers).any(|index| !avoided.contains(&index));
        let chosen = pool.choose_at(now, set(&avoided));
        prop_assert_eq!(chosen.is_some(), is_any_left);
        for (index, failed) in failed.iter().enumerate() {
            prop_assert!(*failed || !pool.is_ejected(place(index)));
        }
        if let Some(ChosenServer { place, is_probe }) = chosen {
            prop_assert!(!avoided.contains(&place.index()));
            let is_well = |index: usize| !failed[index] && !avoided.contains(&index);
            let may_fail = is_probe || !pool.is_ejected(place);
            prop_assert!(may_fail || !(0..servers).any(is_well));
        }
    }
}
