//! Functions whose names read as questions, but which return no answer.

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// Name prefixes of functions that should return a `bool`.
const QUESTIONS: [&str; 2] = ["is_", "has_"];

/// Returns the line and the name of each function that is named as a question, but returns nothing
/// or only an error.
///
/// # Errors
/// The text is not valid Rust.
pub(super) fn misnamed(text: &str) -> Result<Vec<(usize, String)>, String> {
    let tokens: TokenStream = text.parse().map_err(|error| format!("{error}"))?;
    let mut found = Vec::new();
    look(tokens, &mut found);
    Ok(found
        .into_iter()
        .map(|name| (line_of(text, &name), name))
        .collect())
}

/// Returns the number of the line that defines the first function of this name, from 1.
fn line_of(text: &str, name: &str) -> usize {
    let definition = format!("fn {name}");
    let line = text.lines().position(|line| line.contains(&definition));
    line.map_or(1, |line| line + 1)
}

fn look(tokens: TokenStream, found: &mut Vec<String>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut is_test = false;
    for (place, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Group(group) => {
                if group.delimiter() == Delimiter::Bracket {
                    is_test = group.to_string() == "[test]";
                }
                look(group.stream(), found);
            }
            TokenTree::Ident(word) if word == "fn" => {
                if let Some(TokenTree::Ident(name)) = tokens.get(place + 1) {
                    let shown = name.to_string();
                    let asks = QUESTIONS.iter().any(|question| shown.starts_with(question));
                    if asks && !is_test && !answers(&tokens[place + 2..]) {
                        found.push(shown);
                    }
                }
                is_test = false;
            }
            _ => {}
        }
    }
}

/// Returns `true` if the signature that begins with these tokens has a result other than `()` or
/// `Result<(), …>`.
fn answers(tokens: &[TokenTree]) -> bool {
    let is_end = |token: &&TokenTree| match token {
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        TokenTree::Punct(mark) => mark.as_char() == ';',
        TokenTree::Ident(word) => word == "where",
        TokenTree::Literal(_) => false,
    };
    let signature: Vec<String> = tokens
        .iter()
        .take_while(|token| !is_end(token))
        .map(ToString::to_string)
        .collect();
    // The arrow of the function itself stands behind its arguments, the first group in parentheses.
    let arguments = signature.iter().position(|token| token.starts_with('('));
    let behind = &signature[arguments.map_or(0, |place| place + 1)..];
    match behind {
        [dash, arrow, returned @ ..] if dash == "-" && arrow == ">" => {
            !returned.concat().starts_with("()") && !returned.concat().contains("Result<()")
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_functions_that_return_nothing_or_an_error_are_misnamed() {
        let text = "fn is_a() {}\nfn is_b(&self, f: impl Fn(u8) -> bool) -> Result<(), E>;\nfn has_c(&self) -> bool {}\n\
            fn has_d<T>(t: T) -> Option<u8> where T: X {}\nfn isolate() {}\n#[test]\nfn is_a_test() {}\n";
        let found = misnamed(text).unwrap();
        assert_eq!(found, [(1, "is_a".to_owned()), (2, "is_b".to_owned())]);
    }
}
