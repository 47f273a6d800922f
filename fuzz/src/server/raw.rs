//! Servant without a skeleton: the first octet of a request selects what it does.

use super::{Deed, Every, server};
use punctual::Interface;
use punctual::stub::{Arc, CdrError, DispatchError, Dispatched, Implements, Servant, ServerCall};
use std::any::Any;
use std::cell::Cell;
use std::panic::resume_unwind;

/// As many octets as a message may have in total, so that a message with a header and these octets
/// is too long.
pub(super) static LONG: [u8; 1 << 16] = [7; 1 << 16];

const KEEPS: u8 = 250;
const SHOWS: u8 = 251;

thread_local! {
    static PROOF: Cell<Option<Dispatched>> = const { Cell::new(None) };
}

/// Servant that handles requests itself, without a generated skeleton.
pub(super) trait Answering: Send + Sync + 'static {
    fn answer(&self, call: &mut ServerCall<'_>) -> Result<Dispatched, DispatchError>;
}

pub(super) struct ByHand<A>(pub(super) A);

impl<A: Answering> Implements<ByHand<A>> for Every {
    fn servant(servant: ByHand<A>) -> Arc<dyn Servant> {
        Arc::new(servant)
    }
}

impl<A: Answering> Servant for ByHand<A> {
    fn repository_ids(&self) -> &'static [&'static str] {
        Every::REPOSITORY_IDS
    }

    fn implementation(&self) -> &(dyn Any + Send + Sync) {
        &self.0
    }

    fn dispatch(&self, call: &mut ServerCall<'_>) -> Result<Dispatched, DispatchError> {
        self.0.answer(call)
    }
}

/// Servant that can reply in every way; it returns the service contexts of the request.
pub(super) struct Raw;

impl Answering for Raw {
    fn answer(&self, call: &mut ServerCall<'_>) -> Result<Dispatched, DispatchError> {
        for (id, data) in call.contexts().iter() {
            call.set_reply_context(id, data);
        }
        assert!(!format!("{call:?}").is_empty());
        // The caller's address and certificates.
        let _peer = punctual_orb::request_peer();
        let _alone = punctual_orb::serves_alone();
        let what = call.arguments().get_u8()?;
        let octets = call.arguments().get_octets()?;
        let other = || Box::new(server().every.as_object().ior().clone());
        match what {
            0 => call.reply(|out| out.put_octets(octets)),
            1 => Err(DispatchError::Forward(other())),
            2 => Err(DispatchError::ForwardPermanently(other())),
            // `resume_unwind` calls no panic hook: libFuzzer's would end the process.
            3 => resume_unwind(Box::new("as the request says")),
            4 => resume_unwind(Box::new("as the request says".to_owned())),
            5 => resume_unwind(Box::new(what)),
            6 => {
                call.reply(|_| Ok(()))?;
                call.reply(|out| out.put_octets(octets))
            }
            // Longer than any message.
            7 => call.reply(|out| out.put_octets(&LONG)),
            // In fragments.
            8 => call.reply(|out| out.put_octets(&[what; 5000])),
            9 => call.raise_as("IDL:raw:1.0", |out| out.put_octets(octets)),
            10 => Err(call.bad_operation()),
            11 => {
                let loan = call.loan(octets.len().min(2000));
                call.reply(|out| out.put_octets(&loan))
            }
            12 => call.reply(|_| Err(CdrError::BadCharacter)),
            // Keeps the proof of its answer, for a call that has none of its own.
            KEEPS => {
                PROOF.set(Some(call.reply(|_| Ok(()))?));
                Err(call.bad_operation())
            }
            SHOWS => match PROOF.take() {
                Some(proof) => Ok(proof),
                None => Err(call.bad_operation()),
            },
            _ => {
                assert!(call.arrival().is_none_or(|it| it.statistics.received > 0));
                call.reply(|_| Ok(()))
            }
        }
    }
}

/// Servant that runs a function, and replies without results.
pub(super) struct Does(pub(super) Deed);

impl Answering for Does {
    fn answer(&self, call: &mut ServerCall<'_>) -> Result<Dispatched, DispatchError> {
        self.0(call);
        call.reply(|_| Ok(()))
    }
}
