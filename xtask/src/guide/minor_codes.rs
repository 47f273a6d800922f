//! Minor codes, from `exception/minor.rs`.

use super::source::{docs, parse};
use crate::run::Result;
use std::fmt::Write as _;
use syn::{Expr, ExprLit, Item, Lit};

/// Returns the table, with Punctual's own codes first, as programs meet these.
pub(super) fn table() -> Result<String> {
    let mut rows = Vec::new();
    for item in parse("crates/orb/orb/src/exception/minor.rs")? {
        let Item::Const(item) = item else { continue };
        let Expr::Call(call) = item.expr.as_ref() else {
            continue;
        };
        let Expr::Path(vendor) = call.func.as_ref() else {
            continue;
        };
        let vendor = match vendor.path.get_ident().map(ToString::to_string).as_deref() {
            Some("own") => "Punctual",
            Some("omg") => "OMG",
            _ => continue,
        };
        let Some(Expr::Lit(ExprLit {
            lit: Lit::Int(number),
            ..
        })) = call.args.first()
        else {
            continue;
        };
        let number: u32 = number.base10_parse().map_err(|error| error.to_string())?;
        let docs = docs(&item.attrs);
        let (exception, meaning) = docs
            .split_once(": ")
            .ok_or_else(|| format!("`{}` does not say `EXCEPTION: meaning`", item.ident))?;
        let row = (
            vendor == "OMG",
            number,
            exception.to_owned(),
            meaning.to_owned(),
            item.ident.to_string(),
        );
        rows.push(row);
    }
    rows.sort();
    let mut out =
        "| code | exception | meaning | in `punctual::minor` |\n|---|---|---|---|\n".to_owned();
    for (is_omg, number, exception, meaning, name) in rows {
        let vendor = if is_omg { "OMG" } else { "Punctual" };
        let _ = writeln!(
            out,
            "| {vendor} {number} | {exception} | {meaning} | `{name}` |"
        );
    }
    Ok(out)
}
