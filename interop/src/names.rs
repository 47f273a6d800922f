//! Naming Service: omniORB's tool `nameclt` performs every operation on our service; our client and
//! our command perform them on omniNames.

use crate::matrix::{Direction, Matrix, Version};
use crate::process;
use crate::services::{free_port, start_omni_names};
use punctual::{Interface, ListenEndpoint, ObjectRef, Orb, RootPoa};
use punctual_naming::cos_naming::naming_context::NotFoundReason;
use punctual_naming::cos_naming::{
    BindingType, NameComponent, NamingContext, NamingContextBindError, NamingContextDestroyError,
    NamingContextExt, NamingContextResolveError,
};
use punctual_naming::{NamingService, ServeOptions};
use std::collections::BTreeSet;
use std::process::Command;
use std::time::{Duration, Instant};

const LIMIT: Duration = Duration::from_secs(60);

/// Tests Punctual's and omniORB's naming services with each other's clients.
pub(crate) fn run(version: Version, matrix: &mut Matrix) {
    matrix.record("nameclt", version, Direction::From, by_nameclt(version));
    matrix.record(
        "omniNames, all operations",
        version,
        Direction::To,
        to_omni_names(version),
    );
    if version == Version::V1_2 {
        matrix.record(
            "omniNames, the command",
            version,
            Direction::To,
            by_command(),
        );
        matrix.record(
            "nameclt, at the second address of a reference",
            version,
            Direction::From,
            by_second_address(version),
        );
    }
}

