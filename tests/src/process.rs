//! What the kernel knows about processes: children, memory, and who is still alive (Linux's `/proc`).

use std::{collections::BTreeSet, fs, time::Duration};

use anyhow::{Context as _, Result};
use rustix::process::{Pid, Resource, Rlimit, Signal, kill_process, prlimit};

use crate::wait;

/// All descendants of a process, without zombies.
pub fn descendants(pid: u32) -> Result<BTreeSet<u32>> {
    let parents = parents()?;
    let mut found = BTreeSet::from([pid]);
    loop {
        let more: Vec<u32> = parents
            .iter()
            .filter(|(child, parent)| found.contains(parent) && !found.contains(child))
            .map(|(child, _)| *child)
            .collect();
        if more.is_empty() {
            found.remove(&pid);
            return Ok(found);
        }
        found.extend(more);
    }
}

/// Direct children of a process, without zombies.
pub fn children(pid: u32) -> Result<BTreeSet<u32>> {
    let parents = parents()?;
    Ok(parents.into_iter().filter(|(_, parent)| *parent == pid).map(|(child, _)| child).collect())
}

/// Whether the process runs (a zombie does not).
pub fn is_alive(pid: u32) -> bool {
    status_of(pid).is_some_and(|(state, _)| state != 'Z')
}

/// Waits until none of the processes runs any more.
pub async fn until_gone(pids: &BTreeSet<u32>, bound: Duration) -> Result<()> {
    wait::until("processes end", bound, async || {
        Ok(pids.iter().all(|pid| !is_alive(*pid)).then_some(()))
    })
    .await
    .with_context(|| {
        let left: Vec<&u32> = pids.iter().filter(|pid| is_alive(**pid)).collect();
        format!("still running: {left:?}")
    })
}

/// Resident memory in bytes, pages shared with other processes included.
pub fn resident_bytes(pid: u32) -> Result<u64> {
    bytes_in(pid, "status", "VmRSS:")
}

/// Resident memory in bytes that is this process's share: a page of the program that ten processes have mapped counts
/// for a tenth in each. What a process costs is this, not its resident memory.
pub fn proportional_bytes(pid: u32) -> Result<u64> {
    bytes_in(pid, "smaps_rollup", "Pss:")
}

/// The most resident memory in bytes that it had since [`forget_peak`].
pub fn peak_bytes(pid: u32) -> Result<u64> {
    bytes_in(pid, "status", "VmHWM:")
}

/// Counts the most resident memory from now on.
pub fn forget_peak(pid: u32) -> Result<()> {
    // proc(5): 5 resets the peak resident set size.
    fs::write(format!("/proc/{pid}/clear_refs"), "5").context("cannot reset the peak")
}

fn bytes_in(pid: u32, file: &str, key: &str) -> Result<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/{file}"))
        .with_context(|| format!("process {pid} is gone"))?;
    let line = text.lines().find_map(|line| line.strip_prefix(key));
    let kib = line.and_then(|rest| rest.trim().strip_suffix(" kB"));
    let kib = kib.with_context(|| format!("no line {key}"))?;
    Ok(kib.trim().parse::<u64>()? * 1024)
}

/// Bounds how many files, sockets included, a running process may have open.
pub fn limit_open_files(pid: u32, count: u64) -> Result<()> {
    let limit = Rlimit { current: Some(count), maximum: Some(count) };
    let pid = Pid::from_raw(i32::try_from(pid)?);
    prlimit(pid, Resource::Nofile, limit).map(drop).context("cannot bound the open files")
}

/// The name of its program, as far as the kernel keeps it (15 bytes).
pub fn name(pid: u32) -> Option<String> {
    Some(fs::read_to_string(format!("/proc/{pid}/comm")).ok()?.trim_end().to_owned())
}

/// Sends a signal.
pub fn signal(pid: u32, signal: Signal) -> Result<()> {
    let pid = Pid::from_raw(i32::try_from(pid)?).context("process 0 takes no signals")?;
    kill_process(pid, signal).with_context(|| format!("cannot signal process {pid:?}"))
}

/// Every running process with its parent.
fn parents() -> Result<Vec<(u32, u32)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc")? {
        let name = entry?.file_name();
        let Some(pid) = name.to_str().and_then(|name| name.parse().ok()) else { continue };
        if let Some((state, parent)) = status_of(pid)
            && state != 'Z'
        {
            found.push((pid, parent));
        }
    }
    Ok(found)
}

/// State and parent, from `pid (name) state parent ..`; the name may hold anything, parentheses included.
fn status_of(pid: u32) -> Option<(char, u32)> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut fields = text.rsplit_once(')')?.1.split_whitespace();
    Some((fields.next()?.chars().next()?, fields.next()?.parse().ok()?))
}

/// How many TCP sockets a process listens on.
pub fn listening_sockets(pid: u32) -> Result<usize> {
    let mut listening = BTreeSet::new();
    for table in ["tcp", "tcp6"] {
        let text = fs::read_to_string(format!("/proc/{pid}/net/{table}")).unwrap_or_default();
        for line in text.lines().skip(1) {
            let fields: Vec<&str> = line.split_whitespace().collect();
            // state 0A is LISTEN; the tenth field is the socket's inode
            if let (Some(&"0A"), Some(inode)) = (fields.get(3), fields.get(9)) {
                listening.insert(format!("socket:[{inode}]"));
            }
        }
    }
    let open = fs::read_dir(format!("/proc/{pid}/fd"))?.flatten();
    let targets = open.filter_map(|entry| fs::read_link(entry.path()).ok());
    Ok(targets
        .filter(|target| target.to_str().is_some_and(|name| listening.contains(name)))
        .count())
}
