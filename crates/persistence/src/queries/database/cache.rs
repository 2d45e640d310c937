//! A bounded cache of immutable values: prism versions, and lenses by revision.

use std::hash::Hash;
use std::sync::Arc;

use quick_cache::Weighter;
use quick_cache::sync::Cache;

/// Most JSON bytes of the values in one cache; in memory the values take a small multiple of that.
const BYTES: u64 = 32 * 1024 * 1024;
/// JSON bytes of a usual prism version, to size the cache's table.
const USUAL_BYTES: usize = 8 * 1024;

/// Values by key; the least useful are evicted when the bytes exceed the limit.
pub(crate) struct Immutable<K, V>(Cache<K, Weighed<V>, ByBytes>);

impl<K: Eq + Hash + Clone, V> Immutable<K, V> {
    pub(crate) fn new() -> Self {
        let items = usize::try_from(BYTES).unwrap_or(usize::MAX) / USUAL_BYTES;
        Self(Cache::with_weighter(items, BYTES, ByBytes))
    }

    pub(crate) fn get(&self, key: &K) -> Option<Arc<V>> {
        self.0.get(key).map(|weighed| weighed.value)
    }

    /// Keeps a value that was read from this many bytes of JSON.
    pub(crate) fn insert(&self, key: K, value: Arc<V>, bytes: usize) {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX).max(1);
        self.0.insert(key, Weighed { value, bytes });
    }
}

struct Weighed<V> {
    value: Arc<V>,
    bytes: u64,
}

impl<V> Clone for Weighed<V> {
    fn clone(&self) -> Self {
        Self {
            value: Arc::clone(&self.value),
            bytes: self.bytes,
        }
    }
}

#[derive(Clone)]
struct ByBytes;

impl<K, V> Weighter<K, Weighed<V>> for ByBytes {
    fn weight(&self, _: &K, weighed: &Weighed<V>) -> u64 {
        weighed.bytes
    }
}
