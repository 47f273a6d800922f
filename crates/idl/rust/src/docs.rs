//! Documentation: an IDL comment as Rust documentation.
//!
//! IDL comments are plain text, so everything with a meaning to rustdoc is escaped: links, HTML,
//! headings, indented lines (which would become tests), fences without a language.

use proc_macro2::TokenStream;
use quote::quote;

/// Generates documentation for an item: its comment, or the fallback where it has none.
pub(crate) fn doc(comment: &[String], fallback: &str) -> TokenStream {
    let lines = markdown(comment);
    if lines.is_empty() {
        return attributes(&[fallback.to_owned()]);
    }
    attributes(&lines)
}

/// Generates documentation that begins with `sentence`, followed by the comment.
pub(crate) fn doc_after(sentence: &str, comment: &[String]) -> TokenStream {
    let mut lines = vec![sentence.to_owned()];
    let comment = markdown(comment);
    if !comment.is_empty() {
        lines.push(String::new());
        lines.extend(comment);
    }
    attributes(&lines)
}

/// Generates documentation of the comment (or the fallback), followed by the lines `after`.
pub(crate) fn doc_with(comment: &[String], fallback: &str, after: &[&str]) -> TokenStream {
    let mut lines = markdown(comment);
    if lines.is_empty() {
        lines.push(fallback.to_owned());
    }
    lines.push(String::new());
    lines.extend(after.iter().map(|&line| line.to_owned()));
    attributes(&lines)
}

fn attributes(lines: &[String]) -> TokenStream {
    let texts = lines.iter().map(|line| {
        if line.is_empty() {
            String::new()
        } else {
            format!(" {line}")
        }
    });
    quote!(#(#[doc = #texts])*)
}

fn markdown(comment: &[String]) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut fenced = false;
    let mut item_indent = 0;
    for line in comment {
        let line = line.trim();
        if line.starts_with("```") {
            fenced = !fenced;
            item_indent = 0;
            lines.push(if fenced { "```text" } else { "```" }.to_owned());
        } else if fenced {
            lines.push(line.to_owned());
        } else if line.is_empty() || is_rule(line) {
            item_indent = 0;
            if lines.last().is_some_and(|last| !last.is_empty()) {
                lines.push(String::new());
            }
        } else {
            let marker = list_marker(line);
            if marker > 0 {
                item_indent = marker;
                lines.push(escaped(line));
            } else {
                // Continuation lines of a list's item are indented like it.
                lines.push(format!("{}{}", " ".repeat(item_indent), escaped(line)));
            }
        }
    }
    if fenced {
        lines.push("```".to_owned());
    }
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    lines
}

/// Returns whether a line only draws a rule: `=====`, `-----`, `*****`.
fn is_rule(line: &str) -> bool {
    line.chars().all(|c| "=-*_#/~+".contains(c))
}

/// Returns the length of `- `, `* `, `+ `, `1. ` at the beginning of a line, else 0.
fn list_marker(line: &str) -> usize {
    let digits = line.chars().take_while(char::is_ascii_digit).count();
    let rest = &line[digits..];
    let is_bullet =
        digits == 0 && (rest.starts_with("- ") || rest.starts_with("* ") || rest.starts_with("+ "));
    let is_number = (1..=3).contains(&digits) && (rest.starts_with(". ") || rest.starts_with(") "));
    if is_bullet || is_number {
        digits + 2
    } else {
        0
    }
}

fn escaped(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    for (i, word) in line.split_whitespace().enumerate() {
        if i > 0 {
            text.push(' ');
        }
        let link = ["http://", "https://", "ftp://"]
            .into_iter()
            .filter_map(|scheme| word.find(scheme))
            .min();
        if let Some(start) = link {
            let rest = &word[start..];
            let url = &rest[..rest.find(|c| "<>\"'`".contains(c)).unwrap_or(rest.len())];
            let url = url.trim_end_matches(['.', ',', ';', ':', ')', ']']);
            let (before, after) = (&word[..start], &word[start + url.len()..]);
            text.push_str(&format!(
                "{}<{url}>{}",
                escaped_word(before),
                escaped_word(after)
            ));
        } else if i == 0 && word.starts_with(['#', '=', '|']) {
            text.push('\\');
            text.push_str(&escaped_word(word));
        } else {
            text.push_str(&escaped_word(word));
        }
    }
    text
}

fn escaped_word(word: &str) -> String {
    let mut text = String::with_capacity(word.len());
    for c in word.chars() {
        if matches!(c, '<' | '>' | '[' | ']' | '`' | '\\') {
            text.push('\\');
        }
        if !c.is_control() {
            text.push(c);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn markdown_of(comment: &str) -> String {
        let lines: Vec<String> = comment.lines().map(str::to_owned).collect();
        markdown(&lines).join("\n")
    }

    #[test]
    fn what_rustdoc_would_take_for_markup_is_escaped() {
        assert_eq!(
            markdown_of("a sequence<octet> [x] of\n    indented text\n# 1 first"),
            "a sequence\\<octet\\> \\[x\\] of\nindented text\n\\# 1 first"
        );
        assert_eq!(
            markdown_of("see http://www.omg.org/x_y."),
            "see <http://www.omg.org/x_y>."
        );
        assert_eq!(
            markdown_of("(<https://omg.org/[x]>)"),
            "(\\<<https://omg.org/[x>\\]\\>)"
        );
    }

    #[test]
    fn lists_keep_their_shape_and_rules_vanish() {
        assert_eq!(
            markdown_of("=====\nitems:\n\n- one\ngoes on\n- two\n\n\nafter\n-----"),
            "items:\n\n- one\n  goes on\n- two\n\nafter"
        );
    }
}
