//! Reading of documentation from source files.

use crate::run::{Result, root};
use syn::{Expr, ExprLit, Item, Lit, Meta};

pub(super) fn read(path: &str) -> Result<String> {
    std::fs::read_to_string(root().join(path))
        .map_err(|error| format!("cannot read {path}: {error}"))
}

pub(super) fn parse(path: &str) -> Result<Vec<Item>> {
    let file = syn::parse_file(&read(path)?).map_err(|error| format!("{path}: {error}"))?;
    Ok(file.items)
}

/// Returns the text of doc comments as one paragraph, for a cell of a table.
pub(super) fn docs(attributes: &[syn::Attribute]) -> String {
    let lines = attributes
        .iter()
        .filter_map(|attribute| match &attribute.meta {
            Meta::NameValue(pair) if pair.path.is_ident("doc") => text(&pair.value),
            _ => None,
        });
    let lines: Vec<String> = lines.map(|line| line.trim().to_owned()).collect();
    cell(&lines.join(" "))
}

/// Returns the value of a string literal, or `None` for other expressions.
pub(super) fn text(expression: &Expr) -> Option<String> {
    match expression {
        Expr::Lit(ExprLit {
            lit: Lit::Str(text),
            ..
        }) => Some(text.value()),
        _ => None,
    }
}

/// Formats text for a cell of a table: rustdoc links become code, and vertical bars are escaped.
fn cell(text: &str) -> String {
    let plain = text
        .replace("[`crate::", "`")
        .replace("[`", "`")
        .replace("`]", "`");
    // The targets of rustdoc's links are dropped.
    let mut out = String::new();
    let mut rest = plain.as_str();
    while let Some((before, after)) = rest.split_once("`(crate::") {
        out.push_str(before);
        out.push('`');
        rest = after.split_once(')').map_or("", |(_, rest)| rest);
    }
    out.push_str(rest);
    out.trim().replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_of_rustdoc_become_code() {
        let text = "As [`crate::Mux::Adaptive`] or [`Wait`](crate::Wait) has it | not.";
        assert_eq!(cell(text), "As `Mux::Adaptive` or `Wait` has it \\| not.");
    }
}
