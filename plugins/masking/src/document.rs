//! Masks every string of a JSON text: values, and names where something stands in them; numbers that are those of cards; text in
//! Base64. All other bytes stay as they are. One pass, without recursion; a text that is no JSON is masked as far as it goes.

use std::fmt;

use crate::blob;
use crate::config::Settings;
use crate::json::{decode, encode};
use crate::kind::Counts;
use crate::masker;

/// Objects and arrays within each other; the host passes on at most 127.
const DEPTH_MAX: usize = 256;
/// The name of Base64 in resources, and of what says what is in it.
const BLOB: &[u8] = b"blob";
const MEDIA_TYPE: &[u8] = b"mimeType";

/// Members of results and params that client and server give each other back byte for byte: who changes them breaks the call.
const GIVEN_BACK: [&[u8]; 5] =
    [b"requestState", b"taskId", b"nextCursor", b"progressToken", b"elicitationId"];
/// The member of a result that holds a task, which has such a member.
const TASK: &[u8] = b"task";
/// The member whose names are given back.
const QUESTIONS: &[u8] = b"inputRequests";

/// What became of a text.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Masked {
    /// The new text; none where nothing was found, and the old one is as good.
    pub text: Option<String>,
    /// What was found.
    pub counts: Counts,
}

/// A text that is nested too deeply to be looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooDeep;

impl fmt::Display for TooDeep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the text is nested deeper than {DEPTH_MAX} levels")
    }
}

impl std::error::Error for TooDeep {}

/// Masks a JSON text.
pub fn mask(text: &str, settings: &Settings) -> Result<Masked, TooDeep> {
    let mut walk = Walk {
        text: text.as_bytes(),
        settings,
        counts: Counts::default(),
        edits: Vec::new(),
        frames: Vec::new(),
        names: 0,
    };
    walk.all()?;
    Ok(walk.finish())
}

/// A part of the text: first byte, and the byte behind the last.
type Part = (usize, usize);

/// An object or array that is open.
#[derive(Default)]
struct Frame {
    /// Whether it is an object, and a name is next.
    name_next: bool,
    /// The name whose value is next, between its quotes; none in an array.
    name: Option<Part>,
    blob: Option<Part>,
    /// Whether its Base64 says that it is text.
    is_text: bool,
    is_object: bool,
}

struct Walk<'a> {
    text: &'a [u8],
    settings: &'a Settings,
    counts: Counts,
    edits: Vec<(Part, Vec<u8>)>,
    frames: Vec<Frame>,
    /// Names that were masked: each gets a number of its own, so that no two become the same.
    names: u32,
}

impl<'a> Walk<'a> {
    fn all(&mut self) -> Result<(), TooDeep> {
        let mut at = 0;
        while let Some(byte) = self.text.get(at) {
            match byte {
                b'"' => at = self.string(at + 1),
                b'0'..=b'9' | b'-' => at = self.number(at),
                b'{' | b'[' => {
                    if self.frames.len() == DEPTH_MAX {
                        return Err(TooDeep);
                    }
                    let is_object = *byte == b'{';
                    self.frames.push(Frame { is_object, name_next: is_object, ..Frame::default() });
                    at += 1;
                }
                b'}' | b']' => {
                    if let Some(Frame { blob: Some(blob), is_text, .. }) = self.frames.pop() {
                        self.blob(blob, is_text);
                    }
                    at += 1;
                }
                b',' => {
                    if let Some(frame) = self.frames.last_mut() {
                        frame.name_next = frame.is_object;
                    }
                    at += 1;
                }
                _ => at += 1,
            }
        }
        // Of a text that is no JSON.
        while let Some(frame) = self.frames.pop() {
            if let Some(blob) = frame.blob {
                self.blob(blob, frame.is_text);
            }
        }
        Ok(())
    }

