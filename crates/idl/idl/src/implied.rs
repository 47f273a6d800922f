//! Implied IDL of asynchronous calls: declarations that each interface implies (CORBA 3.3 part 1,
//! §17.8, "Type-Specific ReplyHandler Mapping").
//!
//! For `interface Clerk` that is `interface AMI_ClerkHandler`, by which replies are delivered.
//! [`add_handlers`] adds these interfaces to a specification, after the interfaces that they
//! belong to; [`text`] writes them as IDL, together with the pollers, for the compilers of other
//! ORBs.
//!
//! In both cases: a handler that the IDL declares itself is used and not declared again; an
//! interface that is itself a handler has none; a name in use gets another `AMI_` (§17.8) or `_ami`
//! (§17.8.2) until it is free.

mod build;
mod given;
mod handlers;
mod text;

use crate::model::{DeclId, DeclKind, InterfaceFlavour, Specification};
use build::Builder;
use handlers::is_standard;

pub use handlers::{Half, Handlers, Reply};
pub use text::text;

/// Adds the reply handlers of all interfaces, and the module Messaging where it is missing.
///
/// Local interfaces get no handlers, nor do those that are only declared forward, and those of the
/// modules CORBA and Messaging.
pub fn add_handlers(specification: &mut Specification) -> Handlers {
    let interfaces: Vec<DeclId> = specification
        .declarations
        .iter()
        .filter(|declaration| match &declaration.kind {
            DeclKind::Interface(interface) => {
                interface.flavour != InterfaceFlavour::Local && !interface.forward_only
            }
            _ => false,
        })
        .filter(|declaration| !is_standard(&declaration.scoped_name))
        .map(|declaration| declaration.id)
        .collect();
    if interfaces.is_empty() {
        return Handlers::default();
    }
    let mut builder = Builder::new(specification);
    for interface in interfaces {
        builder.handler_of(interface);
    }
    builder.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FileSystem, Options, compile_source};

    fn with_handlers(text: &str) -> (Specification, Handlers) {
        let compiled = compile_source("x.idl", text, &Options::default(), &FileSystem);
        let mut specification = compiled.unwrap().specification;
        let handlers = add_handlers(&mut specification);
        (specification, handlers)
    }

    fn operations(specification: &Specification, interface: &str) -> Vec<String> {
        let interface = specification.find(interface).unwrap();
        let children = specification.children(interface.id).iter();
        children.map(|&id| specification[id].name.clone()).collect()
    }

    #[test]
    fn each_operation_and_attribute_has_two_ways_to_reply() {
        let (specification, handlers) = with_handlers(
            "module m { exception E {}; interface I {
               long add(in long a, inout short b, out string c) raises (E);
               oneway void tell();
               attribute long rate;
               readonly attribute string name;
             }; };",
        );
        assert_eq!(
            operations(&specification, "m::AMI_IHandler"),
            [
                "add",
                "add_excep",
                "get_rate",
                "get_rate_excep",
                "set_rate",
                "set_rate_excep",
                "get_name",
                "get_name_excep",
            ]
        );
        let add = specification.find("m::AMI_IHandler::add").unwrap();
        assert_eq!(add.repository_id, "IDL:m/AMI_IHandler/add:1.0");
        let DeclKind::Operation(operation) = &add.kind else {
            panic!("no operation");
        };
        let parameters = operation.parameters.iter().map(|one| one.name.as_str());
        assert!(parameters.eq(["ami_return_val", "b", "c"]));
        assert!(operation.raises.is_empty());
        let called = specification.find("m::I::add").unwrap().id;
        assert_eq!(handlers.reply(called, Half::Main).unwrap().results, add.id);
        let tell = specification.find("m::I::tell").unwrap().id;
        assert_eq!(handlers.reply(tell, Half::Main), None);
    }

    #[test]
    fn handlers_derive_as_their_interfaces_do() {
        let (specification, handlers) = with_handlers(
            "interface A { void a(); }; interface B : A { void b(); }; interface C : B, A {};",
        );
        let handler = |name: &str| specification.find(name).unwrap().id;
        let bases = |name: &str| specification.bases(handler(name)).to_vec();
        assert_eq!(bases("AMI_AHandler"), [handler("Messaging::ReplyHandler")]);
        assert_eq!(bases("AMI_BHandler"), [handler("AMI_AHandler")]);
        assert_eq!(
            bases("AMI_CHandler"),
            [handler("AMI_BHandler"), handler("AMI_AHandler")]
        );
        assert_eq!(operations(&specification, "AMI_BHandler"), ["b", "b_excep"]);
        assert_eq!(handlers.of(handler("C")), Some(handler("AMI_CHandler")));
    }

    #[test]
    fn names_that_are_taken_are_made_longer_as_the_standard_says() {
        let (specification, _) = with_handlers(
            "struct AMI_IHandler { long x; };
             interface I { void add(); void add_excep(); void add_ami_excep(); };",
        );
        assert_eq!(
            operations(&specification, "AMI_AMI_IHandler"),
            [
                "add",
                "add_ami_ami_excep",
                "add_excep",
                "add_excep_excep",
                "add_ami_excep",
                "add_ami_excep_excep",
            ]
        );
    }

    #[test]
    fn an_operation_called_as_an_inherited_reply_is_told_from_it() {
        let (specification, _) =
            with_handlers("interface A { void f(); }; interface B : A { void f_excep(); };");
        assert_eq!(
            operations(&specification, "AMI_BHandler"),
            ["f_excep_ami", "f_excep_ami_excep"]
        );
    }

    #[test]
    fn handlers_that_the_idl_declares_itself_are_used() {
        let text = "#include <Messaging.idl>\n
             interface I { long add(); attribute long rate; };
             interface AMI_IHandler : Messaging::ReplyHandler {
               void add(in long ami_return_val);
               void add_excep(in Messaging::ExceptionHolder excep_holder);
               void get_rate(in long ami_return_val);
               void get_rate_excep(in Messaging::ExceptionHolder excep_holder);
               void set_rate();
               void set_rate_excep(in Messaging::ExceptionHolder excep_holder);
             };";
        let (specification, handlers) = with_handlers(text);
        let find = |name: &str| specification.find(name).unwrap().id;
        assert_eq!(handlers.of(find("I")), Some(find("AMI_IHandler")));
        assert_eq!(handlers.of(find("AMI_IHandler")), None);
        let reply = handlers.reply(find("I::rate"), Half::Setter).unwrap();
        assert_eq!(reply.exception, find("AMI_IHandler::set_rate_excep"));
        assert!(specification.find("AMI_AMI_IHandler").is_none());
    }

    #[test]
    fn what_is_implied_is_written_as_the_standard_writes_it() {
        let (specification, handlers) = with_handlers(
            "#pragma prefix \"p\"\n
             module m { exception E {}; interface I { long add(in long a, out string b) raises (E);
               readonly attribute boolean any_left; }; };",
        );
        let expected = "\
// Implied IDL of x.idl for asynchronous calls.
#include <Messaging.idl>
#include \"x.idl\"

module m {
  /// Takes the replies of asynchronous calls of `I`.
  interface AMI_IHandler : ::Messaging::ReplyHandler {
    void add(in long ami_return_val, in string b);
    void add_excep(in ::Messaging::ExceptionHolder excep_holder);
    void get_any_left(in boolean ami_return_val);
    void get_any_left_excep(in ::Messaging::ExceptionHolder excep_holder);
  };
  typeid AMI_IHandler \"IDL:p/m/AMI_IHandler:1.0\";
};
#ifndef AMI_NO_POLLERS

module m {
  abstract valuetype AMI_IPoller : ::Messaging::Poller {
    void add(in unsigned long ami_timeout, out long ami_return_val, out string b) \
raises (::m::E, ::CORBA::WrongTransaction);
    void get_any_left(in unsigned long ami_timeout, out boolean ami_return_val) \
raises (::CORBA::WrongTransaction);
  };
};
#endif
";
        assert_eq!(text(&specification, &handlers), expected);
    }

    #[test]
    fn what_is_implied_can_be_written_and_read_again() {
        let idl = "module m { struct S { long x; }; typedef sequence<S> Many; typedef fixed<5,2> Money; exception E {};
               interface I { Many add(in long a, inout Money b, out wstring<7> c) raises (E);
                 attribute Object any_object; readonly attribute unsigned long long _context; };
               interface J : I { oneway void tell(); }; };";
        let (specification, handlers) = with_handlers(idl);
        let implied = text(&specification, &handlers);
        let all = implied.replace("#include \"x.idl\"\n", idl);
        let compiled = compile_source("y.idl", all.clone(), &Options::default(), &FileSystem);
        let mut again = match compiled {
            Ok(compiled) => compiled.specification,
            Err(failure) => panic!("{:?}\n{all}", failure.diagnostics),
        };
        let count = again.declarations.len();
        let read = add_handlers(&mut again);
        // All implied declarations existed already.
        assert_eq!(again.declarations.len(), count, "{all}");
        assert_eq!(read.all().count(), handlers.all().count());
        for name in ["m::AMI_IHandler", "m::AMI_JHandler"] {
            assert_eq!(operations(&again, name), operations(&specification, name));
            let ids = [&again, &specification].map(|one| &one.find(name).unwrap().repository_id);
            assert_eq!(ids[0], ids[1]);
        }
        assert!(again.find("m::AMI_IPoller").is_some());
    }
}
