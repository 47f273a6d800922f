//! Conversion of IDL spellings to Rust's: the words of a name, and restrictions on Rust names.

use proc_macro2::{Ident, Span};

/// Converts `fooBar`, `FooBar`, `FOO_BAR` to `foo_bar`.
pub(crate) fn snake(name: &str) -> String {
    escape(joined(name, "_", |word| word.to_ascii_lowercase()))
}

/// Converts like [`snake`], for a module: one of a primitive type's name would hide the type.
pub(crate) fn module(name: &str) -> String {
    let name = snake(name);
    match name.as_str() {
        "bool" | "char" | "str" | "u8" | "u16" | "u32" | "u64" | "i8" | "i16" | "i32" | "i64"
        | "f32" | "f64" | "usize" => name + "_",
        _ => name,
    }
}

/// Converts `fooBar`, `foo_bar`, `FOO_BAR` to `FooBar`. An acronym is one word: `IORList` becomes
/// `IorList`.
pub(crate) fn upper_camel(name: &str) -> String {
    let mut camel = String::new();
    for word in words(name) {
        let mut letters = word.chars();
        let Some(first) = letters.next() else {
            continue;
        };
        // Keeps `v1_2` and `v12` distinct.
        if first.is_ascii_digit() && camel.ends_with(|c: char| c.is_ascii_digit()) {
            camel.push('_');
        }
        camel.push(first.to_ascii_uppercase());
        camel.extend(letters.map(|c| c.to_ascii_lowercase()));
    }
    escape(camel)
}

/// Converts `fooBar`, `FooBar`, `foo_bar` to `FOO_BAR`.
pub(crate) fn screaming_snake(name: &str) -> String {
    joined(name, "_", |word| word.to_ascii_uppercase())
}

/// Makes an identifier of that text: a keyword gets its `r#`.
pub(crate) fn ident(text: &str) -> Ident {
    let text = escape(text.to_owned());
    if KEYWORDS.contains(&text.as_str()) {
        Ident::new_raw(&text, Span::call_site())
    } else {
        Ident::new(&text, Span::call_site())
    }
}

/// Returns `true` for a text that can be an identifier, unchanged or with `r#`.
pub(crate) fn is_identifier(text: &str) -> bool {
    let mut letters = text.chars();
    letters
        .next()
        .is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && letters.all(|c| c.is_ascii_alphanumeric() || c == '_')
        && text != "_"
}

/// Returns whether the word is reserved in Rust, up to the 2024 edition.
#[must_use]
pub fn is_keyword(text: &str) -> bool {
    KEYWORDS.contains(&text) || escape(text.to_owned()) != text
}

/// Appends a `_` to the keywords that may not be raw.
fn escape(text: String) -> String {
    match text.as_str() {
        "self" | "Self" | "super" | "crate" | "_" => text + "_",
        _ => text,
    }
}

fn joined(name: &str, between: &str, case: impl Fn(&str) -> String) -> String {
    let words: Vec<String> = words(name).iter().map(|word| case(word)).collect();
    words.join(between)
}

/// Splits a name into words. A word begins at an underscore, where upper case follows lower case,
/// and before the last letter of an upper-case run that continues in lower case. A digit belongs to
/// the preceding word.
fn words(name: &str) -> Vec<String> {
    let mut words = Vec::new();
    for part in name.split('_').filter(|part| !part.is_empty()) {
        let letters: Vec<char> = part.chars().collect();
        let mut word = String::new();
        let mut after_lower = false;
        for (i, &letter) in letters.iter().enumerate() {
            let before_lower = letters.get(i + 1).is_some_and(char::is_ascii_lowercase);
            if letter.is_ascii_uppercase() && !word.is_empty() && (after_lower || before_lower) {
                words.push(std::mem::take(&mut word));
            }
            if letter.is_ascii_alphabetic() {
                after_lower = letter.is_ascii_lowercase();
            }
            word.push(letter);
        }
        words.push(word);
    }
    words
}

/// Strict and reserved keywords up to the 2024 edition that `r#` makes into names.
const KEYWORDS: &[&str] = &[
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn",
    "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let",
    "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return",
    "static", "struct", "trait", "true", "try", "type", "typeof", "unsafe", "unsized", "use",
    "virtual", "where", "while", "yield",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_take_the_case_of_their_kind() {
        for (idl, expected) in [
            ("cubeLong", "cube_long"),
            ("CosNaming", "cos_naming"),
            ("POAManager", "poa_manager"),
            ("FOO_BAR", "foo_bar"),
            ("x", "x"),
            ("ULongSeq", "u_long_seq"),
            ("X509Cert", "x509_cert"),
            ("int32Value", "int32_value"),
            ("self", "self_"),
            ("foo__bar_", "foo_bar"),
        ] {
            assert_eq!(snake(idl), expected, "{idl}");
        }
        assert_eq!(module("Str"), "str_");
        for (idl, expected) in [
            ("cube_long", "CubeLong"),
            ("IORList", "IorList"),
            ("COMPLETED_YES", "CompletedYes"),
            ("BinStruct", "BinStruct"),
            ("v1_2", "V1_2"),
            ("Self", "Self_"),
            ("red", "Red"),
        ] {
            assert_eq!(upper_camel(idl), expected, "{idl}");
        }
        for (idl, expected) in [
            ("maxSize", "MAX_SIZE"),
            ("MAX_SIZE", "MAX_SIZE"),
            ("pi", "PI"),
        ] {
            assert_eq!(screaming_snake(idl), expected, "{idl}");
        }
    }

    #[test]
    fn keywords_become_raw_identifiers_where_rust_lets_them() {
        assert_eq!(ident("type").to_string(), "r#type");
        assert_eq!(ident("gen").to_string(), "r#gen");
        assert_eq!(ident("crate").to_string(), "crate_");
        assert_eq!(ident("union").to_string(), "union");
    }
}
