//! Options `-ORB…`, from their table in `config/arguments.rs`.

use super::source::{parse, text};
use crate::run::Result;
use std::fmt::Write as _;
use syn::{Expr, Item, Member};

const FOLDER: &str = "crates/orb/orb/src/config";

pub(super) fn table() -> Result<String> {
    let items = parse(&format!("{FOLDER}/arguments.rs"))?;
    let rules = items.iter().find_map(|item| match item {
        Item::Const(item) if item.ident == "RULES" => Some(item.expr.as_ref()),
        _ => None,
    });
    let Some(Expr::Reference(rules)) = rules else {
        return Err("arguments.rs has no table RULES".to_owned());
    };
    let Expr::Array(rules) = rules.expr.as_ref() else {
        return Err("RULES is not an array".to_owned());
    };
    let mut out = "| option | value | meaning |\n|---|---|---|\n".to_owned();
    for rule in &rules.elems {
        let Expr::Struct(rule) = rule else { continue };
        let value = |name: &str| -> Result<String> {
            let is_it = |member: &Member| matches!(member, Member::Named(one) if one == name);
            let field = rule.fields.iter().find(|field| is_it(&field.member));
            let field = field.ok_or_else(|| format!("an option has no `{name}`"))?;
            known(&field.expr, &items)
        };
        let (name, expected, meaning) = (value("name")?, value("expected")?, value("meaning")?);
        let _ = writeln!(
            out,
            "| `{name}` | {} | {} |",
            escaped(&expected),
            escaped(&meaning)
        );
    }
    Ok(out)
}

fn escaped(text: &str) -> String {
    text.replace('|', "\\|")
}

/// Returns the text of a literal, of a constant of this file, or of a module's beside it.
fn known(expression: &Expr, items: &[Item]) -> Result<String> {
    if let Some(text) = text(expression) {
        return Ok(text);
    }
    let Expr::Path(path) = expression else {
        return Err("an option's text is neither a literal nor a constant".to_owned());
    };
    let names: Vec<String> = path
        .path
        .segments
        .iter()
        .map(|part| part.ident.to_string())
        .collect();
    match names.as_slice() {
        [name] => constant(items, name),
        [module, name] => constant(&parse(&format!("{FOLDER}/{module}.rs"))?, name),
        _ => Err(format!(
            "the default `{}` cannot be resolved",
            names.join("::")
        )),
    }
}

fn constant(items: &[Item], name: &str) -> Result<String> {
    let found = items.iter().find_map(|item| match item {
        Item::Const(item) if item.ident == name => text(&item.expr),
        _ => None,
    });
    found.ok_or_else(|| format!("no constant `{name}` with a text"))
}
