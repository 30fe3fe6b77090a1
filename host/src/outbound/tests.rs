//! The address rules, and what a resolver may say.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Uri};
use proptest::prelude::*;
use tokio::net::TcpListener;

use super::address::judge;
use super::{DialError, Dialer, FetchError, Fetcher, Origin, OwnListeners, Reach, Refusal};

const LIMIT: Duration = Duration::from_secs(10);

fn refused(address: &str, reach: Reach) -> Option<Refusal> {
    judge(address.parse().unwrap(), reach).err()
}

#[test]
fn what_is_never_dialled_is_refused_however_it_is_written() {
    for (address, want) in [
        ("169.254.169.254", Refusal::Metadata),
        ("::ffff:169.254.169.254", Refusal::Metadata),
        ("::169.254.169.254", Refusal::Metadata),
        ("64:ff9b::169.254.169.254", Refusal::Metadata),
        ("64:ff9b:1:a9fe:a9:fe00::", Refusal::Metadata),
        ("2002:a9fe:a9fe::1", Refusal::Metadata),
        ("2001:0:a9fe:a9fe:0:0:f7f7:f7f7", Refusal::Metadata),
        ("2001:0:808:808:0:0:5601:5601", Refusal::Metadata),
        ("fd00:ec2::254", Refusal::Metadata),
        ("100.100.100.200", Refusal::Metadata),
        ("192.0.0.192", Refusal::Metadata),
        ("169.254.0.1", Refusal::LinkLocal),
        ("fe80::1", Refusal::LinkLocal),
        ("febf::1", Refusal::LinkLocal),
        ("0.0.0.0", Refusal::Unspecified),
        ("0.1.2.3", Refusal::Unspecified),
        ("::", Refusal::Unspecified),
        ("::ffff:0.0.0.0", Refusal::Unspecified),
        ("224.0.0.1", Refusal::Multicast),
        ("ff02::1", Refusal::Multicast),
        ("255.255.255.255", Refusal::Reserved),
        ("240.0.0.1", Refusal::Reserved),
    ] {
        for reach in [Reach::Public, Reach::Loopback, Reach::Private] {
            assert_eq!(refused(address, reach), Some(want), "{address} {reach:?}");
        }
    }
}

#[test]
fn what_is_private_takes_a_grant() {
    for address in
        ["10.0.0.1", "172.31.255.255", "192.168.1.1", "100.64.0.1", "fd12::1", "::ffff:10.0.0.1"]
    {
        assert_eq!(refused(address, Reach::Public), Some(Refusal::Private), "{address}");
        assert_eq!(refused(address, Reach::Loopback), Some(Refusal::Private), "{address}");
        assert_eq!(refused(address, Reach::Private), None, "{address}");
    }
    for address in ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1", "2002:7f00:1::1"] {
        assert_eq!(refused(address, Reach::Public), Some(Refusal::Loopback), "{address}");
        assert_eq!(refused(address, Reach::Loopback), None, "{address}");
        assert_eq!(refused(address, Reach::Private), None, "{address}");
    }
    for address in ["8.8.8.8", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "64:ff9b::8.8.8.8"] {
        assert_eq!(refused(address, Reach::Public), None, "{address}");
    }
}

proptest! {
    /// No way of writing an IPv4 address inside an IPv6 address gets further than the address itself.
    #[test]
    fn a_carried_address_is_judged_as_itself(bits in any::<u32>(), near in 0_usize..8) {
        // Random addresses are seldom special: most tries start in a special network.
        let networks: [u32; 8] = [
            0xa9fe_0000, 0x7f00_0000, 0x0a00_0000, 0xc0a8_0000, 0xe000_0000, 0xac10_0000, 0, 0xffff_ff00,
        ];
        let v4 = Ipv4Addr::from(networks[near] | bits & 0xffff);
        let [a, b] = [u32::from(v4) >> 16, u32::from(v4) & 0xffff]
            .map(|half| u16::try_from(half).unwrap());
        let alone = judge(IpAddr::V4(v4), Reach::Public);
        let carriers = [
            v4.to_ipv6_mapped(),
            Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, a, b),
            Ipv6Addr::new(0x2002, a, b, 0, 0, 0, 0, 1),
            Ipv6Addr::new(0x2001, 0, 0x808, 0x808, 0, 0, !a, !b),
            Ipv6Addr::new(0x2001, 0, a, b, 0, 0, !0x808, !0x808),
        ];
        for carrier in carriers {
            prop_assert_eq!(judge(IpAddr::V6(carrier), Reach::Public), alone, "{} in {}", v4, carrier);
        }
    }

    /// Who may reach more is refused less, and what is never dialled is refused to all.
    #[test]
    fn a_wider_reach_refuses_no_more(bits in any::<u128>(), four in any::<bool>()) {
        let address = if four {
            IpAddr::V4(Ipv4Addr::from(u32::try_from(bits >> 96).unwrap()))
        } else {
            IpAddr::V6(Ipv6Addr::from(bits))
        };
        let [public, loopback, private] = [Reach::Public, Reach::Loopback, Reach::Private]
            .map(|reach| judge(address, reach).err());
        prop_assert!(loopback.is_none() || loopback == public);
        prop_assert!(private.is_none() || private == loopback);
        prop_assert!(!matches!(private, Some(Refusal::Private | Refusal::Loopback)));
    }
}

