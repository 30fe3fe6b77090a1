//! Request bodies: bounded in size and in time.

use bytes::{Bytes, BytesMut};
use futures_util::FutureExt as _;
use http_body::Body;
use http_body_util::BodyExt as _;

use super::site::Bounds;
use crate::fault::{Code, Fault};

/// Reads a whole body.
pub async fn read<B>(body: B, bounds: &Bounds) -> Result<Bytes, Fault>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: std::error::Error + Send + Sync + 'static,
{
    if body.size_hint().lower() > bounds.body as u64 {
        return Err(too_large(bounds));
    }
    let mut reading = std::pin::pin!(collect(body, bounds));
    // A small body arrives with its head: no timer then.
    if let Some(done) = reading.as_mut().now_or_never() {
        return done;
    }
    tokio::time::timeout(bounds.body_time, reading).await.unwrap_or_else(|elapsed| {
        Err(Fault::new(Code::BodyTimeout, "The body did not arrive in time.").because(elapsed))
    })
}

async fn collect<B>(mut body: B, bounds: &Bounds) -> Result<Bytes, Fault>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: std::error::Error + Send + Sync + 'static,
{
    let mut first = Bytes::new();
    let mut all = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| {
            Fault::new(Code::InvalidRequest, "The body broke off.").because(error)
        })?;
        let Ok(data) = frame.into_data() else { continue };
        if first.len() + all.len() + data.len() > bounds.body {
            return Err(too_large(bounds));
        }
        if first.is_empty() && all.is_empty() {
            first = data;
        } else {
            if all.is_empty() {
                all.extend_from_slice(&std::mem::take(&mut first));
            }
            all.extend_from_slice(&data);
        }
    }
    Ok(if all.is_empty() { first } else { all.freeze() })
}

fn too_large(bounds: &Bounds) -> Fault {
    Fault::new(Code::BodyTooLarge, format!("The body is larger than {} bytes.", bounds.body))
}
