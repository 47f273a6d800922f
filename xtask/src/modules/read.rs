//! Uses between the files of a crate, read from its source.

use crate::run::Result;
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Use of a name in one file by another file. Both are paths below the crate's `src`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Edge {
    pub(super) from: String,
    pub(super) to: String,
}

impl Edge {
    /// Returns the top-level module that contains the using file.
    pub(super) fn user_module(&self) -> &str {
        module(&self.from)
    }

    /// Returns the top-level module that contains the used file.
    pub(super) fn used_module(&self) -> &str {
        module(&self.to)
    }
}

fn module(file: &str) -> &str {
    let first = file.split('/').next().unwrap_or(file);
    first.strip_suffix(".rs").unwrap_or(first)
}

type ModulePath = Vec<String>;

/// Source file of a module, and the paths that it names.
struct Source {
    file: String,
    used: Vec<ModulePath>,
    /// Names that the module re-exports, with the paths of their sources.
    exported: BTreeMap<String, ModulePath>,
}

type Sources = BTreeMap<ModulePath, Source>;

/// Returns all uses between files below a crate's `src`.
pub(super) fn edges(src: &Path) -> Result<Vec<Edge>> {
    let mut sources = Sources::new();
    collect(src, &mut Vec::new(), &mut sources)?;
    let mut edges = BTreeSet::new();
    for (module, source) in &sources {
        for path in &source.used {
            if let Some(to) = definer(&sources, module, path, 0)
                && to != source.file
            {
                edges.insert(Edge {
                    from: source.file.clone(),
                    to: to.to_owned(),
                });
            }
        }
    }
    Ok(edges.into_iter().collect())
}

fn collect(folder: &Path, at: &mut ModulePath, sources: &mut Sources) -> Result<()> {
    let fails = |error: std::io::Error| format!("{}: {error}", folder.display());
    for entry in fs::read_dir(folder).map_err(fails)? {
        let path = entry.map_err(fails)?.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        if path.is_dir() {
            at.push(name.into_owned());
            collect(&path, at, sources)?;
            at.pop();
            continue;
        }
        // Tests beside the code are left out.
        if path.extension().is_none_or(|extension| extension != "rs") || name.ends_with("tests") {
            continue;
        }
        let mut module = at.clone();
        if !matches!(&*name, "mod" | "lib") {
            module.push(name.to_string());
        }
        let text = fs::read_to_string(&path).map_err(fails)?;
        let tokens: TokenStream = text
            .parse()
            .map_err(|error| format!("{}: {error}", path.display()))?;
        let file = at.iter().cloned().chain([format!("{name}.rs")]);
        let mut source = Source {
            file: file.collect::<Vec<_>>().join("/"),
            used: Vec::new(),
            exported: BTreeMap::new(),
        };
        read(tokens, &mut source);
        sources.insert(module, source);
    }
    Ok(())
}

/// Collects the Rust paths that the tokens of a source file mention.
fn read(tokens: TokenStream, source: &mut Source) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        at += 1;
        match token {
            TokenTree::Punct(punct) if punct.as_char() == '#' && is_test(tokens.get(at)) => {
                at = behind_item(&tokens, at + 1);
            }
            TokenTree::Ident(word) if *word == "use" => {
                let is_public = at >= 2 && is_exporting(tokens.get(..at - 1).unwrap_or_default());
                let mut paths = Vec::new();
                at = tree(&tokens, at, &mut Vec::new(), &mut paths);
                for (path, name) in paths {
                    // A re-export is used by the files that name it.
                    if is_public {
                        source.exported.insert(name, path);
                    } else {
                        source.used.push(path);
                    }
                }
            }
            TokenTree::Ident(_) if begins_path(&tokens, at - 1) => {
                let mut paths = Vec::new();
                at = tree(&tokens, at - 1, &mut Vec::new(), &mut paths);
                source.used.extend(paths.into_iter().map(|(path, _)| path));
            }
            // The path in `pub(super)` and the like is not a use.
            TokenTree::Ident(word) if *word == "pub" => {
                if let Some(TokenTree::Group(group)) = tokens.get(at)
                    && group.delimiter() == Delimiter::Parenthesis
                {
                    at += 1;
                }
            }
            TokenTree::Group(group) => read(group.stream(), source),
            _ => {}
        }
    }
}

/// Returns whether a path begins at this token, rather than continues.
fn begins_path(tokens: &[TokenTree], at: usize) -> bool {
    let is_colon = |at: Option<usize>| {
        let token = at.and_then(|at| tokens.get(at));
        matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == ':')
    };
    let is_behind = is_colon(at.checked_sub(1)) && is_colon(at.checked_sub(2));
    !is_behind && is_colon(Some(at + 1)) && is_colon(Some(at + 2))
}

/// Returns whether a token is the bracketed part of a `#[cfg(test)]` attribute.
fn is_test(token: Option<&TokenTree>) -> bool {
    matches!(token, Some(TokenTree::Group(group)) if group.stream().to_string().replace(' ', "") == "cfg(test)")
}

