//! How a child is introduced to whom it serves.

use super::child::Child;
use crate::protocol::Era;
use crate::upstream::authored::{Hello, initialized, modern_request};
use crate::upstream::failure::Failure;
use crate::upstream::greeting::Greeting;
use crate::upstream::limits::PROBE;

/// What is said first.
#[derive(Clone, Debug)]
pub(super) enum Opening {
    /// The era is not known: `server/discover`, and `initialize` if that is not answered.
    Probe(Hello),
    /// `initialize`.
    Initialize(Hello),
    /// Nothing: the modern era has no handshake.
    Modern,
}

/// Says it, and notes the era that the child is spoken to in.
pub(super) async fn introduce(child: &mut Child, opening: Opening) -> Result<(), Failure> {
    match opening {
        Opening::Modern => child.era = Era::Modern,
        Opening::Initialize(hello) => initialize(child, &hello).await?,
        Opening::Probe(hello) => {
            let discover = |number| modern_request(&Hello::own(), number, "server/discover", None);
            let found = child.ask(discover, PROBE).await.ok();
            let greeting = found.as_ref().and_then(|answer| Greeting::discovered(answer.result()?));
            if greeting.is_some() {
                child.era = Era::Modern;
                child.greeting = greeting;
            } else {
                initialize(child, &hello).await?;
            }
        }
    }
    Ok(())
}

async fn initialize(child: &mut Child, hello: &Hello) -> Result<(), Failure> {
    let limit = child.spec.limits.start;
    let answer = child.ask(|number| hello.initialize(number), limit).await?;
    let name = &child.spec.name;
    if let Some(error) = answer.error() {
        let failure = Failure::broken(name, "refuses to open a session");
        return Err(failure.because(error).without_handshake());
    }
    let greeting = answer.result().and_then(Greeting::initialized);
    if greeting.is_none() {
        return Err(Failure::broken(name, "answered initialize with something else"));
    }
    child.write(initialized(), tokio::time::Instant::now() + limit).await?;
    child.greeting = greeting;
    Ok(())
}
