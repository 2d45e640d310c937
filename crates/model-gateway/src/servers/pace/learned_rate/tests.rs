//! The rate that nodes learn of a server with a limit, at simulated times.

use std::collections::VecDeque;

use super::*;

const STEP: Duration = Duration::from_millis(1);
/// The time to an answer, and to a refusal.
const ANSWER: Duration = Duration::from_millis(400);
const REFUSAL: Duration = Duration::from_millis(10);
/// The pause before a refused request is sent again.
const PAUSE: Duration = Duration::from_millis(250);

/// A server that allows a number of requests a second, and a burst of as many.
struct LimitedServer {
    burst: f64,
    left: f64,
}

impl LimitedServer {
    fn pass(&mut self, per_second: f64) {
        self.left = STEP
            .as_secs_f64()
            .mul_add(per_second, self.left)
            .min(self.burst);
    }

    fn takes(&mut self) -> bool {
        let takes = self.left >= 1.0;
        if takes {
            self.left -= 1.0;
        }
        takes
    }
}

/// A node that always has more to ask, with a bound on the requests under way; or a quiet one.
#[derive(Default)]
struct BusyNode {
    rate: Option<LearnedRate>,
    is_quiet: bool,
    idle: u32,
    /// Whether the next request has waited for the rate.
    is_held_back: bool,
    held_back: u32,
    /// When each request was sent, oldest first, and whether it was held back.
    answered: VecDeque<(Duration, bool)>,
    refused: VecDeque<Duration>,
    pausing: VecDeque<Duration>,
    answers: u32,
    refusals: u32,
}

impl BusyNode {
    fn step(&mut self, now: Duration, server: &mut LimitedServer) {
        while self.pausing.pop_front_if(|end| *end <= now).is_some() {
            self.idle += 1;
        }
        while let Some((sent, was_held_back)) = self
            .answered
            .pop_front_if(|(sent, _)| *sent + ANSWER <= now)
        {
            self.answers += 1;
            self.idle += u32::from(!self.is_quiet);
            if let Some(rate) = &mut self.rate {
                rate.answered(
                    now,
                    PacedRequest {
                        sent_at: sent,
                        was_held_back,
                    },
                );
            }
        }
        while let Some(sent) = self.refused.pop_front_if(|sent| *sent + REFUSAL <= now) {
            self.refusals += 1;
            self.pausing.push_back(now + PAUSE);
            let in_flight = self.answered.len() + self.refused.len() + 1;
            match &mut self.rate {
                Some(rate) => rate.refused(now, sent, None),
                None => self.rate = Some(LearnedRate::first(now, REFUSAL, in_flight)),
            }
        }
        while self.idle > 0
            && self
                .rate
                .as_ref()
                .is_none_or(|rate| rate.wait(now).is_zero())
        {
            self.idle -= 1;
            if let Some(rate) = &mut self.rate {
                rate.spend(now);
            }
            let was_held_back = std::mem::take(&mut self.is_held_back);
            self.held_back += u32::from(was_held_back);
            if server.takes() {
                self.answered.push_back((now, was_held_back));
            } else {
                self.refused.push_back(now);
            }
        }
        self.is_held_back = self.idle > 0;
    }
}

/// Answers and refusals of nodes with 128 requests under way each, in this time, at a server that
/// allows `per_second` at a time.
fn asked(nodes: usize, seconds: u64, burst: f64, per_second: impl Fn(u64) -> f64) -> (u32, u32) {
    let mut server = LimitedServer { burst, left: burst };
    let mut nodes: Vec<BusyNode> = (0..nodes)
        .map(|_| BusyNode {
            idle: 128,
            ..BusyNode::default()
        })
        .collect();
    let mut now = Duration::ZERO;
    while now < Duration::from_secs(seconds) {
        now += STEP;
        server.pass(per_second(now.as_secs()));
        for node in &mut nodes {
            node.step(now, &mut server);
        }
    }
    let answers = nodes.iter().map(|node| node.answers).sum();
    (answers, nodes.iter().map(|node| node.refusals).sum())
}

#[test]
fn nearly_all_that_a_server_allows_is_asked_and_little_of_it_refused() {
    for (per_second, burst) in [(20.0, 20.0), (20.0, 5.0), (200.0, 20.0), (2.0, 2.0)] {
        let (answers, refusals) = asked(1, 300, burst, |_| per_second);
        let share = f64::from(answers) / (per_second * 300.0);
        assert!(share >= 0.95, "{per_second} a second: {share}");
        // once the first burst is over
        let (earlier, refused_earlier) = asked(1, 30, burst, |_| per_second);
        let refused = f64::from(refusals - refused_earlier) / f64::from(answers - earlier);
        assert!(refused <= 0.12, "{per_second} a second: {refused} refused");
    }
}

