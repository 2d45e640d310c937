use super::*;

#[tokio::test]
async fn a_server_that_hangs_catches_up_once_until_it_answers() {
    let catch_up = CatchUp::new(Duration::ZERO);
    let time_out = || {
        catch_up.timed_out(catch_up.now());
        catch_up.is_on.load(Ordering::Relaxed)
    };
    while catch_up.now().is_zero() {
        tokio::task::yield_now().await;
    }
    assert!(time_out());
    // the time is over at once, and nobody waits
    assert_eq!(
        catch_up.turn(CallPriority::Interactive).await.grace,
        Duration::ZERO
    );
    assert!(!time_out());
    let before = catch_up.now();
    while catch_up.now() == before {
        tokio::task::yield_now().await;
    }
    catch_up.answered(true);
    assert!(time_out());
}

#[tokio::test]
async fn only_a_timeout_without_an_answer_meanwhile_holds_others_back() {
    let catch_up = CatchUp::new(LONGEST);
    let sent_at = catch_up.now();
    while catch_up.now() == sent_at {
        tokio::task::yield_now().await;
    }
    catch_up.answered(true);
    assert!(!catch_up.timed_out(sent_at));
    let turns = [(); 3].map(|()| catch_up.turn(CallPriority::Interactive));
    let turns = futures_util::future::join_all(turns).await;
    assert!(turns.iter().all(|turn| turn.catch_up.is_none()));
}

#[test]
fn an_answer_within_the_millisecond_of_a_timeout_counts() {
    for _ in 0..20 {
        let catch_up = CatchUp::new(LONGEST);
        let wait = || std::thread::sleep(Duration::from_micros(20));
        wait();
        assert!(!catch_up.timed_out(catch_up.now()));
        wait();
        catch_up.answered(false);
        wait();
        assert!(!catch_up.timed_out(catch_up.now()));
    }
}

#[tokio::test]
async fn answers_let_those_that_wait_go() {
    let catch_up = CatchUp::new(LONGEST);
    let sent_at = catch_up.now();
    assert!(!catch_up.timed_out(sent_at));
    assert!(catch_up.timed_out(sent_at), "it waited behind the first");
    let probe = catch_up.turn(CallPriority::Batch).await;
    assert!(probe.grace > Duration::ZERO);
    let count = |went: &tokio::sync::mpsc::UnboundedReceiver<_>| went.len();
    let (sender, went) = tokio::sync::mpsc::unbounded_channel();
    let waiting = futures_util::future::join_all([(); 4].map(|()| async {
        sender.send(catch_up.turn(CallPriority::Batch).await).ok();
    }));
    let mut waiting = std::pin::pin!(waiting);
    let settle = Duration::from_millis(5);
    assert!(timeout(settle, &mut waiting).await.is_err());
    assert_eq!(count(&went), 0);
    // a slow answer lets one go, and a quick one two
    drop(probe);
    assert!(timeout(settle, &mut waiting).await.is_err());
    assert_eq!(count(&went), 1);
    catch_up.answered(true);
    assert!(timeout(settle, &mut waiting).await.is_err());
    assert_eq!(count(&went), 2);
    drop(went);
    waiting.await;
}
