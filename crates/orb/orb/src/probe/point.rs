//! Labelled points of a call, with the names that Schmidt et al. 2001 give the stages.

/// Side of a call on which a stage takes place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Side {
    /// Client that makes the call.
    Client,
    /// Server that receives the call.
    Server,
}

macro_rules! points {
    ($($(#[$doc:meta])* $name:ident: $side:ident, $label:literal;)+) => {
        /// Point of a call, at which a stage begins.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Point {
            $($(#[$doc])* $name,)+
        }

        impl Point {
            /// List of all points of a call, in the order in which a call passes them.
            pub const ALL: &[Self] = &[$(Self::$name,)+];

            /// Returns the side of the call, client or server, on which the point lies.
            #[must_use]
            pub const fn side(self) -> Side {
                match self {
                    $(Self::$name => Side::$side,)+
                }
            }

            /// Returns the label of the stage that begins at the point.
            #[must_use]
            pub const fn label(self) -> &'static str {
                match self {
                    $(Self::$name => $label,)+
                }
            }
        }
    };
}

points! {
    /// The call begins: the remembered path is looked up, and its policies are checked. Stamped
    /// exactly once for each call.
    ClientInitialise: Client, "initialise";
    /// The connection to the object is found or set up.
    ClientReference: Client, "get object reference";
    /// The request gets its entry in the reply table, a block, its header, and its length.
    ClientMessagingSend: Client, "messaging send";
    /// The arguments are marshaled.
    ClientMarshal: Client, "parameter marshal";
    /// The lock for sending on the client's connection is taken, and released.
    ClientTransportSend: Client, "transport send";
    /// The link sends: the system call, and the link's own work around it.
    ClientSend: Client, "I/O: send";
    /// The right to receive is taken, and passed on.
    ClientTransportReceive: Client, "transport receive";
    /// The link receives until the reply has arrived. Includes the server's time.
    ClientReceive: Client, "I/O: receive, waiting included";
    /// The header of the received reply is decoded.
    ClientMessagingReceive: Client, "messaging receive";
    /// The results in the reply are unmarshaled.
    ClientDemarshal: Client, "parameter demarshal";
    /// The caller has its reply; no further stage begins.
    ClientEnd: Client, "end";
    /// The right to receive is taken, received bytes are counted, and the right is passed on.
    ServerTransportReceive: Server, "transport receive";
    /// The link receives until the next request has arrived.
    ServerReceive: Server, "I/O: receive, waiting included";
    /// The request's header is read, and the state of the call is set up.
    ServerMessagingReceive: Server, "messaging receive";
    /// The object adapter is asked whether it accepts requests at present.
    ServerAdapter: Server, "POA demux";
    /// The object key of the request is parsed.
    ServerObjectKey: Server, "parse object key";
    /// The servant is looked up in the active object map.
    ServerServant: Server, "servant demux";
    /// The skeleton looks the operation up by its name.
    ServerOperation: Server, "operation demux";
    /// The arguments are unmarshaled. The servant runs afterwards: if it does not mark its
    /// beginning, its time is included here.
    ServerDemarshal: Server, "parameter demarshal";
    /// The servant executes the operation.
    ServerUpcall: Server, "user upcall";
    /// The reply gets a block, its header and its length.
    ServerMessagingSend: Server, "messaging send";
    /// The results are marshaled into the reply.
    ServerMarshal: Server, "return value marshal";
    /// The lock for sending on the server's connection is taken, and released.
    ServerTransportSend: Server, "transport send";
    /// The link sends the reply.
    ServerSend: Server, "I/O: send";
}

impl Point {
    pub(super) const fn number(self) -> u8 {
        self as u8
    }

    pub(super) fn of(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number)).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_point_is_found_by_its_number() {
        for &point in Point::ALL {
            assert_eq!(Point::of(point.number()), Some(point));
        }
        let beyond = u8::try_from(Point::ALL.len()).unwrap();
        assert_eq!(Point::of(beyond), None);
    }
}
