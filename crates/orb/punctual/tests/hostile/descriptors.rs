//! A server that runs out of descriptors: those it has are served, and the next when there are some
//! again.

use crate::links::{Over, over_links};
use crate::process::Process;
use crate::support::Echo;
use crate::tls::Authority;
use punctual::Interface;

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
            // It may be turned away while there is none, and tries again.
            let coming = scope.spawn(|| while new.long(2).is_err() {});
            server.has_logged("trying again");
            assert_eq!(known.long(3).unwrap(), 3);
            server.told("feed");
            coming.join().unwrap();
        });
        assert_eq!(known.long(4).unwrap(), 4);
        assert_eq!(new.long(5).unwrap(), 5);
    }
}
