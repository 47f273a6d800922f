//! This ORB, through the stubs and skeletons that its IDL compiler wrote.

use super::{Caller, serve_until_the_end};
use crate::Result;
use crate::case::{Case, Operation};
use punctual::{Char, Interface, ListenEndpoint, Orb, RootPoa};
use punctual_example_cubit::CubitImpl;
use punctual_example_cubit::idl::bench::{BinStruct, Cube, Cubit};
use std::hint::black_box;

/// Serves a Cubit until the input ends.
pub(super) fn serve() -> Result<()> {
    let endpoint = ListenEndpoint::iiop("127.0.0.1", 0);
    let orb = Orb::builder().listen(endpoint).build()?;
    let poa = orb.root_poa()?;
    let cubit: Cubit = poa.activate(CubitImpl::new(orb.clone()))?;
    let reference = orb.object_to_string(&cubit)?;
    poa.manager().activate()?;
    serve_until_the_end(reference)?;
    Ok(orb.shutdown(true)?)
}

/// A reference, and arguments for the calls.
pub(super) struct Client {
    cubit: Cubit,
    octets: Vec<u8>,
    structs: Vec<BinStruct>,
}

impl Client {
    pub(super) fn new(reference: &str) -> Result<Self> {
        let orb = Orb::builder().build()?;
        Ok(Self {
            cubit: Cubit::narrow(orb.string_to_object(reference)?)?,
            octets: Vec::new(),
            structs: Vec::new(),
        })
    }
}

impl Caller for Client {
    fn prepare<'c>(&'c mut self, case: Case) -> Result<Box<dyn FnMut() -> Result<()> + 'c>> {
        let units = case.units as usize;
        self.octets.resize(units, 0x5a);
        self.structs.resize(units, SAMPLE);
        let Self {
            cubit,
            octets,
            structs,
        } = self;
        Ok(match case.operation {
            Operation::CubeVoid => Box::new(|| Ok(cubit.cube_void()?)),
            Operation::CubeLong => Box::new(|| {
                black_box(cubit.cube_long(black_box(21))?);
                Ok(())
            }),
            Operation::CubeStruct => Box::new(|| {
                black_box(cubit.cube_struct(black_box(&Cube { o: 5, l: 21, s: 7 }))?);
                Ok(())
            }),
            Operation::TakeOctets => Box::new(|| Ok(cubit.take_octets(octets)?)),
            Operation::TakeBinStructs => Box::new(|| Ok(cubit.take_bin_structs(structs)?)),
            Operation::EchoOctets => Box::new(|| {
                black_box(cubit.echo_octets(octets)?);
                Ok(())
            }),
            Operation::EchoBinStructs => Box::new(|| {
                black_box(cubit.echo_bin_structs(structs)?);
                Ok(())
            }),
            Operation::ThrowOctets => Box::new(|| Ok(cubit.throw_octets(octets)?)),
            Operation::ThrowBinStructs => Box::new(|| Ok(cubit.throw_bin_structs(structs)?)),
        })
    }

    fn settle(&mut self) -> Result<()> {
        Ok(self.cubit.cube_void()?)
    }
}

const SAMPLE: BinStruct = BinStruct {
    s: 1234,
    c: Char(b'x'),
    l: 123_456_789,
    o: 0x5a,
    d: 2.5,
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::{self, Lengths};
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Octets that went each way through a relay.
    #[derive(Default)]
    struct Meter {
        requests: AtomicUsize,
        replies: AtomicUsize,
    }

    impl Meter {
        fn read(&self) -> Lengths {
            // What is counted happened before the reply that the reader has, or before its own send.
            Lengths {
                request: self.requests.load(Ordering::SeqCst),
                reply: self.replies.load(Ordering::SeqCst),
            }
        }
    }

    fn relay(mut from: TcpStream, mut to: TcpStream, count: impl Fn(usize)) {
        let mut buffer = vec![0; 1 << 16];
        while let Ok(read @ 1..) = from.read(&mut buffer) {
            count(read);
            to.write_all(&buffer[..read]).unwrap();
        }
    }

    fn meter_connection(listener: &TcpListener, server: u16, meter: &Arc<Meter>) {
        let (client, _) = listener.accept().unwrap();
        let server = TcpStream::connect(("127.0.0.1", server)).unwrap();
        let (back, forth) = (server.try_clone().unwrap(), client.try_clone().unwrap());
        let counted = meter.clone();
        std::thread::spawn(move || {
            relay(client, server, |octets| {
                counted.requests.fetch_add(octets, Ordering::SeqCst);
            });
        });
        let counted = meter.clone();
        std::thread::spawn(move || {
            relay(back, forth, |octets| {
                counted.replies.fetch_add(octets, Ordering::SeqCst);
            });
        });
    }

    #[test]
    fn messages_are_as_long_as_the_floor_takes_them_to_be() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = ListenEndpoint::iiop("127.0.0.1", 0)
            .option("port_in_ior", listener.local_addr().unwrap().port());
        let server = Orb::builder().listen(endpoint).build().unwrap();
        let poa = server.root_poa().unwrap();
        let cubit: Cubit = poa.activate(CubitImpl::new(server.clone())).unwrap();
        poa.manager().activate().unwrap();
        let reference = server.object_to_string(&cubit).unwrap();
        let (port, meter) = (
            server.endpoints()[0].port().unwrap(),
            Arc::new(Meter::default()),
        );
        let metering = meter.clone();
        std::thread::spawn(move || meter_connection(&listener, port, &metering));

        let mut client = Client::new(&reference).unwrap();
        client.settle().unwrap();
        let void = Case::plain(Operation::CubeVoid).lengths();
        for case in case::full() {
            let before = meter.read();
            client.prepare(case).unwrap()().unwrap();
            client.settle().unwrap();
            let after = meter.read();
            let seen = Lengths {
                request: after.request - before.request - void.request,
                reply: after.reply - before.reply - void.reply,
            };
            assert_eq!(seen, case.lengths(), "{case}");
        }
        server.shutdown(true).unwrap();
    }
}
