//! Names of module CORBA that IDL uses without declaring them. The standard has them in
//! `orb.idl` (CORBA 3.3 part 1, §7.18); here they are declared when they are first looked for and
//! nothing else has declared them, so that an `orb.idl` of any other ORB can do it too.

use std::path::Path;
use std::rc::Rc;

use super::{Name, Parser, Preamble};
use crate::lexer;
use crate::model::{DeclKind, Module, Primitive, Type};
use crate::names::{self, Entry, ScopeId, Target};
use crate::source::Place;

/// Each with its declaration; `""` for what is a type of its own.
const DECLARATIONS: &[(&str, &str)] = &[
    ("TypeCode", ""),
    ("Identifier", "typedef string Identifier;"),
    ("RepositoryId", "typedef string RepositoryId;"),
    ("ScopedName", "typedef string ScopedName;"),
    ("VersionSpec", "typedef string VersionSpec;"),
    ("ObjectId", "typedef string ObjectId;"),
    ("ObjectIdList", "typedef sequence<ObjectId> ObjectIdList;"),
    ("ORBid", "typedef string ORBid;"),
    ("PolicyType", "typedef unsigned long PolicyType;"),
    ("ServiceType", "typedef unsigned short ServiceType;"),
    ("ServiceOption", "typedef unsigned long ServiceOption;"),
    (
        "ServiceDetailType",
        "typedef unsigned long ServiceDetailType;",
    ),
    ("Flags", "typedef unsigned long Flags;"),
    ("AnySeq", "typedef sequence<any> AnySeq;"),
    ("BooleanSeq", "typedef sequence<boolean> BooleanSeq;"),
    ("CharSeq", "typedef sequence<char> CharSeq;"),
    ("WCharSeq", "typedef sequence<wchar> WCharSeq;"),
    ("OctetSeq", "typedef sequence<octet> OctetSeq;"),
    ("ShortSeq", "typedef sequence<short> ShortSeq;"),
    ("UShortSeq", "typedef sequence<unsigned short> UShortSeq;"),
    ("LongSeq", "typedef sequence<long> LongSeq;"),
    ("ULongSeq", "typedef sequence<unsigned long> ULongSeq;"),
    ("LongLongSeq", "typedef sequence<long long> LongLongSeq;"),
    (
        "ULongLongSeq",
        "typedef sequence<unsigned long long> ULongLongSeq;",
    ),
    ("FloatSeq", "typedef sequence<float> FloatSeq;"),
    ("DoubleSeq", "typedef sequence<double> DoubleSeq;"),
    (
        "LongDoubleSeq",
        "typedef sequence<long double> LongDoubleSeq;",
    ),
    ("StringSeq", "typedef sequence<string> StringSeq;"),
    ("WStringSeq", "typedef sequence<wstring> WStringSeq;"),
    ("StringValue", "valuetype StringValue string;"),
    ("WStringValue", "valuetype WStringValue wstring;"),
    (
        "Policy",
        "interface Policy { readonly attribute PolicyType policy_type; \
                Policy copy(); void destroy(); };",
    ),
    ("PolicyList", "typedef sequence<Policy> PolicyList;"),
    (
        "PolicyTypeSeq",
        "typedef sequence<PolicyType> PolicyTypeSeq;",
    ),
    ("Current", "interface Current {};"),
    ("Pollable", "local interface Pollable {};"),
    ("InterfaceDef", "interface InterfaceDef;"),
    ("Environment", "native Environment;"),
    ("ExceptionList", "native ExceptionList;"),
    ("NamedValue", "native NamedValue;"),
    ("NVList", "native NVList;"),
    ("Context", "native Context;"),
    ("ContextList", "native ContextList;"),
    ("Request", "native Request;"),
    ("Principal", "native Principal;"),
    ("AbstractBase", "native AbstractBase;"),
];

