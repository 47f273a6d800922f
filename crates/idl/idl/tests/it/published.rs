//! Tests of IDL as people have it: constructs that public code bases contain, one file for each.
//!
//! A file of `published/` begins with what it shows. Further lines state the compiler's options and
//! what it says: `// options: --lenient -D NAME=TEXT`, `// warning LINE: MESSAGE`, and, of a file
//! that needs its options, `// without: error LINE: MESSAGE`. Each of those errors has to name the
//! option that mends it. `PUBLISHED_UPDATE=1` writes what the compiler says into the files, to be
//! reviewed before it is kept. `cargo xtask idl-corpus` compiles the same files to Rust, and asks
//! omniidl about them: `// omniidl: accepts`, or `refuses` with a reason.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};

use punctual_idl::diagnostic::Diagnostic;
use punctual_idl::{Options, compile};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/published")
}

fn files() -> Vec<PathBuf> {
    let entries = fs::read_dir(folder()).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.is_file());
    files.sort();
    files
}

/// Returns the lines of the file's head that begin in that way, without their beginning.
fn stated(text: &[u8], beginning: &str) -> Vec<String> {
    let text = String::from_utf8_lossy(text);
    let head = text.lines().take_while(|line| line.starts_with("// "));
    head.filter_map(|line| line.strip_prefix(beginning))
        .map(str::to_owned)
        .collect()
}

/// Returns the options of all files: where their includes are.
fn bare() -> Options {
    Options {
        include_dirs: vec![folder()],
        ..Options::default()
    }
}

/// Returns the options as written, and as the compiler takes them.
fn options(text: &[u8]) -> (Vec<String>, Options) {
    let written = stated(text, "// options: ").join(" ");
    let mut words = written.split(' ').filter(|word| !word.is_empty());
    let (mut shown, mut options) = (Vec::new(), bare());
    while let Some(word) = words.next() {
        if word == "--lenient" {
            options.lenient = true;
            shown.push(word.to_owned());
            continue;
        }
        assert_eq!(word, "-D", "an unknown option");
        let define = words.next().unwrap();
        let (name, value) = match define.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (define, None),
        };
        shown.push(format!("-D {name}"));
        options.defines.push((name.to_owned(), value));
    }
    (shown, options)
}

/// Returns a diagnostic in the form in which the files state it.
fn shown(path: &Path, diagnostic: &Diagnostic) -> String {
    let line = diagnostic
        .primary
        .as_ref()
        .map_or(0, |label| label.line_column().0);
    let message = diagnostic
        .message
        .replace(&*path.display().to_string(), "FILE");
    let severity = if diagnostic.is_error() {
        "error"
    } else {
        "warning"
    };
    format!("{severity} {line}: {message}")
}

/// Returns the lines that state what the compiler says of a file.
fn said(path: &Path, text: &[u8]) -> Result<Vec<String>, String> {
    let (needed, options) = options(text);
    let compiled = compile(path, &options)
        .map_err(|failure| punctual_idl::diagnostic::render(&failure.diagnostics, false))?;
    let warnings = compiled.warnings.iter();
    let mut lines: Vec<String> = warnings
        .map(|warning| format!("// {}", shown(path, warning)))
        .collect();
    if !needed.is_empty() {
        let Err(failure) = compile(path, &bare()) else {
            return Err(format!("accepted without {}", needed.join(" ")));
        };
        for error in failure.diagnostics.iter().filter(|one| one.is_error()) {
            let help = error.help.as_deref().unwrap_or_default();
            let names_none = !needed.iter().any(|option| help.contains(option.as_str()));
            // What an option's value is good for cannot be known.
            if names_none && options.defines.iter().all(|(_, value)| value.is_none()) {
                return Err(format!("no option is named: {}", shown(path, error)));
            }
            lines.push(format!("// without: {}", shown(path, error)));
        }
    }
    Ok(lines)
}

fn is_said(line: &str) -> bool {
    line.starts_with("// warning ") || line.starts_with("// without: ")
}

/// Writes what the compiler says at the end of the file's head, in place of what is stated.
fn update(path: &Path) {
    // A second time, as the stated lines move those that they refer to.
    for _ in 0..2 {
        let text = fs::read(path).unwrap();
        let said = said(path, &text).unwrap_or_default();
        let lines: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').collect();
        let is_head = |line: &&&[u8]| line.starts_with(b"// ");
        let (head, body) = lines.split_at(lines.iter().take_while(is_head).count());
        let is_kept = |line: &&&[u8]| !is_said(&String::from_utf8_lossy(line));
        let head = head.iter().filter(is_kept).copied();
        let said = said.iter().map(|line| format!("{line}\n").into_bytes());
        let new: Vec<Vec<u8>> = head.map(<[u8]>::to_vec).chain(said).collect();
        fs::write(path, [new.concat(), body.concat()].concat()).unwrap();
    }
}

#[test]
fn what_people_publish_is_accepted_with_the_warnings_and_options_that_are_stated() {
    let files = files();
    assert!(files.len() >= 15, "{} files", files.len());
    let mut wrong = String::new();
    for path in &files {
        if std::env::var_os("PUBLISHED_UPDATE").is_some() {
            update(path);
        }
        let text = fs::read(path).unwrap();
        let mut expected = stated(&text, "");
        expected.retain(|line| is_said(line));
        match said(path, &text) {
            Ok(said) if said == expected => {}
            Ok(said) => {
                let (name, said) = (path.display(), said.join("\n"));
                let expected = expected.join("\n");
                wrong += &format!("{name}\nexpected:\n{expected}\ncame:\n{said}\n\n");
            }
            Err(problem) => wrong += &format!("{}\n{problem}\n\n", path.display()),
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
