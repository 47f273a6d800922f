//! Part of `cargo xtask layers`: check that threads are started by `punctual-exec`, from a
//! specification, and nowhere else, so that each has a name, and the intended priority, processors
//! and stack.
//!
//! The check reads the crates, services and tools, without the code for tests. A tool may start a
//! thread of its own with a comment in the same file that begins with [`REASON`]: one for each.

use crate::run::Result;
use crate::sources;
use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Files and folders that may start bare threads, with the reasons.
const EXEMPT: [(&str, &str); 3] = [
    ("crates/run/exec/src/thread/start.rs", "it is the one place"),
    (
        "crates/link/conformance/src",
        "it is a suite of tests, though no test itself",
    ),
    (
        "crates/idl/rust/src/parallel.rs",
        "it runs when IDL is compiled, where there is no ORB",
    ),
];

/// Beginning of the comment by which a tool justifies a bare thread; the reason follows.
const REASON: &str = "// Bare thread: ";

/// Functions and types of `std::thread` that start threads.
const STARTS: [&str; 3] = ["spawn", "Builder", "scope"];

pub(crate) fn check() -> Result<()> {
    let sources = sources::of_the_product()?;
    let mistakes = mistakes(&sources)?;
    if mistakes.is_empty() {
        println!("threads: {} files, all start theirs by exec", sources.len());
        return Ok(());
    }
    Err(format!(
        "threads are started past punctual-exec (`ThreadSpec::start`):\n  {}",
        mistakes.join("\n  ")
    ))
}

fn mistakes(sources: &BTreeMap<PathBuf, String>) -> Result<Vec<String>> {
    let mut found = Vec::new();
    let mut of_tests = Vec::new();
    for (path, text) in sources {
        let tokens: TokenStream = text
            .parse()
            .map_err(|error| format!("{}: {error}", path.display()))?;
        let mut file = File::default();
        file.scan(tokens);
        of_tests.extend(file.test_modules.iter().map(|name| module_of(path, name)));
        found.push((path, text, file.starts));
    }
    let is_exempt = |path: &Path| {
        let exempt = EXEMPT.iter().any(|(place, _)| path.starts_with(place));
        let of_test =
            |module: &PathBuf| path.starts_with(module) || path == module.with_extension("rs");
        exempt || of_tests.iter().any(of_test)
    };
    let mut mistakes = Vec::new();
    for (path, text, starts) in found {
        let reasons = match path.starts_with("tools") {
            true => text.matches(REASON).count(),
            false => 0,
        };
        if !is_exempt(path) {
            let unexplained = starts.into_iter().skip(reasons);
            mistakes.extend(unexplained.map(|start| format!("{}: {start}", path.display())));
        }
    }
    Ok(mistakes)
}

/// Returns the path of a module that a file declares, without its extension.
fn module_of(file: &Path, name: &str) -> PathBuf {
    let folder = file.parent().unwrap_or(Path::new(""));
    match file.file_stem().and_then(|stem| stem.to_str()) {
        Some("mod" | "lib" | "main") | None => folder.join(name),
        Some(stem) => folder.join(stem).join(name),
    }
}

/// Thread starts and test modules found in one source file.
#[derive(Debug, Default)]
struct File {
    /// Names by which the file starts threads outside of tests, such as `thread::spawn`.
    starts: Vec<String>,
    /// Modules in separate files that are compiled for tests only.
    test_modules: Vec<String>,
}

impl File {
    fn scan(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut rest = tokens.as_slice();
        while let [first, behind @ ..] = rest {
            rest = behind;
            match (first, behind) {
                (TokenTree::Punct(mark), [TokenTree::Group(attribute), item @ ..])
                    if mark.as_char() == '#' && is_for_tests(attribute) =>
                {
                    rest = self.skip_item(item);
                }
                (TokenTree::Ident(name), _) if name == "thread" => self.scan_thread(behind),
                (TokenTree::Ident(name), _) if name == "spawn_scoped" => {
                    self.starts.push(name.to_string());
                }
                (TokenTree::Group(group), _) => self.scan(group.stream()),
                _ => {}
            }
        }
    }

    /// Checks the tokens that follow the word `thread`: `::spawn`, `::{Builder, …}`, ` as other`.
    fn scan_thread(&mut self, behind: &[TokenTree]) {
        let mut starts = |name: &TokenTree| {
            let name = name.to_string();
            if STARTS.contains(&name.as_str()) {
                self.starts.push(format!("thread::{name}"));
            }
        };
        match behind {
            [TokenTree::Punct(one), TokenTree::Punct(two), next, ..]
                if one.as_char() == ':' && two.as_char() == ':' =>
            {
                match next {
                    TokenTree::Group(names) => {
                        names.stream().into_iter().for_each(|name| starts(&name));
                    }
                    name => starts(name),
                }
            }
            // Uses under another name would not be found.
            [TokenTree::Ident(word), other, ..] if word == "as" => {
                self.starts.push(format!("thread as {other}"));
            }
            _ => {}
        }
    }

