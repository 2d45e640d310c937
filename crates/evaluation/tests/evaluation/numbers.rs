//! Pseudorandom numbers for simulations.

/// A generator of pseudorandom numbers, `SplitMix64`, so that the draws are always the same.
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    /// The next number.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut number = self.0;
        number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        number ^ (number >> 31)
    }

    /// A number below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(end).unwrap()).unwrap()
    }

    /// A number from 0 to below 1.
    pub(crate) fn share(&mut self) -> f64 {
        let number = u32::try_from(self.next() >> 32).unwrap();
        f64::from(number) / 4_294_967_296.0
    }
}
