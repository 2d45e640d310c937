//! Turns are shared fairly, in bounded room, with real concurrency.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::mpsc;
use tokio::task::{JoinHandle, JoinSet};
use uuid::Uuid;

use super::*;

const FEW: QueueLimits = QueueLimits {
    at_once: 1,
    of_network: 4,
    of_networks: 8,
    of_person: 2,
    of_people: 3,
};

fn queue(limits: QueueLimits) -> &'static PermitQueue {
    Box::leak(Box::new(PermitQueue::new(limits)))
}

fn network(name: &str) -> Applicant {
    Applicant::Network(name.to_owned())
}

fn person(number: u128) -> Applicant {
    Applicant::Person(PersonId::new(Uuid::from_u128(number)))
}

/// Number of waiters.
fn waiting(queue: &PermitQueue) -> usize {
    let state = queue.state();
    state.people.total + state.networks.total
}

/// Waits for a permit, records who got it, and returns it.
async fn wait(
    queue: &'static PermitQueue,
    applicant: Applicant,
    served: &mpsc::UnboundedSender<String>,
) -> JoinHandle<Result<(), NoPermit>> {
    let (served_one, served) = (format!("{applicant:?}"), served.clone());
    let mut waiting = Box::pin(async move {
        let permit = queue.permit(applicant).await?;
        served.send(served_one).unwrap();
        drop(permit);
        Ok(())
    });
    let came = futures_util::future::poll_immediate(&mut waiting).await;
    assert!(came.is_none(), "it waits: {came:?}");
    tokio::spawn(waiting)
}

/// The order in which the queue serves these applicants, which arrive in this order while the only
/// permit is taken.
async fn order(applicants: Vec<Applicant>) -> Vec<String> {
    let queue = queue(QueueLimits {
        of_network: 100,
        of_networks: 100,
        of_person: 100,
        of_people: 100,
        ..FEW
    });
    let (served, mut order) = mpsc::unbounded_channel();
    let held = queue.permit(network("first")).await.unwrap();
    let mut waiters = Vec::new();
    for applicant in applicants {
        waiters.push(wait(queue, applicant, &served).await);
    }
    drop(held);
    for waiter in waiters {
        assert_eq!(waiter.await.unwrap(), Ok(()));
    }
    drop(served);
    let mut all = Vec::new();
    while let Some(served_one) = order.recv().await {
        all.push(served_one);
    }
    all
}

fn place(order: &[String], applicant: &Applicant) -> usize {
    let wanted = format!("{applicant:?}");
    order
        .iter()
        .position(|served_one| *served_one == wanted)
        .unwrap()
}

#[tokio::test]
async fn networks_take_turns_however_many_wait_in_one() {
    let mut coming = vec![network("attacker"); 50];
    coming.extend([network("office"), network("home"), network("office")]);
    let served = order(coming).await;
    assert_eq!(served.len(), 53);
    assert_eq!(place(&served, &network("office")), 1);
    assert_eq!(place(&served, &network("home")), 2);
    let offices = served
        .iter()
        .filter(|served_one| served_one.contains("office"));
    assert_eq!(offices.count(), 2);
    assert!(served[4].contains("office"), "{served:?}");
}

#[tokio::test]
async fn a_person_in_a_known_browser_comes_before_all_networks() {
    let names = (0..50).map(|number| network(&number.to_string()));
    let mut coming: Vec<_> = names.collect();
    coming.push(person(1));
    let served = order(coming).await;
    assert_eq!(place(&served, &person(1)), 0);
}

#[tokio::test]
async fn a_person_without_end_keeps_neither_networks_nor_other_people_out() {
    let mut coming = vec![person(1); 50];
    coming.extend([network("office"), person(2)]);
    let served = order(coming).await;
    assert!(place(&served, &network("office")) <= 1, "{served:?}");
    assert!(place(&served, &person(2)) <= 3, "{served:?}");
}

