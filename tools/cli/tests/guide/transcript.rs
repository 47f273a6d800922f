//! Commands as a page shows them: `$ command`, followed by its output. `…` replaces variable parts:
//! alone for any number of lines, within a line for any text. `? 3` means that the command ends
//! with that status. A block `sh` has commands only.

use punctual_guide::Block;

/// A command, and its expected output.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) line: usize,
    pub(crate) command: String,
    pub(crate) output: Vec<String>,
    pub(crate) status: i32,
    /// True if the command runs in the background while the next ones run.
    pub(crate) is_background: bool,
    /// True if the command's output is compared; the output of `sh` blocks is not.
    pub(crate) is_compared: bool,
}

pub(crate) fn steps(block: &Block) -> Vec<Step> {
    let is_compared = block.language == "console";
    let mut steps: Vec<Step> = Vec::new();
    let mut continues = false;
    for (number, line) in block.text.lines().enumerate() {
        let command = match is_compared {
            true => line.strip_prefix("$ "),
            false => Some(line).filter(|line| !line.is_empty() && !line.starts_with('#')),
        };
        match (command, steps.last_mut()) {
            (_, Some(last)) if continues => {
                last.command.push('\n');
                last.command.push_str(line);
            }
            (Some(command), _) => steps.push(Step {
                line: block.line + number,
                command: command.to_owned(),
                output: Vec::new(),
                status: 0,
                is_background: false,
                is_compared,
            }),
            (None, Some(last)) => match line.strip_prefix("? ").map(str::parse) {
                Some(Ok(status)) => last.status = status,
                _ => last.output.push(line.to_owned()),
            },
            (None, None) => {}
        }
        continues = line.ends_with('\\');
    }
    for step in &mut steps {
        if let Some(command) = step.command.strip_suffix(" &") {
            step.command = command.to_owned();
            step.is_background = true;
        }
        // A block may end with an empty line for the page's layout.
        while step.output.last().is_some_and(String::is_empty) {
            step.output.pop();
        }
    }
    steps
}

/// Returns `true` if lines match those of the page.
pub(crate) fn fits(expected: &[String], lines: &[String]) -> bool {
    match expected.split_first() {
        None => lines.is_empty(),
        Some((one, rest)) if one == "…" => {
            (0..=lines.len()).any(|skipped| fits(rest, &lines[skipped..]))
        }
        Some((one, rest)) => match lines.split_first() {
            Some((line, lines)) => line_fits(one, line) && fits(rest, lines),
            None => false,
        },
    }
}

fn line_fits(expected: &str, line: &str) -> bool {
    let line = line.trim_end();
    match expected.split_once('…') {
        None => expected == line,
        Some((before, after)) => line.strip_prefix(before).is_some_and(|rest| {
            let ends = rest.char_indices().map(|(at, _)| at).chain([rest.len()]);
            ends.into_iter().any(|at| line_fits(after, &rest[at..]))
        }),
    }
}
