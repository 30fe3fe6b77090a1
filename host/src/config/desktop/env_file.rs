//! Files of variables, as `envFile` names them: `NAME=value` on each line.

/// The variables in a text, or the number of the first line that is none. Lines may be empty, comments, or begin with
/// `export`; values may be in quotes, of which the double ones know `\n`, `\"` and `\\`.
pub(super) fn parse(text: &str) -> Result<Vec<(String, String)>, usize> {
    let mut variables = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        let line = line.strip_prefix("export ").unwrap_or(line).trim_start();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (name, rest) = line.split_once('=').ok_or(index + 1)?;
        let name = name.trim_end();
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
        if name.is_empty() || !name.bytes().all(plain) {
            return Err(index + 1);
        }
        let value = value(rest.trim()).ok_or(index + 1)?;
        variables.push((name.to_owned(), value));
    }
    Ok(variables)
}

fn value(text: &str) -> Option<String> {
    if let Some(rest) = text.strip_prefix('\'') {
        return rest.split_once('\'').map(|(value, _)| value.to_owned());
    }
    let Some(rest) = text.strip_prefix('"') else {
        // A comment begins after a space.
        let value = text.split_once(" #").map_or(text, |(value, _)| value);
        return Some(value.trim_end().to_owned());
    };
    let mut value = String::new();
    let mut characters = rest.chars();
    loop {
        match characters.next()? {
            '"' => return Some(value),
            '\\' => value.push(match characters.next()? {
                'n' => '\n',
                't' => '\t',
                other => other,
            }),
            other => value.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn variables_are_read_as_other_programs_write_them() {
        let text = "# comment\n\nA=1\nexport B = two words # more\nC='x # y'\nD=\"a\\n\\\"b\\\"\" # c\n\
                    E=\nF=a=b#c\n";
        let wanted = [
            ("A", "1"),
            ("B", "two words"),
            ("C", "x # y"),
            ("D", "a\n\"b\""),
            ("E", ""),
            ("F", "a=b#c"),
        ];
        let read = parse(text).unwrap();
        let read: Vec<_> = read.iter().map(|(name, value)| (&**name, &**value)).collect();
        assert_eq!(read, wanted);
        for (text, line) in [("A=1\nnothing", 2), ("=x", 1), ("A='open", 1), ("A=\"open", 1)] {
            assert_eq!(parse(text), Err(line), "{text}");
        }
    }
}
