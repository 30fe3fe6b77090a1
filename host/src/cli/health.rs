//! `plugway health`.

use super::arguments::Health;
use super::exit::{Exit, Failure};
use super::plain_http::{Place, ask};
use super::print::say;

/// Succeeds when `/health` answers 200.
pub(super) fn run(command: &Health) -> Result<(), Failure> {
    let url = &command.url;
    let Some(place) = Place::parse(url, "/health") else {
        let sentence = format!("`{url}` is no address of a plugway");
        return Err(Failure::new(Exit::Usage, sentence, "write http://127.0.0.1:9000/health"));
    };
    match ask(&place, None) {
        Ok((200, body)) => {
            say(&body);
            Ok(())
        }
        Ok((status, body)) => Err(Failure::new(
            Exit::Refused,
            format!("{url} answered {status}: {}", body.trim()),
            "look at the log of plugway",
        )),
        Err(error) => Err(Failure::new(
            Exit::Refused,
            format!("{url} does not answer: {error}"),
            "start plugway, or name the address it listens on",
        )),
    }
}
