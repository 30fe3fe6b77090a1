//! Compares what the suite reports with what it must report.

use std::{collections::BTreeSet, fmt::Write as _};

use anyhow::{Result, bail};

use super::report::{Outcome, Report};

/// `SCENARIO` or `SCENARIO:CHECK` that does not pass, and why. A list of them shrinks: what is on it and passes is an
/// error too.
pub type Exception = (&'static str, &'static str);

/// Fails with everything that differs: a scenario must have as many successful checks as the baseline says and no failed
/// one, unless an exception names it or each of its failed checks.
pub fn grade(report: &Report, baseline: &[(&str, usize)], exceptions: &[Exception]) -> Result<()> {
    let mut problems = String::new();
    let mut say = |scenario: &str, problem: &str| {
        let _infallible = writeln!(problems, "{scenario}: {problem}");
    };
    for (scenario, count) in baseline {
        match report.get(*scenario) {
            None => say(scenario, "did not run"),
            Some(outcome) => {
                for problem in judge(scenario, outcome, *count, exceptions) {
                    say(scenario, &problem);
                }
            }
        }
    }
    let known: BTreeSet<&str> = baseline.iter().map(|(scenario, _)| *scenario).collect();
    for (scenario, outcome) in report.iter().filter(|(name, _)| !known.contains(name.as_str())) {
        say(scenario, &format!("is not in the baseline: {}", outcome.succeeded));
    }
    for (name, _) in exceptions {
        let scenario = name.split_once(':').map_or(*name, |(scenario, _)| scenario);
        if !known.contains(scenario) {
            say(name, "is an exception of a scenario that does not exist");
        }
    }
    if !problems.is_empty() {
        bail!("the suite disagrees:\n{problems}");
    }
    Ok(())
}

/// What is wrong with one scenario.
fn judge(scenario: &str, outcome: &Outcome, count: usize, exceptions: &[Exception]) -> Vec<String> {
    let agrees = outcome.wrong.is_empty() && outcome.succeeded == count;
    if exceptions.iter().any(|(name, _)| *name == scenario) {
        return if agrees { vec!["passes: take it off the list".to_owned()] } else { Vec::new() };
    }
    let excepted: BTreeSet<&str> = exceptions
        .iter()
        .filter_map(|(name, _)| name.strip_prefix(scenario)?.strip_prefix(':'))
        .collect();
    let mut problems: Vec<String> = outcome
        .wrong
        .iter()
        .filter(|(check, _)| !excepted.contains(check.as_str()))
        .map(|(check, message)| format!("{check}: {message}"))
        .collect();
    for check in &excepted {
        if !outcome.wrong.iter().any(|(wrong, _)| wrong == check) {
            problems.push(format!("{check} passes: take it off the list"));
        }
    }
    let seen = outcome.succeeded + outcome.wrong.len();
    if problems.is_empty() && seen != count {
        problems.push(format!("{} checks succeed, {count} are expected", outcome.succeeded));
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::{Outcome, Report, grade};

    const BASELINE: &[(&str, usize)] = &[("ping", 2), ("caching", 1)];

    fn report(succeeded: usize, wrong: &[&str]) -> Report {
        let wrong = wrong.iter().map(|check| ((*check).to_owned(), String::new())).collect();
        Report::from([
            ("ping".to_owned(), Outcome { succeeded, wrong }),
            ("caching".to_owned(), Outcome { succeeded: 1, wrong: Vec::new() }),
        ])
    }

    #[test]
    fn what_agrees_passes_and_nothing_else() {
        let passes = |report: &Report, except: &[_]| grade(report, BASELINE, except).is_ok();
        assert!(passes(&report(2, &[]), &[]));
        // Fewer checks than directly, or a failed one, is a failure.
        assert!(!passes(&report(0, &[]), &[]));
        assert!(!passes(&report(1, &["late"]), &[]));
        // Excepted as a whole or by the check; what passes must not be excepted.
        assert!(passes(&report(1, &["late"]), &[("ping", "")]));
        assert!(passes(&report(1, &["late"]), &[("ping:late", "")]));
        assert!(!passes(&report(1, &["late"]), &[("ping:early", "")]));
        assert!(!passes(&report(0, &["late"]), &[("ping:late", "")]));
        assert!(!passes(&report(2, &[]), &[("ping", "")]));
        assert!(!passes(&report(2, &[]), &[("ping:late", "")]));
        assert!(!passes(&report(2, &[]), &[("pong", "")]));
        // Unknown and missing scenarios.
        let mut other = report(2, &[]);
        other.insert("pong".to_owned(), Outcome::default());
        assert!(!passes(&other, &[]));
        other.clear();
        assert!(!passes(&other, &[]));
    }
}
