//! Reproducible randomness: `SplitMix64` (Steele, Lea and Flood 2014).

/// A generator whose numbers depend only on its seed.
#[derive(Clone, Debug)]
pub(crate) struct Chance(u64);

impl Chance {
    /// The generator of one connection of a run.
    pub(crate) fn new(seed: u64, connection: u64) -> Self {
        let mut first = Self(seed);
        Self(first.draw() ^ connection.wrapping_mul(0xd6e8_feb8_6659_fd93))
    }

    fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`, which is not 0.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        let drawn = self.draw() % u64::try_from(end).unwrap();
        usize::try_from(drawn).unwrap()
    }

    /// True in one of `number` cases.
    pub(crate) fn one_in(&mut self, number: usize) -> bool {
        self.below(number) == 0
    }

    /// One of several values.
    pub(crate) fn of<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len())]
    }

    /// Any byte.
    pub(crate) fn byte(&mut self) -> u8 {
        u8::try_from(self.below(256)).unwrap()
    }

    /// Changes, removes or repeats bytes at a few places.
    pub(crate) fn scramble(&mut self, bytes: &mut Vec<u8>) {
        for _ in 0..=self.below(3) {
            if bytes.is_empty() {
                return;
            }
            let place = self.below(bytes.len());
            match self.below(5) {
                0 => bytes[place] = self.byte(),
                1 => bytes[place] ^= 1 << self.below(8),
                2 => drop(bytes.remove(place)),
                3 => bytes.insert(place, self.byte()),
                _ => {
                    let end = (place + 1 + self.below(16)).min(bytes.len());
                    let again = bytes[place..end].to_vec();
                    bytes.splice(place..place, again);
                }
            }
        }
    }
}
