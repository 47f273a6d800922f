//! Queries of `Container`, and `Repository` (§14.5.4, §14.5.6).

use punctual::TypeCode;

use super::server::{Result, Server};
use crate::corba::{self, DefinitionKind, PrimitiveKind, RepositoryServant, container};
use crate::definitions::{ROOT, Scope};
use crate::store::{Decimal, Number, Several, Type};

impl Server {
    pub(super) fn found(&self, search_name: &str) -> Result<Option<corba::Contained>> {
        let container = self.current()?;
        let found = self.look(|definitions| definitions.lookup(container, search_name));
        // An empty name would find the scope itself, which may not be a `Contained`.
        let found = found.filter(|&number| number != ROOT);
        Ok(found.and_then(|number| self.typed(number)))
    }

    pub(super) fn contained_in(
        &self,
        limit: DefinitionKind,
        exclude_inherited: bool,
    ) -> Result<Vec<Number>> {
        let scope = Scope {
            container: self.current()?,
            limit,
            exclude_inherited,
        };
        Ok(self.look(|definitions| definitions.contents(scope)))
    }

    pub(super) fn found_by_name(
        &self,
        name: &str,
        levels: i32,
        limit: DefinitionKind,
        exclude_inherited: bool,
    ) -> Result<Vec<Number>> {
        let scope = Scope {
            container: self.current()?,
            limit,
            exclude_inherited,
        };
        Ok(self.look(|definitions| definitions.lookup_name(name, levels, scope)))
    }

    pub(super) fn described_contents(
        &self,
        limit: DefinitionKind,
        exclude_inherited: bool,
        most: i32,
    ) -> Result<Vec<container::Description>> {
        let numbers = self.contained_in(limit, exclude_inherited)?;
        // A negative number means all (§14.5.4.1).
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let mut answer = self.answer();
        answer.parts(numbers.into_iter().take(most), |answer, number| {
            let (kind, value) = answer.description(number)?;
            Ok(container::Description {
                contained_object: self.typed(number),
                kind,
                value,
            })
        })
    }
}

impl RepositoryServant for Server {
    fn lookup_id(&self, search_id: &str) -> Result<Option<corba::Contained>> {
        let found = self.look(|definitions| definitions.by_id(search_id));
        Ok(found.and_then(|number| self.typed(number)))
    }

    fn get_canonical_typecode(&self, tc: &TypeCode) -> Result<TypeCode> {
        let Ok(id) = tc.id() else {
            return Ok(tc.clone());
        };
        // The stored one has all names; one that is not stored stays as it is.
        let known = self.look(|definitions| {
            let number = definitions.by_id(id)?;
            definitions.type_code(number).ok()
        });
        Ok(known
            .filter(|known| known.equivalent(tc))
            .unwrap_or_else(|| tc.clone()))
    }

    fn get_primitive(&self, kind: PrimitiveKind) -> Result<Option<corba::PrimitiveDef>> {
        self.unnamed(&Type::Primitive(kind))
    }

    fn create_string(&self, bound: u32) -> Result<Option<corba::StringDef>> {
        self.unnamed(&Type::Text(bound))
    }

    fn create_wstring(&self, bound: u32) -> Result<Option<corba::WstringDef>> {
        self.unnamed(&Type::WideText(bound))
    }

    fn create_sequence(
        &self,
        bound: u32,
        element_type: Option<&corba::IdlType>,
    ) -> Result<Option<corba::SequenceDef>> {
        let of = vec![self.type_in(element_type)?];
        self.unnamed(&Type::Sequence(Several { size: bound, of }))
    }

    fn create_array(
        &self,
        length: u32,
        element_type: Option<&corba::IdlType>,
    ) -> Result<Option<corba::ArrayDef>> {
        let of = vec![self.type_in(element_type)?];
        self.unnamed(&Type::Array(Several { size: length, of }))
    }

    fn create_fixed(&self, digits: u16, scale: i16) -> Result<Option<corba::FixedDef>> {
        self.unnamed(&Type::Fixed(Decimal { digits, scale }))
    }
}
