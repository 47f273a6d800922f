//! Examples of `docs/guide/asynchrony.md`, which the build script extracts.

use super::support::watchdog;
use std::time::Duration;

/// Rust that the IDL compiler generates from the page's IDL.
#[allow(clippy::all)]
mod generated {
    include!(concat!(env!("OUT_DIR"), "/guide.rs"));
}

/// Examples of the page, each a function that takes an ORB and a clerk reference.
#[allow(clippy::all, clippy::pedantic)]
mod examples {
    use super::generated::*;
    use punctual::prelude::*;
    use std::error::Error;
    use std::sync::Arc;
    use std::time::Duration;

    include!(concat!(env!("OUT_DIR"), "/guide_examples.rs"));

    /// Runs the code examples of the documentation page, and returns the number run.
    pub(super) fn run(orb: &Orb, clerk: &Clerk) -> Result<usize, Box<dyn Error>> {
        Ok(all(orb, clerk)? + smol::block_on(all_async(orb, clerk))?)
    }
}

use generated::{Clerk, ClerkCopiesError, ClerkServant, Refused};
use punctual::policy::Collocation;
use punctual::{ListenEndpoint, Orb, RootPoa, SystemException};

struct Behind;

impl ClerkServant for Behind {
    fn rate(&self) -> Result<i32, SystemException> {
        Ok(0)
    }

    fn set_rate(&self, _: i32) -> Result<(), SystemException> {
        Ok(())
    }

    fn add(&self, a: i32, b: i32) -> Result<i32, SystemException> {
        Ok(a + b)
    }

    fn copies(&self, text: &str, number: &mut i32) -> Result<(String, bool), ClerkCopiesError> {
        match usize::try_from(*number) {
            Ok(times) if times > 0 => Ok((text.repeat(times), times > 1)),
            _ => Err(Refused::default().into()),
        }
    }
}

#[test]
fn each_example_of_the_guide_compiles_and_runs() {
    let _watchdog = watchdog(Duration::from_secs(120));
    let orb = Orb::builder()
        .listen(ListenEndpoint::iiop("127.0.0.1", 0))
        .configure(|config| config.collocation = Collocation::None)
        .build()
        .unwrap();
    let poa = orb.root_poa().unwrap();
    poa.manager().activate().unwrap();
    let clerk: Clerk = poa.activate(Behind).unwrap();
    let count = examples::run(&orb, &clerk).unwrap();
    assert!(count >= 8, "{count} examples were found");
    orb.shutdown(true).unwrap();
}
