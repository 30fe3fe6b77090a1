//! Requests without a session, at a server of the modern era.

use std::sync::Arc;

use bytes::Bytes;

use super::answer::{Call, Outcome};
use super::body::Pace;
use super::exchange::{HttpUpstream, id, send};
use super::hold::Hold;
use super::probe::HEADER_MISMATCH;
use super::request::{Head, Whose};
use super::respond::Respondent;
use crate::pipeline::port::{Answer, Order};
use crate::protocol::{Field, Method};
use crate::upstream::authored::Hello;
use crate::upstream::failure::Failure;
use crate::upstream::limits::REREAD;
use crate::upstream::permission::claimed;
use crate::upstream::rewrite::{self, Change};

impl HttpUpstream {
    /// Sends a request as it is, or with what the modern era wants added.
    pub(super) async fn stateless(
        &self,
        order: Order,
        pace: Pace,
        add: bool,
    ) -> Result<Answer, Failure> {
        let allowed = self.endpoint.asks;
        let meta = add.then(|| Hello::of(&order.party, allowed).meta());
        let declared = order.message.field(Field::MetaCapabilities).filter(|_| !add);
        let claims = declared.and_then(|declared| claimed(declared, allowed));
        let (name, capabilities) = (order.name.as_deref(), claims.as_deref());
        let change = Change { name, meta: meta.as_deref(), capabilities, ..Change::default() };
        let text = rewrite::request(&order.message, change);
        let head = Head::modern(&order, &self.endpoint.status);
        let sent = head.extra.len();
        let reads = self.endpoint.status.reads();
        let answer = self.once(&order, head, text.clone(), pace).await?;
        if answer.refusal() != Some(HEADER_MISMATCH) || order.message.method() != Method::ToolsCall
        {
            return Ok(answer);
        }
        Box::pin(self.reread(answer, &order, (sent, reads), (text, pace))).await
    }

    /// The server says that headers are missing or differ from the arguments: the annotations of its tools may have changed.
    /// The catalogue is read again, and where that adds a header, the request is sent once more: it was not started (MCP
    /// 2026-07-28, "Client Behavior").
    async fn reread(
        &self,
        refused: Answer,
        order: &Order,
        (sent, reads): (usize, u64),
        (text, pace): (Bytes, Pace),
    ) -> Result<Answer, Failure> {
        let status = &self.endpoint.status;
        status.bell.changed();
        if !status.read_again(reads, REREAD).await {
            return Ok(refused);
        }
        let head = Head::modern(order, status);
        if head.extra.len() == sent {
            Ok(refused)
        } else {
            self.once(order, head, text, pace).await
        }
    }

    async fn once(
        &self,
        order: &Order,
        head: Head,
        text: Bytes,
        pace: Pace,
    ) -> Result<Answer, Failure> {
        let head = Head { whose: Whose::Caller(order.credential.clone()), ..head };
        let (version, whose) = (head.version.clone(), head.whose.clone());
        let own = Head { version, whose, ..Head::default() };
        let call = Call {
            endpoint: Arc::clone(&self.endpoint),
            id: id(&order.message),
            respondent: Respondent::plugway(&self.endpoint, own.clone()),
            session: None,
            head: own,
            pace,
            drainer: None,
            hold: Hold::default().counted(self.endpoint.status.tally.request()),
            translated: None,
        };
        match send(call, head, text).await? {
            Outcome::Answer(answer) => Ok(answer),
            Outcome::SessionGone => {
                Err(Failure::broken(self.endpoint.name(), "looks for a session that nobody named"))
            }
        }
    }
}
