//! Calls of the runtime's macros. The formatter does not lay out the arguments of unknown macros:
//! items that it knows replace the macros until it is done.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

/// Generates an item that a macro of the runtime makes of expressions. It is a function call until
/// the text is laid out.
pub(crate) fn item_macro(name: &TokenStream, expressions: &TokenStream) -> TokenStream {
    quote!(const _: () = #name(#expressions);)
}

/// Generates a macro call with an interface's signatures, `NAME!(about, of, { … });`: a trait until
/// the text is laid out.
pub(crate) fn signatures(
    name: &TokenStream,
    about: &Ident,
    of: &Ident,
    signatures: &TokenStream,
) -> TokenStream {
    let name: String = name.to_string().split_whitespace().collect();
    let name = name.replace("::", COLONS);
    let about = format_ident!("{SIGNATURES}{name}{SEPARATOR}{about}");
    quote!(trait #about: #of { #signatures })
}

/// Returns whether a trait stands for a macro.
pub(crate) fn is_macro_call(item: &syn::ItemTrait) -> bool {
    item.ident.to_string().starts_with(SIGNATURES)
}

/// Replaces all stand-ins by the macros.
pub(super) fn put_in(mut text: String) -> String {
    if text.contains(ITEM_MACRO) {
        text = item_macros(&text);
    }
    if text.contains(SIGNATURES) {
        text = signature_macros(&text);
    }
    if text.contains(PLAIN_STRUCT) {
        text = plain_structs(&text);
    }
    text
}

/// Replaces function calls that stand for macros.
fn item_macros(text: &str) -> String {
    let mut laid_out = String::with_capacity(text.len());
    for line in text.lines() {
        let indent = &line[..line.len() - line.trim_start().len()];
        match line.trim_start().strip_prefix(ITEM_MACRO) {
            Some(call) => {
                laid_out.push_str(indent);
                laid_out.push_str(&call.replacen('(', "!(", 1));
            }
            None => laid_out.push_str(line),
        }
        laid_out.push('\n');
    }
    laid_out
}

/// Turns the traits that [`signatures`] generated back into macro calls.
fn signature_macros(text: &str) -> String {
    let mut laid_out = String::with_capacity(text.len());
    let mut end = None;
    for line in text.lines() {
        let start = line.trim_start();
        let indent = &line[..line.len() - start.len()];
        let head = start.strip_prefix("trait ").and_then(|start| {
            let (name, rest) = start.strip_prefix(SIGNATURES)?.split_once(SEPARATOR)?;
            let (about, rest) = rest.split_once(": ")?;
            let (of, body) = rest.split_once(' ')?;
            Some((
                format!("{indent}{name}!({about}, {of}, {body}"),
                body == "{}",
            ))
        });
        match head {
            Some((head, is_empty)) => {
                laid_out.push_str(&head);
                if is_empty {
                    laid_out.push_str(");");
                } else {
                    end = Some(format!("{indent}}}"));
                }
            }
            None if end.as_deref() == Some(line) => {
                laid_out.push_str(line);
                laid_out.push_str(");");
                end = None;
            }
            None => laid_out.push_str(line),
        }
        laid_out.push('\n');
    }
    laid_out
}

/// Lays out calls of `plain_struct!` as structs are laid out: the formatter does not know the
/// arguments of unknown macros.
fn plain_structs(text: &str) -> String {
    let mut laid_out = String::with_capacity(text.len());
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        laid_out.push_str(line);
        laid_out.push('\n');
        if !line.ends_with(PLAIN_STRUCT) || line.trim_start().starts_with("//") {
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

const SIGNATURES: &str = "Signatures__";

/// Stand-in for the separator between two names: a letter that no IDL identifier contains.
const SEPARATOR: &str = "\u{1C0}";

/// Stand-in for `::` within a name: another letter that no IDL identifier contains.
const COLONS: &str = "\u{1C1}";

const ITEM_MACRO: &str = "const _: () = ";

/// Beginning of a call of `plain_struct!`.
pub(super) const PLAIN_STRUCT: &str = "plain_struct! {";
