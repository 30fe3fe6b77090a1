//! What a command's name means on Windows: `npx` is the file `npx.cmd` somewhere in `PATH`.

use std::path::{Path, PathBuf};

/// Extensions of programs where `PATHEXT` is not listed.
#[cfg(windows)]
pub(super) const EXTENSIONS: &str = ".COM;.EXE;.BAT;.CMD";

/// The file that a name stands for; none where there is no such file, and the system may look by itself. A name with a
/// folder is looked for there, any other in each folder of `path`; as it is first if it has an extension, then with
/// each of `extensions`.
pub(super) fn resolve(
    program: &str,
    path: &str,
    extensions: &str,
    is_file: impl Fn(&Path) -> bool,
) -> Option<PathBuf> {
    let has_folder = program.contains(['/', '\\', ':']);
    let folders: Vec<&str> = if has_folder {
        vec![""]
    } else {
        path.split(';')
            .map(|folder| folder.trim_matches('"'))
            .filter(|one| !one.is_empty())
            .collect()
    };
    let has_extension = Path::new(program).extension().is_some();
    let extensions = extensions.split(';').filter(|extension| extension.starts_with('.'));
    let endings: Vec<&str> = has_extension.then_some("").into_iter().chain(extensions).collect();
    folders
        .iter()
        .flat_map(|folder| endings.iter().map(move |ending| (folder, ending)))
        .map(|(folder, ending)| Path::new(folder).join(format!("{program}{ending}")))
        .find(|file| is_file(file))
}

#[cfg(test)]
mod tests {
    use super::resolve;

    #[test]
    fn a_name_is_found_as_windows_would_find_it() {
        let files = ["C/npx", "C/npx.CMD", "D/npx.EXE", "D/uvx.EXE", "C/a.b.EXE", "E/run.js.CMD"];
        for (program, path, found) in [
            ("npx", "C;D", Some("C/npx.CMD")),
            ("npx", "D;C", Some("D/npx.EXE")),
            ("npx", ";\"D\";", Some("D/npx.EXE")),
            ("npx.CMD", "D;C", Some("C/npx.CMD")),
            ("uvx", "C;D", Some("D/uvx.EXE")),
            ("a.b", "C", Some("C/a.b.EXE")),
            ("run.js", "E", Some("E/run.js.CMD")),
            ("C/npx", "D", Some("C/npx.CMD")),
            ("D/npx.EXE", "", Some("D/npx.EXE")),
            ("nothing", "C;D", None),
            ("npx", "", None),
        ] {
            let is_file = |file: &std::path::Path| {
                files.iter().any(|known| file == std::path::Path::new(known))
            };
            let file = resolve(program, path, ".COM;.EXE;.BAT;.CMD;nonsense", is_file);
            assert_eq!(file.as_deref(), found.map(std::path::Path::new), "{program} in {path}");
        }
    }
}
