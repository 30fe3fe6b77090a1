//! Tasks of which a client of the modern era wants to hear: `taskIds` of `subscriptions/listen` (SEP-2663, "Task Status
//! Notifications").

use super::ids::TaskIds;
use super::{serve, texts};
use crate::catalogue::View;
use crate::pipeline::caller::Caller;
use crate::pipeline::connector::Connector;
use crate::pipeline::port::Notification;
use crate::protocol::{Era, Message, message, scan};

/// One server's share of them.
#[derive(Debug, Default, PartialEq)]
pub(in crate::pipeline) struct Followed {
    /// The client's id of each task, and the server's.
    ids: Vec<(String, String)>,
}

impl Followed {
    /// The share of each upstream of the connector, in their order. An id that is none of the caller's is nobody's.
    pub(in crate::pipeline) fn shares(
        connector: &Connector,
        view: &View,
        caller: &Caller,
        wanted: &[String],
    ) -> Vec<Self> {
        let mut shares: Vec<Self> = connector.upstreams.iter().map(|_| Self::default()).collect();
        let ids = TaskIds::of(connector, caller);
        for shown in wanted {
            let Some((upstream, own)) = ids.opened(shown) else { continue };
            let place = connector.place_of(upstream);
            let place = place.filter(|place| serve::is_of(connector, view, *place, Era::Modern));
            if let Some(share) = place.and_then(|place| shares.get_mut(place)) {
                share.ids.push((shown.clone(), own.to_owned()));
            }
        }
        shares
    }

    /// Whether the server has none of the tasks.
    pub(in crate::pipeline) fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// The server's own ids.
    pub(in crate::pipeline) fn own(&self) -> impl Iterator<Item = &str> {
        self.ids.iter().map(|(_, own)| own.as_str())
    }

    /// The client's ids of the tasks with these ids of the server, as far as it asked for them.
    pub(in crate::pipeline) fn shown(&self, own: &[String]) -> Vec<String> {
        let agreed = self.ids.iter().filter(|(_, id)| own.contains(id));
        agreed.map(|(shown, _)| shown.clone()).collect()
    }

    /// A notification of the server as the client gets it; none where it tells of a task that the client did not ask for.
    pub(in crate::pipeline) fn told(&self, mut note: Notification) -> Option<Notification> {
        let message = Message::parse(note.text.clone()).ok()?;
        if message.method_name() == texts::TOLD {
            let params = message.params()?;
            let id = message::string(params.get(scan::member(params, "taskId")?.range())?)?;
            self.known(&id)?;
        }
        if let Some(text) = texts::of_server(&note.text, |own| self.known(own)) {
            note.text = text;
        }
        Some(note)
    }

    fn known(&self, own: &str) -> Option<String> {
        self.ids.iter().find(|(_, id)| id == own).map(|(shown, _)| shown.clone())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn note(params: &Value) -> Notification {
        let text = json!({"jsonrpc": "2.0", "method": "notifications/tasks", "params": params});
        Notification { upstream: "demo".into(), text: text.to_string().into() }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn the_client_hears_of_its_tasks_under_its_own_ids(
            ids in prop::collection::btree_map(".{0,8}", "[a-z.]{1,8}", 0..4),
            other in ".{0,8}",
            members in prop::collection::btree_map("[a-z]{1,4}", any::<i64>(), 0..3),
        ) {
            let pairs = ids.iter().map(|(own, shown)| (shown.clone(), own.clone())).collect();
            let followed = Followed { ids: pairs };
            let params = |id: &str| {
                let mut params = serde_json::to_value(&members).unwrap();
                params["taskId"] = id.into();
                params
            };
            for own in ids.keys().chain([&other]) {
                let told = followed.told(note(&params(own))).map(|told| told.text);
                let wanted = ids.get(own).map(|shown| note(&params(shown)).text);
                let read = |text: bytes::Bytes| serde_json::from_slice::<Value>(&text).unwrap();
                prop_assert_eq!(told.map(read), wanted.map(read));
            }
            let mut said: Vec<String> = ids.keys().cloned().collect();
            said.push(other);
            let shown = followed.shown(&said);
            prop_assert!(shown.iter().eq(ids.values()));
        }
    }

    #[test]
    fn what_tells_of_no_task_passes_and_what_names_none_does_not() {
        let followed = Followed { ids: vec![("<t>".to_owned(), "t".to_owned())] };
        let updated = r#"{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a:b","taskId":"x"}}"#;
        let updated = Notification { upstream: "demo".into(), text: updated.into() };
        assert_eq!(followed.told(updated.clone()).map(|told| told.text), Some(updated.text));
        for params in [json!({}), json!({"taskId": 7}), json!({"taskId": "x", "status": "working"})]
        {
            assert!(followed.told(note(&params)).is_none(), "{params}");
        }
    }
}
