//! Ids of tasks as clients know them.

use std::sync::Arc;

use crate::fault::Fault;
use crate::pipeline::caller::Caller;
use crate::pipeline::connector::Connector;
use crate::pipeline::seal::Sealer;

/// Makes and opens the ids of one caller's tasks at a connector.
#[derive(Clone, Debug)]
pub(super) struct TaskIds {
    sealer: Arc<Sealer>,
    connector: Arc<str>,
    caller: Arc<str>,
}

impl TaskIds {
    pub(super) fn of(connector: &Connector, caller: &Caller) -> Self {
        Self {
            sealer: connector.sealer.clone(),
            connector: connector.name.clone(),
            caller: caller.id.clone(),
        }
    }

    /// The id under which the caller knows a server's task; always the same one.
    pub(super) fn shown(&self, upstream: &str, own: &str) -> Result<String, Fault> {
        let text = format!("{upstream}.{own}");
        let tag = self.sealer.tag(&self.about(&text))?;
        Ok(format!("{text}.{tag}"))
    }

    /// The server's name and its own id; none when the id was not made for this caller here.
    pub(super) fn opened<'a>(&self, shown: &'a str) -> Option<(&'a str, &'a str)> {
        let (text, tag) = shown.rsplit_once('.')?;
        // Names of servers have no dot.
        self.sealer.is_tag(&self.about(text), tag).then(|| text.split_once('.'))?
    }

    fn about<'a>(&'a self, text: &'a str) -> [&'a str; 4] {
        ["task", &self.connector, &self.caller, text]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ids(sealer: &Arc<Sealer>, caller: &str) -> TaskIds {
        TaskIds { sealer: sealer.clone(), connector: "hub".into(), caller: caller.into() }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn an_id_is_one_callers_and_leads_back(
            upstream in "[a-zA-Z0-9_-]{1,8}",
            own in ".{0,20}",
            other in ".{0,40}",
        ) {
            let sealer = Arc::default();
            let mine = ids(&sealer, "me");
            let shown = mine.shown(&upstream, &own).unwrap();
            prop_assert_eq!(mine.opened(&shown), Some((&*upstream, &*own)));
            prop_assert_eq!(&mine.shown(&upstream, &own).unwrap(), &shown);
            prop_assert_eq!(ids(&sealer, "you").opened(&shown), None);
            prop_assert_eq!(ids(&Arc::default(), "me").opened(&shown), None);
            for made_up in [other.clone(), format!("{shown}x"), format!("{other}{shown}"), own] {
                prop_assert!(made_up == shown || mine.opened(&made_up).is_none());
            }
        }
    }
}