#[test]
fn two_nodes_follow_a_limit_that_halves_and_doubles() {
    let per_second = |second| {
        if (100..200).contains(&second) {
            10.0
        } else {
            20.0
        }
    };
    let (answers, _) = asked(2, 300, 10.0, per_second);
    let share = f64::from(answers) / 5_000.0;
    assert!(share >= 0.9, "{share}");
}

/// Answers a second to 24 callers of a server that works on two requests at a time for ten seconds, and
/// then on any number, from the given second on. It answers all that it has every 50 ms.
fn answers_after_slots(from: u64, seconds: u64) -> f64 {
    let mut rate = LearnedRate::first(Duration::ZERO, REFUSAL, 3);
    let (mut ready, mut answers) = (24_u32, 0_u32);
    let mut is_held_back = false;
    let mut sent: Vec<PacedRequest> = Vec::new();
    let mut refused: VecDeque<Duration> = VecDeque::new();
    for milliseconds in 1..=(from + seconds) * 1_000 {
        let now = Duration::from_millis(milliseconds);
        if milliseconds.is_multiple_of(50) {
            for request in sent.drain(..) {
                rate.answered(now, request);
                ready += 1;
                answers += u32::from(now > Duration::from_secs(from));
            }
        }
        while refused.pop_front_if(|at| *at + PAUSE <= now).is_some() {
            ready += 1;
        }
        while ready > 0 && rate.wait(now).is_zero() {
            rate.spend(now);
            ready -= 1;
            let was_held_back = std::mem::take(&mut is_held_back);
            if sent.len() >= 2 && milliseconds < 10_000 {
                rate.refused(now + REFUSAL, now, None);
                refused.push_back(now);
            } else {
                let sent_at = now;
                sent.push(PacedRequest {
                    sent_at,
                    was_held_back,
                });
            }
        }
        is_held_back = ready > 0;
    }
    f64::from(answers) / Duration::from_secs(seconds).as_secs_f64()
}

#[test]
fn a_node_stays_as_fast_as_a_server_became() {
    let answered = answers_after_slots(40, 120);
    assert!(answered >= 0.85 * 480.0, "{answered} a second");
}

#[test]
fn two_nodes_come_to_share_a_limit() {
    let mut server = LimitedServer {
        burst: 10.0,
        left: 10.0,
    };
    let [mut early, mut late] = [(); 2].map(|()| BusyNode {
        idle: 128,
        ..BusyNode::default()
    });
    let mut now = Duration::ZERO;
    let mut before = (0, 0);
    for second in 0..400_u64 {
        for _ in 0..1_000 {
            now += STEP;
            server.pass(40.0);
            early.step(now, &mut server);
            if second >= 60 {
                late.step(now, &mut server);
            }
        }
        if second == 200 {
            before = (early.answers, late.answers);
        }
    }
    let (early, late) = (early.answers - before.0, late.answers - before.1);
    let ratio = f64::from(late) / f64::from(early);
    assert!((0.5..=2.0).contains(&ratio), "{late} to {early}");
}

/// The shares of the requests of a node with five a second that are held back, and that are refused,
/// beside a busy node.
fn delayed_share(per_second: f64, burst: f64) -> (f64, f64) {
    let mut server = LimitedServer { burst, left: burst };
    let mut busy = BusyNode {
        idle: 128,
        ..BusyNode::default()
    };
    let mut quiet = BusyNode {
        is_quiet: true,
        ..BusyNode::default()
    };
    let mut now = Duration::ZERO;
    let mut random = 1_u64;
    let mut sent = 0_u32;
    for _ in 0..300_000_u32 {
        now += STEP;
        server.pass(per_second);
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        if (random >> 33).is_multiple_of(200) {
            sent += 1;
            quiet.idle += 1;
        }
        if (random >> 60).is_multiple_of(2) {
            quiet.step(now, &mut server);
            busy.step(now, &mut server);
        } else {
            busy.step(now, &mut server);
            quiet.step(now, &mut server);
        }
        // second attempts are not followed
        quiet.pausing.clear();
    }
    let share = |requests| f64::from(requests) / f64::from(sent);
    (share(quiet.held_back), share(quiet.refusals))
}

#[test]
fn a_quiet_node_beside_a_busy_one_is_seldom_held_back_or_refused() {
    let (held_back, refused) = delayed_share(200.0, 20.0);
    assert!(held_back + refused <= 0.05, "{held_back} {refused}");
    // beside 15 a second of others, five are a quarter of what the server takes
    let (_, refused) = delayed_share(20.0, 20.0);
    assert!(refused <= 0.1, "{refused}");
}

