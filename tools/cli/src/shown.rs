//! Display of text from peers: names, ids and reasons, which may be malicious.
//!
//! On a terminal a control character could set the title, clear the screen, or begin a line that
//! looks like one of the command's own; one that changes the writing direction makes a name look
//! like another. They are shown as `\u{1b}`. The conversion is idempotent, so it is harmless to
//! apply it in more than one place.

use std::fmt::Display;

/// Returns a peer's text on one line.
pub(crate) fn peer(text: impl Display) -> String {
    escaped(&text.to_string(), &[])
}

/// Returns an error, part of which a peer may have chosen. Line ends and tabs stay: messages about
/// files show a file's lines. The middle of an overlong text is omitted.
pub(crate) fn error(message: impl Display) -> String {
    escaped(&shortened(&message.to_string()), &['\n', '\t'])
}

/// Returns an exception or a reason on one line, without the middle of an overlong text.
pub(crate) fn exception(exception: impl Display) -> String {
    peer(shortened(&exception.to_string()))
}

/// Returns JSON in which characters that terminals interpret are escaped. Such characters occur
/// within strings only.
pub(crate) fn json(text: impl Display) -> String {
    let text = text.to_string();
    if !text.chars().any(is_harmful_in_json) {
        return text;
    }
    let mut safe = String::with_capacity(text.len() + 64);
    for one in text.chars() {
        match is_harmful_in_json(one) {
            // All of them have at most four digits.
            true => safe.push_str(&format!("\\u{:04x}", u32::from(one))),
            false => safe.push(one),
        }
    }
    safe
}

/// Returns `true` for characters that control the terminal, the line, or the writing direction.
fn is_harmful(one: char) -> bool {
    one.is_control()
        || matches!(one, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Returns `true` for characters to be escaped in JSON. ASCII control characters, except the last,
/// are escaped in JSON strings anyway; those outside strings are layout, and the colours of this
/// program.
fn is_harmful_in_json(one: char) -> bool {
    one >= '\u{7f}' && is_harmful(one)
}

fn escaped(text: &str, but: &[char]) -> String {
    let mut safe = String::with_capacity(text.len());
    for one in text.chars() {
        match is_harmful(one) && !but.contains(&one) {
            true => safe.extend(one.escape_unicode()),
            false => safe.push(one),
        }
    }
    safe
}

/// Maximum number of characters shown of an error: an id may have any length.
const MOST: usize = 1024;
/// Number of characters shown of the end of a long error, where system exceptions describe the
/// operation.
const AT_END: usize = 256;

fn shortened(text: &str) -> String {
    let length = text.chars().count();
    if length <= MOST {
        return text.to_owned();
    }
    let start: String = text.chars().take(MOST - AT_END).collect();
    let end: String = text.chars().skip(length - AT_END).collect();
    format!("{start}… ({length} characters) …{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_terminals_obey_is_escaped_and_other_text_stays() {
        for (text, shown) in [
            ("plants/north.site", "plants/north.site"),
            ("Grüße, 名前, \u{1f600}", "Grüße, 名前, \u{1f600}"),
            ("\x1b]0;pwned\x07\x1b[2J", r"\u{1b}]0;pwned\u{7}\u{1b}[2J"),
            ("a\r\nb\tc", r"a\u{d}\u{a}b\u{9}c"),
            ("\u{0}\u{7f}\u{9b}31m", r"\u{0}\u{7f}\u{9b}31m"),
            (
                "\u{202e}gpj\u{202c}\u{2066}\u{2069}",
                r"\u{202e}gpj\u{202c}\u{2066}\u{2069}",
            ),
            ("\u{2028}\u{2029}", r"\u{2028}\u{2029}"),
        ] {
            assert_eq!(peer(text), shown);
            assert_eq!(peer(peer(text)), shown);
        }
    }

    #[test]
    fn an_error_keeps_its_lines_and_loses_the_middle_of_what_is_too_long() {
        assert_eq!(error("a:\n\tb\r\x1b[m"), "a:\n\tb\\u{d}\\u{1b}[m");
        let id = "é".repeat(1_000_000);
        let shown = error(format!("UNKNOWN: `{id}` (completed)"));
        assert!(shown.starts_with("UNKNOWN: `éé"), "{shown}");
        assert!(shown.ends_with("éé` (completed)"), "{shown}");
        assert!(shown.contains("… (1000023 characters) …"), "{shown}");
        assert!(shown.chars().count() < MOST + 40, "{shown}");
        let whole = "x".repeat(MOST);
        assert_eq!(error(&whole), whole);
    }

    #[test]
    fn json_stays_what_it_says() {
        let value = serde_json::json!({ "\u{9b}31m": ["\u{202e}gpj", "\u{7f}", "\x1b[2J\n", "é"] });
        let text = json(format!("{value:#}"));
        let is_harmless = |one: char| one == '\n' || !is_harmful(one);
        assert!(text.chars().all(is_harmless), "{text}");
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(&text).unwrap(),
            value
        );
    }
}
