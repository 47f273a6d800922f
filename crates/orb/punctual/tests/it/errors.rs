//! Errors as a `main` that returns them shows them: by `Debug`, which is the text for people.

use punctual::config::parse_duration;
use punctual::rt::Priority;
use punctual::{Orb, RootPoa};
use std::error::Error;

#[track_caller]
fn assert_is_text<T>(result: Result<T, impl Error>, expected: &str) {
    let Err(error) = result else {
        panic!("no error: {expected}");
    };
    assert_eq!(format!("{error:?}"), error.to_string());
    assert!(error.to_string().contains(expected), "{error}");
}

#[test]
fn what_main_returns_is_shown_as_text() {
    let arguments = |option: &str| ["me".to_owned(), option.to_owned()];
    assert_is_text(
        Orb::init(arguments("-ORBNope")),
        "unknown option `-ORBNope`; `punctual config --options` lists those there are",
    );
    assert_is_text(parse_duration("soon"), "soon");
    assert_is_text(Priority::try_from(-1), "-1 is not a CORBA priority");

    let orb = Orb::builder().build().unwrap();
    assert_is_text(orb.string_to_object("nonsense"), "BAD_PARAM");
    let poa = orb.root_poa().unwrap();
    poa.create_poa("one", None, &[]).unwrap();
    assert_is_text(poa.create_poa("one", None, &[]), "one");
    orb.shutdown(true).unwrap();
    assert_is_text(orb.perform_work(), "BAD_INV_ORDER");
}