    /// Skips an item that is compiled for tests only, and returns the remaining tokens.
    fn skip_item<'t>(&mut self, item: &'t [TokenTree]) -> &'t [TokenTree] {
        let ends = |token: &TokenTree| match token {
            TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
            TokenTree::Punct(mark) => mark.as_char() == ';',
            TokenTree::Ident(_) | TokenTree::Literal(_) => false,
        };
        let end = item.iter().position(ends).unwrap_or(item.len());
        let (skipped, rest) = item.split_at((end + 1).min(item.len()));
        if let [
            ..,
            TokenTree::Ident(word),
            TokenTree::Ident(name),
            TokenTree::Punct(_),
        ] = skipped
            && word == "mod"
        {
            self.test_modules.push(name.to_string());
        }
        rest
    }
}

/// Returns whether an attribute is `[cfg(test)]` or `[cfg(all(test, …))]`.
fn is_for_tests(attribute: &Group) -> bool {
    let text = attribute.stream().to_string().replace(' ', "");
    text == "cfg(test)" || text.starts_with("cfg(all(test,")
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::run::root;

    const PATH: &str = "crates/link/link/src/iiop/mod.rs";

    fn mistakes_of(files: &[(&str, &str)]) -> Vec<String> {
        let sources = files
            .iter()
            .map(|(path, text)| (path.into(), (*text).to_owned()));
        mistakes(&sources.collect()).unwrap()
    }

    #[test]
    fn a_planted_thread_is_refused_however_it_is_started() {
        for (planted, told) in [
            ("fn f() { std::thread::spawn(|| {}); }", "thread::spawn"),
            ("use std::thread::{self, Builder};", "thread::Builder"),
            (
                "fn f() { if true { thread::scope(|s| {}) } }",
                "thread::scope",
            ),
            ("use std::thread as t;", "thread as t"),
            ("fn f() { starts! { thread::spawn(g) } }", "thread::spawn"),
            ("fn f() { it.spawn_scoped(scope, g) }", "spawn_scoped"),
        ] {
            assert_eq!(mistakes_of(&[(PATH, planted)]), [format!("{PATH}: {told}")]);
        }
    }

    #[test]
    fn what_is_for_tests_only_may_start_threads_and_what_follows_may_not() {
        let spawns = "std::thread::spawn(f);";
        let text = format!(
            "#[cfg(test)] mod tests {{ fn t() {{ {spawns} }} }}
            #[cfg(test)] #[allow(x)] fn t() -> [u8; 2] {{ {spawns} [1, 2] }}
            #[cfg(all(test, unix))] mod other;
            fn f() {{ let s = \"thread::spawn\"; /* thread::spawn */ }}"
        );
        let other = "crates/link/link/src/iiop/other.rs";
        let inside = "crates/link/link/src/iiop/other/inside.rs";
        let planted = format!("fn f() {{ {spawns} }}");
        assert_eq!(
            mistakes_of(&[(PATH, &text), (other, &planted), (inside, &planted)]),
            [""; 0]
        );
        assert_eq!(mistakes_of(&[(PATH, &(text + &planted))]).len(), 1);
        let not_for_tests = format!("#[cfg(not(test))] {planted}");
        assert_eq!(mistakes_of(&[(PATH, &not_for_tests)]).len(), 1);
    }

    #[test]
    fn exec_starts_threads_and_a_tool_does_where_it_says_why() {
        let planted = "fn f() { std::thread::spawn(g); }";
        assert_eq!(mistakes_of(&[(EXEMPT[0].0, planted)]), [""; 0]);
        let tool = "tools/cli/src/bridge.rs";
        assert_eq!(mistakes_of(&[(tool, planted)]).len(), 1);
        let explained = format!("{REASON}it outlives the ORB.\n{planted}");
        assert_eq!(mistakes_of(&[(tool, &explained)]), [""; 0]);
        assert_eq!(mistakes_of(&[(PATH, &explained)]).len(), 1);
        let twice = explained + "fn h() { std::thread::spawn(g); }";
        assert_eq!(mistakes_of(&[(tool, &twice)]).len(), 1);
    }

    #[test]
    fn where_threads_are_exempt_there_are_files() {
        for (place, reason) in EXEMPT {
            assert!(root().join(place).exists(), "{place}: {reason}");
        }
    }
}
