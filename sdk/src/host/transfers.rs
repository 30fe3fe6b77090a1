//! Capability `transfers`: start a transfer as the current caller.

imports! { transfers {
    /// The receipt as JSON; the error is one sentence.
    fn send(data_ref: &str, to: &str, name: &str) -> Result<String, String>;
} }
