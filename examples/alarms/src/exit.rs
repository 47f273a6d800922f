//! Ends of both programs.

use std::error::Error;
use std::process::ExitCode;

/// Returns the exit status of a program, and prints the error that has ended it.
#[must_use]
pub fn ended(program: &str, outcome: Result<(), Box<dyn Error>>) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{program}: {error}");
            ExitCode::FAILURE
        }
    }
}
