//! Texts of OBJECT_NOT_EXIST.

use crate::support;

use punctual::{Interface, ListenEndpoint, Orb, RootPoa, SystemExceptionKind as Kind};
use std::sync::Arc;
use std::time::Duration;
use support::{Echo, EchoImpl, watchdog};

const LIMIT: Duration = Duration::from_secs(60);

#[test]
fn an_object_that_does_not_exist_is_named_with_the_place_where_it_was_looked_for() {
    let _watchdog = watchdog(LIMIT);
    let server = Orb::builder()
        .listen(ListenEndpoint::iiop("127.0.0.1", 0))
        .build()
        .unwrap();
    let root = server.root_poa().unwrap();
    root.manager().activate().unwrap();
    let port = server.endpoints()[0].port().unwrap();
    let client = Orb::builder().build().unwrap();
    let url = format!("corbaloc::127.0.0.1:{port}/NameServcie");
    let misspelt = Echo::from_object(client.string_to_object(&url).unwrap());
    let error = misspelt.long(1).unwrap_err();
    assert_eq!(error.kind(), Kind::ObjectNotExist);
    assert!(
        error
            .to_string()
            .contains(&format!("calling `long` of {url}: ")),
        "{error}"
    );

    // The key of a transient object is no text.
    let echo: Echo = root.activate(Arc::new(EchoImpl::default())).unwrap();
    let text = server.object_to_string(&echo).unwrap();
    root.deactivate(&echo).unwrap();
    let gone = Echo::from_object(client.string_to_object(&text).unwrap());
    let error = gone.long(1).unwrap_err().to_string();
    let place = format!("calling `long` of an object at iiop://127.0.0.1:{port}: ");
    assert!(error.contains(&place), "{error}");
    for orb in [client, server] {
        orb.shutdown(true).unwrap();
    }
}
