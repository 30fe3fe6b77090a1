//! What looking for links to files costs an answer.

use std::sync::Arc;

use bytes::Bytes;
use divan::{Bencher, black_box, counter::BytesCount};
use plugway::pipeline::artifacts::Scanner;

fn main() {
    divan::main();
}

const SIZES: [usize; 3] = [1_024, 65_536, 1_048_576];

fn origins() -> Arc<[Arc<str>]> {
    let origins = ["http://chem:8000", "http://127.0.0.1:8000", "http://localhost:8000"];
    origins.map(Arc::from).into()
}

fn answer(size: usize, word: &str) -> Bytes {
    let text = word.repeat(size.div_ceil(word.len()));
    format!(
        r#"{{"jsonrpc":"2.0","id":7,"result":{{"content":[{{"type":"text","text":"{text}"}}]}}}}"#
    )
    .into()
}

/// An answer that is all there, and holds no link: what most answers cost.
#[divan::bench(args = SIZES)]
fn whole_without_links(bencher: Bencher<'_, '_>, size: usize) {
    let text = answer(size, "some words of an ordinary answer, ");
    bencher
        .counter(BytesCount::new(text.len()))
        .bench_local(|| Scanner::may_find(black_box(&text)));
}

/// A piece of a large answer without any URL.
#[divan::bench(args = SIZES)]
fn piece_without_urls(bencher: Bencher<'_, '_>, size: usize) {
    let text = answer(size, "some words of an ordinary answer, ");
    let mut scanner = Scanner::new(origins());
    bencher
        .counter(BytesCount::new(text.len()))
        .bench_local(|| scanner.piece(black_box(text.clone()), &mut |_, _, _| None));
}

/// One that is full of URLs of others.
#[divan::bench(args = SIZES)]
fn piece_of_other_urls(bencher: Bencher<'_, '_>, size: usize) {
    let text = answer(size, "see https://docs.example.com/artifacts/page and ");
    let mut scanner = Scanner::new(origins());
    bencher
        .counter(BytesCount::new(text.len()))
        .bench_local(|| scanner.piece(black_box(text.clone()), &mut |_, _, _| None));
}
