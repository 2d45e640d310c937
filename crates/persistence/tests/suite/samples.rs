//! The random sample of a prism's results.

use std::collections::HashSet;

use refract_domain::ids::ResultId;
use refract_test_support::on_both;
use uuid::Uuid;

use crate::fixture::{Fixture, answered, prism};

on_both!(the_sample_has_a_sixteenth_of_a_prism_in_the_order_of_the_random_bits);

async fn the_sample_has_a_sixteenth_of_a_prism_in_the_order_of_the_random_bits(it: Fixture) {
    let other = prism(&it.database, it.account, "Other").await;
    let mut expected = Vec::new();
    for number in 0..160_u128 {
        let mut new = it.result(answered(), None);
        // bits that are spread evenly: one result in sixteen is in the sample
        let bits = number << 28 & 0xffff_ffff | number;
        new.result.id = ResultId::new(Uuid::from_u128(
            new.result.id.uuid().as_u128() >> 32 << 32 | bits,
        ));
        if number % 5 == 0 {
            new.result.prism = other.id;
        } else if new.result.id.random_bits() < 1 << 28 {
            expected.push(new.result.id);
        }
        it.database.save_result(&new).await.unwrap();
    }
    expected.sort_by_key(|id| id.random_bits());
    assert_eq!(expected.len(), 8);
    let mut found = Vec::new();
    loop {
        let last = found.last().copied();
        let listing = it.database.list_sample(it.account, it.prism.id, last, 3);
        let page = listing.await.unwrap();
        if page.is_empty() {
            break;
        }
        found.extend(page.into_iter().map(|candidate| candidate.id));
    }
    assert_eq!(found, expected);
}

/// Ids as they are made, in bursts at 20 moments, of which some are a hundred times as large as
/// others.
fn bursts() -> Vec<(usize, ResultId)> {
    let sizes = (0..20).map(|burst| [400, 4_000, 40_000][burst % 3]);
    let ids = sizes.enumerate().flat_map(|(burst, size)| {
        let moment = 1_764_000_000_000 + u128::try_from(burst).unwrap() * 86_400_000;
        (0..size).map(move |_| {
            let made = Uuid::now_v7().as_u128();
            let id = moment << 80 | made & ((1 << 80) - 1);
            (burst, ResultId::new(Uuid::from_u128(id)))
        })
    });
    ids.collect()
}

/// Pearson's chi-square of the sample's bursts against their shares of all results. It has 19
/// degrees of freedom: a uniform sample exceeds 70 once in ten million times.
#[test]
fn a_sample_is_uniform_however_the_results_are_spread_over_time() {
    let mut ids = bursts();
    let all = f64::from(u32::try_from(ids.len()).unwrap());
    let of_burst = |ids: &[(usize, ResultId)], burst| {
        let count = ids.iter().filter(|(of, _)| *of == burst).count();
        f64::from(u32::try_from(count).unwrap())
    };
    let sizes: Vec<f64> = (0..20).map(|burst| of_burst(&ids, burst)).collect();
    assert_eq!(ids.iter().collect::<HashSet<_>>().len(), ids.len());
    ids.sort_by_key(|(_, id)| id.random_bits());
    for drawn in [5_000, 20_000] {
        let sample = &ids[..drawn];
        let number = f64::from(u32::try_from(drawn).unwrap());
        let square: f64 = (0..20)
            .map(|burst| {
                let expected = number * sizes[burst] / all;
                (of_burst(sample, burst) - expected).powi(2) / expected
            })
            .sum();
        assert!(square < 70.0, "{square}");
        // within each burst too: the first half of a burst is half of its sample
        let halves: f64 = (0..20)
            .map(|burst| {
                let mut of_all: Vec<_> = ids.iter().filter(|(of, _)| *of == burst).collect();
                of_all.sort_by_key(|(_, id)| *id);
                let middle = of_all[of_all.len() / 2].1;
                let of_sample = of_burst(sample, burst);
                let early = sample
                    .iter()
                    .filter(|(of, id)| *of == burst && *id < middle);
                let early = f64::from(u32::try_from(early.count()).unwrap());
                (early - of_sample / 2.0).powi(2) / (of_sample / 4.0).max(1.0)
            })
            .sum();
        assert!(halves < 75.0, "{halves}");
    }
}
