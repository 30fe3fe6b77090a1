//! Requests that use a feature of servers: some server has to have it, and the client may have to say that it knows it.

use super::connector::Connector;
use super::forward::unknown_method;
use super::handshake::knows;
use super::port::Offering;
use super::request::Request;
use crate::catalogue::View;
use crate::fault::{Code, Fault};
use crate::protocol::feature::Feature;
use crate::protocol::{Era, Field, Revision};

/// Fails where the method of a feature is unknown, because no server has the feature, and where the request does not declare
/// what it has to.
pub(super) fn admit(
    connector: &Connector,
    view: &View,
    request: &Request,
    feature: &Feature,
) -> Result<(), Fault> {
    if !is_offered(connector, view, feature, request.era()) {
        return Err(unknown_method(&request.message));
    }
    check_declared(request, feature)
}

/// Whether a server that the caller may know of has the feature, for clients of an era.
pub(super) fn is_offered(connector: &Connector, view: &View, feature: &Feature, era: Era) -> bool {
    let all = connector.upstreams.iter().enumerate();
    all.filter(|(_, served)| knows(view, served.upstream.name())).any(|(place, _)| {
        connector.offering(view, place).is_some_and(|offering| has(&offering, feature, era))
    })
}

/// Whether a server has the feature for clients of an era. What a server of the modern era says in sessions, where it has
/// any, is not known: it may have the feature there, too.
pub(super) fn has(offering: &Offering, feature: &Feature, era: Era) -> bool {
    let spoken = offering.revision.map(Revision::era);
    spoken.is_some_and(|spoken| {
        (spoken == era || era == Era::Legacy) && feature.is_in(&offering.capabilities, spoken)
    })
}

/// Fails where the feature is negotiated with each request, and this one does not declare it (MCP 2026-07-28,
/// "Error Codes").
pub(super) fn check_declared(request: &Request, feature: &Feature) -> Result<(), Fault> {
    let era = request.era();
    let declared = request.message.field(Field::MetaCapabilities).unwrap_or("{}");
    if !feature.is_negotiated(era) || feature.is_in(declared, era) {
        return Ok(());
    }
    let name = feature.capability(era).last().copied().unwrap_or_default();
    let text = format!("The request has to declare the extension {name:?} to use it.");
    let data = format!(r#"{{"requiredCapabilities":{}}}"#, feature.alone(era));
    Err(Fault::new(Code::MissingCapability, text).with_data(data))
}
