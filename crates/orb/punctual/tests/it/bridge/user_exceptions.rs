//! Hand-written interface with a user exception and values of eight bytes.

use crate::bridge::bridged::{Bridged, Setup};
use punctual::config::GiopVersion;
use punctual::stub::{
    Arc, CdrError, Decoder, DispatchError, Dispatched, Encoder, Marshal, Operation, Servant,
    ServerCall, Unmarshal,
};
use punctual::{Implements, Interface, ObjectRef, SystemException, UserException};
use std::any::Any;

/// User exception `exception Refused { long code; string why; }`.
#[derive(Clone, Debug, PartialEq)]
struct Refused {
    code: i32,
    why: String,
}

impl Marshal for Refused {
    fn marshal(&self, out: &mut Encoder<'_>) -> Result<(), CdrError> {
        self.code.marshal(out)?;
        self.why.marshal(out)
    }
}

impl Unmarshal for Refused {
    const MIN_SIZE: usize = 9;

    fn unmarshal(input: &mut Decoder<'_>) -> Result<Self, CdrError> {
        Ok(Self {
            code: i32::unmarshal(input)?,
            why: String::unmarshal(input)?,
        })
    }
}

impl UserException for Refused {
    const REPOSITORY_ID: &'static str = "IDL:test/Refused:1.0";
}

/// Reference to `interface Picky { unsigned long long wide(in unsigned long long value) raises
/// (Refused); }`.
#[derive(Clone, Debug)]
struct Picky(ObjectRef);

#[derive(Debug)]
enum Raised {
    Refused(Refused),
    System(SystemException),
}

impl From<SystemException> for Raised {
    fn from(exception: SystemException) -> Self {
        Self::System(exception)
    }
}

impl Interface for Picky {
    const REPOSITORY_ID: &'static str = "IDL:test/Picky:1.0";
    const REPOSITORY_IDS: &'static [&'static str] = &[Self::REPOSITORY_ID];

    fn from_object(object: ObjectRef) -> Self {
        Self(object)
    }

    fn as_object(&self) -> &ObjectRef {
        &self.0
    }
}

impl Picky {
    fn wide(&self, value: u64) -> Result<u64, Raised> {
        const OPERATION: Operation = Operation::two_way("wide");
        self.0.invoke_raising(
            &OPERATION,
            |out| value.marshal(out),
            u64::unmarshal,
            |id, input| match id {
                Refused::REPOSITORY_ID => Refused::unmarshal(input).map(Raised::Refused).map(Some),
                _ => Ok(None),
            },
        )
    }
}

struct PickyImpl;

impl Implements<PickyImpl> for Picky {
    fn servant(_servant: PickyImpl) -> Arc<dyn Servant> {
        Arc::new(PickyImpl)
    }
}

impl Servant for PickyImpl {
    fn repository_ids(&self) -> &'static [&'static str] {
        Picky::REPOSITORY_IDS
    }

    fn implementation(&self) -> &(dyn Any + Send + Sync) {
        self
    }

    fn dispatch(&self, call: &mut ServerCall<'_>) -> Result<Dispatched, DispatchError> {
        match u64::unmarshal(call.arguments())? {
            0 => call.raise(&Refused {
                code: -3,
                why: "nothing".to_owned(),
            }),
            value => call.reply(|out| value.marshal(out)),
        }
    }
}

#[test]
fn user_exceptions_come_back_whole_and_long_values_stay_aligned_in_every_version() {
    for client in [GiopVersion::V1_0, GiopVersion::V1_1, GiopVersion::V1_2] {
        let bridged = Bridged::new(Setup {
            client,
            ..Setup::default()
        });
        let picky: Picky = bridged.poa.activate(PickyImpl).unwrap();
        let picky = Picky::from_object(bridged.through(&picky));
        let value = 0x0102_0304_0506_0708;
        assert_eq!(picky.wide(value).unwrap(), value, "GIOP {client}");
        match picky.wide(0).unwrap_err() {
            Raised::Refused(refused) => assert_eq!((refused.code, &*refused.why), (-3, "nothing")),
            Raised::System(exception) => panic!("GIOP {client}: {exception}"),
        }
    }
}