    fn part(&self, (start, end): Part) -> &'a [u8] {
        self.text.get(start..end).unwrap_or_default()
    }

    /// The string whose first byte that is; where to go on.
    fn string(&mut self, start: usize) -> usize {
        let mut end = start;
        loop {
            let rest = self.text.get(end..).unwrap_or_default();
            match memchr::memchr2(b'"', b'\\', rest).map(|step| (step, rest.get(step))) {
                Some((step, Some(b'\\'))) => end = (end + step + 2).min(self.text.len()),
                Some((step, _)) => {
                    end += step;
                    break;
                }
                None => {
                    end = self.text.len();
                    break;
                }
            }
        }
        let part = (start, end);
        match self.frames.last_mut() {
            Some(frame) if frame.name_next => {
                (frame.name_next, frame.name) = (false, Some(part));
                self.name(part);
            }
            Some(frame) => {
                let name = frame.name.take();
                self.value(part, name);
            }
            None => self.value(part, None),
        }
        end + 1
    }

    /// Whether a member of that name is given back as it is, where the walk stands.
    fn is_given_back(&self, name: &[u8]) -> bool {
        match self.frames.len() {
            1 => GIVEN_BACK.contains(&name),
            2 => self.is_within(TASK) && GIVEN_BACK.contains(&name),
            _ => false,
        }
    }

    /// Whether the outermost object is at the value of that name.
    fn is_within(&self, name: &[u8]) -> bool {
        let open = self.frames.first().and_then(|frame| frame.name);
        open.is_some_and(|part| *decode(self.part(part)) == *name)
    }

    fn name(&mut self, part: Part) {
        if self.frames.len() == 2 && self.is_within(QUESTIONS) {
            return;
        }
        let text = decode(self.part(part));
        let masked = masker::mask(&text, None, self.settings, &mut self.counts);
        let Some(mut masked) = masked else { return };
        self.names += 1;
        if self.names > 1 {
            masked.extend_from_slice(format!(" {}", self.names).as_bytes());
        }
        self.edit(part, &masked);
    }

    fn value(&mut self, part: Part, name: Option<Part>) {
        let name = name.map(|name| decode(self.part(name)));
        if name.as_deref().is_some_and(|name| self.is_given_back(name)) {
            return;
        }
        let text = decode(self.part(part));
        if let Some(frame) = self.frames.last_mut() {
            match name.as_deref() {
                Some(BLOB) => {
                    // Of two, the first is not forgotten.
                    if let Some(first) = frame.blob.replace(part) {
                        self.blob(first, true);
                    }
                    return;
                }
                Some(MEDIA_TYPE) => frame.is_text |= blob::is_text(&text),
                _ => {}
            }
        }
        let masked = masker::mask(&text, name.as_deref(), self.settings, &mut self.counts);
        if let Some(masked) = masked {
            self.edit(part, &masked);
        }
    }

    /// Base64 whose media type is known only now.
    fn blob(&mut self, part: Part, is_text: bool) {
        let text = decode(self.part(part));
        let inner = is_text.then(|| blob::decode(&text)).flatten();
        let masked = inner
            .and_then(|inner| masker::mask(&inner, None, self.settings, &mut self.counts))
            .map(|masked| blob::encode(&masked).into_bytes())
            // What is no Base64 may look like it.
            .or_else(|| masker::mask(&text, None, self.settings, &mut self.counts));
        if let Some(masked) = masked {
            self.edit(part, &masked);
        }
    }

    /// The number or what else begins there; where to go on.
    fn number(&mut self, start: usize) -> usize {
        let rest = self.text.get(start..).unwrap_or_default();
        let is_part =
            |byte: &&u8| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'+' | b'-');
        let end = start + rest.iter().take_while(is_part).count();
        let whole = self.part((start, end));
        let digits = whole.iter().position(|byte| !byte.is_ascii_digit()).map_or(whole, |at| {
            let (digits, rest) = whole.split_at(at);
            // `4111111111111111.0`
            if matches!(rest, [b'.', zeros @ ..] if zeros.iter().all(|byte| *byte == b'0')) {
                digits
            } else {
                b""
            }
        });
        let name = self.frames.last_mut().and_then(|frame| frame.name.take());
        let name = name.map(|name| decode(self.part(name)));
        if name.as_deref().is_some_and(|name| self.is_given_back(name)) {
            return end.max(start + 1);
        }
        let masked = masker::number(digits, self.settings, &mut self.counts);
        if let Some(masked) = masked {
            let mut text = vec![b'"'];
            encode(masked.as_bytes(), &mut text);
            text.push(b'"');
            self.edits.push(((start, end), text));
        }
        end.max(start + 1)
    }

    fn edit(&mut self, part: Part, masked: &[u8]) {
        let mut text = Vec::with_capacity(masked.len() + 16);
        encode(masked, &mut text);
        self.edits.push((part, text));
    }

    fn finish(mut self) -> Masked {
        if self.edits.is_empty() {
            return Masked::default();
        }
        self.edits.sort_unstable_by_key(|(part, _)| *part);
        let added: usize = self.edits.iter().map(|(_, text)| text.len()).sum();
        let mut masked = Vec::with_capacity(self.text.len() + added);
        let mut at = 0;
        for ((start, end), text) in &self.edits {
            masked.extend_from_slice(self.text.get(at..*start).unwrap_or_default());
            masked.extend_from_slice(text);
            at = *end;
        }
        masked.extend_from_slice(self.text.get(at..).unwrap_or_default());
        // Edits begin and end at ASCII bytes, and are UTF-8 themselves.
        let text = String::from_utf8(masked)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        Masked { text: Some(text), counts: self.counts }
    }
}
