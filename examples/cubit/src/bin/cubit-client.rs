//! Client program of the Cubit example.

use punctual_example_cubit::{client, main_with};
use std::process::ExitCode;

fn main() -> ExitCode {
    main_with(std::env::args(), client::run)
}
