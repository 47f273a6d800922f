//! A client of omniORB, which follows the repository's forwards.
//!
//! Skipped, with the reason printed, where `nameclt` of omniORB is not installed.

use std::process::{Command, Output};

use punctual::Interface;
use punctual_imr::LocatorService;

use crate::locating::with_server_that_dies;
use crate::server::CONTEXT;
use crate::support::{HERE, Served, key};

#[test]
fn a_client_of_omniorb_is_forwarded_to_a_server_that_is_started_for_it() {
    let service = LocatorService::in_memory();
    service.set_activator(HERE, false).unwrap();
    let served = Served::also_over_tcp(service);
    served.add("plant", |_| {});
    let Some(output) = resolved(&served) else {
        return;
    };
    let said = String::from_utf8_lossy(&output.stdout);
    let wrong = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && said.contains("IOR:"),
        "{said}{wrong}"
    );
    assert_eq!(served.started().len(), 1);
    assert_eq!(served.service.forwards(), 1);
    let object = served.client.string_to_object(said.trim()).unwrap();
    assert_eq!(object.object_key().unwrap(), key("", "plant", CONTEXT));
}

#[test]
fn a_client_of_omniorb_is_told_that_the_start_of_the_server_has_failed() {
    let served = with_server_that_dies();
    let Some(output) = resolved(&served) else {
        return;
    };
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(!said.contains("IOR:"), "{said}");
    assert_eq!(served.started().len(), 1);
}

/// Has a client of omniORB resolve a name in the naming context of the server `plant`; `None` without such a client.
fn resolved(served: &Served) -> Option<Output> {
    let key = key("", "plant", CONTEXT);
    let id = "IDL:omg.org/CosNaming/NamingContext:1.0";
    let repository = served.locator.as_object();
    let context = repository.with_object_key(&key, id).unwrap();
    let text = served.client.object_to_string(&context).unwrap();
    let naming = format!("NameService={text}");
    let mut client = Command::new("nameclt");
    let output = client.args(["-ORBInitRef", &naming, "resolve", "pump"]);
    let output = output.output().ok();
    if output.is_none() {
        println!("skipped: nameclt of omniORB is not installed");
    }
    output
}
