//! Choices that look like chance and are the same in each run.

/// Numbers that follow from a seed (xorshift64).
#[derive(Debug, Clone)]
pub struct Dice(u64);

impl Dice {
    /// Those of this seed.
    pub fn new(seed: u64) -> Self {
        // Small seeds lie far apart, and none is zero, from which nothing would come.
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number below `end`, which must not be zero.
    pub fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap_or_default() % end
    }

    /// One of these words; nothing of none.
    pub fn of<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words.get(self.below(words.len().max(1))).copied().unwrap_or_default()
    }
}
