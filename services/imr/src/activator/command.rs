//! Command lines, split into arguments without a shell.

use thiserror::Error;

/// Mistake in a command line.
#[derive(Clone, PartialEq, Eq, Error)]
pub enum BadCommand {
    /// The command line has no program.
    #[error("the command line is empty")]
    Empty,
    /// A quotation mark has no counterpart.
    #[error("the quotation that begins with {0} does not end")]
    Unquoted(char),
    /// A backslash stands at the end.
    #[error("nothing stands behind the last backslash")]
    Backslash,
    /// The text has a NUL, which no argument may have.
    #[error("the command line has a NUL in it")]
    Nul,
}

/// Shows the error as `Display` does, for a `main` that returns it.
impl std::fmt::Debug for BadCommand {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

/// Beginning of a command line whose program only has something else started, such as a unit of systemd or a container: its
/// end without an error is not the end of the server.
const LAUNCH: &str = "launch:";

/// Returns a command line without the mark of a launcher, and whether it had one.
pub(crate) fn unmarked(line: &str) -> (&str, bool) {
    match line.strip_prefix(LAUNCH) {
        Some(line) => (line, true),
        None => (line, false),
    }
}

/// Splits a command line at blanks. Text within `'` or `"` is one argument or a part of one; a backslash takes the next
/// character as it is, except within `'`. Nothing else has a meaning: no variables, wildcards or redirections.
///
/// # Errors
/// [`BadCommand`].
pub fn split(line: &str) -> Result<Vec<String>, BadCommand> {
    let (mut arguments, mut current) = (Vec::new(), None::<String>);
    let mut quoted = None;
    let mut characters = line.chars();
    while let Some(one) = characters.next() {
        match (one, quoted) {
            ('\0', _) => return Err(BadCommand::Nul),
            (mark, Some(open)) if mark == open => quoted = None,
            ('\\', None | Some('"')) => {
                let next = characters.next().ok_or(BadCommand::Backslash)?;
                current.get_or_insert_default().push(next);
            }
            ('\'' | '"', None) => {
                quoted = Some(one);
                current.get_or_insert_default();
            }
            (blank, None) if blank.is_whitespace() => arguments.extend(current.take()),
            _ => current.get_or_insert_default().push(one),
        }
    }
    if let Some(open) = quoted {
        return Err(BadCommand::Unquoted(open));
    }
    arguments.extend(current);
    match arguments.first().is_some_and(|program| !program.is_empty()) {
        true => Ok(arguments),
        false => Err(BadCommand::Empty),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_divided_by_blanks_outside_of_quotations() {
        for (line, arguments) in [
            ("server", &["server"][..]),
            ("  a  b\tc\n", &["a", "b", "c"]),
            ("a 'b c' \"d e\"", &["a", "b c", "d e"]),
            ("a --x='b'\"c\"d", &["a", "--x=bcd"]),
            ("a '' \"\"", &["a", "", ""]),
            (r"a b\ c \' \\", &["a", "b c", "'", "\\"]),
            (r#"a "x\"y" 'x\y'"#, &["a", "x\"y", "x\\y"]),
            (
                "a $HOME *.c ; rm | b > c",
                &["a", "$HOME", "*.c", ";", "rm", "|", "b", ">", "c"],
            ),
        ] {
            assert_eq!(split(line).unwrap(), arguments, "{line}");
        }
    }

    #[test]
    fn a_launcher_is_marked() {
        let line = "systemctl start plant";
        assert_eq!(unmarked(line), (line, false));
        assert_eq!(unmarked("launch:systemctl start plant"), (line, true));
    }

    #[test]
    fn mistakes_are_refused() {
        for (line, mistake) in [
            ("", BadCommand::Empty),
            ("  ", BadCommand::Empty),
            ("'' a", BadCommand::Empty),
            ("a 'b", BadCommand::Unquoted('\'')),
            ("a \"b", BadCommand::Unquoted('"')),
            ("a \\", BadCommand::Backslash),
            ("a \0", BadCommand::Nul),
        ] {
            assert_eq!(split(line), Err(mistake), "{line}");
        }
    }
}
