//! Limits of one answer.
//!
//! A request for descriptions is short, and its answer may be long: a type is repeated wherever it
//! is used. So each type's TypeCode is made once for an answer, and an answer that exceeds the
//! maximum length of a message is abandoned as soon as that is found. Such an answer could not be
//! sent anyway, and so costs at most about as much as the longest permitted one.

use std::collections::HashMap;

use punctual::poa::charge_results;
use punctual::stub::{Block, ByteOrder, Coding, Encoder, Marshal};
use punctual::{
    CompletionStatus, Interface, ObjectId, ObjectRef, SystemException, SystemExceptionKind,
    TypeCode, minor,
};

use super::server::{Result, Server, object_id};
use crate::corba;
use crate::store::{Number, Type};
use punctual_host::making::Making;

/// Maximum encoded length of the TypeCodes kept for reuse, in octets. In memory they take several
/// times as much; if all are different none is reused.
const KEPT: usize = 8 << 20;
/// Octets of an answer that are not counted with the data of all peers.
const FREE: usize = 16 << 10;
/// Memory that an answer takes, its values and the reply, as a multiple of its encoded length. Values
/// share TypeCodes.
const VALUES: usize = 2;

/// Reply of the Interface Repository that is being built within a size limit.
pub(super) struct Answer<'s> {
    pub(super) server: &'s Server,
    _making: Making<'s>,
    types: HashMap<ObjectId, TypeCode>,
    /// Total encoded length of the TypeCodes kept for reuse, in bytes.
    kept: usize,
    /// Total encoded length of the reply so far, in bytes.
    octets: usize,
    limit: usize,
    /// Value of `octets` up to which the answer is counted with the data of all peers.
    charged: usize,
    /// Buffer for encoding parts of the reply to measure their length.
    scratch: Block,
}

impl Server {
    /// Returns an empty answer, once the calling thread may make one.
    pub(super) fn answer(&self) -> Answer<'_> {
        Answer {
            server: self,
            _making: self.0.makers.make(),
            types: HashMap::new(),
            kept: 0,
            octets: 0,
            limit: self.0.longest_answer,
            charged: FREE,
            scratch: Block::default(),
        }
    }

    /// Returns the TypeCode of a type as an answer.
    ///
    /// # Errors
    /// As of [`Answer::part`] and [`Server::type_code`].
    pub(super) fn type_code_alone(&self, ty: &Type) -> Result<TypeCode> {
        self.answer().part(|answer| answer.server.type_code(ty))
    }

    /// Returns references to definitions; nil for those that no longer exist.
    pub(super) fn all_typed<I: Interface>(&self, numbers: &[Number]) -> Result<Vec<Option<I>>> {
        let mut answer = self.answer();
        let references = numbers.iter().map(|&number| {
            let reference: Option<ObjectRef> =
                answer.part(|answer| Ok(answer.server.reference_to(number).ok()))?;
            Ok(reference.map(I::from_object))
        });
        references.collect()
    }
}

impl Answer<'_> {
    /// Makes a part of the answer with `make`. The parts of which it consists, which may be many,
    /// are counted while it is made.
    ///
    /// # Errors
    /// Those of `make`; IMP_LIMIT if the answer becomes longer than a message may be, NO_RESOURCES if
    /// there is no room for it among the data of all peers (`limits.received`).
    pub(super) fn part<T: Marshal>(
        &mut self,
        make: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        let before = self.octets;
        let part = make(self)?;
        self.octets = before.saturating_add(self.length(&part));
        if self.octets > self.limit {
            return Err(too_large(self.limit));
        }
        if self.octets > self.charged {
            self.charged = self.octets + FREE.max(self.octets / 8);
            charge_results(self.charged.saturating_mul(VALUES))?;
        }
        Ok(part)
    }

    /// Makes parts of the answer, one of each given value.
    ///
    /// # Errors
    /// As of [`part`](Self::part).
    pub(super) fn parts<G, T: Marshal>(
        &mut self,
        given: impl IntoIterator<Item = G>,
        mut make: impl FnMut(&mut Self, G) -> Result<T>,
    ) -> Result<Vec<T>> {
        let part = |one| self.part(|answer| make(answer, one));
        given.into_iter().map(part).collect()
    }

    /// Returns the TypeCode of a type, as [`Server::type_code`] makes it.
    ///
    /// # Errors
    /// As of [`Server::type_code`].
    pub(super) fn type_code(&mut self, ty: &Type) -> Result<TypeCode> {
        if !matches!(ty, Type::Defined(_) | Type::Sequence(_) | Type::Array(_)) {
            return self.server.type_code(ty);
        }
        let id = object_id(ty)?;
        if let Some(known) = self.types.get(&id) {
            return Ok(known.clone());
        }
        let type_code = self.server.type_code(ty)?;
        self.kept = self.kept.saturating_add(self.length(&type_code));
        if self.kept > KEPT {
            self.types.clear();
            self.kept = 0;
        }
        self.types.insert(id, type_code.clone());
        Ok(type_code)
    }

    /// Returns the repository ids of definitions.
    ///
    /// # Errors
    /// As of [`part`](Self::part).
    pub(super) fn ids(&mut self, numbers: &[Number]) -> Result<Vec<corba::RepositoryId>> {
        let there: Vec<Number> = self.server.look(|definitions| {
            let is_there = |&number: &Number| definitions.get(number).is_some();
            numbers.iter().copied().filter(is_there).collect()
        });
        self.parts(there, |answer, number| Ok(answer.server.id_of(number)))
    }

    /// Returns the encoded length of a part in octets. A part that cannot be encoded counts as 0:
    /// sending it reports the error.
    fn length(&mut self, part: &impl Marshal) -> usize {
        let block = std::mem::take(&mut self.scratch);
        let mut out = Encoder::new(block, ByteOrder::NATIVE, Coding::default());
        let written = part.marshal(&mut out);
        let length = written.map_or(0, |()| out.position());
        out.put_back(&mut self.scratch);
        self.scratch.clear();
        length
    }
}

