//! TCP, over IPv4 and IPv6.
#![allow(missing_docs)]

use punctual_link::Address;
use punctual_link::iiop::Iiop;

punctual_link_conformance::conformance!(Iiop::default(), Address::iiop("127.0.0.1", 0));

mod over_ipv6 {
    use super::{Address, Iiop};
    use punctual_link::Link;

    #[test]
    fn the_same_holds_where_there_is_ipv6() {
        let (link, address) = (Iiop::default(), Address::iiop("::1", 0));
        if let Err(error) = link.listen(&address) {
            eprintln!("skipped: this machine has no IPv6 loopback: {error}");
            return;
        }
        punctual_link_conformance::what_is_sent_arrives_in_order(&link, &address);
        punctual_link_conformance::both_ends_know_each_other(&link, &address);
        punctual_link_conformance::nobody_listening_is_refused_with_a_reason(&link, &address);
    }
}
