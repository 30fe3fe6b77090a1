//! What can be found, by the names that operators write.

/// A kind of secret or of personal data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Access key ids and secret access keys of AWS.
    Aws,
    /// Keys of Azure storage accounts and service buses, signatures of SAS.
    Azure,
    /// Tokens of GitHub: classic, fine-grained, of apps.
    Github,
    /// Tokens of GitLab.
    Gitlab,
    /// API keys and OAuth client secrets of Google.
    Google,
    /// Tokens of Slack.
    Slack,
    /// Keys of Stripe, and secrets of its webhooks.
    Stripe,
    /// API keys of `OpenAI`.
    Openai,
    /// API keys of Anthropic.
    Anthropic,
    /// Access tokens of npm.
    Npm,
    /// JSON Web Tokens.
    Jwt,
    /// Private keys as PEM or as PGP blocks.
    PrivateKey,
    /// Numbers of payment cards.
    Card,
    /// International bank account numbers.
    Iban,
    /// E-mail addresses.
    Email,
    /// Telephone numbers.
    Phone,
}

impl Kind {
    /// Every kind, secrets first.
    pub const ALL: [Self; 16] = [
        Self::Aws,
        Self::Azure,
        Self::Github,
        Self::Gitlab,
        Self::Google,
        Self::Slack,
        Self::Stripe,
        Self::Openai,
        Self::Anthropic,
        Self::Npm,
        Self::Jwt,
        Self::PrivateKey,
        Self::Card,
        Self::Iban,
        Self::Email,
        Self::Phone,
    ];

    /// The name that operators write, and that stands in place of what was found.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Aws => "aws",
            Self::Azure => "azure",
            Self::Github => "github",
            Self::Gitlab => "gitlab",
            Self::Google => "google",
            Self::Slack => "slack",
            Self::Stripe => "stripe",
            Self::Openai => "openai",
            Self::Anthropic => "anthropic",
            Self::Npm => "npm",
            Self::Jwt => "jwt",
            Self::PrivateKey => "private_key",
            Self::Card => "card",
            Self::Iban => "iban",
            Self::Email => "email",
            Self::Phone => "phone",
        }
    }

    /// Whether it says something of a person; else it opens something.
    pub const fn is_personal(self) -> bool {
        matches!(self, Self::Card | Self::Iban | Self::Email | Self::Phone)
    }

    /// The kind of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    const fn bit(self) -> u16 {
        1 << self as u16
    }
}

/// A set of kinds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Kinds(u16);

impl Kinds {
    /// All of them.
    pub fn all() -> Self {
        Kind::ALL.into_iter().collect()
    }

    /// Those that are looked for where nobody said anything: all but telephone numbers, which look too much like other numbers.
    pub fn usual() -> Self {
        Kind::ALL.into_iter().filter(|kind| *kind != Kind::Phone).collect()
    }

    /// Whether it is one of them.
    pub const fn has(self, kind: Kind) -> bool {
        self.0 & kind.bit() != 0
    }
}

impl FromIterator<Kind> for Kinds {
    fn from_iter<I: IntoIterator<Item = Kind>>(kinds: I) -> Self {
        Self(kinds.into_iter().fold(0, |set, kind| set | kind.bit()))
    }
}

/// How often each kind was found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts([u32; Kind::ALL.len()]);

impl Counts {
    /// One more of this kind.
    pub fn add(&mut self, kind: Kind) {
        if let Some(count) = self.0.get_mut(kind as usize) {
            *count = count.saturating_add(1);
        }
    }

    /// The kinds that were found, each with its number.
    pub fn found(&self) -> impl Iterator<Item = (Kind, u32)> {
        Kind::ALL.into_iter().zip(self.0).filter(|(_, count)| *count > 0)
    }
}
