//! Finds links in a body that comes in pieces. However it is cut, what comes out is the same.

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

use bytes::{Bytes, BytesMut};
use memchr::memmem::Finder;

use super::letter::Text;
use super::link::{self, Link, Seen};
use super::place::{CONTEXT, Place};

/// How every link begins.
const BEGINNING: &[u8] = b"http";

/// Stands in every link, whatever is escaped in it, but for encoders that escape letters.
const WORD: &[u8] = b"artifacts";

static FINDER: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(BEGINNING));

static WORD_FINDER: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(WORD));

/// Replaces links to these origins. Holds back what may be the beginning of one: at most one link.
#[derive(Debug)]
pub struct Scanner {
    origins: Arc<[Arc<str>]>,
    held: Bytes,
    /// The last bytes before what is held: [`CONTEXT`], or all.
    before: Vec<u8>,
}

/// What stands in the place of a link: of its origin, its path and the name of its file; none leaves it.
pub type Replace<'a> = &'a mut dyn FnMut(&Arc<str>, &str, &str) -> Option<String>;

impl Scanner {
    /// `origins` are like `http://127.0.0.1:8000`, in lower case.
    pub fn new(origins: Arc<[Arc<str>]>) -> Self {
        Self { origins, held: Bytes::new(), before: Vec::new() }
    }

    /// Whether a body that is all there can hold any link.
    pub fn may_find(body: &[u8]) -> bool {
        WORD_FINDER.find(body).is_some()
    }

    /// The next piece with links replaced, as far as it can be told. A piece without any is not copied.
    pub fn piece(&mut self, piece: Bytes, replace: Replace<'_>) -> Bytes {
        let piece = if self.held.is_empty() {
            piece
        } else {
            [std::mem::take(&mut self.held), piece].concat().into()
        };
        self.scan(&piece, false, replace)
    }

    /// What was held back.
    pub fn rest(&mut self, replace: Replace<'_>) -> Bytes {
        let held = std::mem::take(&mut self.held);
        self.scan(&held, true, replace)
    }

    /// A body that is all there.
    pub fn whole(origins: &Arc<[Arc<str>]>, body: &Bytes, replace: Replace<'_>) -> Bytes {
        Self::new(origins.clone()).scan(body, true, replace)
    }

    /// The last bytes before a place in what was held and what came now.
    fn context<'a>(&self, body: &'a [u8], at: usize) -> Cow<'a, [u8]> {
        let own = body.get(at.saturating_sub(CONTEXT)..at).unwrap_or_default();
        if own.len() == CONTEXT || self.before.is_empty() {
            return own.into();
        }
        let earlier = self.before.len().saturating_sub(CONTEXT - own.len());
        [self.before.get(earlier..).unwrap_or_default(), own].concat().into()
    }

    fn scan(&mut self, body: &Bytes, last: bool, replace: Replace<'_>) -> Bytes {
        let text = Text { bytes: body, last };
        let (mut out, mut copied, mut read) = (BytesMut::new(), 0, 0);
        let mut hold = if last { body.len() } else { body.len() - beginning(body) };
        for start in FINDER.find_iter(body) {
            if start < read {
                continue;
            }
            let place = Place::behind(&self.context(body, start));
            match link::at(text, start, place, &self.origins) {
                Seen::Nothing(behind) => read = behind,
                Seen::More => {
                    hold = start;
                    break;
                }
                Seen::Link(found) => {
                    let Link { origin, path, end } = &found;
                    read = *end;
                    if let Some(new) = replace(origin, path, found.name()) {
                        out.extend_from_slice(body.get(copied..start).unwrap_or_default());
                        out.extend_from_slice(new.as_bytes());
                        copied = *end;
                    }
                }
            }
        }
        self.held = body.slice(hold..);
        if !last {
            self.before = self.context(body, hold).into_owned();
        }
        if out.is_empty() {
            return body.slice(copied..hold);
        }
        out.extend_from_slice(body.get(copied..hold).unwrap_or_default());
        out.freeze()
    }
}

/// How many bytes at the end are the beginning of [`BEGINNING`], and no more.
fn beginning(body: &[u8]) -> usize {
    (1..BEGINNING.len())
        .rev()
        .find(|length| BEGINNING.get(..*length).is_some_and(|begins| body.ends_with(begins)))
        .unwrap_or(0)
}
