//! The look of the generated text: formatted, with a blank line between items.

use proc_macro2::TokenStream;
use punctual_idl::diagnostic::{Diagnostic, Severity};

/// The text of a file of these items.
pub(crate) fn format(tokens: TokenStream) -> Result<String, Box<Diagnostic>> {
    let file = syn::parse2(tokens).map_err(|error| {
        let message = format!("a mistake in the generator: what it wrote is not Rust ({error})");
        Box::new(Diagnostic::without_place(Severity::Error, message))
    })?;
    Ok(spaced(&plain_structs(&prettyplease::unparse(&file))))
}

/// Lays out calls of `plain_struct!` as structs are laid out: the formatter does not know what
/// other people's macros take.
fn plain_structs(text: &str) -> String {
    let mut laid_out = String::with_capacity(text.len());
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        laid_out.push_str(line);
        laid_out.push('\n');
        if !line.ends_with(PLAIN_STRUCT) {
            continue;
        }
        let indent = &line[..line.len() - line.trim_start().len()];
        let end = format!("{indent}}}");
        let body: Vec<&str> = lines
            .by_ref()
            .take_while(|line| *line != end)
            .map(str::trim)
            .collect();
        let body = body.join(" ").replace(" : ", ": ");
        let (name, fields) = body.split_once(" {").unwrap_or((&body, ""));
        laid_out.push_str(&format!("{indent}    {name} {{\n"));
        for field in fields.trim_end_matches([' ', '}', ',']).split(',') {
            laid_out.push_str(&format!("{indent}        {},\n", field.trim()));
        }
        laid_out.push_str(&format!("{indent}    }}\n{end}\n"));
    }
    laid_out
}

const PLAIN_STRUCT: &str = "plain_struct! {";

/// Puts a blank line before each item and method, except the first of a block, and between items
/// that take a single line each.
fn spaced(text: &str) -> String {
    let mut spaced = String::with_capacity(text.len() + text.len() / 16);
    let mut previous = "";
    for line in text.lines() {
        if !previous.is_empty() && needs_space(previous, line) {
            spaced.push('\n');
        }
        spaced.push_str(line);
        spaced.push('\n');
        previous = line;
    }
    spaced
}

fn needs_space(previous: &str, line: &str) -> bool {
    let (start, before) = (line.trim_start(), previous.trim_start());
    let same_depth = line.len() - start.len() == previous.len() - before.len();
    let begins_item =
        ITEM_STARTS.iter().any(|word| start.starts_with(word)) || start.ends_with(PLAIN_STRUCT);
    let ends_item = before.ends_with('}') || before.ends_with(';');
    let is_doc = |text: &str| text.starts_with("///") || text.starts_with("#[");
    let both_short =
        before.ends_with(';') && !is_doc(start) && first_word(before) == first_word(start);
    same_depth && begins_item && ends_item && !is_doc(before) && !both_short
}

const ITEM_STARTS: &[&str] = &[
    "///", "#[", "pub ", "impl", "struct ", "enum ", "fn ", "mod ", "trait ", "type ",
];

fn first_word(line: &str) -> &str {
    line.split([' ', '<']).next().unwrap_or(line)
}
