//! The names that the gateway finds in Python code, against `CPython` itself.

use std::{collections::BTreeSet, process::Stdio};

use anyhow::{Context as _, Result, ensure};
use plugway_python_names::identifiers;
use plugway_tests::peers::Peers;
use serde::Deserialize;
use tokio::{io::AsyncWriteExt as _, process::Command};

const CORPUS: &str = include_str!("../../plugins/python-names/src/tests/corpus.jsonl");
/// Made texts of each sort.
const MADE: usize = 4_000;

/// What `CPython` says of a text.
#[derive(Debug, Deserialize)]
struct Answer {
    /// None = its tokeniser fails.
    names: Option<BTreeSet<String>>,
    compiles: bool,
    /// The names in the syntax tree; not in the corpus.
    #[serde(default)]
    used: BTreeSet<String>,
}

/// A line of the corpus.
#[derive(Debug, Deserialize)]
struct Snippet {
    code: String,
    #[serde(flatten)]
    answer: Answer,
}

async fn ask(codes: &[String]) -> Result<Vec<Answer>> {
    let peers = Peers::find()?;
    let mut child = Command::new(peers.node())
        .args(peers.python_names())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let mut input = child.stdin.take().context("no stdin")?;
    let given = serde_json::to_vec(codes)?;
    let (written, output) = tokio::join!(
        async {
            input.write_all(&given).await?;
            drop(input);
            anyhow::Ok(())
        },
        child.wait_with_output()
    );
    written?;
    let output = output?;
    ensure!(output.status.success(), "the script failed: {}", output.status);
    let answers: Vec<Answer> = serde_json::from_slice(&output.stdout)?;
    ensure!(answers.len() == codes.len());
    Ok(answers)
}

#[tokio::test]
async fn peer_python_says_of_the_corpus_what_is_written_there() -> Result<()> {
    let corpus: Vec<Snippet> =
        CORPUS.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    let codes: Vec<String> = corpus.iter().map(|snippet| snippet.code.clone()).collect();
    for (answer, snippet) in ask(&codes).await?.into_iter().zip(&corpus) {
        let Answer { names, compiles, used } = answer;
        assert_eq!(
            (&names, compiles),
            (&snippet.answer.names, snippet.answer.compiles),
            "{:?}",
            snippet.code
        );
        assert!(names.is_none_or(|names| used.is_subset(&names)), "{:?}", snippet.code);
    }
    Ok(())
}

#[tokio::test]
async fn peer_python_finds_the_same_names_in_made_code() -> Result<()> {
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let mut codes: Vec<String> = Vec::new();
    for _ in 0..MADE {
        codes.push(fragments(&mut dice));
        codes.push(expression(&mut dice, 4));
    }
    let (mut compiled, mut read) = (0, 0);
    for (code, answer) in codes.iter().zip(ask(&codes).await?) {
        let found = identifiers(code).ok();
        if answer.compiles {
            compiled += 1;
            // To refuse is allowed, to see other names is not.
            if let Some(found) = found {
                read += 1;
                assert!(answer.used.is_subset(&found), "{code:?}: {:?}", answer.used);
                // CPython 3.14's tokeniser fails at some code that its compiler takes.
                assert!(answer.names.is_none_or(|names| names == found), "{code:?}");
            }
        } else if let (Some(found), Some(names)) = (found, answer.names) {
            assert_eq!(found, names, "{code:?}");
        }
    }
    assert!(compiled > MADE / 2, "only {compiled} compiled");
    assert!(read * 20 > compiled * 19, "of {compiled} only {read} were read");
    Ok(())
}

/// Numbers that are the same in each run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap_or_default() % end
    }

    fn of<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words.get(self.below(words.len())).copied().unwrap_or_default()
    }
}

/// Pieces of Python one after the other: mostly wrong, in every way.
fn fragments(dice: &mut Dice) -> String {
    const PIECES: [&str; 60] = [
        "a", "bb", "é", "ﬁ", "𝐱", " ", " ", "\n", "\r\n", "\\\n", "\t", "#", "'", "'", "\"", "\"",
        "'''", "\"\"\"", "f'", "f'", "f\"", "rf'''", "t\"", "b'", "rb\"", "{", "}", "{", "}", "{{",
        "}}", "(", ")", "[", "]", ":", ":", "!", "!r", "=", "==", "!=", "%", "\\", "\\N{", "\\{",
        "1", "0x", "1e", ".", "...", "if", "else", "or", ",", ";", "@", "->", "lambda ", "\u{301}",
    ];
    (0..2 + dice.below(14)).map(|_| dice.of(&PIECES)).collect()
}

/// An expression that is right but for quotes that meet and the like.
fn expression(dice: &mut Dice, depth: usize) -> String {
    if depth == 0 {
        const LEAVES: [&str; 16] = [
            "a",
            "b_1",
            "é",
            "ﬁx",
            "𝐛",
            "1",
            "0x1f",
            "1e5",
            "'a'",
            "\"b\"",
            "r'\\''",
            "b'c'",
            "'''d'e'''",
            "None",
            "...",
            "'#'",
        ];
        return dice.of(&LEAVES).to_owned();
    }
    let next = |dice: &mut Dice| expression(dice, depth - 1);
    match dice.below(12) {
        0 => format!("{}.attr", next(dice)),
        1 => format!("({})", next(dice)),
        2 => format!("[{},{}]", next(dice), next(dice)),
        3 => format!("{} if {} else {}", next(dice), next(dice), next(dice)),
        4 => format!("f({}, key={})", next(dice), next(dice)),
        5 => format!("({} # comment ' \" {{\n+ {})", next(dice), next(dice)),
        6 => format!("{{{}: {}}}", next(dice), next(dice)),
        7 => format!("{} + \\\n{}", next(dice), next(dice)),
        _ => text(dice, next),
    }
}

/// A string with fields.
fn text(dice: &mut Dice, next: impl Fn(&mut Dice) -> String) -> String {
    let prefix = dice.of(&["f", "F", "rf", "fR", "t", "Tr"]);
    let quotes = dice.of(&["'", "\"", "'''", "\"\"\""]);
    let mut made = format!("{prefix}{quotes}");
    for _ in 0..dice.below(4) {
        let literal = dice.of(&[
            "text ", "{{", "}}", "\\\\", "\\'", "\\\"", "#", ":", "é", "!r", "\\\n", "\\x41", "=",
            "",
        ]);
        made.push_str(literal);
        let end = dice.of(&[
            "",
            "",
            "!r",
            "!s",
            "=",
            " = ",
            ":",
            ":>10",
            ":{w}",
            ":{w!r:>{x}}.{p}",
            "!a:#{q}x",
            "=:^5",
        ]);
        let blank = dice.of(&["", " ", "\n"]);
        made += &["{", blank, "(", &next(dice), ")", end, "}"].concat();
    }
    made + quotes
}
