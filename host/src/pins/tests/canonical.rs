//! RFC 8785: its own examples, numbers by their bits, and what it says nothing about.

use proptest::prelude::*;
use serde_json::Value;

use super::super::canonical::canonical;
use super::super::definition::digest;
use super::super::pretty::pretty;

fn of(json: &str) -> String {
    canonical(json, &mut |_| {}).unwrap()
}

#[test]
fn the_example_of_the_rfc_has_its_text() {
    // RFC 8785, section 3.2.2 and 3.2.4.
    let json = r#"{
      "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
      "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
      "literals": [null, true, false]
    }"#;
    assert_eq!(
        of(json),
        "{\"literals\":[null,true,false],\"numbers\":[333333333.3333333,1e+30,4.5,0.002,1e-27],\
         \"string\":\"€$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}"
    );
}

#[test]
fn members_are_sorted_by_their_utf_16_units() {
    // RFC 8785, section 3.2.3.
    let json = r#"{"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew Letter Dalet With Dagesh","1":"One",
      "\ud83d\ude00":"Emoji: Grinning Face","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis"}"#;
    let text = of(json);
    let order = ["Carriage", "One", "Control", "Latin", "Euro", "Emoji", "Hebrew"];
    let places: Vec<usize> = order.iter().map(|word| text.find(word).unwrap()).collect();
    assert!(places.is_sorted(), "{text}");
}

#[test]
fn numbers_are_written_as_ecmascript_writes_them() {
    // RFC 8785, appendix B.
    for (bits, text) in [
        (0x0000_0000_0000_0000_u64, "0"),
        (0x8000_0000_0000_0000, "0"),
        (0x0000_0000_0000_0001, "5e-324"),
        (0x8000_0000_0000_0001, "-5e-324"),
        (0x7fef_ffff_ffff_ffff, "1.7976931348623157e+308"),
        (0xffef_ffff_ffff_ffff, "-1.7976931348623157e+308"),
        (0x4340_0000_0000_0000, "9007199254740992"),
        (0xc340_0000_0000_0000, "-9007199254740992"),
        (0x4430_0000_0000_0000, "295147905179352830000"),
        (0x44b5_2d02_c7e1_4af5, "9.999999999999997e+22"),
        (0x44b5_2d02_c7e1_4af6, "1e+23"),
        (0x44b5_2d02_c7e1_4af7, "1.0000000000000001e+23"),
        (0x444b_1ae4_d6e2_ef4e, "999999999999999700000"),
        (0x444b_1ae4_d6e2_ef4f, "999999999999999900000"),
        (0x444b_1ae4_d6e2_ef50, "1e+21"),
        (0x3eb0_c6f7_a0b5_ed8c, "9.999999999999997e-7"),
        (0x3eb0_c6f7_a0b5_ed8d, "0.000001"),
        (0x41b3_de43_5555_5553, "333333333.3333332"),
        (0x41b3_de43_5555_5554, "333333333.33333325"),
        (0x41b3_de43_5555_5555, "333333333.3333333"),
        (0x41b3_de43_5555_5556, "333333333.3333334"),
        (0x41b3_de43_5555_5557, "333333333.33333343"),
        (0xbecb_f647_612f_3696, "-0.0000033333333333333333"),
        (0x4314_3ff3_c1cb_0959, "1424953923781206.2"),
    ] {
        // However many digits say it.
        let exact = format!("{:.1100}", f64::from_bits(bits));
        for written in [format!("{:e}", f64::from_bits(bits)), exact] {
            assert_eq!(of(&written), text, "{bits:x} {written}");
        }
    }
}

#[test]
fn white_space_escapes_and_order_are_nothing() {
    let same = [
        r#"{"name":"add","n":[1,{"b":true,"a":"ä/"}]}"#,
        "{ \"n\" : [ 1.0 , {\"a\":\"\\u00e4\\/\", \"b\": true } ],\r\n\t\"na\\u006de\":\"add\" }",
        r#"{"n":[10e-1,{"a":"ä/","b":true}],"name":"add"}"#,
    ];
    for one in same {
        assert_eq!(of(one), r#"{"n":[1,{"a":"ä/","b":true}],"name":"add"}"#);
    }
    assert_ne!(of(r#"{"a":"\u00e4"}"#), of(r#"{"a":"a\u0308"}"#), "nothing is normalised");
    assert_ne!(of("[1,2]"), of("[2,1]"));
}

#[test]
fn whole_numbers_that_no_double_is_keep_their_digits() {
    for (written, text) in [
        ("9007199254740993", "9007199254740993"),
        ("9223372036854775807", "9223372036854775807"),
        ("18446744073709551615", "18446744073709551615"),
        ("1e400", "1e400"),
        ("-1e99999999999999999999", "-1e99999999999999999999"),
        ("9007199254740991", "9007199254740991"),
        ("9007199254740994", "9007199254740994"),
        ("9223372036854775808", "9223372036854776000"),
        ("100000000000000000000", "100000000000000000000"),
        ("0.1000000000000000055", "0.1"),
        ("-0.0", "0"),
    ] {
        assert_eq!(of(written), text);
        assert_eq!(of(&of(written)), text);
    }
}

#[test]
fn what_two_readers_read_differently_has_no_text() {
    for json in [r#"{"a":1,"\u0061":2}"#, r#"{"x":[{"a":1,"a":1}]}"#, r#"["\ud800"]"#, "{", "1 2"] {
        assert!(canonical(json, &mut |_| {}).is_err(), "{json}");
    }
}

#[test]
fn a_digest_is_that_of_the_canonical_text() {
    // `printf '{"a":1,"b":"x"}' | sha256sum`
    let text = of(r#"{ "b": "x", "a": 1.0 }"#);
    let expected = "sha256:ecf9e98ec0641e23113ff3ce8bdc78d0ddd249886517fd4a7f68cc83d4e65667";
    assert_eq!(&*digest(&text), expected);
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[\\PC\u{0}-\u{1f}\u{202e}]{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("\\PC{0,4}", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_text_is_its_own_text_also_where_people_read_it(value in value()) {
        let text = of(&value.to_string());
        prop_assert_eq!(&of(&text), &text);
        prop_assert_eq!(&of(&pretty(&text)), &text);
        prop_assert_eq!(of(&serde_json::to_string_pretty(&value).unwrap()), text);
    }
}
