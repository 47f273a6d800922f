//! JacORB's client uses all operations of the naming service.
//!
//! Runs if there is a JDK, and the jars that `cargo xtask interop jacorb` gathers.
#![allow(clippy::unwrap_used)]

#[path = "../../../ifr/tests/it/support/jacorb.rs"]
mod peer;
use crate::support;

use std::path::Path;

use support::Served;

const EXPECTED: &str = r"resolved: true
as text: true
text: a\.b.c\/d
url: corbaname::host:9#a%20b
bind: AlreadyBound
missing: 0 x/y
no context: 1 pump/y
no object: 2 plants
empty: InvalidName
rebound: true
destroy: NotEmpty
gone: true
through: true x
first: object0 0
first: object1 0
one: true object2
two: 2
rest: 1 plants 1
end: false
destroyed: true
";

#[test]
fn jacorb_does_everything_to_the_naming_service() {
    let served = Served::in_memory();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/jacorb/Names.java");
    let address = served.address();
    let service = || format!("corbaloc:iiop:1.2@{}/NameService", &address[1..]);
    let Some(output) = peer::run(&source, service) else {
        return;
    };
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(String::from_utf8_lossy(&output.stdout), EXPECTED, "{said}");
}
