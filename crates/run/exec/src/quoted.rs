//! Display of untrusted text in logs and errors.

use std::fmt::{self, Write};

/// Text that came from a peer, to be shown in a line of a log or an error: characters that would
/// control a terminal, end the line or turn its direction are escaped (`\u{1b}`), and a long text
/// is cut and followed by its length.
///
/// ```
/// use punctual_exec::Quoted;
///
/// assert_eq!(Quoted("deposit").to_string(), "deposit");
/// assert_eq!(Quoted("a\n\u{1b}[2J").to_string(), r"a\n\u{1b}[2J");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Quoted<'t>(pub &'t str);

/// Maximum number of characters of a quoted text that are shown.
const SHOWN: usize = 256;

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0.chars();
        for one in rest.by_ref().take(SHOWN) {
            match controls(one) {
                true => write!(f, "{}", one.escape_default())?,
                false => f.write_char(one)?,
            }
        }
        match rest.as_str() {
            "" => Ok(()),
            _ => write!(f, "… ({} bytes)", self.0.len()),
        }
    }
}

/// Returns whether a character has an effect beyond being displayed: C0, DEL, C1, line and
/// paragraph separators, and those that turn the direction of text.
fn controls(one: char) -> bool {
    one.is_control()
        || matches!(one, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_controls_a_terminal_is_escaped_and_other_text_is_not() {
        for (text, shown) in [
            ("größe_of(\"x\")", "größe_of(\"x\")"),
            ("\u{7f}\u{9b}2J", r"\u{7f}\u{9b}2J"),
            ("a\r\n2026 INFO all is well", r"a\r\n2026 INFO all is well"),
            (
                "\u{202e}txt\u{2066}\u{2028}",
                r"\u{202e}txt\u{2066}\u{2028}",
            ),
        ] {
            assert_eq!(Quoted(text).to_string(), shown);
        }
    }

    #[test]
    fn of_a_long_text_there_is_the_beginning() {
        let (fits, long) = ("é".repeat(SHOWN), "\u{1b}".repeat(1 << 20));
        assert_eq!(Quoted(&fits).to_string(), fits);
        let shown = Quoted(&long).to_string();
        assert_eq!(shown.matches(r"\u{1b}").count(), SHOWN);
        assert!(shown.ends_with("… (1048576 bytes)"), "{shown}");
    }
}
