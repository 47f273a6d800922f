//! Table of minor codes, generated from `exception/minor.rs`.

use super::source::{docs, parse};
use crate::run::Result;
use std::fmt::Write as _;
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Ident, Item, LitInt, Token};

/// Row of the table. Rows of Punctual's own codes come first, as programs encounter these most
/// often.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Row {
    is_omg: bool,
    number: u32,
    exception: String,
    meaning: String,
    name: String,
}

/// Contents of a `codes!` macro: for each code `/// EXCEPTION: meaning` and `NAME =
/// vendor(number);`.
struct Codes(Vec<Row>);

impl Parse for Codes {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut rows = Vec::new();
        while !input.is_empty() {
            let attributes = input.call(Attribute::parse_outer)?;
            let name: Ident = input.parse()?;
            input.parse::<Token![=]>()?;
            let vendor: Ident = input.parse()?;
            let number;
            syn::parenthesized!(number in input);
            let number: LitInt = number.parse()?;
            input.parse::<Token![;]>()?;
            let docs = docs(&attributes);
            let (exception, meaning) = docs.split_once(": ").ok_or_else(|| {
                syn::Error::new(
                    name.span(),
                    format!("`{name}` does not say `EXCEPTION: meaning`"),
                )
            })?;
            rows.push(Row {
                is_omg: vendor == "omg",
                number: number.base10_parse()?,
                exception: exception.to_owned(),
                meaning: meaning.to_owned(),
                name: name.to_string(),
            });
        }
        Ok(Self(rows))
    }
}

/// Returns the guide's table of minor codes, generated from the source code.
pub(super) fn table() -> Result<String> {
    let file = "crates/orb/orb/src/exception/minor.rs";
    let mut rows = Vec::new();
    for item in parse(file)? {
        if let Item::Macro(item) = item
            && item.mac.path.is_ident("codes")
        {
            let codes = item.mac.parse_body::<Codes>();
            rows.extend(codes.map_err(|error| format!("{file}: {error}"))?.0);
        }
    }
    if rows.is_empty() {
        return Err(format!("{file} has no `codes!`"));
    }
    rows.sort();
    let mut out =
        "| code | exception | meaning | in `punctual::minor` |\n|---|---|---|---|\n".to_owned();
    for row in rows {
        let vendor = if row.is_omg { "OMG" } else { "Punctual" };
        let _ = writeln!(
            out,
            "| {vendor} {} | {} | {} | `{}` |",
            row.number, row.exception, row.meaning, row.name
        );
    }
    Ok(out)
}
