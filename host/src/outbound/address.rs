//! Which addresses may be dialled.
//!
//! Sources: the IANA special-purpose address registries (RFC 6890 and its successors), and the manuals of the cloud
//! providers for the addresses of their metadata services.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// How far somebody may reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Addresses of the public internet only.
    Public,
    /// The machine itself, too.
    Loopback,
    /// Private networks and the machine itself, too. What is never dialled is refused even so.
    Private,
}

/// Why an address is not dialled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Services that give a machine its credentials.
    #[error("it is the address of a cloud metadata service, which plugway never dials")]
    Metadata,
    /// `169.254.0.0/16`, `fe80::/10`.
    #[error("it is a link-local address, which plugway never dials")]
    LinkLocal,
    /// `0.0.0.0/8`, `::`.
    #[error("it is the unspecified address, which plugway never dials")]
    Unspecified,
    /// `224.0.0.0/4`, `ff00::/8`.
    #[error("it is a multicast address, which plugway never dials")]
    Multicast,
    /// `240.0.0.0/4`, with `255.255.255.255`.
    #[error("it is a broadcast or reserved address, which plugway never dials")]
    Reserved,
    /// A port on which this plugway listens.
    #[error("plugway itself listens there; a connector must not stand behind itself")]
    OwnListener,
    /// Loopback, for somebody who may not.
    #[error("it is the machine itself, which is not granted")]
    Loopback,
    /// A private network, for somebody who may not.
    #[error("it is an address of a private network, which is not granted")]
    Private,
}

/// Judges an address. IPv6 addresses that carry an IPv4 address are judged as that address as well.
pub fn judge(address: IpAddr, reach: Reach) -> Result<(), Refusal> {
    let refusal = match address {
        IpAddr::V4(v4) => of_v4(v4),
        IpAddr::V6(v6) => {
            let carried = carried(v6);
            carried
                .into_iter()
                .flatten()
                .filter_map(of_v4)
                .chain(of_v6(v6))
                .max_by_key(|refusal| gravity(*refusal))
        }
    };
    match (refusal, reach) {
        (None, _)
        | (Some(Refusal::Loopback), Reach::Loopback | Reach::Private)
        | (Some(Refusal::Private), Reach::Private) => Ok(()),
        (Some(refusal), _) => Err(refusal),
    }
}

/// An address with several meanings is judged by the worst.
fn gravity(refusal: Refusal) -> u8 {
    match refusal {
        Refusal::Loopback => 0,
        Refusal::Private => 1,
        _ => 2,
    }
}

/// AWS, Azure, Google and most others share the first; then Azure's host, Alibaba, Oracle.
const METADATA_V4: [Ipv4Addr; 4] = [
    Ipv4Addr::new(169, 254, 169, 254),
    Ipv4Addr::new(168, 63, 129, 16),
    Ipv4Addr::new(100, 100, 100, 200),
    Ipv4Addr::new(192, 0, 0, 192),
];

/// AWS and Google.
const METADATA_V6: [Ipv6Addr; 2] = [
    Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254),
    Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254),
];

/// Networks that are not of the public internet: RFC 1918, carriers, protocol assignments, benchmarks, documentation.
const PRIVATE_V4: [([u8; 4], u32); 9] = [
    ([10, 0, 0, 0], 8),
    ([172, 16, 0, 0], 12),
    ([192, 168, 0, 0], 16),
    ([100, 64, 0, 0], 10),
    ([192, 0, 0, 0], 24),
    ([192, 0, 2, 0], 24),
    ([198, 18, 0, 0], 15),
    ([198, 51, 100, 0], 24),
    ([203, 0, 113, 0], 24),
];

fn of_v4(address: Ipv4Addr) -> Option<Refusal> {
    let [first, ..] = address.octets();
    if METADATA_V4.contains(&address) {
        return Some(Refusal::Metadata);
    }
    if first == 0 {
        return Some(Refusal::Unspecified);
    }
    if address.is_link_local() {
        return Some(Refusal::LinkLocal);
    }
    if address.is_multicast() {
        return Some(Refusal::Multicast);
    }
    if first >= 240 {
        return Some(Refusal::Reserved);
    }
    if address.is_loopback() {
        return Some(Refusal::Loopback);
    }
    let bits = u32::from(address);
    let within = |(network, length): &([u8; 4], u32)| {
        let differs = bits ^ u32::from(Ipv4Addr::from(*network));
        differs.leading_zeros() >= *length
    };
    PRIVATE_V4.iter().any(within).then_some(Refusal::Private)
}

/// Unique local, the old site-local, documentation, discard-only, and the locally used prefix of NAT64 (RFC 8215).
const PRIVATE_V6: [(Ipv6Addr, u32); 6] = [
    (Ipv6Addr::new(0xfc00, 0, 0, 0, 0, 0, 0, 0), 7),
    (Ipv6Addr::new(0xfec0, 0, 0, 0, 0, 0, 0, 0), 10),
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32),
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20),
    (Ipv6Addr::new(0x100, 0, 0, 0, 0, 0, 0, 0), 64),
    (Ipv6Addr::new(0x64, 0xff9b, 1, 0, 0, 0, 0, 0), 48),
];

fn of_v6(address: Ipv6Addr) -> Option<Refusal> {
    if METADATA_V6.contains(&address) {
        return Some(Refusal::Metadata);
    }
    if address.is_unspecified() {
        return Some(Refusal::Unspecified);
    }
    if address.is_unicast_link_local() {
        return Some(Refusal::LinkLocal);
    }
    if address.is_multicast() {
        return Some(Refusal::Multicast);
    }
    if address.is_loopback() {
        return Some(Refusal::Loopback);
    }
    let bits = u128::from(address);
    let within = |(network, length): &(Ipv6Addr, u32)| {
        (bits ^ u128::from(*network)).leading_zeros() >= *length
    };
    PRIVATE_V6.iter().any(within).then_some(Refusal::Private)
}

/// The IPv4 addresses that an IPv6 address stands for: mapped and compatible (RFC 4291), NAT64 (RFC 6052, 8215), 6to4
/// (RFC 3056), Teredo (RFC 4380; server and client).
fn carried(address: Ipv6Addr) -> [Option<Ipv4Addr>; 2] {
    let bits = u128::from(address);
    let v4 = |bits: u128| u32::try_from(bits & 0xffff_ffff).ok().map(Ipv4Addr::from);
    match bits >> 32 {
        // `::` and `::1` are addresses of their own
        0 if bits <= 0xffff => return [None, None],
        0 | 0xffff | 0xffff_0000 | NAT64 => return [v4(bits), None],
        _ => {}
    }
    if bits >> 80 == NAT64_LOCAL {
        // RFC 6052, section 2.2: behind a prefix of 48 bits the address goes around bits 64 to 71
        return [v4(bits), v4((bits >> 64 & 0xffff) << 16 | bits >> 40 & 0xffff)];
    }
    if bits >> 112 == 0x2002 {
        return [v4(bits >> 80), None];
    }
    if bits >> 96 == 0x2001_0000 {
        return [v4(bits >> 64), v4(!bits)];
    }
    [None, None]
}

/// `64:ff9b::/96`, without its last 32 bits.
const NAT64: u128 = 0x0064_ff9b << 64;
/// `64:ff9b:1::/48`.
const NAT64_LOCAL: u128 = 0x0064_ff9b_0001;
