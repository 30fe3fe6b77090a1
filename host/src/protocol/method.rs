//! The methods that a proxy treats in a way of their own; every other is [`Method::Other`].

/// A request or notification method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each variant is named after the method that `as_str` spells")]
pub enum Method {
    Initialize,
    Discover,
    Ping,
    ToolsList,
    ToolsCall,
    PromptsList,
    PromptsGet,
    ResourcesList,
    ResourcesTemplatesList,
    ResourcesRead,
    ResourcesSubscribe,
    ResourcesUnsubscribe,
    Complete,
    SetLevel,
    SubscriptionsListen,
    Initialized,
    Cancelled,
    Progress,
    RootsListChanged,
    Message,
    ToolsListChanged,
    PromptsListChanged,
    ResourcesListChanged,
    ResourcesUpdated,
    Acknowledged,
    Other,
}

const NAMES: [(Method, &str); 25] = [
    (Method::ToolsCall, "tools/call"),
    (Method::ToolsList, "tools/list"),
    (Method::Initialize, "initialize"),
    (Method::Discover, "server/discover"),
    (Method::Ping, "ping"),
    (Method::PromptsList, "prompts/list"),
    (Method::PromptsGet, "prompts/get"),
    (Method::ResourcesList, "resources/list"),
    (Method::ResourcesTemplatesList, "resources/templates/list"),
    (Method::ResourcesRead, "resources/read"),
    (Method::ResourcesSubscribe, "resources/subscribe"),
    (Method::ResourcesUnsubscribe, "resources/unsubscribe"),
    (Method::Complete, "completion/complete"),
    (Method::SetLevel, "logging/setLevel"),
    (Method::SubscriptionsListen, "subscriptions/listen"),
    (Method::Initialized, "notifications/initialized"),
    (Method::Cancelled, "notifications/cancelled"),
    (Method::Progress, "notifications/progress"),
    (Method::RootsListChanged, "notifications/roots/list_changed"),
    (Method::Message, "notifications/message"),
    (Method::ToolsListChanged, "notifications/tools/list_changed"),
    (Method::PromptsListChanged, "notifications/prompts/list_changed"),
    (Method::ResourcesListChanged, "notifications/resources/list_changed"),
    (Method::ResourcesUpdated, "notifications/resources/updated"),
    (Method::Acknowledged, "notifications/subscriptions/acknowledged"),
];

impl Method {
    /// The method that a name spells; names are compared exactly.
    pub fn of(name: &str) -> Self {
        NAMES.iter().find(|(_, known)| *known == name).map_or(Self::Other, |(method, _)| *method)
    }

    /// The name on the wire; empty for [`Method::Other`].
    pub fn as_str(self) -> &'static str {
        NAMES.iter().find(|(method, _)| *method == self).map_or("", |(_, name)| name)
    }
}
