//! Server of addresses (`RtecUDPAdmin::AddrServer`): tells peers where events go by UDP, from the links of the channel.

use super::link::{Link, UdpLink};
use crate::rtec_udp_admin::{AddrServer, UdpAddr, UdpAddress};
use crate::service::EventService;
use crate::wire::read_header;
use punctual::stub::{Answered, Marshal, Servant, ServerCall};
use punctual::{CompletionStatus, Implements, Interface, SystemException, SystemExceptionKind};
use punctual_rtevent::Header;
use std::any::Any;
use std::net::SocketAddrV4;
use std::sync::Arc;

/// Server of the addresses of a channel's links. An event has the address of the first link over which events of its type
/// are sent or, if there is none, received.
pub(crate) struct Addresses(EventService);

impl Addresses {
    /// Makes the server of a service's links.
    pub(crate) fn new(service: EventService) -> Self {
        Self(service)
    }

    fn header(&self, call: &mut ServerCall<'_>) -> Result<Header, SystemException> {
        self.0.check_access()?;
        self.0.read(call.arguments(), read_header)
    }

    /// Returns the address of events of a type.
    ///
    /// # Errors
    /// BAD_PARAM: no link has it.
    fn of(&self, kind: i32) -> Result<SocketAddrV4, SystemException> {
        let options = self.0.options();
        let links = options.sends.iter().chain(&options.receives);
        let mut links = links.filter_map(|link| match link {
            Link::Udp(link) => Some(link),
            Link::Reference(_) => None,
        });
        let found = links
            .find(|link| carries(link, kind))
            .map(|link| link.address);
        found.ok_or_else(|| {
            let text = format!("no link by UDP carries events of type {kind}");
            SystemException::new(SystemExceptionKind::BadParam, 0, CompletionStatus::No)
                .with_detail(text)
        })
    }
}

fn carries(link: &UdpLink, kind: i32) -> bool {
    link.types.is_empty() || link.types.contains(&kind)
}

fn plain(address: SocketAddrV4) -> UdpAddr {
    UdpAddr {
        ipaddr: (*address.ip()).into(),
        port: address.port(),
    }
}

impl Implements<Addresses> for AddrServer {
    fn servant(servant: Addresses) -> Arc<dyn Servant> {
        Arc::new(servant)
    }
}

/// A header is read in the channel's form, which stubs do not know.
impl Servant for Addresses {
    fn repository_ids(&self) -> &'static [&'static str] {
        AddrServer::REPOSITORY_IDS
    }

    fn implementation(&self) -> &(dyn Any + Send + Sync) {
        self
    }

    fn dispatch(&self, call: &mut ServerCall<'_>) -> Answered {
        let is_plain = match call.operation() {
            "get_addr" => true,
            "get_address" => false,
            _ => return Err(call.bad_operation()),
        };
        let header = self.header(call)?;
        let address = plain(self.of(header.kind)?);
        call.reply(|out| match is_plain {
            true => address.marshal(out),
            false => UdpAddress::V4Addr(address).marshal(out),
        })
    }
}
