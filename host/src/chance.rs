//! Chance for what must not happen everywhere in the same moment.

/// A random byte; 0 where the machine has none to give: then nothing is left to chance.
pub fn byte() -> u8 {
    let mut byte = [0];
    match getrandom::fill(&mut byte) {
        Ok(()) => byte[0],
        Err(_no_entropy) => 0,
    }
}
