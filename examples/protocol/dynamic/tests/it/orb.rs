//! ORBs that use the checked link: one has it linked in, the other loads it as its configuration
//! file says.

use crate::library;
use punctual::policy::Collocation;
use punctual::{Interface, ListenEndpoint, Orb, OrbBuilder, RootPoa};
use punctual_example_cubit::CubitImpl;
use punctual_example_cubit::idl::bench::Cubit;
use punctual_example_protocol::Checked;
use std::sync::Arc;

/// Returns the builder of an ORB with the checked link linked in.
fn linked() -> OrbBuilder {
    Orb::builder().link(Arc::new(Checked::new()))
}

/// Returns the builder of an ORB that loads the link from a library named in its configuration
/// file.
fn configured() -> OrbBuilder {
    let library = library::path();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("orb.toml");
    let text = format!("[[library]]\npath = {library:?}\n");
    std::fs::write(&file, text).unwrap();
    Orb::builder().file(&file).unwrap()
}

/// Starts a server at `protocol`, and a client that calls it there.
fn call(server: OrbBuilder, client: OrbBuilder, protocol: &str) {
    let endpoint = ListenEndpoint::new(protocol, "127.0.0.1:0");
    let server = server.listen(endpoint).build().unwrap();
    let poa = server.root_poa().unwrap();
    poa.manager().activate().unwrap();
    let cubit: Cubit = poa.activate(CubitImpl::new(server.clone())).unwrap();
    // The call uses the protocol, though both ORBs are in one process.
    let client = client
        .configure(|config| config.collocation = Collocation::None)
        .build()
        .unwrap();
    let text = server.object_to_string(&cubit).unwrap();
    let cubit = Cubit::from_object(client.string_to_object(&text).unwrap());
    assert_eq!(cubit.cube_long(7).unwrap(), 343);
    let connected = cubit.as_object().connected_to().unwrap();
    assert_eq!(connected.link(), "checked");
    client.shutdown(true).unwrap();
    server.shutdown(true).unwrap();
}

#[test]
fn an_orb_that_is_linked_with_the_protocol_serves_and_calls_by_it() {
    call(linked(), linked(), "checked");
    call(linked(), linked(), "giop_lite+checked");
}

#[test]
fn an_orb_that_loads_the_protocol_serves_and_calls_by_it() {
    call(configured(), configured(), "checked");
}

#[test]
fn one_that_loads_it_and_one_that_is_linked_with_it_understand_each_other() {
    call(configured(), linked(), "checked");
    call(linked(), configured(), "giop_lite+checked");
}
