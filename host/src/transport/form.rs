//! The form of an answer that is there as a whole: JSON, or an event stream of one event where the client prefers that
//! (RFC 9110, section 12.5.1; of equal weights the one that is named first).

use futures_util::stream;
use http::HeaderMap;
use http::header::ACCEPT;

use super::headers;
use crate::pipeline::port::{Answer, Body, Incoming, Json};

/// Whether the client prefers an event stream.
pub(super) fn prefers_events(head: &HeaderMap) -> bool {
    if headers::accepts_both(head) {
        return false;
    }
    let mut weights = [0.0; 2];
    let values = head.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let mut first = None;
    for range in values.flat_map(|value| value.split(',')) {
        let mut parts = range.split(';').map(str::trim);
        let media = parts.next().unwrap_or_default();
        let place = ["application/json", "text/event-stream"]
            .iter()
            .position(|known| media.eq_ignore_ascii_case(known));
        let Some(place) = place else { continue };
        let quality = parts.find_map(|part| {
            part.strip_prefix("q=").or_else(|| part.strip_prefix("Q="))?.parse::<f32>().ok()
        });
        first.get_or_insert(place);
        if let Some(weight) = weights.get_mut(place) {
            *weight = quality.unwrap_or(1.0);
        }
    }
    let [json, events] = weights;
    events > json || (events >= json && events > 0.0 && first == Some(1))
}

/// The answer as messages where the client prefers an event stream. One that streams because it is large, and one whose
/// status says that it is a refusal, stay JSON.
pub(super) fn of(answered: Answer, events: bool) -> Answer {
    match answered {
        Answer::Json(Json { body: Body::Whole(text), refusal: None }) if events => {
            Answer::messages(stream::iter([Ok(Incoming::Response(text))]))
        }
        answered => answered,
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn the_heavier_form_wins_and_the_first_of_two_that_weigh_the_same() {
        for (accept, events) in [
            ("application/json, text/event-stream", false),
            ("text/event-stream, application/json", true),
            ("Text/Event-Stream;q=1.0,application/json", true),
            ("text/event-stream;q=0.5, application/json", false),
            ("application/json;q=0.5, text/event-stream", true),
            ("application/json;q=0, text/event-stream;q=0", false),
            ("*/*", false),
            ("", false),
        ] {
            let mut head = HeaderMap::new();
            head.insert(ACCEPT, HeaderValue::from_static(accept));
            assert_eq!(prefers_events(&head), events, "{accept}");
        }
        assert!(!prefers_events(&HeaderMap::new()));
    }
}
