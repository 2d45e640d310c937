//! A node that answers calls for a long time, at a third of the machine's capacity: memory, file
//! descriptors and latency stay flat.

use std::time::Duration;

use refract_test_stack::service::{Service, Setup};
use refract_test_support::cluster::Cluster;
use refract_test_support::model_server::{Script, ScriptedReply};
use tokio::task::block_in_place;

use crate::endurance::held::{Held, assert_flat};
use crate::endurance::part;
use crate::endurance::steady::{SteadyCaller, within};
use crate::program::RUNNER;

/// The duration of the capacity measurement.
const MEASURED: Duration = Duration::from_secs(10);
/// Simultaneous callers during the capacity measurement.
const AT_ONCE: usize = 32;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn memory_and_descriptors_stay_flat_over_a_long_run() {
    let Some(minutes) = part::size_of("soak", 60) else {
        return;
    };
    let cluster = block_in_place(|| Cluster::start(&[]));
    let setup = Setup {
        runner: RUNNER,
        nodes: 1,
        script: Script::from(ScriptedReply::answers()).unrecorded(),
        settings: &[("REFRACT_LOG", "warn,refract=info")],
    };
    let service = Service::on(Some(cluster.url()), setup).await;
    let node = &service.nodes[0];
    let caller = SteadyCaller::of(&service);
    let carried = caller.call_without_pause(AT_ONCE, MEASURED).await;
    let carried = carried / usize::try_from(MEASURED.as_secs()).unwrap();
    let rate = u32::try_from(carried / 3).unwrap().max(1);
    caller.take_durations();
    println!("{carried} calls a second at most; now {rate} a second for {minutes} minutes");
    println!("minute   calls      p50      p99  held");
    let length = Duration::from_mins(u64::try_from(minutes).unwrap());
    let mut samples = Vec::new();
    let watch = async {
        let mut seconds = tokio::time::interval(Duration::from_secs(1));
        seconds.tick().await;
        loop {
            seconds.tick().await;
            let held = Held::by(node);
            samples.push(held);
            if samples.len().is_multiple_of(60) {
                let took = caller.take_durations();
                let [half, most] = [500, 990].map(|part| within(&took, part));
                let (minute, calls) = (samples.len() / 60, took.len());
                println!("{minute:6} {calls:7} {half:8.1?} {most:8.1?}  {held}");
            }
        }
    };
    tokio::select! {
        () = caller.call_every(Duration::from_secs(1) / rate, length) => {}
        () = watch => {}
    }
    assert_flat(&samples);
    assert!(node.log().iter().all(|line| !line.contains("panicked")));
}