#[test]
fn a_server_that_refuses_everything_is_asked_about_once_a_second_and_recovers_at_once() {
    // closed from second 30 to 90
    let per_second = |second| {
        if (30..90).contains(&second) {
            0.0
        } else {
            20.0
        }
    };
    let (before, _) = asked(1, 30, 5.0, per_second);
    let (_, refusals) = asked(1, 90, 5.0, per_second);
    let (_, refusals_before) = asked(1, 31, 5.0, per_second);
    assert!(
        refusals - refusals_before <= 90,
        "{}",
        refusals - refusals_before
    );
    let (after, _) = asked(1, 120, 5.0, per_second);
    let share = f64::from(after - before) / f64::from(before);
    assert!(share >= 0.8, "{share} of what was answered before");
}

/// How long after a second in which a server refuses everything a second begins in which it answers
/// 0.9 of what it answered in a second before.
fn back_after(per_second: f64, burst: f64) -> Duration {
    const REFUSES: u64 = 60;
    let mut server = LimitedServer { burst, left: burst };
    let mut node = BusyNode {
        idle: 128,
        ..BusyNode::default()
    };
    // answers by tenth of a second
    let mut tenths = vec![0];
    for milliseconds in 1..=(REFUSES + 30) * 1_000 {
        let now = Duration::from_millis(milliseconds);
        let is_refusing = now.as_secs() == REFUSES;
        server.pass(if is_refusing { 0.0 } else { per_second });
        node.step(now, &mut server);
        if milliseconds.is_multiple_of(100) {
            tenths.push(node.answers);
        }
    }
    let answers: Vec<u32> = tenths.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let before: u32 = answers[500..600].iter().sum();
    let mut seconds = answers[610..].windows(10);
    let back = seconds.position(|second| 100 * second.iter().sum::<u32>() >= 9 * before);
    Duration::from_millis(100 * u64::try_from(back.unwrap_or(300)).unwrap_or(u64::MAX))
}

#[test]
fn a_server_that_refused_everything_for_a_second_is_soon_asked_as_before() {
    for (per_second, burst) in [(200.0, 20.0), (200.0, 2.0), (600.0, 60.0), (20.0, 5.0)] {
        let back = back_after(per_second, burst);
        let limit = Duration::from_secs(5);
        assert!(back <= limit, "{per_second} a second, {burst}: {back:?}");
    }
}

#[test]
fn a_server_that_mostly_refuses_gets_the_rest_that_it_asks_for() {
    let mut rate = LearnedRate::first(Duration::ZERO, REFUSAL, 1);
    let mut now = Duration::from_secs(1);
    for refusals in 1..=4 {
        rate.refused(now, now, Some(Duration::from_secs(5)));
        assert_eq!(rate.wait(now) >= Duration::from_secs(5), refusals == 4);
        now += Duration::from_secs(1);
    }
}

/// How long a burst of requests takes at a server that answers all within 50 ms.
fn burst(mut rate: LearnedRate, mut now: Duration, requests: usize) -> Duration {
    let began = now;
    let mut in_flight = VecDeque::new();
    let mut sent = 0;
    let mut was_held_back = false;
    while sent < requests {
        now += STEP;
        let due = |request: &mut PacedRequest| request.sent_at + Duration::from_millis(50) <= now;
        while let Some(request) = in_flight.pop_front_if(due) {
            rate.answered(now, request);
        }
        while sent < requests && rate.wait(now).is_zero() {
            rate.spend(now);
            sent += 1;
            in_flight.push_back(PacedRequest {
                sent_at: now,
                was_held_back,
            });
            was_held_back = false;
        }
        was_held_back = true;
    }
    now.saturating_sub(began)
}

#[test]
fn a_burst_is_soon_as_fast_as_without_a_rate_unless_a_limit_was_seen_under_load() {
    let second = Duration::from_secs(1);
    let mut rate = LearnedRate::first(Duration::ZERO, REFUSAL, 1);
    for seconds in 1..=12 {
        // quiet calls, of which every fourth is refused at first
        let now = seconds * second;
        if seconds % 4 == 0 {
            rate.refused(now, now, None);
        }
        rate.answered(
            now + ANSWER,
            PacedRequest {
                sent_at: now,
                was_held_back: false,
            },
        );
    }
    assert!(!rate.is_measured());
    let took = burst(rate, 13 * second, 300);
    assert!(took <= Duration::from_millis(500), "{took:?}");
}

#[test]
fn a_stray_refusal_of_a_quiet_node_lowers_nothing() {
    let mut rate = LearnedRate::first(Duration::ZERO, REFUSAL, 10);
    let before = rate.per_second();
    for seconds in 1..=10 {
        let sent_at = Duration::from_secs(seconds);
        let was_held_back = false;
        rate.answered(
            sent_at + ANSWER,
            PacedRequest {
                sent_at,
                was_held_back,
            },
        );
    }
    let now = Duration::from_secs(11);
    rate.refused(now, now, None);
    assert!(rate.per_second() >= before, "{}", rate.per_second());
}
