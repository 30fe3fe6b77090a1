//! Forms of values: durations, sizes, text, secrets.

use std::fmt;
use std::time::Duration;

use serde::de::{self, Deserialize, Deserializer, Visitor};

use crate::config::secret::Secret;

/// A duration with its unit: `500ms`, `30s`, `5m`, `1h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span(pub Duration);

/// A size with its unit: `512B`, `64KiB`, `4MiB`, `1GiB`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size(pub usize);

/// Text for another program, where a whole number may stand without quotes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text(pub String);

/// A secret: a reference to it, `env://NAME` or `file://PATH`, or the text itself. Nothing shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretText {
    text: Secret,
    /// Whether the text is the secret, whatever it looks like.
    literal: bool,
}

impl SecretText {
    /// A reference, or a text that does not look like one.
    pub fn new(text: &str) -> Self {
        Self { text: Secret::new(text), literal: false }
    }

    /// This text, even if it looks like a reference.
    pub fn literal(text: &str) -> Self {
        Self { text: Secret::new(text), literal: true }
    }

    /// The text that was written.
    pub fn written(&self) -> &Secret {
        &self.text
    }

    /// Whether the text is the secret, whatever it looks like.
    pub fn is_literal(&self) -> bool {
        self.literal
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct SpanVisitor;
        impl Visitor<'_> for SpanVisitor {
            type Value = Span;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a duration such as `30s`")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Span, E> {
                measure(text, &[("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000)])
                    .map(|millis| Span(Duration::from_millis(millis)))
                    .ok_or_else(|| {
                        E::custom(format!("is `{text}`, which is no duration\nwrite a whole number and its unit: 500ms, 30s, 5m, 1h"))
                    })
            }
        }
        deserializer.deserialize_str(SpanVisitor)
    }
}

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct SizeVisitor;
        impl Visitor<'_> for SizeVisitor {
            type Value = Size;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a size such as `4MiB`")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Size, E> {
                let units = [("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("B", 1)];
                measure(text, &units)
                    .and_then(|bytes| usize::try_from(bytes).ok())
                    .map(Size)
                    .ok_or_else(|| {
                        E::custom(format!("is `{text}`, which is no size\nwrite a whole number and its unit: 512B, 64KiB, 4MiB, 1GiB"))
                    })
            }
        }
        deserializer.deserialize_str(SizeVisitor)
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;
        impl Visitor<'_> for TextVisitor {
            type Value = Text;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_str<E>(self, text: &str) -> Result<Text, E> {
                Ok(Text(text.to_owned()))
            }

            fn visit_u64<E>(self, number: u64) -> Result<Text, E> {
                Ok(Text(number.to_string()))
            }

            fn visit_i64<E>(self, number: i64) -> Result<Text, E> {
                Ok(Text(number.to_string()))
            }
        }
        deserializer.deserialize_any(TextVisitor)
    }
}

impl<'de> Deserialize<'de> for SecretText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct SecretVisitor;
        /// Without the value, which may be the secret.
        fn unfit<E: de::Error>() -> E {
            E::custom("must be text\nput the value in quotes")
        }
        impl Visitor<'_> for SecretVisitor {
            type Value = SecretText;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("text or a reference such as `env://NAME`")
            }

            fn visit_str<E>(self, text: &str) -> Result<SecretText, E> {
                Ok(SecretText::new(text))
            }

            fn visit_u64<E>(self, number: u64) -> Result<SecretText, E> {
                Ok(SecretText::new(&number.to_string()))
            }

            fn visit_i64<E>(self, number: i64) -> Result<SecretText, E> {
                Ok(SecretText::new(&number.to_string()))
            }

            fn visit_f64<E: de::Error>(self, _: f64) -> Result<SecretText, E> {
                Err(unfit())
            }

            fn visit_bool<E: de::Error>(self, _: bool) -> Result<SecretText, E> {
                Err(unfit())
            }
        }
        deserializer.deserialize_any(SecretVisitor)
    }
}

/// A whole number followed by one of the units, in the smallest unit.
fn measure(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at_checked(digits)?;
    let (_, factor) = units.iter().find(|(name, _)| *name == unit.trim())?;
    number.parse::<u64>().ok()?.checked_mul(*factor)
}

#[cfg(test)]
mod tests {
    use super::measure;

    #[test]
    fn a_unit_is_not_optional() {
        let units = [("ms", 1), ("s", 1000)];
        for (text, value) in [
            ("30s", Some(30_000)),
            ("5 ms", Some(5)),
            ("30", None),
            ("s", None),
            ("1.5s", None),
            ("-1s", None),
            ("99999999999999999999s", None),
            ("18446744073709551615s", None),
        ] {
            assert_eq!(measure(text, &units), value, "{text}");
        }
    }
}
