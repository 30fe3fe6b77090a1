//! The environment: what it becomes, and what is said about it.

use super::super::{speaks, switch};
use super::{environment, of, said, upstreams};

#[test]
fn upstreams_are_sorted_by_their_lower_case_names() {
    let settings = environment(&[
        ("UPSTREAM_GIS_URL", " http://gis:8000/ "),
        ("UPSTREAM_Chem_2_URL", "http://chem:8000/x"),
        ("HOME", "/"),
    ]);
    let settings = settings.unwrap();
    assert_eq!(
        upstreams(&settings),
        [
            ("chem_2".to_owned(), "http://chem:8000/x/mcp".to_owned(), true),
            ("gis".to_owned(), "http://gis:8000/".to_owned(), true),
        ]
    );
    assert_eq!(&*settings.connectors[0].name, "connector");
    assert_eq!(settings.listen.address.to_string(), "127.0.0.1:8000");
    assert_eq!((settings.file, settings.sources), (None, Vec::new()));
    assert!(settings.warnings.list.is_empty());
}

#[test]
fn only_words_of_this_form_describe_a_connector() {
    for (name, describes) in [
        ("UPSTREAM_A_URL", true),
        ("CONNECTOR_MODE", true),
        ("CONNECTOR_NAME", true),
        ("WORKER_A_URL", true),
        ("WORKER_URLS", true),
        ("GATEWAY_BLOCKED_TOOLS", true),
        ("UPSTREAM_URL", false),
        ("UPSTREAM_A_SERVICE_HOST", false),
        ("CONNECTOR_HOST", false),
        ("CONNECTOR_PORT", false),
        ("PORT", false),
        ("ENTRA_CLIENT_ID", false),
    ] {
        assert_eq!(speaks(&of(&[(name, "")])), describes, "{name}");
    }
}

#[test]
fn every_problem_is_said_at_once_with_its_variable() {
    let said = said(environment(&[
        ("CONNECTOR_NAME", "my hub"),
        ("CONNECTOR_PORT", "x"),
        ("UPSTREAM_A_URL", ""),
        ("UPSTREAM_B_URL", "b:8000"),
        ("UPSTREAM_C_URL", "http://c"),
        ("UPSTREAM_c_URL", "http://d"),
        ("UPSTREAM_1_URL", "http://e"),
        ("ENTRA_TENANT_ID", "t"),
        ("CONNECTOR_ALLOW_NOOP_AUTH", "perhaps"),
    ]));
    for sentence in [
        "error: `CONNECTOR_NAME` is `my hub`, which cannot be the name of a connector",
        "error: the environment variable CONNECTOR_PORT is `x`",
        "error: `UPSTREAM_A_URL` is set, but empty",
        "error: `UPSTREAM_B_URL` ",
        "error: `UPSTREAM_c_URL` means the same upstream as `UPSTREAM_C_URL`",
        "error: `UPSTREAM_1_URL` names an upstream `1`",
        "error: `ENTRA_TENANT_ID` does nothing yet",
        "error: `CONNECTOR_ALLOW_NOOP_AUTH` is `perhaps`",
    ] {
        assert!(said.contains(sentence), "no {sentence}\nin {said}");
    }
    assert_eq!(said.matches("error: ").count(), 8, "{said}");
}

#[test]
fn what_was_meant_is_said() {
    for (variables, sentences) in [
        (&[("CONNECTOR_NAME", "hub")][..], &["no variable UPSTREAM_<NAME>_URL is set"][..]),
        (&[("CONNECTOR_MODE", "ruoter")], &["is `ruoter`", "did you mean `router`?"]),
        (&[("CONNECTOR_MODE", "zz")], &["is `zz`", "write `router`"]),
        (
            &[("UPSTREAM_A_URL", "http://a"), ("CONECTOR_NAME", "x"), ("CONNECTOR_NAMES", "y")],
            &["warning: `CONNECTOR_NAMES` means nothing", "did you mean CONNECTOR_NAME?"],
        ),
        (
            &[("UPSTREAM_A_URL", "http://a"), ("UPSTREAM_CHEMISTRY_URI", "http://b")],
            &["warning: `UPSTREAM_CHEMISTRY_URI` means", "written UPSTREAM_<NAME>_URL"],
        ),
        (
            &[("UPSTREAM_A_URL", "http://a"), ("CONNECTOR_HOST", "0.0.0.0")],
            &["does not allow listening on 0.0.0.0:8000", "--accept-exposure"],
        ),
        (
            &[("UPSTREAM_A_URL", "http://a"), ("CONNECTOR_ALLOW_NOOP_AUTH", "off")],
            &["`CONNECTOR_ALLOW_NOOP_AUTH` forbids to serve without authentication"],
        ),
    ] {
        let said = said(environment(variables));
        for sentence in sentences {
            assert!(said.contains(sentence), "no {sentence}\nin {said}");
        }
    }
}

#[test]
fn a_switch_has_the_words_of_the_reference() {
    for (word, on) in [
        ("1", Some(true)),
        ("True", Some(true)),
        (" yes ", Some(true)),
        ("on", Some(true)),
        ("0", Some(false)),
        ("OFF", Some(false)),
        ("", Some(false)),
        ("2", None),
    ] {
        assert_eq!(switch::read(word), on, "{word}");
    }
}
