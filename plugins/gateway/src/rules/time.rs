//! Hours of the week: when a condition holds, and until when.

use super::place::{Place, Wrong};

const DAY: u32 = 24 * 60;
const WEEK: u32 = 7 * DAY;
const MINUTE_MS: f64 = 60_000.0;
const DAYS: [(&str, u32); 7] =
    [("mon", 0), ("tue", 1), ("wed", 2), ("thu", 3), ("fri", 4), ("sat", 5), ("sun", 6)];
/// 1970-01-01 was a Thursday.
const EPOCH_DAY: u32 = 3;
/// No place on earth is further from UTC.
const OFFSET_MAX: i32 = 14 * 60;

/// Hours on some days, in one offset from UTC.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hours {
    /// Minutes of the week from Monday 00:00 local time: from, to; in order, apart from each other.
    open: Vec<(u32, u32)>,
    /// Minutes that local time is before UTC.
    offset: i32,
}

impl Hours {
    /// `{from, to, days, utc_offset}`. Hours over midnight belong to the day on which they begin.
    pub(super) fn read(place: &Place<'_>) -> Result<Self, Wrong> {
        let members = place.members(&["from", "to", "days", "utc_offset"])?;
        let from = members.get("from").map(|place| clock(&place)).transpose()?.unwrap_or(0);
        let to = members.get("to").map(|place| clock(&place)).transpose()?.unwrap_or(DAY);
        if from == DAY {
            return place.wrong("from is at most 23:59");
        }
        if from == to {
            return place.wrong("from and to are the same time");
        }
        let days = match members.get("days") {
            None => (0..7).collect(),
            Some(days) => {
                days.any_of()?.iter().map(|day| day.word(&DAYS)).collect::<Result<Vec<_>, _>>()?
            }
        };
        let offset =
            members.get("utc_offset").map(|place| offset(&place)).transpose()?.unwrap_or(0);
        let length = if to > from { to - from } else { to + DAY - from };
        Ok(Self { open: merged(&days, from, length), offset })
    }

    /// Whether it holds, and for how many milliseconds more nothing changes; none = for ever.
    pub(super) fn at(&self, now_ms: f64) -> (bool, Option<u32>) {
        if self.open == [(0, WEEK)] {
            return (true, None);
        }
        let week = f64::from(WEEK) * MINUTE_MS;
        let shift = f64::from(EPOCH_DAY * DAY) + f64::from(self.offset);
        let now = (now_ms + shift * MINUTE_MS).rem_euclid(week);
        let mut holds = false;
        let mut next = f64::INFINITY;
        for (from, to) in &self.open {
            let (from, to) = (f64::from(*from) * MINUTE_MS, f64::from(*to) * MINUTE_MS);
            holds |= from <= now && now < to;
            for edge in [from, to] {
                // Hours over Sunday's end are two parts that touch: that edge is none.
                let inner = (edge == 0.0 || edge >= week) && self.touches();
                let until = if edge > now { edge - now } else { edge + week - now };
                if !inner {
                    next = next.min(until);
                }
            }
        }
        (holds, Some(whole(next)))
    }

    fn touches(&self) -> bool {
        self.open.first().is_some_and(|first| first.0 == 0)
            && self.open.last().is_some_and(|last| last.1 == WEEK)
    }
}

/// At most a week, at least 1.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a week has 604,800,000 ms"
)]
fn whole(ms: f64) -> u32 {
    ms.ceil().clamp(1.0, f64::from(WEEK) * MINUTE_MS) as u32
}

/// The same hours on each day, as parts of the week that do not touch.
fn merged(days: &[u32], from: u32, length: u32) -> Vec<(u32, u32)> {
    let mut parts = Vec::new();
    for day in days {
        let begin = day * DAY + from;
        let end = begin + length;
        parts.push((begin, end.min(WEEK)));
        if end > WEEK {
            parts.push((0, end - WEEK));
        }
    }
    parts.sort_unstable();
    let mut open: Vec<(u32, u32)> = Vec::new();
    for (begin, end) in parts {
        match open.last_mut() {
            Some(last) if begin <= last.1 => last.1 = last.1.max(end),
            _ => open.push((begin, end)),
        }
    }
    open
}

/// Minutes of `HH:MM`, `24:00` included.
fn clock(place: &Place<'_>) -> Result<u32, Wrong> {
    let text = place.text()?;
    match two(text) {
        Some((hours, minutes)) if minutes < 60 && hours * 60 + minutes <= DAY => {
            Ok(hours * 60 + minutes)
        }
        _ => place.wrong("this must be a time such as \"09:00\""),
    }
}

/// Minutes of `+02:00`, `-05:30` or `Z`.
fn offset(place: &Place<'_>) -> Result<i32, Wrong> {
    let text = place.text()?;
    if text == "Z" {
        return Ok(0);
    }
    let signed = text
        .strip_prefix('+')
        .map(|rest| (1, rest))
        .or_else(|| text.strip_prefix('-').map(|rest| (-1, rest)));
    let minutes = signed.and_then(|(sign, rest)| {
        let (hours, minutes) = two(rest).filter(|(_, minutes)| *minutes < 60)?;
        let minutes = i32::try_from(hours * 60 + minutes).ok()?;
        (minutes <= OFFSET_MAX).then_some(sign * minutes)
    });
    match minutes {
        Some(minutes) => Ok(minutes),
        None => place.wrong("this must be an offset such as \"+02:00\", of at most 14 hours"),
    }
}

/// Two pairs of digits with a colon between them.
fn two(text: &str) -> Option<(u32, u32)> {
    let (left, right) = text.split_once(':')?;
    let pair = |text: &str| {
        let digits = text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
        if digits { text.parse().ok() } else { None }
    };
    Some((pair(left)?, pair(right)?))
}
