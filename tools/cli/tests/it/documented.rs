//! Commands of this program that documents show, run or not: their names and flags are those of `--help`.

use punctual_guide::root;
use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

/// Folders with documents, from the root.
const FOLDERS: &[&str] = &[
    "",
    "docs",
    "docs/guide",
    "examples/alarms",
    "examples/cpp",
    "examples/telemetry",
    "examples/tls",
    "services",
    "services/naming",
];

/// Help texts, by command.
#[derive(Default)]
struct Helps(BTreeMap<String, Option<String>>);

impl Helps {
    /// Returns the help of a command; `None` if there is no such command.
    fn of(&mut self, words: &[&str]) -> Option<&str> {
        let asked = || {
            let output = Command::new(env!("CARGO_BIN_EXE_punctual"))
                .args(words)
                .arg("--help")
                .output()
                .unwrap();
            let help = String::from_utf8(output.stdout).unwrap();
            output.status.success().then_some(help)
        };
        self.0
            .entry(words.join(" "))
            .or_insert_with(asked)
            .as_deref()
    }

    /// Returns what is wrong with a command, without the program's name.
    fn mistake(&mut self, command: &str) -> Option<String> {
        let is_outer = |one: char| "[]…\"'".contains(one);
        let words = command.split_whitespace();
        let mut words = words.map(|word| word.trim_matches(is_outer)).peekable();
        let mut named = Vec::new();
        let help = loop {
            let is_name = |word: &&str| word.starts_with(|one: char| one.is_ascii_lowercase());
            let Some(word) = words.next_if(is_name) else {
                // What stands for any command, or a group without one of its own.
                return None;
            };
            // That is a program of its own.
            if named.is_empty() && word == "bench" {
                return None;
            }
            named.push(word);
            match self.of(&named) {
                None => return Some(format!("there is no command `{}`", named.join(" "))),
                Some(help) if help.contains(" <COMMAND>") => {}
                Some(help) => break help,
            }
        };
        let flags = words.take_while(|word| !["|", "--", "&&", "#"].contains(word));
        // All commands take options of the ORB.
        let flags = flags
            .filter(|word| word.starts_with('-') && word.len() > 1 && !word.starts_with("-ORB"));
        let flags = flags.map(|word| word.split('=').next().unwrap_or_default());
        let mut unknown = flags.filter(|flag| {
            // A number is an argument.
            let is_number = flag[1..].starts_with(|one: char| one.is_ascii_digit());
            let has = |line: &str| line.split([' ', ',', '=', '[']).any(|word| word == *flag);
            !is_number && !help.lines().any(has)
        });
        let flag = unknown.next()?;
        Some(format!("`{}` has no flag {flag}", named.join(" ")))
    }
}

/// Returns the commands of this program that a document shows, with their lines.
fn commands(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut block: Option<String> = None;
    for (number, line) in text.lines().enumerate() {
        if let Some(language) = line.trim_start().strip_prefix("```") {
            block = match block {
                None => Some(language.to_owned()),
                Some(_) => None,
            };
            continue;
        }
        let shown: Vec<&str> = match block.as_deref() {
            Some("sh") => vec![line],
            Some("console") => line.strip_prefix("$ ").into_iter().collect(),
            Some(_) => Vec::new(),
            // Every second part of a line is between backticks.
            None => line.split('`').skip(1).step_by(2).collect(),
        };
        for part in shown.into_iter().flat_map(|line| line.split(" | ")) {
            let part = part.trim().trim_start_matches("sudo ");
            let part = part.replace("cargo run --bin punctual --", "punctual");
            // An argument in quotes may be a command of its own.
            let quoted = part.split('"').skip(1).step_by(2);
            let outer: Vec<&str> = part.split('"').step_by(2).collect();
            for part in std::iter::once(&*outer.join("…")).chain(quoted) {
                if let Some(command) = part.strip_prefix("punctual ") {
                    found.push((number + 1, command.to_owned()));
                }
            }
        }
    }
    found
}

#[test]
fn commands_that_documents_show_exist_with_their_flags() {
    let mut helps = Helps::default();
    let mut wrong = Vec::new();
    let mut seen = 0;
    for folder in FOLDERS {
        for entry in fs::read_dir(root().join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|extension| extension != "md")
                || path.ends_with("CHANGELOG.md")
            {
                continue;
            }
            for (line, command) in commands(&fs::read_to_string(&path).unwrap()) {
                seen += 1;
                let mistake = helps.mistake(&command);
                wrong.extend(mistake.map(|what| format!("{}:{line}: {what}", path.display())));
            }
        }
    }
    assert!(seen > 100, "{seen}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn commands_are_found_in_blocks_and_between_backticks_and_their_mistakes_are_told() {
    let text = "Say `punctual ior --chekc X`.\n```sh\necho | cargo run --bin punctual -- new a\n```\n\
                ```console\n$ punctual naming lits\nnot punctual x\n$ punctual new --a \"punctual ior -x\" b\n```\n";
    let found = commands(text);
    let found: Vec<_> = found
        .iter()
        .map(|(line, command)| (*line, &**command))
        .collect();
    assert_eq!(
        found,
        [
            (1, "ior --chekc X"),
            (3, "new a"),
            (6, "naming lits"),
            (8, "new --a … b"),
            (8, "ior -x")
        ]
    );
    let mut helps = Helps::default();
    let mut mistake = |command| helps.mistake(command);
    assert_eq!(
        mistake("ior --chekc X").unwrap(),
        "`ior` has no flag --chekc"
    );
    assert_eq!(
        mistake("naming lits").unwrap(),
        "there is no command `naming lits`"
    );
    assert_eq!(mistake("new a"), None);
    assert_eq!(mistake("call x f -1 --idl=y"), None);
}
