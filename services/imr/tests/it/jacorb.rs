//! A server of JacORB registers, is started on demand, and says that it ends.
//!
//! Runs if there is a JDK, and the jars that `cargo xtask interop jacorb` gathers.

#[allow(dead_code)]
#[path = "../../../ifr/tests/it/support/jacorb.rs"]
mod peer;

use std::path::Path;

use punctual::Interface;
use punctual_imr::LocatorService;
use punctual_imr::implementation_repository::StartupOptions;

use crate::idl::Works;
use crate::support::{HERE, Served, until};

/// Name under which JacORB registers the POA `hall` of the implementation `plant`.
const NAME: &str = "JACORB:plant/hall";

#[test]
fn a_server_of_jacorb_is_started_for_its_clients_and_ends_when_it_is_asked_to() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/jacorb/Plant.java");
    let Some(command) = peer::command(&source) else {
        return;
    };
    let service = LocatorService::in_memory();
    service.set_activator(HERE, false).unwrap();
    let served = Served::also_over_tcp(service);
    let endpoints =
        punctual::protocol::endpoints_of(&served.client, served.locator.as_object().ior());
    let mut places = endpoints
        .iter()
        .filter(|one| &*one.protocol == "iiop")
        .filter_map(|one| one.address.host_and_port());
    let (host, port) = places.next().unwrap();
    let repository = format!("corbaloc:iiop:1.2@{host}:{port}/ImplRepoService");
    served.bind_name();
    let words = [command.get_program()]
        .into_iter()
        .chain(command.get_args());
    let line: Vec<String> = words
        .map(|word| format!("'{}'", word.display()))
        .chain([repository])
        .collect();
    let options = StartupOptions {
        command_line: line.join(" "),
        ..StartupOptions::default()
    };
    served.locator.add_or_update_server(NAME, &options).unwrap();
    let object = served.locator.as_object();
    let object = object.with_object_key(b"plant/hall/works", Works::REPOSITORY_ID);
    let works = Works::from_object(object.unwrap());
    assert_eq!(works.count().unwrap(), 1);
    let process = works.process().unwrap();
    assert_eq!(works.count().unwrap(), 2);
    served.locator.shutdown_server(NAME).unwrap();
    served.until_running(NAME, false);
    until(|| works.process().is_ok_and(|another| another != process));
    served.locator.kill_server(NAME, 9).unwrap();
}
