//! `punctual call`: values of derived types, where the types come from IDL or from an Interface Repository.
#![allow(clippy::unwrap_used)]

use std::borrow::Cow;
use std::process::Command;

use punctual::any::DynamicFactory;
use punctual::dynamic::{DynamicImplementation, ServerRequest, dynamic_servant};
use punctual::stub::{DispatchError, Dispatched};
use punctual::{ObjectRef, Orb, RootPoa, TypeCode};
use punctual_idl_describe as describe;
use punctual_ifr::InterfaceRepository;
use serde_json::{Value as JsonValue, json};

const IDL: &str = "module Post {
    valuetype Letter { public string text; };
    module Heavy { valuetype Parcel : truncatable Post::Letter { public long grams; }; };
    interface Desk { Letter stamp(in Letter one); long count(); };
};
";
const DESK: &str = "IDL:Post/Desk:1.0";

/// Servant that returns the `Letter` values that it receives.
struct Desk {
    letter: TypeCode,
}

impl DynamicImplementation for Desk {
    fn primary_interface(&self) -> Cow<'_, str> {
        Cow::Borrowed(DESK)
    }

    fn invoke(&self, mut request: ServerRequest<'_, '_>) -> Result<Dispatched, DispatchError> {
        let given = request.arguments(std::slice::from_ref(&self.letter))?;
        request.reply(&given)
    }
}

#[test]
fn a_value_of_a_derived_type_goes_and_comes_whole_by_idl_by_repository_and_by_what_the_object_tells()
 {
    let folder = tempfile::tempdir().unwrap();
    let orb = Orb::builder().listen(punctual::ListenEndpoint::iiop("127.0.0.1", 0));
    let orb = orb.build().unwrap();
    let poa = orb.root_poa().unwrap();
    poa.manager().activate().unwrap();
    let options = punctual_idl::Options::default();
    let loader = punctual_idl::InMemory::default();
    let post = punctual_idl::compile_source("post.idl", IDL, &options, &loader).unwrap();
    let post = post.specification;
    let type_code = |name: &str| describe::type_code(&post, post.find(name).unwrap().id).unwrap();
    for name in ["Post::Letter", "Post::Heavy::Parcel"] {
        orb.register_value_factory(DynamicFactory::new(&type_code(name)).unwrap());
    }
    let desk = Desk {
        letter: type_code("Post::Letter"),
    };
    let id = poa.activate_object(dynamic_servant(desk)).unwrap();
    let desk: ObjectRef = poa.id_to_reference(&id).unwrap();
    let mut desk = desk.ior().clone();
    desk.type_id = DESK.into();
    let known = InterfaceRepository::in_memory();
    known.load(&post).unwrap();
    let repository = known.serve(&poa).unwrap();
    for (name, text) in [
        ("post.idl", IDL.to_owned()),
        ("desk.ior", desk.to_string()),
        ("ifr.ior", orb.object_to_string(&repository).unwrap()),
    ] {
        std::fs::write(folder.path().join(name), text).unwrap();
    }

    let parcel = json!({"$type": "IDL:Post/Heavy/Parcel:1.0", "text": "books", "grams": 700});
    let letter = json!({"text": "hello"});
    let told = orb.register_initial_reference("InterfaceRepository", &repository);
    told.unwrap();
    let sources: [&[&str]; 3] = [&["--idl", "post.idl"], &["--ifr", "ifr.ior"], &[]];
    for source in sources {
        for given in [&parcel, &letter] {
            let mut call = Command::new(env!("CARGO_BIN_EXE_punctual"));
            call.arg("call").arg("desk.ior").args(source).arg("stamp");
            call.arg(given.to_string()).arg("--compact");
            let done = call.current_dir(folder.path()).output().unwrap();
            let said = String::from_utf8_lossy(&done.stderr);
            assert!(done.status.success(), "{source:?}: {said}");
            let result: JsonValue = serde_json::from_slice(&done.stdout).unwrap();
            for (member, value) in given.as_object().unwrap() {
                let is_type = member == "$type";
                assert!(is_type || result[member] == *value, "{source:?}: {result}");
            }
            let has_grams = result.get("grams").is_some();
            assert_eq!(
                has_grams,
                given.get("grams").is_some(),
                "{source:?}: {result}"
            );
        }
    }
}
