//! Starts an ORB with an interceptor, which is refused without the feature `interceptors`: `cargo xtask features` checks that.

use punctual::Orb;
use punctual::interceptor::ClientRequestInterceptor;
use std::process::ExitCode;
use std::sync::Arc;

struct Nothing;

impl ClientRequestInterceptor for Nothing {}

fn main() -> ExitCode {
    let builder = Orb::builder().client_interceptor(Arc::new(Nothing));
    let Err(error) = builder.build() else {
        return ExitCode::SUCCESS;
    };
    eprintln!("{error}");
    ExitCode::FAILURE
}