#[tokio::test]
async fn who_finds_no_room_is_refused_at_once_and_who_leaves_makes_room() {
    let queue = queue(FEW);
    let (served, mut order) = mpsc::unbounded_channel();
    let held = queue.permit(network("a")).await.unwrap();
    let mut waiters = Vec::new();
    for _ in 0..FEW.of_network {
        waiters.push(wait(queue, network("a"), &served).await);
    }
    assert_eq!(queue.permit(network("a")).await.err(), Some(NoPermit));
    let other = wait(queue, network("b"), &served).await;
    // a cancelled waiter frees its place, and no permit is lost with it
    for gone in waiters.drain(..2) {
        gone.abort();
        assert!(gone.await.unwrap_err().is_cancelled());
    }
    let again = wait(queue, network("a"), &served).await;
    drop(held);
    for waiter in waiters.into_iter().chain([other, again]) {
        assert_eq!(waiter.await.unwrap(), Ok(()));
    }
    drop(served);
    let mut number = 0;
    while order.recv().await.is_some() {
        number += 1;
    }
    assert_eq!(number, 4);
    assert!(queue.permit(network("a")).await.is_ok());
    assert_eq!(queue.state().free, 1);
}

#[tokio::test]
async fn a_full_queue_takes_one_of_a_shorter_line_in_place_of_the_last_of_the_longest() {
    let queue = queue(FEW);
    let (served, _order) = mpsc::unbounded_channel();
    let held = queue.permit(network("a")).await.unwrap();
    let mut attackers = Vec::new();
    for name in ["a", "a", "a", "b", "b", "b", "b", "a"] {
        attackers.push(wait(queue, network(name), &served).await);
    }
    assert_eq!(waiting(queue), FEW.of_networks);
    let mut others = Vec::new();
    for name in ["c", "d", "e", "f"] {
        others.push(wait(queue, network(name), &served).await);
        assert_eq!(
            waiting(queue),
            FEW.of_networks,
            "bounded for further requests"
        );
    }
    // after these two, no line is longer than a new line would be
    others.push(wait(queue, network("g"), &served).await);
    others.push(wait(queue, network("h"), &served).await);
    assert_eq!(queue.permit(network("i")).await.err(), Some(NoPermit));
    // people have separate room, which is bounded too
    for number in [1, 1, 2] {
        others.push(wait(queue, person(number), &served).await);
    }
    assert_eq!(queue.permit(person(1)).await.err(), Some(NoPermit));
    assert_eq!(waiting(queue), FEW.of_networks + FEW.of_people);
    drop(held);
    let mut sent_away = 0;
    for attacker in attackers {
        sent_away += usize::from(attacker.await.unwrap().is_err());
    }
    assert_eq!(sent_away, 6);
    for other in others {
        assert_eq!(other.await.unwrap(), Ok(()), "one place for each network");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_permit_is_lost_or_doubled_when_many_come_and_go_at_once() {
    let queue = queue(QueueLimits {
        at_once: 3,
        of_network: 20,
        of_networks: 60,
        of_person: 5,
        of_people: 20,
    });
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let mut all = JoinSet::new();
    for number in 0..2_000_u128 {
        let (now, most) = (Arc::clone(&now), Arc::clone(&most));
        let applicant = match number % 4 {
            0 => person(number % 7),
            _ => network(&(number % 11).to_string()),
        };
        all.spawn(async move {
            let patient = number % 5 != 0;
            let permit = loop {
                let permit = if patient {
                    queue.permit(applicant.clone()).await
                } else {
                    // a waiter that is cancelled early
                    tokio::select! {
                        permit = queue.permit(applicant.clone()) => permit,
                        () = tokio::task::yield_now() => return false,
                    }
                };
                match permit {
                    Ok(permit) => break permit,
                    // a refused applicant retries until it gets a permit
                    Err(NoPermit) => tokio::task::yield_now().await,
                }
            };
            let at_once = now.fetch_add(1, Ordering::SeqCst) + 1;
            most.fetch_max(at_once, Ordering::SeqCst);
            tokio::task::yield_now().await;
            now.fetch_sub(1, Ordering::SeqCst);
            drop(permit);
            patient
        });
    }
    let served = all.join_all().await.into_iter().filter(|it| *it).count();
    assert_eq!(served, 1_600, "everybody who waits gets a turn");
    assert!(most.load(Ordering::SeqCst) <= 3);
    let state = queue.state();
    assert_eq!(
        (state.free, state.people.total, state.networks.total),
        (3, 0, 0)
    );
    assert!(state.people.order.is_empty() && state.networks.order.is_empty());
    assert!(state.people.waiting.is_empty() && state.networks.waiting.is_empty());
}
