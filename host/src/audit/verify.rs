//! Says whether lines that were tied together still are: the first one that is not is named.

use std::fmt;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use super::chain::{Hash, Hasher, Tied, tied, unhex};
use super::file;
use crate::hex::hex;

/// Lines that are as they were written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// How many.
    pub lines: u64,
    /// The number of the first; what was before it is not there.
    pub first: u64,
    /// The number of the last.
    pub last: u64,
    /// The hash of the last.
    pub hash: [u8; 32],
    /// Whether the last one says that plugway ended. Where lines were taken away back to an earlier end, that is one, too.
    pub closed: bool,
    /// How often plugway began without having ended in order: lines at the ends before that may be missing.
    pub broken_off: u64,
}

/// The first line that is not as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// The file.
    pub file: PathBuf,
    /// Its line, from 1; 0 = the file as a whole.
    pub line: u64,
    /// What is wrong.
    pub why: String,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.file.display(), self.why),
            line => write!(f, "{}, line {line}: {}", self.file.display(), self.why),
        }
    }
}

impl std::error::Error for Broken {}

/// A line that is known from elsewhere: its number and its hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known {
    /// Its number.
    pub seq: u64,
    /// Its hash.
    pub hash: [u8; 32],
}

impl std::str::FromStr for Known {
    type Err = &'static str;

    /// `SEQ:HASH`, as `plugway audit verify` and the log write them.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let known = || {
            let (seq, hash) = text.split_once(':')?;
            Some(Self { seq: seq.parse().ok()?, hash: unhex(hash.as_bytes())? })
        };
        known().ok_or("write the number of the line and the 64 digits of its hash: 7:0a1b..")
    }
}

/// Looks at the lines of these files, which are parts of one audit in whatever order, with the key that they were written
/// with. A line that is known from elsewhere has to be among them.
pub fn verify(
    files: &[PathBuf],
    key: Option<&[u8]>,
    known: Option<Known>,
) -> Result<Verified, Broken> {
    let mut ordered = Vec::new();
    for path in files {
        ordered.push((first(path)?, path));
    }
    ordered.sort_by_key(|(seq, _)| *seq);
    let mut reading = Reading {
        hasher: Hasher::new(key),
        keyed: key.is_some(),
        found: false,
        known,
        last: None,
        torn: None,
        verified: Verified::default(),
    };
    // The line that is torn so far: where it stands.
    let mut torn = None;
    let mut end = None;
    for (_, path) in ordered {
        let lines = file::lines(path).map_err(|error| whole(path, &error))?;
        for (number, line) in (1..).zip(lines) {
            let line = line.map_err(|error| whole(path, &error))?;
            reading.line(&line).map_err(|(place, why)| match (place, torn.take()) {
                (Place::Before, Some((file, line))) => Broken { file, line, why },
                _ => Broken { file: path.clone(), line: number, why },
            })?;
            torn = reading.torn.is_some().then(|| (path.clone(), number));
        }
        end = Some(path);
    }
    if let Some((file, line)) = torn {
        let why =
            "it is cut off in the middle, and nothing says that plugway found it so".to_owned();
        return Err(Broken { file, line, why });
    }
    match (known, end) {
        (Some(known), Some(path)) if !reading.found => {
            let why = format!(
                "line number {} is not among these files: lines were taken away",
                known.seq
            );
            Err(Broken { file: path.clone(), line: 0, why })
        }
        _ => Ok(reading.verified),
    }
}

fn whole(path: &Path, error: &std::io::Error) -> Broken {
    Broken { file: path.to_owned(), line: 0, why: error.to_string() }
}

/// The number of the first line of a file that has one.
fn first(path: &Path) -> Result<u64, Broken> {
    for line in file::lines(path).map_err(|error| whole(path, &error))? {
        let line = line.map_err(|error| whole(path, &error))?;
        if let Some(tied) = tied(&line) {
            return Ok(tied.seq);
        }
    }
    Ok(u64::MAX)
}

struct Reading {
    hasher: Hasher,
    keyed: bool,
    known: Option<Known>,
    /// Whether the known line is among them.
    found: bool,
    last: Option<(u64, Hash)>,
    /// A line that is none, until the next one says that plugway found it so.
    torn: Option<Vec<u8>>,
    verified: Verified,
}

/// Which line is broken.
#[derive(Clone, Copy, Debug)]
enum Place {
    /// The torn one before this.
    Before,
    This,
}

impl Reading {
    /// An error says which line is broken, and what is wrong with it.
    fn line(&mut self, line: &[u8]) -> Result<(), (Place, String)> {
        if let Some(torn) = self.torn.take() {
            let Some(tied) = tied(line).filter(|tied| names(tied, &torn)) else {
                return Err((Place::Before, "it is no line of the audit".to_owned()));
            };
            return self.follows(&tied, line);
        }
        if let Some(tied) = tied(line) {
            return self.follows(&tied, line);
        }
        self.torn = Some(line.to_vec());
        Ok(())
    }

    fn follows(&mut self, tied: &Tied<'_>, line: &[u8]) -> Result<(), (Place, String)> {
        let refuse = |why: String| Err((Place::This, why));
        if self.hasher.hash(tied.covered) != tied.hash {
            return refuse(match (self.last, self.keyed) {
                (None, false) => {
                    "its hash does not fit: it was changed, or a key is needed (--key)".to_owned()
                }
                (None, true) => {
                    "its hash does not fit: it was changed, or the key is another one".to_owned()
                }
                _ => "its hash does not fit: it was changed".to_owned(),
            });
        }
        match self.last {
            None => self.verified.first = tied.seq,
            Some((seq, _)) if seq + 1 != tied.seq => {
                let expected = seq + 1;
                return refuse(format!(
                    "it is number {} where number {expected} was to follow: lines were taken out, put in or moved",
                    tied.seq
                ));
            }
            Some((_, hash)) if hash != tied.prev => {
                return refuse(
                    "it does not follow the line before it, which was replaced".to_owned(),
                );
            }
            Some(_) => {}
        }
        if let Some(known) = self.known.filter(|known| known.seq == tied.seq) {
            if known.hash != tied.hash {
                return refuse("its hash is not the one that is known (--last)".to_owned());
            }
            self.found = true;
        }
        let kind = kind(line);
        if kind.as_deref() == Some("start") && self.last.is_some() && !self.verified.closed {
            self.verified.broken_off += 1;
        }
        self.last = Some((tied.seq, tied.hash));
        self.verified.lines += 1;
        (self.verified.last, self.verified.hash) = (tied.seq, tied.hash);
        self.verified.closed = kind.as_deref() == Some("stop");
        Ok(())
    }
}

/// The kind of a line: its second member, as plugway writes it.
fn kind(line: &[u8]) -> Option<String> {
    let head = line.get(..line.len().min(80))?;
    let head = String::from_utf8_lossy(head);
    let (_, rest) = head.split_once(",\"kind\":\"")?;
    rest.split_once('"').map(|(kind, _)| kind.to_owned())
}

/// Whether a line says of these bytes that plugway found them at the end of the file.
fn names(tied: &Tied<'_>, torn: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(tied.covered) else { return false };
    kind(tied.covered).as_deref() == Some("torn")
        && text.contains(&format!("\"bytes\":{},", torn.len()))
        && text.contains(&format!("\"sha256\":\"{}\"", hex(&Sha256::digest(torn))))
}
