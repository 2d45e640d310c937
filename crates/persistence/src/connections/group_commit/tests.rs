use super::*;

/// A row that is identified by its key.
struct TestRow {
    bytes: usize,
    key: Option<&'static str>,
}

impl GroupRow for TestRow {
    fn bytes(&self) -> usize {
        self.bytes
    }

    fn contended(&self) -> impl Ord + '_ {
        self.key
    }
}

fn row(bytes: usize, key: Option<&'static str>) -> TestRow {
    TestRow { bytes, key }
}

fn group_commit(groups_at_once: usize) -> Arc<GroupCommit<TestRow>> {
    Arc::new(GroupCommit::new(groups_at_once))
}

/// The sizes of the groups that a leader sends, each of which succeeds.
fn send_all(leader: &mut GroupLeader<TestRow>) -> Vec<usize> {
    let groups = std::iter::from_fn(|| leader.next_group());
    let sizes = groups.map(|mut group| {
        let rows = group.take_rows().len();
        group.tell(Ok(vec![true; rows]));
        rows
    });
    sizes.collect()
}

#[test]
fn a_row_that_comes_alone_goes_at_once() {
    let commit = group_commit(2);
    for _ in 0..3 {
        let (mut fate, leader) = commit.join(row(10, None));
        assert_eq!(send_all(&mut leader.unwrap()), [1]);
        assert!(matches!(fate.try_recv(), Ok(Ok(true))));
    }
}

#[test]
fn rows_that_come_meanwhile_go_together() {
    let commit = group_commit(1);
    let (_first, leader) = commit.join(row(10, None));
    let mut leader = leader.unwrap();
    let group = leader.next_group().unwrap();
    let later: Vec<_> = (0..150).map(|_| commit.join(row(10, None))).collect();
    assert!(later.iter().all(|(_, leader)| leader.is_none()));
    group.tell(Ok(vec![true]));
    assert_eq!(send_all(&mut leader), [64, 64, 22]);
    for (mut fate, _) in later {
        assert!(matches!(fate.try_recv(), Ok(Ok(true))));
    }
}

#[test]
fn a_group_holds_a_bounded_amount_of_text_or_one_row() {
    let commit = group_commit(1);
    let sizes = [100_000, 100_000, 100_000, 1_000_000, 10, 10];
    let joined: Vec<_> = sizes.map(|size| commit.join(row(size, None))).into();
    let leaders = joined.into_iter().filter_map(|(_, leader)| leader);
    let sent: Vec<_> = leaders.map(|mut leader| send_all(&mut leader)).collect();
    assert_eq!(sent, [[2, 1, 1, 2]]);
}

#[test]
fn another_group_goes_while_one_is_slow() {
    let commit = group_commit(2);
    let (_first, leader) = commit.join(row(10, None));
    let mut first = leader.unwrap();
    let slow = first.next_group().unwrap();
    std::thread::sleep(SLOW);
    let (_second, leader) = commit.join(row(10, None));
    let mut second = leader.unwrap();
    let also_slow = second.next_group().unwrap();
    std::thread::sleep(SLOW);
    let (_third, leader) = commit.join(row(10, None));
    assert!(leader.is_none(), "two are on their way");
    drop((slow, also_slow));
    assert_eq!(send_all(&mut first), [1]);
    assert_eq!(send_all(&mut second), [0; 0]);
}

#[test]
fn every_group_has_its_rows_in_the_same_order() {
    let commit = group_commit(1);
    let keys = [Some("c"), None, Some("a"), Some("b"), Some("a")];
    let joined: Vec<_> = keys.map(|key| commit.join(row(10, key))).into();
    let mut leaders = joined.into_iter().filter_map(|(_, leader)| leader);
    let mut group = leaders.next().unwrap().next_group().unwrap();
    let rows = group.take_rows();
    assert!(rows.is_sorted_by(|one, other| one.contended() <= other.contended()));
    assert_eq!(rows.len(), keys.len());
}

#[test]
fn an_error_is_reported_to_one_and_leaves_many_open() {
    let failure = || Err(PersistenceError::Failed("a full disk".to_owned()));
    let commit = group_commit(1);
    let (mut alone, leader) = commit.join(row(10, None));
    let mut leader = leader.unwrap();
    leader.next_group().unwrap().tell(failure());
    assert!(matches!(alone.try_recv(), Ok(Err(_))));
    let many: Vec<_> = (0..3).map(|_| commit.join(row(10, None)).0).collect();
    leader.next_group().unwrap().tell(failure());
    for mut fate in many {
        assert!(matches!(
            fate.try_recv(),
            Err(oneshot::error::TryRecvError::Closed)
        ));
    }
}

#[test]
fn a_leader_that_is_aborted_leaves_nobody_waiting() {
    let commit = group_commit(1);
    let (_first, leader) = commit.join(row(10, None));
    let (mut second, none) = commit.join(row(10, None));
    assert!(none.is_none());
    drop(leader);
    assert!(matches!(
        second.try_recv(),
        Err(oneshot::error::TryRecvError::Closed)
    ));
    let (_third, leader) = commit.join(row(10, None));
    assert_eq!(send_all(&mut leader.unwrap()), [1]);
}
