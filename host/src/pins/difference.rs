//! Two texts, line by line.

/// Lines around a difference that are shown as well.
const AROUND: usize = 3;
/// Pairs of lines that are compared for the shortest difference; larger texts are shown one after the other.
const PAIRS: usize = 4_000_000;

/// The lines that differ, as `diff -u` shows them, without a heading; empty where nothing differs.
pub(super) fn unified(before: &str, after: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let steps = steps(&old, &new);
    let mut out = String::new();
    let changed: Vec<usize> =
        steps.iter().enumerate().filter(|(_, (mark, _))| *mark != ' ').map(|(at, _)| at).collect();
    let mut last: Option<usize> = None;
    for (at, (mark, line)) in steps.iter().enumerate() {
        let next = changed.partition_point(|change| change + AROUND < at);
        let is_near = changed.get(next).is_some_and(|change| *change <= at + AROUND);
        if !is_near {
            continue;
        }
        if last.is_some_and(|last| last + 1 != at) {
            out.push_str("  ...\n");
        }
        last = Some(at);
        out.push(*mark);
        out.push(' ');
        out.push_str(line);
        out.push('\n');
    }
    out
}

/// Each line with `-`, `+` or a space.
fn steps<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<(char, &'a str)> {
    let same = old.iter().zip(new).take_while(|(one, other)| one == other).count();
    let (head, old) = old.split_at(same);
    let new = new.get(same..).unwrap_or_default();
    let ends = old.iter().rev().zip(new.iter().rev()).take_while(|(one, other)| one == other);
    let ends = ends.count();
    let (old, tail) = old.split_at(old.len() - ends);
    let new = new.get(..new.len() - ends).unwrap_or_default();
    let mut steps: Vec<(char, &str)> = head.iter().map(|line| (' ', *line)).collect();
    steps.extend(middle(old, new));
    steps.extend(tail.iter().map(|line| (' ', *line)));
    steps
}

/// By the longest common lines.
fn middle<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<(char, &'a str)> {
    let width = new.len() + 1;
    if old.len().saturating_mul(width) > PAIRS {
        let gone = old.iter().map(|line| ('-', *line));
        return gone.chain(new.iter().map(|line| ('+', *line))).collect();
    }
    // For each pair of places, how many lines both have in common from there on.
    let mut common = vec![0_u32; (old.len() + 1) * width];
    let at = |one: usize, other: usize| one * width + other;
    for (one, line) in old.iter().enumerate().rev() {
        for (other, other_line) in new.iter().enumerate().rev() {
            let read = |place: usize| common.get(place).copied().unwrap_or_default();
            let best = if line == other_line {
                read(at(one + 1, other + 1)) + 1
            } else {
                read(at(one + 1, other)).max(read(at(one, other + 1)))
            };
            if let Some(place) = common.get_mut(at(one, other)) {
                *place = best;
            }
        }
    }
    let read = |one: usize, other: usize| common.get(at(one, other)).copied().unwrap_or_default();
    let (mut one, mut other, mut steps) = (0, 0, Vec::new());
    loop {
        match (old.get(one), new.get(other)) {
            (Some(line), Some(same)) if line == same => {
                steps.push((' ', *line));
                (one, other) = (one + 1, other + 1);
            }
            (Some(line), None) => {
                steps.push(('-', *line));
                one += 1;
            }
            (Some(line), Some(_)) if read(one + 1, other) >= read(one, other + 1) => {
                steps.push(('-', *line));
                one += 1;
            }
            (_, Some(line)) => {
                steps.push(('+', *line));
                other += 1;
            }
            (None, None) => return steps,
        }
    }
}
