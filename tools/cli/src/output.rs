//! Standard output, whose reader may go before all is printed: `punctual … | head`.
//!
//! The macros here take the place of the standard ones in all commands. Where the reader has gone, they unwind
//! without a message, and [`ending`] ends the command; the standard ones panic. Colours go to terminals only. Those of
//! `anstream` go on without printing, for commands whose exit status is a verdict.

use crate::fail;
use std::any::Any;
use std::fmt::Arguments;
use std::io::{ErrorKind, Write};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::process::ExitCode;

macro_rules! print {
    ($($argument:tt)*) => {
        $crate::output::write(format_args!($($argument)*), "")
    };
}

macro_rules! println {
    () => {
        $crate::output::write(format_args!(""), "\n")
    };
    ($($argument:tt)*) => {
        $crate::output::write(format_args!($($argument)*), "\n")
    };
}

/// End of a command that cannot print.
struct Unprinted(std::io::Error);

/// Writes to standard output.
pub(crate) fn write(text: Arguments<'_>, end: &str) {
    let mut output = anstream::stdout().lock();
    let written = output.write_fmt(text);
    if let Err(error) = written.and_then(|()| output.write_all(end.as_bytes())) {
        drop(output);
        resume_unwind(Box::new(Unprinted(error)));
    }
}

/// Exit status of a command whose reader has gone: that of programs which SIGPIPE ends, 128 and its number.
const BROKEN_PIPE: u8 = 128 + 13;

/// Runs a command to its end, or until its output cannot be written.
pub(crate) fn ending(command: impl FnOnce() -> ExitCode) -> ExitCode {
    catch_unwind(AssertUnwindSafe(command)).unwrap_or_else(unprinted)
}

fn unprinted(cause: Box<dyn Any + Send>) -> ExitCode {
    match cause.downcast::<Unprinted>() {
        Ok(unprinted) if unprinted.0.kind() == ErrorKind::BrokenPipe => BROKEN_PIPE.into(),
        Ok(unprinted) => fail(format_args!("standard output: {}", unprinted.0), None),
        Err(cause) => resume_unwind(cause),
    }
}
