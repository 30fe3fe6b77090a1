//! Capability `reveal`: change which entries the session has loaded.

imports! { reveal {
    /// How many were newly loaded.
    fn load(names: &[String]) -> Result<u32, String>;
    /// How many had been loaded.
    fn unload(names: &[String]) -> u32;
} }
