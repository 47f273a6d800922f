//! Tests of the messages about faulty libraries.

use crate::in_c::support;
use punctual_plugin::{Fault, PluginError, abi, load};

/// Returns why the library that is compiled with `defined` is refused; `None` without a C compiler.
fn refused(defined: &str) -> Option<PluginError> {
    let library = support::loopback(Some(defined))?;
    let error = load(&library).unwrap_err();
    assert_eq!(error.library, library);
    let begin = format!("the library `{}` cannot be used: ", library.display());
    assert!(error.to_string().starts_with(&begin), "{error}");
    Some(error)
}

#[test]
fn a_file_that_is_not_there() {
    let error = load("/nowhere/liblink.so").unwrap_err();
    assert_eq!(
        error.to_string(),
        "the library `/nowhere/liblink.so` cannot be used: the file does not exist"
    );
}

#[test]
fn a_name_without_a_folder_is_not_searched_for() {
    // The dynamic linker would find this one among the system's.
    assert!(matches!(
        load("libc.so.6").unwrap_err().fault,
        Fault::NotFound
    ));
}

#[test]
fn a_folder_and_a_file_that_is_no_library() {
    let folder = load(support::home()).unwrap_err();
    assert!(
        folder.to_string().ends_with("it is not a regular file"),
        "{folder}"
    );
    let text = load(support::home().join("Cargo.toml")).unwrap_err();
    assert!(
        text.to_string().ends_with("it is not an ELF file"),
        "{text}"
    );
}

#[test]
fn a_library_with_a_symbol_that_is_defined_nowhere() {
    let Some(error) = refused("UNDEFINED_SYMBOL") else {
        return;
    };
    assert!(matches!(error.fault, Fault::Linker(_)), "{error}");
    assert!(
        error
            .to_string()
            .contains("undefined symbol: defined_nowhere"),
        "{error}"
    );
}

#[test]
fn a_library_without_the_symbol_of_a_link() {
    let Some(error) = refused("MISSING_SYMBOL") else {
        return;
    };
    assert!(
        error
            .to_string()
            .ends_with("it does not export the symbol `punctual_link_plugin`"),
        "{error}"
    );
}

#[test]
fn no_table() {
    let Some(error) = refused("NO_TABLE") else {
        return;
    };
    assert!(matches!(error.fault, Fault::NoTable("null")), "{error}");
}

#[test]
fn bad_magic() {
    let Some(error) = refused("BAD_MAGIC") else {
        return;
    };
    assert!(
        error
            .to_string()
            .ends_with("begins with 0x0102030405060708, not with 0x50554e434c494e4b"),
        "{error}"
    );
}

#[test]
fn another_version_names_both() {
    let Some(error) = refused("WRONG_VERSION") else {
        return;
    };
    assert!(
        error
            .to_string()
            .ends_with("it speaks version 2 of the ABI, this ORB version 1"),
        "{error}"
    );
}

#[test]
fn a_table_that_is_too_small() {
    let Some(error) = refused("TOO_SMALL") else {
        return;
    };
    let ours = size_of::<abi::Table>();
    let theirs = ours - size_of::<usize>();
    assert!(
        error.to_string().ends_with(&format!(
            "its table has {theirs} octets, and a table has at least {ours}"
        )),
        "{error}"
    );
}

#[test]
fn another_signature() {
    let Some(error) = refused("BAD_SIGNATURE") else {
        return;
    };
    let Fault::BadSignature { theirs, ours } = error.fault else {
        panic!("{error}");
    };
    assert_eq!((theirs, ours), (abi::SIGNATURE ^ 1, abi::SIGNATURE));
}

#[test]
fn flags_of_another_revision() {
    let Some(error) = refused("UNKNOWN_FLAGS") else {
        return;
    };
    assert!(matches!(error.fault, Fault::UnknownFlags(0x10)), "{error}");
}

#[test]
fn a_null_function_is_named() {
    let Some(error) = refused("NULL_FUNCTION") else {
        return;
    };
    assert!(
        error
            .to_string()
            .ends_with("the function `receive` of its table is null"),
        "{error}"
    );
}

#[test]
fn a_bad_name_and_the_library_is_unmapped_again() {
    let Some(error) = refused("BAD_NAME") else {
        return;
    };
    assert!(
        error
            .to_string()
            .contains("the name of its link is invalid: `a/b`: expected a letter"),
        "{error}"
    );
    assert!(!support::is_mapped(&error.library));
}

#[test]
fn a_link_that_does_not_open_says_why() {
    let Some(error) = refused("FAILS_TO_OPEN") else {
        return;
    };
    assert!(
        error
            .to_string()
            .ends_with("its link does not open: not today"),
        "{error}"
    );
}
