//! The peer that a connection is counted to.

use punctual_link::{Address, Link};
use std::net::IpAddr;
use std::sync::Arc;

/// Returns the group whose connections are counted together: one host, an IPv6 network of 64 bits,
/// or all of a link whose clients choose their own addresses, as on local links or by forged
/// datagrams.
pub(crate) fn host_of(link: &dyn Link, peer: &Address) -> Arc<str> {
    let is_asked_back = !link.is_local() && link.guarantees().reliable;
    match link.host_of(peer).filter(|_| is_asked_back) {
        Some(host) => network(host),
        None => peer.link().into(),
    }
}

fn network(host: &str) -> Arc<str> {
    match host.parse::<IpAddr>().map(|ip| ip.to_canonical()) {
        Ok(IpAddr::V6(ip)) => {
            let [a, b, c, d, ..] = ip.segments();
            format!("{a:x}:{b:x}:{c:x}:{d:x}::/64").into()
        }
        Ok(ip) => ip.to_string().into(),
        Err(_) => host.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use punctual_link::diop::Diop;
    use punctual_link::iiop::Iiop;
    use punctual_link::uiop::Uiop;

    #[test]
    fn clients_that_choose_their_addresses_cannot_pass_for_others() {
        let of = |link: &dyn Link, place| host_of(link, &Address::new(link.name(), place));
        let (tcp, unix) = (Iiop::default(), Uiop::default());
        assert_eq!(&*of(&tcp, "10.0.0.1:7"), "10.0.0.1");
        assert_eq!(&*of(&tcp, "[::ffff:10.0.0.1]:7"), "10.0.0.1");
        assert_eq!(&*of(&tcp, "[2001:db8:1:2:3:4:5:6]:7"), "2001:db8:1:2::/64");
        assert_eq!(&*of(&unix, "x:1"), "uiop");
        assert_eq!(&*of(&Diop::default(), "10.0.0.1:7"), "diop");
    }
}
