//! Processes of boards: started, watched and ended by the command.

use super::board::BOARD;
use super::protocol::{Answer, Duty, Request};
use crate::demo::owned::Owned;
use punctual_rtevent::ThreadSpec;
use std::io::{BufRead, BufReader, Write};
use std::process::{ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

/// Longest time until a board answers.
const PATIENCE: Duration = Duration::from_secs(60);

/// Board whose process ends when this is dropped, or when the command ends.
pub(super) struct Board {
    name: String,
    input: ChildStdin,
    answers: Receiver<String>,
    _process: Owned,
}

impl Board {
    /// Starts the process of a board.
    ///
    /// # Errors
    /// The process cannot be started.
    pub(super) fn start(duty: &Duty) -> Result<Self, String> {
        let failed = |what: &str, error: &dyn std::fmt::Display| {
            format!("board `{}`: {what}: {error}", duty.board)
        };
        let this =
            std::env::current_exe().map_err(|error| failed("this command's path", &error))?;
        let argument = serde_json::to_string(duty).map_err(|error| failed("its task", &error))?;
        let mut process = Command::new(this)
            .args([BOARD, &argument])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| failed("its start", &error))?;
        let pipes = process.stdin.take().zip(process.stdout.take());
        let process = Owned(process);
        let (input, output) = pipes.ok_or_else(|| failed("its start", &"it has no pipes"))?;
        let (lines, answers) = mpsc::channel();
        let reader = move || {
            let output = BufReader::new(output).lines().map_while(Result::ok);
            for line in output {
                if lines.send(line).is_err() {
                    return;
                }
            }
        };
        let thread = ThreadSpec::named(duty.board.clone()).start(reader);
        thread.map_err(|error| failed("its thread", &error))?;
        Ok(Self {
            name: duty.board.clone(),
            input,
            answers,
            _process: process,
        })
    }

    /// Requests something of all boards at once, and returns their answers.
    ///
    /// # Errors
    /// A board has failed, has ended, or does not answer.
    pub(super) fn ask(boards: &mut [Self], request: Request) -> Result<Vec<Answer>, String> {
        for board in &mut *boards {
            board.send(request)?;
        }
        boards.iter().map(Self::answer).collect()
    }

    fn send(&mut self, request: Request) -> Result<(), String> {
        let line = serde_json::to_string(&request).map_err(|error| error.to_string())?;
        // One that has ended has said why; `answer` reads it.
        let _ = writeln!(self.input, "{line}");
        Ok(())
    }

    fn answer(&self) -> Result<Answer, String> {
        let line = self.answers.recv_timeout(PATIENCE);
        let line = line.map_err(|_| format!("board `{}` does not answer", self.name))?;
        match serde_json::from_str(&line) {
            Ok(Answer::Failed(why)) => Err(format!("board `{}`: {why}", self.name)),
            Ok(answer) => Ok(answer),
            Err(error) => Err(format!("board `{}` answers `{line}`: {error}", self.name)),
        }
    }
}
