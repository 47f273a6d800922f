//! Endpoints that cannot be opened: the start fails with the reason, and files of other owners are
//! left alone.

use crate::hostile::links::{Over, Rig, over_links};
use punctual::{ListenEndpoint, Orb, SystemException, SystemExceptionKind as Kind};
use std::os::unix::fs::chown;
use std::os::unix::net::UnixListener;
use std::path::Path;

/// User id without any permissions (`nobody`).
const NOBODY: u32 = 65534;

fn start(over: Over, place: &str) -> Result<(), SystemException> {
    let endpoint = ListenEndpoint::new(over.name(), place);
    let orb = Orb::builder().listen(endpoint).build().unwrap();
    let started = orb.listen();
    let _ = orb.shutdown(false);
    started
}

/// Asserts that the start fails with an error that contains the address and all of `parts`.
fn assert_start_refused(over: Over, place: &str, parts: &[&str]) {
    let error = start(over, place).unwrap_err();
    assert_eq!(error.kind(), Kind::Initialize, "{error}");
    let text = error.to_string();
    let named = text.contains(place) && parts.iter().all(|part| text.contains(part));
    assert!(named, "{text}");
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

over_links! {
    [(over_uiop, Uiop), (over_shmiop, Shmiop)]

    fn a_path_that_a_live_server_listens_at_is_refused_and_that_server_goes_on(over: Over) {
        let rig = Rig::new(over);
        rig.others_are_served();
        assert_start_refused(over, rig.address().place(), &["in use"]);
        rig.others_are_served();
        // New clients find it, too.
        rig.peer();
    }

    fn a_path_that_is_too_long_is_refused(over: Over) {
        let folder = tempfile::tempdir().unwrap();
        let long = folder.path().join("x".repeat(120));
        assert_start_refused(over, text(&long), &["107 octets"]);
    }

    fn a_path_that_is_not_absolute_is_refused(over: Over) {
        assert_start_refused(over, "a/relative/socket", &["absolute"]);
    }

    fn a_regular_file_is_refused_and_stays_as_it_was(over: Over) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, "precious").unwrap();
        assert_start_refused(over, text(&path), &["not a socket"]);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "precious");
    }

    fn a_path_in_a_directory_that_does_not_exist_is_refused(over: Over) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("no/such/socket");
        assert_start_refused(over, text(&path), &["No such file or directory"]);
    }

    fn a_socket_of_another_users_is_refused_and_stays(over: Over) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        drop(UnixListener::bind(&path).unwrap());
        if let Err(error) = chown(&path, Some(NOBODY), None) {
            eprintln!("skipped: only root can give a file away: {error}");
            return;
        }
        assert_start_refused(over, text(&path), &["another user's"]);
        assert!(path.exists());
    }

    fn a_socket_file_that_nobody_listens_at_any_more_is_replaced(over: Over) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        drop(UnixListener::bind(&path).unwrap());
        assert!(path.exists());
        let endpoint = ListenEndpoint::new(over.name(), text(&path));
        let rig = Rig::at(over, &[endpoint], |_| {});
        rig.others_are_served();
        rig.server.shutdown(true).unwrap();
        assert!(!path.exists(), "its own file goes with a server");
    }
}