fn shown(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// Returns an error that names `what`, unless the condition holds.
///
/// # Errors
/// The condition does not hold.
pub(crate) fn expect(what: &str, is_so: bool) -> Result<(), String> {
    match is_so {
        true => Ok(()),
        false => Err(format!("{what} is not so")),
    }
}

fn name(text: &str) -> Vec<NameComponent> {
    let parts = punctual_ior::name_from_text(text).unwrap_or_default();
    let component = |one: punctual_ior::NameComponent| NameComponent {
        id: one.id,
        kind: one.kind,
    };
    parts.into_iter().map(component).collect()
}

/// Performs each operation of `nameclt` on a naming service of ours.
fn by_nameclt(version: Version) -> Result<(), String> {
    let (orb, root) = served(ListenEndpoint::iiop("127.0.0.1", 0), version)?;
    let result = nameclt_on(&orb, &root, version);
    orb.shutdown(true).map_err(shown)?;
    result
}

/// Has `nameclt` call a reference that names an address without a server first, and behind it that of the server.
fn by_second_address(version: Version) -> Result<(), String> {
    let port = free_port()?;
    let endpoint = ListenEndpoint::iiop("127.0.0.1", port)
        .option("port_in_ior", 1)
        .option("also_in_ior", format!("127.0.0.1:{port}"));
    let (orb, root) = served(endpoint, version)?;
    let reference = orb.object_to_string(&root).map_err(shown)?;
    let mut command = Command::new("nameclt");
    command.args(["-ior", &reference, "bind_new_context", "plants"]);
    let called = process::succeed("nameclt", &mut command, LIMIT);
    let result = called.and_then(|_| {
        let is_bound = root.resolve(&name("plants")).is_ok();
        expect("the context is bound", is_bound)
    });
    orb.shutdown(true).map_err(shown)?;
    result
}

/// Starts a naming service at an endpoint.
fn served(endpoint: ListenEndpoint, version: Version) -> Result<(Orb, NamingContextExt), String> {
    let orb = Orb::builder()
        .listen(endpoint)
        .configure(|config| config.giop_version = version.giop())
        .build()
        .map_err(shown)?;
    let poa = orb.root_poa().map_err(shown)?;
    poa.manager().activate().map_err(shown)?;
    let service = NamingService::in_memory().map_err(shown)?;
    let root = service
        .serve(&poa, ServeOptions::default())
        .map_err(shown)?;
    orb.ior_table()
        .map_err(shown)?
        .bind("NameService", &root)
        .map_err(shown)?;
    Ok((orb, root))
}

fn nameclt_on(orb: &Orb, root: &NamingContextExt, version: Version) -> Result<(), String> {
    let place = orb
        .endpoints()
        .first()
        .map(|endpoint| endpoint.place.clone());
    let place = place.unwrap_or_default();
    let initial = format!(
        "NameService=corbaloc:iiop:{}@{place}/NameService",
        version.text()
    );
    let call = |arguments: &[&str]| -> Result<String, String> {
        let mut command = Command::new("nameclt");
        command
            .args(["-ORBInitRef", &initial, "-advanced"])
            .args(arguments);
        let said = process::succeed("nameclt", &mut command, LIMIT)?;
        Ok(said.lines().last().unwrap_or_default().to_owned())
    };
    let object = orb.object_to_string(root).map_err(shown)?;
    let is_root = |text: &str| -> Result<bool, String> {
        let object = orb.string_to_object(text).map_err(shown)?;
        Ok(object.is_equivalent(root.as_object()))
    };
    call(&["bind_new_context", "plants"])?;
    call(&["bind_new_context", "plants/north.site"])?;
    call(&["bind", "plants/north.site/pump", &object])?;
    expect(
        "`list` shows the binding",
        call(&["list", "plants/north.site"])? == "pump",
    )?;
    expect(
        "`resolve` finds it",
        is_root(&call(&["resolve", "plants/north.site/pump"])?)?,
    )?;
    expect(
        "`bind` refuses it again",
        call(&["bind", "plants/north.site/pump", &object]).is_err(),
    )?;
    call(&["rebind", "plants/north.site/pump", &object])?;
    expect(
        "`resolve` misses another",
        call(&["resolve", "plants/x/y"]).is_err(),
    )?;
    let context = call(&["new_context"])?;
    call(&["bind_context", "loose", &context])?;
    call(&["rebind_context", "loose", &context])?;
    expect(
        "the context is not bound",
        root.resolve(&name("loose")).is_ok(),
    )?;
    call(&["unbind", "plants/north.site/pump"])?;
    call(&["remove_context", "plants/north.site"])?;
    expect(
        "`remove_context` left a name",
        root.resolve(&name("plants/north.site")).is_err(),
    )?;
    call(&["unbind", "loose"])?;
    let mut destroy = Command::new("nameclt");
    destroy.args(["-advanced", "-ior", &context, "destroy"]);
    process::succeed("nameclt", &mut destroy, LIMIT)?;
    // More bindings than one answer to `list` holds.
    for at in 0..250 {
        root.bind(&name(&format!("many{at}")), Some(root.as_object()))
            .map_err(shown)?;
    }
    let mut list = Command::new("nameclt");
    list.args(["-ORBInitRef", &initial, "list"]);
    let listed = process::succeed("nameclt", &mut list, LIMIT)?;
    let listed: BTreeSet<&str> = listed
        .lines()
        .filter(|line| line.starts_with("many"))
        .collect();
    expect("`list` shows all of 250", listed.len() == 250)
}

/// Performs each operation by a client of ours on omniNames.
fn to_omni_names(version: Version) -> Result<(), String> {
    let folder = tempfile::tempdir().map_err(shown)?;
    let port = free_port()?;
    let _running = start_omni_names(folder.path(), port, version)?;
    let orb = Orb::builder().build().map_err(shown)?;
    let root = omni_names(&orb, port, version)?;
    let result = all_operations(&orb, &root);
    orb.shutdown(true).map_err(shown)?;
    result
}

/// Waits until omniNames serves its root context: it accepts connections before its objects exist.
fn omni_names(orb: &Orb, port: u16, version: Version) -> Result<NamingContextExt, String> {
    let url = format!("corbaname:iiop:{}@127.0.0.1:{port}", version.text());
    let deadline = Instant::now() + LIMIT;
    loop {
        let object = orb.string_to_object(&url).map_err(shown)?;
        match NamingContextExt::narrow(object) {
            Err(_) if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(10)),
            narrowed => return narrowed.map_err(shown),
        }
    }
}

