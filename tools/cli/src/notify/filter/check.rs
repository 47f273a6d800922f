//! `punctual notify filter check`.

use super::events;
use crate::call::Problem;
use crate::shown;
use punctual_constraint::{Constraint, Diagnostic, Failure, Grammar, Limits};
use serde_json::{Value, json};
use std::io::{IsTerminal, Write};
use std::path::PathBuf;

/// The constraint is compiled as the service does it; none has to run. A mistake is shown where it is. If there is none, the
/// constraint is printed as it was understood, with all parentheses, and then a line for each event: `true`, or `false` and
/// why it could not be evaluated. The exit status is 1 if there is a mistake, or if an event does not meet the constraint.
#[derive(Debug, clap::Args)]
pub(crate) struct Check {
    /// The constraint: `$severity > 3 and $type_name == 'NT_ALARM'`.
    constraint: String,
    /// Language of the constraint: `EXTENDED_TCL`, `ETCL` or `TCL`.
    #[arg(long, value_name = "NAME", default_value = "EXTENDED_TCL", value_parser = grammar)]
    grammar: Grammar,
    /// File of structured events as JSON, which `punctual notify pull` prints; `-` is the standard input. May be given more
    /// than once.
    #[arg(long = "event", value_name = "FILE")]
    events: Vec<PathBuf>,
    /// Print which parts of an event the constraint reads, and the equalities by which it can be looked up among others.
    #[arg(long)]
    explain: bool,
    /// Print JSON on one line; mistakes, too.
    #[arg(long)]
    json: bool,
}

/// Event that was tried.
struct Tried {
    file: String,
    /// Number of the event in its file, from 1.
    number: usize,
    result: Result<bool, Failure>,
}

fn grammar(name: &str) -> Result<Grammar, String> {
    Grammar::named(name).ok_or_else(|| "expected `EXTENDED_TCL`, `ETCL` or `TCL`".to_owned())
}

pub(super) fn run(options: &Check) -> Result<(), Problem> {
    let compiled = Constraint::compile(options.grammar, &options.constraint, &Limits::DEFAULT);
    let constraint = match compiled {
        Ok(constraint) => constraint,
        Err(mistake) => return Err(report(&mistake, options.json)),
    };
    let tried = attempts(&constraint, &options.events)?;
    let text = match options.json {
        true => shown::json(as_json(&constraint, options.grammar, &tried)) + "\n",
        false => as_text(&constraint, options.explain, &tried),
    };
    // A reader that has gone wants no more.
    let _ = std::io::stdout().write_all(text.as_bytes());
    match tried.iter().all(|one| one.result == Ok(true)) {
        true => Ok(()),
        false => Err(Problem::Shown),
    }
}

fn report(mistake: &Diagnostic, as_json: bool) -> Problem {
    match as_json {
        true => {
            let (line, column) = mistake.line_column();
            let span = mistake.span();
            println!(
                "{}",
                shown::json(json!({
                    "severity": "error",
                    "message": mistake.message(),
                    "line": line,
                    "column": column,
                    "bytes": [span.start, span.end],
                }))
            );
        }
        false => anstream::eprintln!("{}", mistake.render(std::io::stderr().is_terminal())),
    }
    Problem::Shown
}

fn attempts(constraint: &Constraint, files: &[PathBuf]) -> Result<Vec<Tried>, Problem> {
    let mut tried = Vec::new();
    for file in files {
        for (at, event) in events::read(file)?.iter().enumerate() {
            tried.push(Tried {
                file: file.display().to_string(),
                number: at + 1,
                result: constraint.evaluate(event),
            });
        }
    }
    Ok(tried)
}

fn as_text(constraint: &Constraint, explains: bool, tried: &[Tried]) -> String {
    let mut text = shown::error(constraint) + "\n";
    if explains {
        text += &format!("reads {}\n", list(constraint.fields()));
        let keys = constraint.keys().iter();
        let keys = keys.map(|key| format!("{} == {}", key.field(), key.value()));
        text += &format!("looked up by {}\n", list(keys));
    }
    for one in tried {
        let (file, number) = (shown::peer(&one.file), one.number);
        text += &match &one.result {
            Ok(result) => format!("{file}, event {number}: {result}\n"),
            Err(failure) => format!("{file}, event {number}: false, as {failure}\n"),
        };
    }
    text
}

fn list(parts: impl Iterator<Item = String>) -> String {
    let parts: Vec<_> = parts.map(shown::peer).collect();
    match parts.is_empty() {
        true => "nothing".to_owned(),
        false => parts.join(", "),
    }
}

fn as_json(constraint: &Constraint, grammar: Grammar, tried: &[Tried]) -> Value {
    let keys = constraint.keys().iter();
    let keys = keys.map(|key| json!({ "field": key.field(), "value": key.value().to_string() }));
    let events = tried.iter().map(|one| {
        json!({
            "file": one.file,
            "number": one.number,
            "result": one.result == Ok(true),
            "failure": one.result.as_ref().err().map(ToString::to_string),
        })
    });
    json!({
        "grammar": grammar.name(),
        "constraint": constraint.to_string(),
        "reads": constraint.fields().collect::<Vec<_>>(),
        "equalities": keys.collect::<Vec<_>>(),
        "events": events.collect::<Vec<_>>(),
    })
}
