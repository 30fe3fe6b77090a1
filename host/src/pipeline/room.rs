//! How servers share what their router takes in one shape: who lists little has all of it taken, the others get the same.

use std::sync::Arc;

use super::port::{Room, UpstreamView};

/// Cuts what does not fit. Gives the servers that lost something, and how many entries each.
pub(super) fn fit(upstreams: &mut [UpstreamView], room: Room) -> Vec<(Arc<str>, usize)> {
    let entries = shares(upstreams.iter().map(entries), room.entries);
    let bytes = shares(upstreams.iter().map(bytes), room.bytes);
    let mut losers = Vec::new();
    for ((upstream, entries), bytes) in upstreams.iter_mut().zip(entries).zip(bytes) {
        let mut share = Share { entries, bytes };
        // What a server says besides its lists comes last: its entries are worth more.
        let lists = [
            &mut upstream.tools,
            &mut upstream.prompts,
            &mut upstream.resources,
            &mut upstream.templates,
        ];
        let lost = lists.into_iter().map(|list| share.cut(list)).sum();
        upstream.documents.retain(|(_, text)| share.takes(text));
        if lost > 0 {
            losers.push((upstream.name.clone(), lost));
        }
    }
    losers
}

/// What one server may still have.
struct Share {
    entries: usize,
    bytes: usize,
}

impl Share {
    fn takes(&mut self, text: &str) -> bool {
        let fits = text.len() <= self.bytes;
        self.bytes -= if fits { text.len() } else { 0 };
        fits
    }

    /// Leaves the first entries that fit; says how many are lost.
    fn cut(&mut self, list: &mut Vec<Arc<str>>) -> usize {
        let before = list.len();
        let fitting = list.iter().take(self.entries).take_while(|entry| self.takes(entry)).count();
        list.truncate(fitting);
        self.entries -= fitting;
        before - fitting
    }
}

fn lists(upstream: &UpstreamView) -> impl Iterator<Item = &Arc<str>> {
    [&upstream.tools, &upstream.prompts, &upstream.resources, &upstream.templates]
        .into_iter()
        .flatten()
}

fn entries(upstream: &UpstreamView) -> usize {
    lists(upstream).count()
}

fn bytes(upstream: &UpstreamView) -> usize {
    let documents = upstream.documents.iter().map(|(_, text)| text.len());
    lists(upstream).map(|entry| entry.len()).chain(documents).sum()
}

/// What each gets of `total`: never more than it wants, and nobody gets less than another who got less than it wants.
fn shares(wanted: impl Iterator<Item = usize>, total: usize) -> Vec<usize> {
    let mut wanted: Vec<(usize, usize)> = wanted.enumerate().collect();
    wanted.sort_by_key(|(_, wants)| *wants);
    let (mut left, mut people) = (total, wanted.len());
    for (_, share) in &mut wanted {
        *share = (*share).min(left / people.max(1));
        left -= *share;
        people -= 1;
    }
    wanted.sort_unstable_by_key(|(place, _)| *place);
    wanted.into_iter().map(|(_, share)| share).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn upstream(name: &str, tools: usize, length: usize) -> UpstreamView {
        let tools = (0..tools).map(|_| "x".repeat(length).into()).collect();
        UpstreamView { name: name.into(), tools, ..UpstreamView::default() }
    }

    #[test]
    fn who_lists_little_loses_nothing() {
        let mut all =
            [upstream("large", 100, 10), upstream("small", 5, 10), upstream("huge", 5, 900)];
        all[2].prompts = vec!["p".into()];
        all[2].documents = vec![("catalog".into(), "x".repeat(500).into())];
        let losers = fit(&mut all, Room { entries: 50, bytes: 2_000 });
        assert_eq!(losers, [("large".into(), 61), ("huge".into(), 4)]);
        assert_eq!((all[0].tools.len(), all[1].tools.len(), all[2].tools.len()), (39, 5, 1));
        assert_eq!(
            all[2].prompts.len(),
            1,
            "what is too long costs itself and what stands behind it in its list"
        );
        assert!(all[2].documents.is_empty());
    }

    #[test]
    fn what_fits_is_left_alone() {
        let mut all = [upstream("one", 10, 10), upstream("two", 40, 1)];
        assert_eq!(fit(&mut all, Room { entries: 50, bytes: 140 }), []);
        assert_eq!((all[0].tools.len(), all[1].tools.len()), (10, 40));
    }

    #[test]
    fn nothing_is_shared_out_twice() {
        for (wanted, total, given) in [
            (vec![], 5, vec![]),
            (vec![1, 2, 3], 6, vec![1, 2, 3]),
            (vec![9, 1, 9], 7, vec![3, 1, 3]),
            (vec![5, 5], 0, vec![0, 0]),
        ] {
            assert_eq!(shares(wanted.into_iter(), total), given);
        }
    }
}
