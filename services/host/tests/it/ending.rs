//! The end of a run: a second server on a store, a name that is taken.

use crate::example::{Running, client};

#[test]
fn a_second_server_on_a_store_is_refused_with_the_holder_and_the_first_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let client = client();
    let first = Running::with(folder.path(), "");
    let board = first.called_by(&client);
    let second = Running::with(folder.path(), "");
    let refused = second.end().unwrap_err();
    let holder = format!("another board server (process {})", std::process::id());
    assert!(refused.message.contains(&holder), "{refused}");
    assert_eq!(refused.help(), Some("--store names another file"));
    assert_eq!(board.post("still here"), Ok(0));
    first.end().unwrap();
    client.shutdown(true).unwrap();
}

#[test]
fn a_status_address_that_is_in_use_ends_the_run_before_it_is_served() {
    let folder = tempfile::tempdir().unwrap();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let running = Running::with(folder.path(), &format!("status = \"{address}\""));
    let refused = running.end().unwrap_err();
    assert!(
        refused.message.starts_with(&format!("--status {address}")),
        "{refused}"
    );
    // Its store is free again.
    let running = Running::with(folder.path(), "");
    let client = client();
    assert_eq!(running.called_by(&client).post("served"), Ok(0));
    running.end().unwrap();
    client.shutdown(true).unwrap();
}
