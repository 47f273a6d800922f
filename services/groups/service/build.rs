//! Compiles the IDL of the managers, of the notifications that they push, and of records of the store.

use std::path::PathBuf;

use punctual_build::{Builder, Error};

fn main() -> Result<(), Error> {
    let of = |name: &str| {
        std::env::var_os(name)
            .map(PathBuf::from)
            .unwrap_or_default()
    };
    Builder::new()
        .include_dir("idl")
        .include_dir("../../notification/idl")
        .include_dir(of("DEP_PUNCTUAL_EVENTS_IDL"))
        .include_dir(of("DEP_PUNCTUAL_GROUPS_CLIENT_IDL"))
        .include_dir(of("DEP_PUNCTUAL_NAMING_CLIENT_IDL"))
        .extern_path("::CosNaming", "punctual_naming_client::cos_naming")
        .extern_path("::CosEventComm", "punctual_events::cos_event_comm")
        .extern_path("::PortableGroup", "punctual_groups_client::portable_group")
        .extern_path(
            "::CosLoadBalancing",
            "punctual_groups_client::cos_load_balancing",
        )
        .extern_path(
            "::PunctualGroups",
            "punctual_groups_client::punctual_groups",
        )
        .compile_together(
            "managers",
            &[
                "../../notification/idl/TimeBase.idl",
                "../../notification/idl/CosNotification.idl",
                "../../notification/idl/CosNotifyComm.idl",
                "../../notification/idl/CosNotifyFilter.idl",
                "idl/FT_CORBA.idl",
                "idl/managers.idl",
            ],
        )?;
    Builder::new()
        .include_dir(of("DEP_PUNCTUAL_GROUPS_CLIENT_IDL"))
        .extern_path("::FT", "punctual_groups_client::ft")
        .compile(&["tests/idl/register.idl"])?;
    Builder::new()
        .client(false)
        .server(false)
        .type_codes(false)
        .compile(&["idl/kept.idl"])
}
