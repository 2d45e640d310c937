//! What a node collects about API keys: when and from where each was last used, and metrics of
//! those that end soon or are refused.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chrono::{DateTime, Utc};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use refract_domain::ids::ApiKeyId;

/// A moment and, if it is known, the client's address.
pub(super) type LastUse = (DateTime<Utc>, Option<IpAddr>);

/// The last uses of keys, collected in memory and saved together: a call writes nothing to the
/// database for its key.
///
/// A crash loses the last uses of a few seconds, and nothing else. Clones share one collection.
#[derive(Clone, Default)]
pub(crate) struct KeyUses(Arc<Mutex<HashMap<ApiKeyId, LastUse>>>);

impl KeyUses {
    /// Records that a key is used now by a client at this address.
    pub(crate) fn note(&self, key: ApiKeyId, client: Option<IpAddr>) {
        self.collected().insert(key, (Utc::now(), client));
    }

    /// The uses that are not saved yet.
    pub(super) fn collected(&self) -> MutexGuard<'_, HashMap<ApiKeyId, LastUse>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The labels of a key: its account's name and its id.
pub(super) type KeyLabels = [(&'static str, String); 2];

/// Why a key was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RefusedKey {
    /// No account has the key, or the key has expired.
    Unknown,
    /// The key is revoked.
    Revoked,
    /// The client is in none of the key's networks.
    Network,
}

/// The days that are left for keys, and the number of refused calls.
#[derive(Clone, Default)]
pub struct KeyMetrics {
    days_left: Family<KeyLabels, Gauge<f64, AtomicU64>>,
    refused: Family<[(&'static str, &'static str); 1], Counter>,
}

impl RefusedKey {
    const ALL: [Self; 3] = [Self::Unknown, Self::Revoked, Self::Network];

    fn name(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Revoked => "revoked",
            Self::Network => "network",
        }
    }
}

impl KeyMetrics {
    /// Adds the metrics to a registry.
    pub fn register(&self, registry: &mut Registry) {
        registry.register(
            "refract_key_days_left",
            "Days until a key in use ends, for keys that end within 30 days",
            self.days_left.clone(),
        );
        // each label exists before the first refusal, so that an alert sees the count rise
        for reason in RefusedKey::ALL {
            drop(self.refused.get_or_create(&[("reason", reason.name())]));
        }
        registry.register(
            "refract_keys_refused",
            "Calls whose key was refused: unknown or expired, revoked, or used outside its networks",
            self.refused.clone(),
        );
    }

    pub(crate) fn refused(&self, reason: RefusedKey) {
        let labels = [("reason", reason.name())];
        self.refused.get_or_create(&labels).inc();
    }

    /// Sets these series in place of `earlier` ones.
    pub(super) fn set(&self, earlier: &HashMap<KeyLabels, f64>, days: &HashMap<KeyLabels, f64>) {
        for labels in earlier.keys().filter(|labels| !days.contains_key(*labels)) {
            self.days_left.remove(labels);
        }
        for (labels, days) in days {
            self.days_left.get_or_create(labels).set(*days);
        }
    }
}
