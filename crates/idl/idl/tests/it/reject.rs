//! Tests of IDL that breaks one rule of the standard each, and of the one error that reports it.
//!
//! A file of `reject/` begins with its rule, and the following lines state the expected errors: `//
//! error LINE: MESSAGE`. Usually there is one; for more, a line `// several: …` gives the reason.
//! `REJECT_UPDATE=1` writes the actual errors into the files, to be reviewed before they are kept.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};

use punctual_idl::{Options, compile};

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/reject");
    let entries = fs::read_dir(folder).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// Returns the actual errors, in the form in which the files state them.
fn errors(path: &Path) -> Vec<String> {
    let diagnostics = match compile(path, &Options::default()) {
        Ok(_) => return Vec::new(),
        Err(failure) => failure.diagnostics,
    };
    let errors = diagnostics
        .iter()
        .filter(|diagnostic| diagnostic.is_error());
    errors
        .map(|error| {
            let line = error
                .primary
                .as_ref()
                .map_or(0, |label| label.line_column().0);
            let message = error.message.replace(&*path.display().to_string(), "FILE");
            format!("// error {line}: {message}")
        })
        .collect()
}

/// Writes the actual errors after the rule, in place of the stated ones.
fn update(path: &Path, text: &str) {
    let (rule, rest) = text.split_once('\n').unwrap();
    let rest: String = rest
        .split_inclusive('\n')
        .filter(|line| !line.starts_with("// error "))
        .collect();
    let mut stated = String::new();
    // A second time, as the stated errors move the lines that they refer to.
    for _ in 0..2 {
        fs::write(path, format!("{rule}\n{stated}{rest}")).unwrap();
        stated = errors(path)
            .iter()
            .map(|error| format!("{error}\n"))
            .collect();
    }
    fs::write(path, format!("{rule}\n{stated}{rest}")).unwrap();
}

#[test]
fn each_file_that_breaks_a_rule_is_refused_with_one_clear_error() {
    let files = files();
    assert!(files.len() >= 100, "{} files", files.len());
    let mut wrong = String::new();
    for path in &files {
        let text = fs::read_to_string(path).unwrap();
        if std::env::var_os("REJECT_UPDATE").is_some() {
            update(path, &text);
            continue;
        }
        let expected: Vec<&str> = text
            .lines()
            .filter(|line| line.starts_with("// error "))
            .collect();
        let errors = errors(path);
        let allowed = text.contains("\n// several: ");
        if errors != expected || errors.is_empty() || (errors.len() > 1 && !allowed) {
            let (name, came) = (path.display(), errors.join("\n"));
            let expected = expected.join("\n");
            wrong += &format!("{name}\nexpected:\n{expected}\ncame:\n{came}\n\n");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