fn all_operations(orb: &Orb, root: &NamingContextExt) -> Result<(), String> {
    let object = |key: &str| orb.string_to_object(&format!("corbaloc::127.0.0.1:1/{key}"));
    let (one, two) = (object("one").map_err(shown)?, object("two").map_err(shown)?);
    root.bind_new_context(&name("plants")).map_err(shown)?;
    root.bind(&name("plants/pump.site"), Some(&one))
        .map_err(shown)?;
    let again = root.bind(&name("plants/pump.site"), Some(&two));
    expect(
        "AlreadyBound",
        matches!(again, Err(NamingContextBindError::AlreadyBound(_))),
    )?;
    root.rebind(&name("plants/pump.site"), Some(&two))
        .map_err(shown)?;
    let found = root.resolve(&name("plants/pump.site")).map_err(shown)?;
    expect(
        "resolve finds it",
        found.is_some_and(|found| found.is_equivalent(&two)),
    )?;
    let found = root.resolve_str("plants/pump.site").map_err(shown)?;
    expect(
        "resolve_str does",
        found.is_some_and(|found| found.is_equivalent(&two)),
    )?;
    match root.resolve(&name("plants/x/y")) {
        Err(NamingContextResolveError::NotFound(it)) => {
            expect("the reason", it.why == NotFoundReason::MissingNode)?;
            expect("the rest", it.rest_of_name == name("x/y"))?;
        }
        other => return Err(format!("{other:?} instead of NotFound")),
    }
    let empty = root.resolve(&[]);
    expect(
        "InvalidName",
        matches!(empty, Err(NamingContextResolveError::InvalidName(_))),
    )?;
    let context = root.new_context().map_err(shown)?.ok_or("nil")?;
    root.bind_context(&name("loose"), Some(&context))
        .map_err(shown)?;
    root.rebind_context(&name("loose"), Some(&context))
        .map_err(shown)?;
    root.bind(&name("loose/in"), Some(&one)).map_err(shown)?;
    let refused = context.destroy();
    expect(
        "NotEmpty",
        matches!(refused, Err(NamingContextDestroyError::NotEmpty(_))),
    )?;
    root.unbind(&name("loose/in")).map_err(shown)?;
    context.destroy().map_err(shown)?;
    root.unbind(&name("loose")).map_err(shown)?;
    iterated(root, &one)?;
    as_text(root)
}

fn iterated(root: &NamingContext, one: &ObjectRef) -> Result<(), String> {
    for at in 0..7 {
        root.bind(&name(&format!("many{at}")), Some(one))
            .map_err(shown)?;
    }
    let (mut all, iterator) = root.list(2).map_err(shown)?;
    let iterator = iterator.ok_or("no iterator")?;
    let (has_one, next) = iterator.next_one().map_err(shown)?;
    expect("next_one has one", has_one)?;
    all.push(next);
    while let (true, mut some) = iterator.next_n(2).map_err(shown)? {
        all.append(&mut some);
    }
    iterator.destroy().map_err(shown)?;
    let contexts = all
        .iter()
        .filter(|one| one.binding_type == BindingType::Ncontext);
    expect(
        "8 bindings, one of them a context",
        (all.len(), contexts.count()) == (8, 1),
    )
}

fn as_text(root: &NamingContextExt) -> Result<(), String> {
    let text = r"a\.b.c\/d/e";
    expect("to_name", root.to_name(text).map_err(shown)? == name(text))?;
    expect(
        "to_string",
        root.to_string(&name(text)).map_err(shown)? == text,
    )?;
    let url = root.to_url(":h:9", r"a b\.c").map_err(shown)?;
    let read: punctual_ior::Corbaname = url.parse().map_err(shown)?;
    expect(
        "to_url",
        read.name.first().is_some_and(|first| first.id == "a b.c"),
    )
}

/// Tests the command `punctual naming` against omniNames.
fn by_command() -> Result<(), String> {
    let folder = tempfile::tempdir().map_err(shown)?;
    let port = free_port()?;
    let _running = start_omni_names(folder.path(), port, Version::V1_2)?;
    let orb = Orb::builder().build().map_err(shown)?;
    omni_names(&orb, port, Version::V1_2)?;
    orb.shutdown(true).map_err(shown)?;
    let service = format!("corbaloc:iiop:1.2@127.0.0.1:{port}/NameService");
    let call = |arguments: &[&str]| -> Result<String, String> {
        let service = ["--service", &service];
        process::punctual(&[&["naming"], arguments, &service].concat())
    };
    let some = "corbaloc::127.0.0.1:1/some";
    call(&["new-context", "plants"])?;
    call(&["bind", "--parents", "plants/north/pump", some])?;
    call(&[
        "bind",
        "--context",
        "works",
        &format!("corbaname:iiop:1.2@127.0.0.1:{port}#plants"),
    ])?;
    let drawn = call(&["tree"])?;
    let expected = "/\n├── plants/\n│   └── north/\n│       └── pump\n└── works/ is plants\n";
    expect("the tree", drawn == expected).map_err(|error| format!("{error}: {drawn}"))?;
    call(&["rebind", "plants/north/pump", some])?;
    expect(
        "resolve",
        call(&["resolve", "works/north/pump"])?.starts_with("IOR:"),
    )?;
    let file = folder.path().join("names.json").display().to_string();
    call(&["export", "--output", &file])?;
    // A second name of the same context, which keeps its contents.
    call(&["unbind", "--keep-contents", "plants/north/pump", "works"])?;
    call(&["unbind", "--destroy", "plants/north", "plants"])?;
    expect("nothing is left", call(&["list"])?.is_empty())?;
    call(&["import", &file])?;
    expect("the import", call(&["tree"])? == expected)
}
