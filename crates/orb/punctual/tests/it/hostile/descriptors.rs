//! Server that runs out of descriptors: it serves existing connections, and accepts new ones when
//! descriptors are free again.

use crate::hostile::links::{Over, over_links};
use crate::hostile::peer::request;
use crate::hostile::process::Process;
use crate::hostile::tls::Authority;
use crate::support::Echo;
use punctual::Interface;
use punctual_ior::{Ior, Profile};
use std::io::Write;
use std::net::TcpStream;

over_links! {
    [(over_iiop, Iiop), (over_uiop, Uiop), (over_shmiop, Shmiop), (over_ssliop, Ssliop)]

    fn accepting_goes_on_when_descriptors_come_back(over: Over) {
        let tls = Authority::new();
        let mut server = Process::server(over, tls.folder());
        let reference = server.says();
        let orbs = [0, 1].map(|_| over.orb(tls.folder(), |_| {}).build().unwrap());
        let [known, new] = orbs
            .each_ref()
            .map(|orb| Echo::from_object(orb.string_to_object(&reference).unwrap()));
        assert_eq!(known.long(1).unwrap(), 1);
        server.told("starve");
        std::thread::scope(|scope| {
            // It may be refused while there is none, and tries again.
            let coming = scope.spawn(|| while new.long(2).is_err() {});
            server.wait_until_logged("trying again");
            assert_eq!(known.long(3).unwrap(), 3);
            server.told("feed");
            coming.join().unwrap();
        });
        assert_eq!(known.long(4).unwrap(), 4);
        assert_eq!(new.long(5).unwrap(), 5);
    }
}

/// Server with 64 descriptors, and more clients than that: each makes one call, and keeps its
/// connection.
#[test]
fn a_crowd_that_takes_all_descriptors_and_falls_silent_makes_room() {
    let _watchdog = crate::support::watchdog(crate::hostile::LIMIT);
    let tls = Authority::new();
    let mut server = Process::server(Over::Iiop, tls.folder());
    let reference = server.says();
    server.told("few");
    let ior: Ior = reference.parse().unwrap();
    let Profile::Iiop(profile) = ior.profiles[0].decode().unwrap() else {
        panic!("{ior:?}");
    };
    let call = request(&profile.object_key, "long", |out| out.put_i32(1));
    let _crowd: Vec<_> = (0..100)
        .map(|_| {
            let mut one = TcpStream::connect((&*profile.host, profile.port)).unwrap();
            // The connection may have been refused.
            let _ = one.write_all(&call);
            one
        })
        .collect();
    let client = Over::Iiop.orb(tls.folder(), |_| {}).build().unwrap();
    let echo = Echo::from_object(client.string_to_object(&reference).unwrap());
    // Until some were quiet for long enough it is refused, too.
    while echo.long(2).is_err() {}
    assert_eq!(echo.long(3).unwrap(), 3);
}
