//! How grave a message for a client is (MCP "Logging", RFC 5424).

use bytes::Bytes;
use memchr::memmem;

use super::answer::json_string;
use crate::protocol::{Field, Message, Method, message, scan};

/// The method of log messages.
const METHOD: &str = "notifications/message";

/// A level of `logging/setLevel` and `notifications/message`, from the least grave to the gravest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the words of RFC 5424, section 6.2.1")]
pub enum Level {
    Debug,
    #[default]
    Info,
    Notice,
    Warning,
    Error,
    Critical,
    Alert,
    Emergency,
}

impl Level {
    /// Every level, from the least grave to the gravest.
    pub const ALL: [Self; 8] = [
        Self::Debug,
        Self::Info,
        Self::Notice,
        Self::Warning,
        Self::Error,
        Self::Critical,
        Self::Alert,
        Self::Emergency,
    ];

    /// plugway's own message to an agent.
    pub fn message(self, text: &str) -> Bytes {
        let (method, word, data) = (Method::Message.as_str(), self.as_str(), json_string(text));
        let text = format!(
            r#"{{"jsonrpc":"2.0","method":"{method}","params":{{"level":"{word}","logger":"plugway","data":{data}}}}}"#
        );
        text.into()
    }

    /// The word on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Notice => "notice",
            Self::Warning => "warning",
            Self::Error => "error",
            Self::Critical => "critical",
            Self::Alert => "alert",
            Self::Emergency => "emergency",
        }
    }

    /// The level that a word stands for.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.as_str() == word)
    }

    /// The level in the params of `logging/setLevel` and of `notifications/message`.
    pub fn of_params(message: &Message) -> Option<Self> {
        let params = message.params()?;
        let level = params.get(scan::member(params, "level")?.range())?;
        Self::parse(&message::string(level)?)
    }

    /// The level that a request of the modern era names.
    pub fn of_request(message: &Message) -> Option<Self> {
        Self::parse(&message.string(Field::MetaLogLevel)?)
    }
}

/// Which log messages of servers somebody gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// What the server sends.
    Whatever,
    /// Those of this level, and graver ones.
    From(Level),
    /// None at all.
    Nothing,
}

impl Wanted {
    /// What a session gets whose client asked for this level, or never for any.
    pub fn of_session(level: Option<Level>) -> Self {
        level.map_or(Self::Whatever, Self::From)
    }

    /// What a request of the modern era gets that names this level, or none (MCP 2026-07-28, "Logging").
    pub fn of_request(level: Option<Level>) -> Self {
        level.map_or(Self::Nothing, Self::From)
    }

    /// Whether a server's notification may pass. Those that are no log messages always do.
    pub fn admits(self, notification: &Bytes) -> bool {
        if self == Self::Whatever || memmem::find(notification, METHOD.as_bytes()).is_none() {
            return true;
        }
        let Ok(message) = Message::parse(notification.clone()) else { return true };
        match self {
            _ if message.method() != Method::Message => true,
            Self::Whatever => true,
            Self::Nothing => false,
            // What has no level that anybody knows is not held back.
            Self::From(least) => Level::of_params(&message).is_none_or(|level| level >= least),
        }
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::{Level, Wanted};

    #[test]
    fn log_messages_pass_from_the_wanted_level_on_and_everything_else_passes() {
        let log = |level: &str| {
            Bytes::from(format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/message","params":{{"level":"{level}","data":1}}}}"#
            ))
        };
        let other = Bytes::from_static(
            br#"{"jsonrpc":"2.0","method":"x","params":{"about":"notifications/message"}}"#,
        );
        for (wanted, passing) in [
            (Wanted::Whatever, [true; 4]),
            (Wanted::Nothing, [false; 4]),
            (Wanted::From(Level::Warning), [false, true, true, true]),
        ] {
            let words = ["notice", "warning", "emergency", "unheard-of"];
            assert_eq!(words.map(|word| wanted.admits(&log(word))), passing, "{wanted:?}");
            assert!(wanted.admits(&other));
        }
    }

    #[test]
    fn words_stand_for_levels_in_order() {
        assert!(Level::ALL.is_sorted());
        for level in Level::ALL {
            assert_eq!(Level::parse(level.as_str()), Some(level));
        }
        assert_eq!(Level::parse("Warning"), None);
    }
}
