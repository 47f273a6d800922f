//! Layout of the generated text: formatted, with a blank line between items.

mod list;
mod macros;
mod margin;
mod spacing;

use proc_macro2::{Ident, TokenStream};
use punctual_idl::diagnostic::{Diagnostic, Severity};
use quote::{format_ident, quote};

pub(crate) use macros::{is_macro_call, item_macro, signatures};
pub(crate) use margin::{INDENT, room};

use crate::parallel::Shared;
use spacing::Spaced;

/// Text of the parts laid out already. Tokens take far more memory than their text, and even more
/// as a syntax tree: so each item, and each method, is laid out as soon as it is generated, and
/// replaced by a short placeholder.
#[derive(Default)]
pub(crate) struct Pieces(Shared<Vec<String>>);

/// Kind of generated code that is laid out as a unit.
#[derive(Clone, Copy)]
pub(crate) enum Piece {
    Items,
    Methods,
    Signatures,
    /// Arms of a `match` that is a method's body.
    Arms,
}

impl Pieces {
    /// Lays out tokens nested in `depth` modules; returns their placeholder.
    pub(crate) fn lay_out(&self, piece: Piece, depth: usize, tokens: TokenStream) -> TokenStream {
        if tokens.is_empty() {
            return tokens;
        }
        match text(piece, depth, tokens.clone()) {
            Some(text) => self.keep_items(text),
            None => tokens,
        }
    }

    /// Lays out a constant of an `impl` that holds a list; returns its placeholder. `constant` has
    /// an empty list.
    pub(crate) fn lay_out_list(
        &self,
        depth: usize,
        constant: TokenStream,
        elements: &[String],
    ) -> TokenStream {
        let indent = INDENT * (depth + 1);
        match text(Piece::Methods, 0, constant.clone()) {
            Some(empty) => self.keep_items(list::filled(&empty, indent, elements)),
            None => constant,
        }
    }

    /// Keeps the text of items, of an `impl` or otherwise; returns its placeholder.
    pub(crate) fn keep_items(&self, text: String) -> TokenStream {
        let name = self.keep(text);
        quote!(fn #name() {})
    }

    /// Keeps the text of an expression that is the last of a body; returns its placeholder.
    pub(crate) fn keep_expression(&self, text: String) -> TokenStream {
        let name = self.keep(text);
        quote!(#name)
    }

    fn keep(&self, text: String) -> Ident {
        let mut pieces = self.0.lock();
        pieces.push(text);
        format_ident!("{PIECE}{}", pieces.len() - 1)
    }

    /// Returns the text of a file that begins with these lines, and contains these items with all
    /// placeholders replaced.
    pub(crate) fn format(
        &self,
        header: &str,
        tokens: TokenStream,
    ) -> Result<String, Box<Diagnostic>> {
        let file = syn::parse2(tokens).map_err(|error| {
            let message = format!("bug in the generator: its output is not Rust ({error})");
            Box::new(Diagnostic::without_place(Severity::Error, message))
        })?;
        let outline = macros::put_in(prettyplease::unparse(&file));
        drop(file);
        let octets: usize = self.0.lock().iter().map(String::len).sum();
        let mut whole = Spaced::after(header, outline.len() + octets);
        self.put_in(&outline, &mut whole);
        Ok(whole.into_text())
    }

    /// Replaces the placeholders in a text.
    fn put_in(&self, text: &str, whole: &mut Spaced) {
        for line in text.lines() {
            let piece =
                number_of(line).and_then(|at| Some(std::mem::take(self.0.lock().get_mut(at)?)));
            match piece {
                Some(piece) => self.put_in(&piece, whole),
                None => whole.push_line(line),
            }
        }
    }
}

/// Returns the number of the piece that a line stands for.
fn number_of(line: &str) -> Option<usize> {
    let line = line.trim_start();
    let name = match line.strip_prefix("fn ") {
        Some(function) => function.strip_suffix("() {}")?,
        None => line,
    };
    name.strip_prefix(PIECE)?.parse().ok()
}

/// Returns the text of tokens nested in `depth` modules; `None` if they do not parse, so that
/// laying out the whole file reports the error.
pub(crate) fn text(piece: Piece, depth: usize, tokens: TokenStream) -> Option<String> {
    if depth > DEEPEST {
        return None;
    }
    let (within, around) = match piece {
        Piece::Items => (tokens, 0),
        Piece::Methods => (quote!(impl Piece { #tokens }), 1),
        Piece::Signatures => (quote!(trait Piece { #tokens }), 1),
        Piece::Arms => {
            let method = quote!(impl Piece { fn piece() { match piece { #tokens } } });
            (method, 3)
        }
    };
    let within = (0..depth).fold(within, |inner, _| quote!(mod piece { #inner }));
    let file = syn::parse2(within).ok()?;
    let text = prettyplease::unparse(&file);
    let around = depth + around;
    let end = text.lines().count() - around;
    let lines = text.lines().take(end).skip(around);
    let text: String = lines.flat_map(|line| [line, "\n"]).collect();
    Some(macros::put_in(text))
}

/// Returns the text of an arm of a `match` with this indentation.
pub(crate) fn arm(indent: usize, tokens: TokenStream) -> Option<String> {
    let depth = (indent / INDENT).checked_sub(3)?;
    // Deeper levels have the same room.
    let laid_out = depth.min(DEEPEST);
    let text = text(Piece::Arms, laid_out, tokens)?;
    let more = " ".repeat(INDENT * (depth - laid_out));
    let lines = text.lines();
    Some(lines.flat_map(|line| [&more, line, "\n"]).collect())
}

const PIECE: &str = "piece__";

/// Number of modules beyond which pieces are laid out with the whole file: a piece costs as many
/// lines as there are modules around it.
const DEEPEST: usize = 8;
