//! The look of the generated text: formatted, with a blank line between items.

use std::cell::RefCell;

use proc_macro2::{Ident, TokenStream};
use punctual_idl::diagnostic::{Diagnostic, Severity};
use quote::{format_ident, quote};

/// The text of what was laid out already. Tokens take far more memory than their text, and more still as a syntax
/// tree: so each item, and each method, is laid out as soon as it is there, and a short function stands in its place.
#[derive(Default)]
pub(crate) struct Pieces(RefCell<Vec<String>>);

/// What a piece is.
#[derive(Clone, Copy)]
pub(crate) enum Piece {
    Items,
    Methods,
    Signatures,
}

impl Pieces {
    /// Lays out tokens that stand within so many modules; what stands in their place.
    pub(crate) fn lay_out(&self, piece: Piece, depth: usize, tokens: TokenStream) -> TokenStream {
        if tokens.is_empty() || depth > DEEPEST {
            return tokens;
        }
        let within = match piece {
            Piece::Items => tokens.clone(),
            Piece::Methods => quote!(impl Piece { #tokens }),
            Piece::Signatures => quote!(trait Piece { #tokens }),
        };
        let within = (0..depth).fold(within, |inner, _| quote!(mod piece { #inner }));
        let Ok(file) = syn::parse2(within) else {
            // Said of the whole file.
            return tokens;
        };
        let text = prettyplease::unparse(&file);
        let around = depth + usize::from(!matches!(piece, Piece::Items));
        let end = text.lines().count() - around;
        let lines = text.lines().take(end).skip(around);
        let text: String = lines.flat_map(|line| [line, "\n"]).collect();
        let mut pieces = self.0.borrow_mut();
        pieces.push(text);
        let name = format_ident!("{PIECE}{}", pieces.len() - 1);
        quote!(fn #name() {})
    }

    /// The text of a file of these items, and of the pieces that stand among them.
    pub(crate) fn format(&self, tokens: TokenStream) -> Result<String, Box<Diagnostic>> {
        let file = syn::parse2(tokens).map_err(|error| {
            let message =
                format!("a mistake in the generator: what it wrote is not Rust ({error})");
            Box::new(Diagnostic::without_place(Severity::Error, message))
        })?;
        let outline = prettyplease::unparse(&file);
        drop(file);
        let mut text = String::new();
        self.put_in(&outline, &mut text);
        // One after the other, so that there are two copies of a long text and not six.
        for pass in [item_macros, signature_macros, plain_structs, lists, spaced] {
            text = pass(&text);
        }
        Ok(text)
    }

    /// The text with each piece in its place.
    fn put_in(&self, text: &str, whole: &mut String) {
        for line in text.lines() {
            let name = line.trim_start().strip_prefix("fn ");
            let number = name.and_then(|name| name.strip_prefix(PIECE)?.strip_suffix("() {}"));
            let number = number.and_then(|number| number.parse::<usize>().ok());
            let piece =
                number.and_then(|at| Some(std::mem::take(self.0.borrow_mut().get_mut(at)?)));
            match piece {
                Some(piece) => self.put_in(&piece, whole),
                None => {
                    whole.push_str(line);
                    whole.push('\n');
                }
            }
        }
    }
}

const PIECE: &str = "piece__";

/// What stands within more modules is laid out with the whole file: a piece costs as many lines as there are modules around.
const DEEPEST: usize = 8;

/// Lays out calls of `plain_struct!` as structs are laid out: the formatter does not know what
/// other people's macros take.
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

/// An item that a macro of the runtime makes of expressions.
///
/// The formatter does not lay out what other people's macros take: until the text is laid out, it is a call.
pub(crate) fn item_macro(name: &TokenStream, expressions: &TokenStream) -> TokenStream {
    quote!(const _: () = #name(#expressions);)
}

/// Calls that stand for macros become these.
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

/// What a macro of the runtime makes of an interface's signatures, `NAME!(about, of, { … });`: a trait until the text is
/// laid out.
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

/// Whether a trait stands for a macro.
pub(crate) fn is_macro_call(item: &syn::ItemTrait) -> bool {
    item.ident.to_string().starts_with(SIGNATURES)
}

/// Traits that stand for macros become these.
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

/// Puts as many elements of the lists of operations on a line as there is room for.
fn lists(text: &str) -> String {
    let mut laid_out = String::with_capacity(text.len());
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        laid_out.push_str(line);
        laid_out.push('\n');
        let start = line.trim_start();
        if !(LISTS.iter().any(|list| start.starts_with(list)) && line.ends_with("&[")) {
            continue;
        }
        let indent = line.len() - start.len() + 4;
        let mut column = 0;
        for element in lines.by_ref() {
            let element = element.trim_start();
            if element == "];" {
                break;
            }
            if column > 0 && column + 1 + element.len() <= WIDTH {
                laid_out.push(' ');
                column += 1 + element.len();
            } else {
                if column > 0 {
                    laid_out.push('\n');
                }
                laid_out.push_str(&" ".repeat(indent));
                column = indent + element.len();
            }
            laid_out.push_str(element);
        }
        laid_out.push('\n');
        laid_out.push_str(&" ".repeat(indent - 4));
        laid_out.push_str("];\n");
    }
    laid_out
}

/// The constants that hold such lists.
const LISTS: [&str; 2] = ["const OWN: ", "const OWN_ANSWERS: "];

/// What the formatter breaks lines at.
const WIDTH: usize = 89;

const SIGNATURES: &str = "Signatures__";

/// What stands between two names: a letter that nobody uses, as the next.
const SEPARATOR: &str = "\u{1C0}";

/// `::` within a name.
const COLONS: &str = "\u{1C1}";

const ITEM_MACRO: &str = "const _: () = ";

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
    let begins_item = ITEM_STARTS.iter().any(|word| start.starts_with(word))
        || is_macro(start)
        || start.ends_with(PLAIN_STRUCT);
    let ends_item = before.ends_with('}') || before.ends_with(';');
    let is_doc = |text: &str| text.starts_with("///") || text.starts_with("#[");
    let both_short =
        before.ends_with(';') && !is_doc(start) && first_word(before) == first_word(start);
    same_depth && begins_item && ends_item && !is_doc(before) && !both_short
}

/// Whether an item is made by a macro.
fn is_macro(line: &str) -> bool {
    let name = line.split_once("!(").map(|(name, _)| name);
    name.is_some_and(|name| {
        name.chars()
            .all(|c| c.is_ascii_lowercase() || c == '_' || c == ':')
    })
}

const ITEM_STARTS: &[&str] = &[
    "///", "#[", "pub ", "impl", "struct ", "enum ", "fn ", "mod ", "trait ", "type ",
];

fn first_word(line: &str) -> &str {
    line.split([' ', '<']).next().unwrap_or(line)
}
