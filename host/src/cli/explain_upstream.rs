//! An upstream in words: what it is, then what differs from the defaults.

use std::fmt;
use std::time::Duration;

use crate::config::{
    Absence, Asks, Credential, HttpTransport, Sharing, Target, UpstreamSettings, Watch,
};

/// Says on one line how a server is reached, watched and shown. Secrets are named, never shown.
pub(super) fn upstream(upstream: &UpstreamSettings, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, "  upstream {}: ", upstream.name)?;
    target(upstream, f)?;
    let naming = &upstream.naming;
    write!(f, "; prefix {}", naming.prefix.as_str())?;
    for (own, shown) in &naming.aliases {
        write!(f, ", {own} shown as {shown}")?;
    }
    if !naming.expose.is_empty() {
        write!(f, ", offers only {}", naming.expose.join(", "))?;
    }
    if !naming.hide.is_empty() {
        write!(f, ", does not offer {}", naming.hide.join(", "))?;
    }
    if !naming.hide_tags.is_empty() {
        write!(f, ", offers no tools tagged {}", naming.hide_tags.join(", "))?;
    }
    if naming.split_actions {
        f.write_str(", tools split by their actions")?;
    }
    if naming.of_functions {
        f.write_str(" (its functions, where it runs code)")?;
    }
    asks(upstream.server_requests, f)?;
    if !upstream.catalog {
        f.write_str("; its catalogue of functions is not read")?;
    }
    if !upstream.instructions {
        f.write_str("; its instructions are left out")?;
    }
    if let Some(pin) = upstream.pin {
        write!(f, "; pinned: {}", pin.as_str())?;
    }
    watch(&upstream.watch, f)?;
    absence(upstream.absence, f)?;
    writeln!(f)
}

fn target(upstream: &UpstreamSettings, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match &upstream.target {
        Target::Http(address) => {
            let uri = &address.url;
            let scheme = uri.scheme_str().unwrap_or_default();
            let authority = uri.authority().map_or("", http::uri::Authority::as_str);
            // There may be a secret in it.
            let query = if uri.query().is_some() { "?.." } else { "" };
            write!(f, "{scheme}://{authority}{}{query}", uri.path())?;
            if address.transport == HttpTransport::Sse {
                f.write_str(" over HTTP+SSE")?;
            }
        }
        Target::Leased(transport) => {
            write!(f, "waits for a lease of {}", upstream.accept_leases.join(" or "))?;
            if *transport == HttpTransport::Sse {
                f.write_str(" over HTTP+SSE")?;
            }
        }
        Target::Stdio(child) => {
            let variables: Vec<_> = child.env.iter().map(|(name, _)| name.as_str()).collect();
            write!(f, "{} with {} arguments", child.command, child.args.len())?;
            write!(f, ", environment [{}]", variables.join(", "))?;
            match child.sharing {
                Sharing::Session => {
                    write!(f, ", a child for each session, at most {}", child.max_children)?;
                }
                Sharing::Connector => f.write_str(", one child for all")?,
            }
        }
    }
    match &upstream.credential {
        Credential::None => {}
        Credential::Forward { own: None } => f.write_str(", with the client's credential")?,
        Credential::Forward { own: Some(_) } => {
            f.write_str(
                ", with the client's credential, and one of its own for its own questions",
            )?;
        }
        Credential::Header(name, _) => write!(f, ", with a credential in `{name}`")?,
    }
    if !upstream.headers.is_empty() {
        let names: Vec<_> = upstream.headers.iter().map(|(name, _)| name.as_str()).collect();
        write!(f, ", headers {}", names.join(" "))?;
    }
    Ok(())
}

fn asks(asks: Asks, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if asks == Asks::default() {
        return Ok(());
    }
    let words: Vec<_> =
        asks.words().into_iter().filter(|(_, said)| *said).map(|(word, _)| word).collect();
    match &words[..] {
        [] => f.write_str("; asks nothing of clients"),
        words => write!(f, "; may ask clients for {}", words.join(", ")),
    }
}

fn watch(watch: &Watch, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let default = Watch::default();
    if (watch.interval, watch.timeout) != (default.interval, default.timeout) {
        let (interval, timeout) = (Span(watch.interval), Span(watch.timeout));
        write!(f, "; asked every {interval} with {timeout} to answer")?;
    }
    if (watch.down_after, watch.up_after) != (default.down_after, default.up_after) {
        let Watch { down_after, up_after, .. } = watch;
        write!(f, "; away after {down_after} failed checks, back after {up_after}")?;
    }
    if (watch.retry_initial, watch.retry_max) != (default.retry_initial, default.retry_max) {
        let (initial, longest) = (Span(watch.retry_initial), Span(watch.retry_max));
        write!(f, "; tried again after {initial}, at last every {longest}")?;
    }
    if let Some(attempts) = watch.attempts {
        write!(f, "; left alone after {attempts} attempts")?;
    }
    if watch.refresh != default.refresh {
        write!(f, "; read again every {}", Span(watch.refresh))?;
    }
    Ok(())
}

fn absence(absence: Absence, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if absence.stale_for != Absence::default().stale_for {
        write!(f, "; away for {} before clients see it", Span(absence.stale_for))?;
    }
    if absence.keep {
        f.write_str("; stays in lists while it is away")?;
    }
    Ok(())
}

/// A duration as an operator would write it.
struct Span(Duration);

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let millis = self.0.as_millis();
        match millis {
            _ if !millis.is_multiple_of(1_000) => write!(f, "{millis}ms"),
            _ if millis == 0 || !millis.is_multiple_of(60_000) => write!(f, "{}s", millis / 1_000),
            _ => write!(f, "{}m", millis / 60_000),
        }
    }
}