impl Parser<'_> {
    /// Declares a name of module CORBA, or the module, if it is one of the standard's.
    pub(super) fn predeclare(&mut self, scope: ScopeId, name: &str) -> Option<Entry> {
        if scope == ScopeId::GLOBAL && name == "CORBA" {
            self.predeclare_module();
            return self.own_entry(ScopeId::GLOBAL, name);
        }
        let owner = self.scopes[scope.0 as usize].owner?;
        if self.spec[owner].scoped_name != ["CORBA"] {
            return None;
        }
        let (_, text) = DECLARATIONS.iter().find(|(known, _)| *known == name)?;
        if text.is_empty() {
            let spelling: Rc<str> = name.into();
            let target = Target::Basic(Type::TypeCode);
            return Some(Entry {
                spelling,
                place: None,
                target,
            });
        }
        self.predeclare_module();
        self.read_aside(scope, name, text);
        let entry = self.scopes[scope.0 as usize]
            .entries
            .get_mut(&names::key(name))?;
        // Without a place, a later declaration may replace it.
        entry.place = None;
        Some(entry.clone())
    }

    fn own_entry(&self, scope: ScopeId, name: &str) -> Option<Entry> {
        self.scopes[scope.0 as usize]
            .entries
            .get(&names::key(name))
            .cloned()
    }

    /// Makes the implicit part of module CORBA, and with it the module if need be.
    fn predeclare_module(&mut self) {
        if self.predeclared.is_some() {
            return;
        }
        let file = self
            .session
            .add_file(Path::new("<built in>/CORBA"), "module CORBA".to_owned());
        let name = Name {
            text: "CORBA".into(),
            place: Place {
                file,
                start: 7,
                end: 12,
            },
        };
        let outer = (
            std::mem::replace(&mut self.scope, ScopeId::GLOBAL),
            std::mem::take(&mut self.parts),
            std::mem::replace(&mut self.prefixes, vec![super::Prefix::file("omg.org/")]),
        );
        let first = self.own_declaration(&name);
        let module = Module {
            first_part: crate::model::DeclId(0),
            body: Vec::new(),
        };
        let id = self.allocate(&name, Preamble::default(), DeclKind::Module(module));
        if let DeclKind::Module(module) = &mut self.spec.declarations[id.index()].kind {
            module.first_part = first.unwrap_or(id);
        }
        if first.is_none() {
            // Nothing can clash: the name was just looked for and not found.
            let _ = self.enter_name(&name, Target::Declaration(id));
        }
        self.predeclared = Some(id);
        (self.scope, self.parts, self.prefixes) = outer;
    }

    /// Reads a declaration into a scope, whatever else is being read.
    fn read_aside(&mut self, scope: ScopeId, name: &str, text: &str) {
        let Some(part) = self.predeclared else { return };
        let path = format!("<built in>/CORBA::{name}");
        let file = self.session.add_file(Path::new(&path), text.to_owned());
        let mut tokens = lexer::tokens(self.session, file, &[]);
        let Some(mut end) = tokens.last().copied() else {
            return;
        };
        end.kind = lexer::Kind::End;
        tokens.push(end);
        let outer = (
            std::mem::replace(&mut self.tokens, tokens),
            std::mem::replace(&mut self.next, 0),
            std::mem::replace(&mut self.events, Vec::new().into_iter().peekable()),
            std::mem::replace(&mut self.scope, scope),
            std::mem::replace(&mut self.parts, vec![part]),
            std::mem::replace(
                &mut self.prefixes,
                vec![super::Prefix::file("omg.org/CORBA/")],
            ),
            std::mem::take(&mut self.open_angles),
        );
        let ((), body) = {
            let (result, body) = self.collecting(|this| {
                this.definition_or_recover();
                Ok(())
            });
            (result.unwrap_or(()), body)
        };
        (
            self.tokens,
            self.next,
            self.events,
            self.scope,
            self.parts,
            self.prefixes,
            self.open_angles,
        ) = outer;
        if let DeclKind::Module(module) = &mut self.spec.declarations[part.index()].kind {
            module.body.extend(body);
        }
    }
}

/// The types of IDL 4 with their size in the name. They are no keywords here, so that IDL which
/// has names like these goes on to work.
pub(super) fn sized_integer(name: &str) -> Option<Type> {
    let primitive = match name {
        "int8" => Primitive::Int8,
        "uint8" => Primitive::UInt8,
        "int16" => Primitive::Short,
        "uint16" => Primitive::UShort,
        "int32" => Primitive::Long,
        "uint32" => Primitive::ULong,
        "int64" => Primitive::LongLong,
        "uint64" => Primitive::ULongLong,
        _ => return None,
    };
    Some(Type::Primitive(primitive))
}
