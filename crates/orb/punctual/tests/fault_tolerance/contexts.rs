//! Service contexts that a client without fault tolerance sends as the test says, well-formed or not.

use crate::group::{Server, add, seen_by};
use punctual::interceptor::RequestContext;
use punctual::stub::{ByteOrder, Coding, Encoder};
use punctual::{Orb, SystemExceptionKind as Kind};
use punctual_giop::service_context::{FT_GROUP_VERSION, FT_REQUEST};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

/// Contents of the contexts of a client's requests.
#[derive(Clone, Debug)]
pub(crate) struct Contexts {
    data: Arc<Mutex<Vec<u8>>>,
    length: usize,
    order: ByteOrder,
}

/// Length of FT_REQUEST as these clients send it; what is shorter is followed by zeros, which are ignored.
const LENGTH: usize = 48;
/// Length of FT_REQUEST with a client id of four to seven characters.
const EXACT: usize = 32;

#[derive(Debug)]
struct Context {
    id: u32,
    length: usize,
    data: Arc<Mutex<Vec<u8>>>,
}

impl RequestContext for Context {
    fn id(&self) -> u32 {
        self.id
    }

    fn length(&self) -> usize {
        self.length
    }

    fn fill(&self, data: &mut [u8]) {
        data.fill(0);
        let wanted = self.data.lock().unwrap();
        let length = wanted.len().min(data.len());
        data[..length].copy_from_slice(&wanted[..length]);
    }
}

/// Returns the time of day since 1970.
pub(crate) fn now() -> Duration {
    SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap()
}

impl Contexts {
    /// Makes a client whose requests carry FT_REQUEST.
    pub(crate) fn client() -> (Self, Orb) {
        Self::client_of(LENGTH, ByteOrder::NATIVE.other())
    }

    /// Makes a client whose FT_REQUEST is as short as it can be, in this machine's byte order, as most ORBs send it. Its ids
    /// have four to seven characters.
    pub(crate) fn usual_client() -> (Self, Orb) {
        Self::client_of(EXACT, ByteOrder::NATIVE)
    }

    fn client_of(length: usize, order: ByteOrder) -> (Self, Orb) {
        let this = Self {
            data: Arc::default(),
            length,
            order,
        };
        let orb = this.orb(&[]);
        (this, orb)
    }

    /// Makes another client with the same contexts, which calls by one protocol.
    pub(crate) fn client_by(&self, protocol: &str) -> (Self, Orb) {
        (self.clone(), self.orb(&[protocol]))
    }

    fn orb(&self, protocols: &[&str]) -> Orb {
        let context = Context {
            id: FT_REQUEST,
            length: self.length,
            data: self.data.clone(),
        };
        Orb::builder()
            .configure(|config| {
                config.client_protocols = protocols.iter().map(|&one| one.to_owned()).collect();
            })
            .request_context(Arc::new(context))
            .build()
            .unwrap()
    }

    /// Sets the contents of FT_REQUEST; `expires` is since 1970.
    pub(crate) fn set_request(&self, client: &str, retention: i32, expires: Duration) {
        let data = request(self.order, (client, retention), expires);
        assert!(data.len() <= self.length);
        *self.data.lock().unwrap() = data;
    }
}

/// Returns the data of FT_REQUEST.
fn request(order: ByteOrder, (client, retention): (&str, i32), expires: Duration) -> Vec<u8> {
    let since_1582 = 0x01b2_1dd2_1381_4000 + u64::try_from(expires.as_nanos() / 100).unwrap();
    Encoder::encapsulated(order, Coding::default(), |out| {
        out.put_string(client)?;
        out.put_i32(retention);
        out.put_u64(since_1582);
        Ok(())
    })
    .unwrap()
}

/// Makes a client with one context of this id and these data.
fn client_with(id: u32, data: &[u8]) -> Orb {
    let context = Context {
        id,
        length: data.len(),
        data: Arc::new(Mutex::new(data.to_vec())),
    };
    Orb::builder()
        .request_context(Arc::new(context))
        .build()
        .unwrap()
}

#[test]
fn contexts_that_do_not_decode_are_refused_and_the_server_goes_on() {
    let server = Server::new();
    let expires = now() + Duration::from_secs(60);
    let whole = request(ByteOrder::Big, ("client", 1), expires);
    let cut = (0..whole.len()).map(|end| (FT_REQUEST, whole[..end].to_vec()));
    let mut wrong: Vec<(u32, Vec<u8>)> = cut.step_by(3).collect();
    let mut huge = vec![0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff];
    huge.resize(64, b'x');
    wrong.push((FT_REQUEST, huge));
    wrong.push((FT_REQUEST, vec![0; 64]));
    wrong.extend((0..8).map(|end| (FT_GROUP_VERSION, vec![0; end])));
    for (id, data) in wrong {
        let client = client_with(id, &data);
        let error = add(&seen_by(&client, &server.ior())).unwrap_err();
        assert_eq!(error.kind(), Kind::Marshal, "{id} {data:?}: {error}");
        let _ = client.shutdown(false);
    }
    assert_eq!(server.servant.upcalls(), 0);
    let client = client_with(FT_REQUEST, &whole);
    assert_eq!(add(&seen_by(&client, &server.ior())), Ok(1));
}
