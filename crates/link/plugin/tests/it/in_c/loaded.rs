//! Tests of a link in C, compiled to a shared library and loaded: it passes the suite that every
//! link passes.

use crate::in_c::support;
use punctual_exec::Deadline;
use punctual_link::{Address, Cause, Link, Properties};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

/// Returns the link of the library, if there is a C compiler.
fn loopback() -> Option<Arc<dyn Link>> {
    static LIBRARY: OnceLock<Option<PathBuf>> = OnceLock::new();
    let library = LIBRARY.get_or_init(|| support::loopback(None));
    library
        .as_ref()
        .map(|path| punctual_plugin::load(path).unwrap())
}

fn absent() -> Option<String> {
    loopback()
        .is_none()
        .then(|| "there is no C compiler".to_owned())
}

fn anywhere() -> Address {
    Address::new("loopback", "127.0.0.1:0")
}

punctual_link_conformance::conformance!(
    stream: *loopback().unwrap(),
    anywhere(),
    unless absent()
);

#[test]
fn a_property_that_the_library_does_not_know_is_named() {
    let Some(link) = loopback() else { return };
    let colour = Properties::from_iter([("colour", "blue")]);
    let error = link.listen(&anywhere(), &colour).unwrap_err();
    assert_eq!(
        error.to_string(),
        "listening: invalid property `colour=blue`: expected no property"
    );
}

#[test]
fn what_an_address_looks_like_is_the_librarys_to_say() {
    let Some(link) = loopback() else { return };
    let strange = Address::new("loopback", "somewhere");
    let error = link
        .connect(&strange, &Properties::NONE, Deadline::NEVER)
        .unwrap_err();
    assert!(
        matches!(error.cause, Cause::BadAddress("number:port")),
        "{error}"
    );
}

#[test]
fn a_library_stays_mapped_while_anything_of_it_lives_and_no_longer() {
    // A copy of its own, which no other test has loaded.
    let Some(shared) = support::loopback(Some("UNMAPPED")) else {
        return;
    };
    let link = punctual_plugin::load(&shared).unwrap();
    let acceptor = link.listen(&anywhere(), &Properties::NONE).unwrap();
    let connection = link
        .connect(acceptor.address(), &Properties::NONE, Deadline::NEVER)
        .unwrap();
    drop(link);
    drop(acceptor);
    assert!(support::is_mapped(&shared));
    connection.close();
    drop(connection);
    assert!(!support::is_mapped(&shared));
}

#[test]
fn a_library_that_says_it_is_resident_stays_mapped_for_good() {
    let Some(library) = support::loopback(Some("RESIDENT")) else {
        return;
    };
    let link = punctual_plugin::load(&library).unwrap();
    let acceptor = link.listen(&anywhere(), &Properties::NONE).unwrap();
    drop(link);
    drop(acceptor);
    assert!(support::is_mapped(&library));
}
