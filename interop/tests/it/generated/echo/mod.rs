//! Object that echoes its arguments, and the calls to it.

mod calls;
mod servant;

use punctual::{Interface, ObjectRef, Orb, RootPoa};
use punctual_interop::generated::everything as e;

pub(crate) use calls::{
    bounds_hold, references_come_back, scalars_come_back, structs_and_arrays_come_back,
    texts_and_sequences_come_back, unions_come_back,
};
pub(crate) use servant::Echoing;

/// Objects that the echo tests call.
pub(crate) struct Objects {
    pub(crate) echo: e::Echo,
    /// Reference to a second object, which is passed as an argument.
    pub(crate) other: ObjectRef,
    /// Set if calls are made by GIOP requests, rather than directly within the process.
    pub(crate) by_requests: bool,
}

pub(crate) fn orb(arguments: &[&str]) -> Orb {
    let arguments = arguments.iter().map(|&argument| argument.to_owned());
    Orb::init(arguments).unwrap().0
}

/// Makes a server with two objects; `way` is the server's setting for collocated calls.
fn served(way: &str) -> (Orb, e::Echo, ObjectRef) {
    let listen = "-ORBListenEndpoints";
    let endpoint = "iiop://127.0.0.1:0";
    let server = orb(&["server", listen, endpoint, "-ORBCollocation", way]);
    let poa = server.root_poa().unwrap();
    let echo: e::Echo = poa.activate(Echoing::default()).unwrap();
    let other: e::Echo = poa.activate(Echoing::default()).unwrap();
    poa.manager().activate().unwrap();
    (server, echo, ObjectRef::from(other))
}

/// Runs a test three times: within one ORB by direct calls, within one ORB by GIOP requests, and
/// from one ORB to another over TCP.
pub(crate) fn with_objects(test: impl Fn(&Objects)) {
    for (way, by_requests) in [("thru_poa", false), ("none", true)] {
        let (server, echo, other) = served(way);
        test(&Objects {
            echo,
            other,
            by_requests,
        });
        server.shutdown(true).unwrap();
    }
    let (server, echo, other) = served("none");
    let client = orb(&["client", "-ORBCollocation", "none"]);
    let ior = server.object_to_string(&echo).unwrap();
    let remote = client.string_to_object(&ior).unwrap();
    test(&Objects {
        echo: <e::Echo as Interface>::narrow(remote).unwrap(),
        other,
        by_requests: true,
    });
    client.shutdown(true).unwrap();
    server.shutdown(true).unwrap();
}
