//! What reading and renaming a message costs, beside what the JSON library needs for the same.

use bytes::Bytes;
use divan::{Bencher, black_box, counter::BytesCount};
use plugway::protocol::{Field, Message, splice};

fn main() {
    divan::main();
}

const SIZES: [usize; 3] = [200, 1_024, 65_536];

fn call(size: usize) -> Bytes {
    let text = "m".repeat(size);
    format!(
        r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"hub_echo","arguments":{{"message":"{text}","count":3,"flags":[true,false]}},"_meta":{{"progressToken":"t-1"}}}}}}"#
    )
    .into()
}

#[divan::bench(args = SIZES)]
fn message_parse(bencher: Bencher<'_, '_>, size: usize) {
    let text = call(size);
    bencher.counter(BytesCount::new(text.len())).bench_local(|| Message::parse(text.clone()));
}

#[divan::bench(args = SIZES)]
fn message_parse_and_rename(bencher: Bencher<'_, '_>, size: usize) {
    let text = call(size);
    bencher.counter(BytesCount::new(text.len())).bench_local(|| {
        let message = Message::parse(text.clone())?;
        Ok::<_, plugway::protocol::Malformed>(splice(
            message.text(),
            &[(message.span(Field::Name), b"\"echo\"".as_slice())],
        ))
    });
}

#[divan::bench(args = SIZES)]
fn baseline_serde_json_value(bencher: Bencher<'_, '_>, size: usize) {
    let text = call(size);
    bencher
        .counter(BytesCount::new(text.len()))
        .bench_local(|| serde_json::from_slice::<serde_json::Value>(black_box(&text)));
}

#[derive(serde::Deserialize)]
struct Raw<'a> {
    #[serde(borrow)]
    id: Option<&'a serde_json::value::RawValue>,
    #[serde(borrow)]
    method: Option<&'a str>,
    #[serde(borrow)]
    params: Option<&'a serde_json::value::RawValue>,
}

#[divan::bench(args = SIZES)]
fn baseline_serde_json_raw(bencher: Bencher<'_, '_>, size: usize) {
    let text = call(size);
    bencher.counter(BytesCount::new(text.len())).bench_local(|| {
        let raw = serde_json::from_slice::<Raw<'_>>(black_box(&text));
        raw.map(|raw| (raw.id.is_some(), raw.method.is_some(), raw.params.is_some()))
    });
}
