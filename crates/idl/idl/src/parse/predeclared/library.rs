//! Text of the predeclared names, cut into statements that are found by name.

use std::collections::HashMap;

/// Declarations of module CORBA, without the module around them.
const CORBA: &str = include_str!("../../builtin/CORBA.idl");

/// Text of the Interface Repository's part of module CORBA: large, and few files use it other than
/// by references.
const REPOSITORY: &str = include_str!("../../builtin/InterfaceRepository.idl");

/// Statement of the IDL text of the predeclared names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Statement {
    /// Text of the IDL statement, with its `;`.
    pub(super) text: &'static str,
    /// Part of an interface or value type before its bases and its body; followed by a `;`, it is a
    /// forward declaration. `None` for any other statement.
    pub(super) head: Option<&'static str>,
    /// `true` if the definition is not required where the interface is only referred to.
    pub(super) on_request: bool,
}

/// Statements by each name that they declare, enumerators included.
#[derive(Debug, Default)]
pub(super) struct Library {
    statements: HashMap<&'static str, Statement>,
}

impl Library {
    /// Returns the predeclared IDL statements of module CORBA.
    pub(super) fn corba() -> Library {
        let mut library = Library::default();
        for (part, on_request) in [(CORBA, false), (REPOSITORY, true)] {
            for text in statements(part) {
                library.add(text, on_request);
            }
        }
        library
    }

    pub(super) fn find(&self, name: &str) -> Option<Statement> {
        self.statements.get(name).copied()
    }

    fn add(&mut self, text: &'static str, on_request: bool) {
        let words = words(text);
        let kind = words
            .iter()
            .position(|word| !matches!(*word, "abstract" | "local" | "custom"));
        let Some(&keyword) = kind.and_then(|kind| words.get(kind)) else {
            return;
        };
        let behind_keyword = kind.and_then(|kind| words.get(kind + 1)).copied();
        let body = words.iter().position(|word| *word == "{");
        let name = match keyword {
            "typedef" => words.iter().rev().nth(1).copied(),
            "const" => words
                .iter()
                .position(|word| *word == "=")
                .and_then(|equals| words.get(equals.checked_sub(1)?))
                .copied(),
            _ => behind_keyword,
        };
        let Some(name) = name else { return };
        let can_be_ahead = body.is_some() && matches!(keyword, "interface" | "valuetype");
        let head = can_be_ahead.then(|| up_to(text, name));
        let statement = Statement {
            text,
            head,
            on_request,
        };
        let plain = name.strip_prefix('_').unwrap_or(name);
        self.statements.insert(plain, statement);
        if let ("enum", Some(body)) = (keyword, body) {
            for enumerator in words[body..].iter().filter(|word| is_name(word)) {
                self.statements.insert(enumerator, statement);
            }
        }
    }

    #[cfg(test)]
    pub(super) fn names(&self) -> Vec<&'static str> {
        let mut names: Vec<&str> = self.statements.keys().copied().collect();
        names.sort_unstable();
        names
    }
}

/// Splits the text after each `;` outside braces. Comments stand between statements, on lines of
/// their own.
fn statements(text: &'static str) -> Vec<&'static str> {
    let mut statements = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        if rest.starts_with("//") {
            rest = rest.split_once('\n').map_or("", |(_, rest)| rest);
        } else {
            let (statement, behind) = rest.split_at(statement_length(rest));
            statements.push(statement);
            rest = behind;
        }
        rest = rest.trim_start();
    }
    statements
}

fn statement_length(text: &str) -> usize {
    let mut depth = 0_usize;
    let end = text.bytes().position(|byte| {
        match byte {
            b'{' => depth += 1,
            b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        byte == b';' && depth == 0
    });
    end.map_or(text.len(), |end| end + 1)
}

/// Splits an IDL text into names and punctuation marks.
fn words(text: &'static str) -> Vec<&'static str> {
    let mut words = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = match rest.find(|c: char| !is_name_part(c)) {
            Some(0) => first.len_utf8(),
            Some(length) => length,
            None => rest.len(),
        };
        let (word, behind) = rest.split_at(length);
        words.push(word);
        rest = behind.trim_start();
    }
    words
}

/// Returns the text up to and including `name`, which must be a part of `text`.
fn up_to(text: &'static str, name: &'static str) -> &'static str {
    // Both are parts of one text, so the distance of their starts is a position in it.
    let start = name.as_ptr() as usize - text.as_ptr() as usize;
    &text[..start + name.len()]
}

fn is_name(word: &str) -> bool {
    word.starts_with(is_name_part)
}

fn is_name_part(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}
