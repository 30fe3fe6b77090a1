//! What finding an entry costs: flat in the number of entries.

use std::sync::Arc;

use divan::{Bencher, black_box};
use plugway::catalogue::list::Form;
use plugway::catalogue::{Catalogue, EntryKind, Shaped, ShapedEntry, ShapedTarget, View};

fn main() {
    divan::main();
}

fn view(entries: usize) -> View {
    let entries = (0..entries)
        .map(|at| ShapedEntry {
            kind: "tool".to_owned(),
            definition: format!(r#"{{"name":"up_tool_{at}","inputSchema":{{"type":"object"}}}}"#),
            target: ShapedTarget::Fixed("up".to_owned(), format!("tool_{at}")),
        })
        .collect();
    let shaped = Shaped { entries, ..Shaped::default() };
    View::whole(Arc::new(Catalogue::compile(1, vec!["up".into()], shaped).0))
}

#[divan::bench(args = [10, 1_000, 100_000])]
fn find_tool(bencher: Bencher<'_, '_>, entries: usize) {
    let view = view(entries);
    let name = format!("up_tool_{}", entries / 2);
    bencher.bench_local(|| view.find(EntryKind::Tool, black_box(&name)).is_some());
}

#[divan::bench(args = [10, 1_000])]
fn list_rendered(bencher: Bencher<'_, '_>, entries: usize) {
    let view = view(entries);
    bencher.bench_local(|| view.page(EntryKind::Tool, Form::Legacy, 0).map(|page| page.text.len()));
}
