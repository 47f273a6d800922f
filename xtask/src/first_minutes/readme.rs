//! Commands that the README tells a newcomer to run.

use crate::run::Result;
use std::path::Path;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Commands {
    /// First command in the README: a demonstration of calls.
    pub(super) demo: String,
    /// Second command in the README: the run of the tests.
    pub(super) tests: String,
    /// Command that makes a new crate, whose path is relative to the repository.
    pub(super) new: String,
    pub(super) new_folder: String,
    pub(super) new_test: String,
    /// Command that starts the server of the new crate, without the `&`.
    pub(super) server: String,
    pub(super) client: String,
}

impl Commands {
    pub(super) fn read(readme: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(readme);
        let text = text.map_err(|error| format!("{}: {error}", readme.display()))?;
        Self::of(&text).ok_or_else(|| {
            format!(
                "{}: not as expected: three blocks of `sh` (the demo; the tests; `punctual new`, `cd` and the new crate's test), then consoles of its server and client",
                readme.display()
            )
        })
    }

    fn of(text: &str) -> Option<Self> {
        let mut scripts = blocks(text, "sh").into_iter();
        let [demo] = scripts.next()?.try_into().ok()?;
        let [tests] = scripts.next()?.try_into().ok()?;
        let [new, enter, new_test] = scripts.next()?.try_into().ok()?;
        let typed = blocks(text, "console").concat();
        let mut typed = typed.iter().filter_map(|line| line.strip_prefix("$ "));
        let server = typed.next()?.strip_suffix('&')?.trim_end().to_owned();
        Some(Self {
            demo,
            tests,
            new,
            new_folder: enter.strip_prefix("cd ")?.to_owned(),
            new_test,
            server,
            client: typed.next()?.to_owned(),
        })
    }
}

/// Returns the lines of each code block marked with the given language.
fn blocks(text: &str, language: &str) -> Vec<Vec<String>> {
    let mut blocks = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(info) = line.strip_prefix("```") {
            let block = lines.by_ref().take_while(|line| !line.starts_with("```"));
            let block: Vec<String> = block.map(str::to_owned).collect();
            if info == language {
                blocks.push(block);
            }
        }
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_readme_has_the_commands_that_are_timed() {
        let commands = Commands::read(&crate::run::root().join("README.md")).unwrap();
        assert_eq!(commands.demo, "cargo run --bin punctual -- demo");
        assert_eq!(commands.tests, "cargo test --workspace");
        let (made, entered) = (&commands.new, &commands.new_folder);
        assert!(
            made.ends_with(&format!("punctual -- new {entered}")),
            "{made}"
        );
        assert_eq!(commands.server, "cargo run --bin server");
        assert_eq!(commands.client, "cargo run --bin client");
    }

    #[test]
    fn a_readme_of_another_shape_is_refused() {
        let two_commands_at_once = "```sh\na\nb\n```\n```sh\nc\n```\n";
        assert_eq!(Commands::of(two_commands_at_once), None);
        assert_eq!(Commands::of("nothing to run"), None);
    }
}