/// Returns the exception with which the ORB would refuse to send the answer.
fn too_large(limit: usize) -> SystemException {
    let kind = SystemExceptionKind::ImpLimit;
    SystemException::new(kind, minor::LIMIT, CompletionStatus::Yes).with_detail(format!(
        "the descriptions take more octets than the limit of {limit} (limits.message); ask for fewer at once"
    ))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use punctual::{Orb, RootPoa};
    use punctual_idl::{InMemory, Options, compile_source};

    use super::super::adapters::Adapters;
    use super::super::kinds::kinds;
    use super::super::server::Shared;
    use super::*;
    use crate::repository::InterfaceRepository;
    use crate::store::Several;
    use punctual_host::making::Makers;

    const LIMIT: usize = 1000;

    fn server(idl: &str) -> Server {
        let compiled = compile_source("test.idl", idl, &Options::default(), &InMemory::new());
        let repository = InterfaceRepository::in_memory();
        repository.load(&compiled.unwrap().specification).unwrap();
        let orb = Orb::builder().build().unwrap();
        Server(Arc::new(Shared {
            repository,
            is_read_only: true,
            adapters: Adapters::new(&orb.root_poa().unwrap(), kinds()).unwrap(),
            longest_answer: LIMIT,
            makers: Makers::new(1),
        }))
    }

    #[test]
    fn a_type_is_made_once_for_an_answer() {
        let server = server("enum E { a, b };");
        let number = server.look(|definitions| definitions.by_id("IDL:E:1.0"));
        let named = Type::Defined(number.unwrap());
        let several = Type::Sequence(Several {
            size: 0,
            of: vec![named.clone()],
        });
        let mut answer = server.answer();
        // A TypeCode and its clones share their memory.
        let place = |type_code: TypeCode| type_code.id().unwrap().as_ptr();
        let one = answer.type_code(&named).unwrap();
        assert_eq!(place(answer.type_code(&named).unwrap()), place(one.clone()));
        assert_ne!(place(server.type_code(&named).unwrap()), place(one));
        let element = |type_code: TypeCode| place(type_code.content_type().unwrap());
        let some = answer.type_code(&several).unwrap();
        assert_eq!(element(answer.type_code(&several).unwrap()), element(some));
    }

    #[test]
    fn parts_in_parts_count_once_and_as_they_are_made() {
        let server = server("enum E { a };");
        let mut answer = server.answer();
        let text = |length| "x".repeat(length);
        // Including the length and the final octet.
        let pair = |answer: &mut Answer<'_>| answer.parts([195, 95], |_, length| Ok(text(length)));
        let pairs = answer.parts(0..3, |answer, _| pair(answer));
        assert_eq!(pairs.unwrap().len(), 3);
        assert_eq!(answer.octets, 3 * (4 + 200 + 100));
        let mut made = 0;
        let refused = answer.part(|answer| {
            answer.parts(0..100, |_, _| {
                made += 1;
                Ok(text(35))
            })
        });
        assert_eq!(refused.unwrap_err().kind(), SystemExceptionKind::ImpLimit);
        assert_eq!(made, 3, "912 octets, and 40 for each of these");
    }
}
