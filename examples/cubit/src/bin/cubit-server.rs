//! Server program of the Cubit example.

use punctual_example_cubit::{main_with, server};
use std::process::ExitCode;

fn main() -> ExitCode {
    main_with(std::env::args(), server::run)
}