async fn dial(dialer: &Dialer, uri: &str) -> Result<SocketAddr, DialError> {
    let uri: Uri = uri.parse().unwrap();
    dialer.dial(&uri).await.map(|stream| stream.peer_addr().unwrap())
}

#[tokio::test]
async fn names_are_judged_by_their_addresses_and_own_listeners_are_refused() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let port = address.port();
    let own = OwnListeners::new();
    let configured = Dialer::configured(own.clone(), LIMIT);
    for host in ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]"] {
        let reached = dial(&configured, &format!("http://{host}:{port}/")).await.unwrap();
        assert_eq!(reached.ip().to_canonical(), address.ip());
    }

    let granted = Dialer::granted(own.clone(), false, LIMIT);
    let by_number = dial(&granted, &format!("http://2130706433:{port}/")).await;
    assert!(by_number.is_err(), "127.0.0.1 as one number: {by_number:?}");
    dial(&granted, &format!("http://localhost:{port}/")).await.unwrap();
    dial(&granted, &format!("http://127.0.0.1:{port}/")).await.unwrap();

    for listens in [address, SocketAddr::from((Ipv4Addr::UNSPECIFIED, port))] {
        let _listed = own.add(listens);
        for host in ["127.0.0.1", "[::ffff:127.0.0.1]"] {
            let error = dial(&configured, &format!("http://{host}:{port}/")).await.unwrap_err();
            assert!(
                matches!(error, DialError::Refused { why: Refusal::OwnListener, .. }),
                "{host}: {error}"
            );
        }
    }
    dial(&configured, &format!("http://127.0.0.1:{port}/")).await.unwrap();
}

#[tokio::test]
async fn a_refused_address_is_not_connected_to() {
    let dialer = Dialer::configured(OwnListeners::new(), LIMIT);
    for host in ["169.254.169.254", "[fe80::1]", "0.0.0.0", "[::]", "224.0.0.1"] {
        let error = dial(&dialer, &format!("http://{host}/")).await.unwrap_err();
        assert!(matches!(error, DialError::Refused { .. }), "{host}: {error}");
    }
    let error = dial(&dialer, "http://no-such-name.invalid/").await.unwrap_err();
    assert!(matches!(error, DialError::Resolve { .. }), "{error}");
}

#[test]
fn origins_are_compared_by_scheme_host_and_port() {
    let origin = |url: &str| Origin::of(&url.parse().unwrap());
    for (one, other) in [
        ("https://API.example.com", "https://api.example.com:443/x?y"),
        ("http://h", "http://h:80/"),
        ("http://[::1]:8", "http://[0:0:0:0:0:0:0:1]:8/"),
    ] {
        assert_eq!(origin(one).unwrap(), origin(other).unwrap());
    }
    for (one, other) in [
        ("https://a.example", "http://a.example"),
        ("https://a.example", "https://a.example.:443"),
        ("https://a.example", "https://a.example:444"),
        ("https://a.example", "https://b.a.example"),
    ] {
        assert_ne!(origin(one), origin(other));
    }
    for url in ["http://u@h", "ftp://h", "/path", "http://u:p@h:1/"] {
        assert_eq!(origin(url), None, "{url}");
    }
}

#[tokio::test]
async fn a_fetch_goes_to_granted_origins_only() {
    let origins = vec![Origin::of(&"http://127.0.0.1:9".parse().unwrap()).unwrap()];
    let fetcher = Fetcher::new(origins, false, OwnListeners::new());
    let fetch = async |url: &str| {
        let request = Request::get(url).body(Bytes::new()).unwrap();
        fetcher.fetch(request, LIMIT).await.unwrap_err()
    };
    for url in ["http://127.0.0.1:8/", "http://localhost:9/", "https://127.0.0.1:9/"] {
        assert!(matches!(fetch(url).await, FetchError::NotGranted { .. }), "{url}");
    }
    assert!(matches!(fetch("http://u@127.0.0.1:9/").await, FetchError::Url));
}