/// Returns the position after the item that begins at `at`: after its braces, or its semicolon.
fn behind_item(tokens: &[TokenTree], mut at: usize) -> usize {
    while let Some(token) = tokens.get(at) {
        at += 1;
        match token {
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => break,
            TokenTree::Punct(punct) if punct.as_char() == ';' => break,
            _ => {}
        }
    }
    at
}

/// Returns whether the `use` that follows these tokens is `pub`, with or without a restriction.
fn is_exporting(before: &[TokenTree]) -> bool {
    let is_pub = |token: &TokenTree| matches!(token, TokenTree::Ident(word) if *word == "pub");
    match before {
        [.., token, TokenTree::Group(group)] if group.delimiter() == Delimiter::Parenthesis => {
            is_pub(token)
        }
        [.., token] => is_pub(token),
        [] => false,
    }
}

/// Reads a tree of paths in a `use`, and adds each path with the name that it introduces; returns
/// the position after the tree.
fn tree(
    tokens: &[TokenTree],
    mut at: usize,
    path: &mut ModulePath,
    paths: &mut Vec<(ModulePath, String)>,
) -> usize {
    let depth = path.len();
    let mut name = None;
    loop {
        match tokens.get(at) {
            Some(TokenTree::Ident(word)) if *word == "as" => {
                name = tokens.get(at + 1).map(ToString::to_string);
                at += 2;
                break;
            }
            Some(TokenTree::Ident(word)) => {
                path.push(word.to_string());
                at += 1;
            }
            Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
                let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                let mut within = 0;
                while within < inner.len() {
                    within = tree(&inner, within, path, paths) + 1;
                }
                path.truncate(depth);
                return at + 1;
            }
            _ => break,
        }
        match (tokens.get(at), tokens.get(at + 1)) {
            (Some(TokenTree::Punct(a)), Some(TokenTree::Punct(b)))
                if a.as_char() == ':' && b.as_char() == ':' =>
            {
                at += 2;
            }
            (Some(TokenTree::Ident(word)), _) if *word == "as" => {}
            _ => break,
        }
    }
    if path.len() > depth {
        let name = name.or_else(|| path.last().cloned()).unwrap_or_default();
        paths.push((path.clone(), name));
    }
    path.truncate(depth);
    at
}

/// Returns the file that defines the item to which a path refers in this module.
fn definer<'s>(
    sources: &'s Sources,
    module: &ModulePath,
    path: &[String],
    steps: u32,
) -> Option<&'s str> {
    let mut at = module.clone();
    let mut rest = path;
    match path.first().map(String::as_str)? {
        "crate" => (at, rest) = (Vec::new(), path.get(1..)?),
        "self" => rest = path.get(1..)?,
        "super" => {
            while rest.first().is_some_and(|segment| segment == "super") {
                at.pop()?;
                rest = rest.get(1..)?;
            }
        }
        first => {
            at.push(first.to_owned());
            // The path is another crate's, a local's, or a prelude's.
            if !sources.contains_key(&at) {
                return None;
            }
            rest = path.get(1..)?;
        }
    }
    while let Some(segment) = rest.first() {
        at.push(segment.clone());
        if !sources.contains_key(&at) {
            at.pop();
            break;
        }
        rest = rest.get(1..)?;
    }
    let source = sources.get(&at)?;
    match rest.first().and_then(|name| source.exported.get(name)) {
        // Chains of re-exports are finite; rustc refuses others.
        Some(onward) if steps < 8 => definer(sources, &at, onward, steps + 1),
        // A macro of the crate, which may be defined in any file.
        _ if at.is_empty() => None,
        _ => Some(&source.file),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn sources(files: &[(&str, &str)]) -> Vec<Edge> {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        edges(folder.path()).unwrap()
    }

    fn edge(from: &str, to: &str) -> Edge {
        Edge {
            from: from.to_owned(),
            to: to.to_owned(),
        }
    }

    #[test]
    fn a_name_is_followed_through_a_re_export_to_the_file_that_has_it() {
        let edges = sources(&[
            ("lib.rs", "mod a; mod b;"),
            ("a/mod.rs", "mod deep; pub(crate) use deep::Thing;"),
            ("a/deep.rs", "pub(crate) struct Thing;"),
            ("b.rs", "use crate::a::{Thing as Other};"),
        ]);
        assert_eq!(edges, [edge("b.rs", "a/deep.rs")]);
    }

    #[test]
    fn paths_inside_functions_count_and_those_of_tests_do_not() {
        let edges = sources(&[
            (
                "a.rs",
                "fn f() { super::b::g(); } #[cfg(test)] mod tests { use crate::c::h; }",
            ),
            ("b.rs", "pub(super) fn g() {}"),
            ("c.rs", "fn h() {}"),
        ]);
        assert_eq!(edges, [edge("a.rs", "b.rs")]);
    }
}
