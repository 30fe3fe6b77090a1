//! Waiting for a condition, never for a guessed time.

use std::{
    future::Future,
    time::{Duration, Instant},
};

use anyhow::{Result, bail};

const PAUSE: Duration = Duration::from_millis(10);

/// Looks until the condition gives a value; fails with `what` when it gives none within the bound.
pub async fn until<T, F>(what: &str, bound: Duration, mut look: impl FnMut() -> F) -> Result<T>
where
    F: Future<Output = Result<Option<T>>>,
{
    let deadline = Instant::now() + bound;
    loop {
        if let Some(value) = look().await? {
            return Ok(value);
        }
        if Instant::now() >= deadline {
            bail!("{what}: not within {bound:?}");
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// Gives a future a name and a bound.
pub async fn within<T>(what: &str, bound: Duration, future: impl Future<Output = T>) -> Result<T> {
    match tokio::time::timeout(bound, future).await {
        Ok(value) => Ok(value),
        Err(_elapsed) => bail!("{what}: not within {bound:?}"),
    }
}
