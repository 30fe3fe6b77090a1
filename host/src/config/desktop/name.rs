//! Names of servers, made fit to stand in names of tools.

use std::collections::BTreeSet;

/// Longest name of an upstream.
const LONGEST: usize = 32;

/// A fit name for each name, in the same order. Names that are fit already keep theirs, wherever they stand; of others
/// that come out alike the later ones are numbered.
pub(super) fn fit_all(names: &[&str]) -> Vec<String> {
    let mut taken: BTreeSet<String> =
        names.iter().filter(|name| is_fit(name)).map(|name| (*name).to_owned()).collect();
    names
        .iter()
        .map(|name| {
            if is_fit(name) {
                return (*name).to_owned();
            }
            let base = fit(name);
            let mut candidate = base.clone();
            let mut number = 2_u32;
            while !taken.insert(candidate.clone()) {
                let end = format!("_{number}");
                let kept = base.get(..base.len().min(LONGEST - end.len())).unwrap_or(&base);
                candidate = format!("{kept}{end}");
                number = number.saturating_add(1);
            }
            candidate
        })
        .collect()
}

fn is_fit(name: &str) -> bool {
    (1..=LONGEST).contains(&name.len()) && name.chars().all(is_plain)
}

fn is_plain(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '_' | '-')
}

/// Every other character becomes `_`, several of them one, and none at the ends.
fn fit(name: &str) -> String {
    let mut fit = String::new();
    for character in name.chars() {
        if is_plain(character) {
            fit.push(character);
        } else if !fit.is_empty() && !fit.ends_with('_') {
            fit.push('_');
        }
    }
    fit.truncate(LONGEST);
    let fit = fit.trim_end_matches('_');
    if fit.is_empty() { "server".to_owned() } else { fit.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::fit_all;

    #[test]
    fn names_are_made_fit_and_stay_apart() {
        let long = "a".repeat(40);
        let names = [
            "My Server!",
            "my-server_2",
            "io.github.user/tool",
            "my server",
            "my/server",
            "my_server",
            "日本",
            "",
            &long,
            &format!("{long}b"),
        ];
        let fit = fit_all(&names);
        let cut = "a".repeat(32);
        let numbered = format!("{}_2", "a".repeat(30));
        assert_eq!(
            fit,
            [
                "My_Server",
                "my-server_2",
                "io_github_user_tool",
                "my_server_2",
                "my_server_3",
                "my_server",
                "server",
                "server_2",
                &cut,
                &numbered
            ]
        );
    }
}
