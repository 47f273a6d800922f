//! Settings that are tables with arbitrary keys, such as initial references by name.

use crate::config::settings::section::Section;
use crate::config::settings::setting::{Field, Setting, field};

pub(super) const SECTION: Section = Section {
    name: "",
    doc: "",
    open: None,
    settings: &[
        Setting::new(
            "library",
            Field {
                path: "libraries",
                slot: |draft| &mut draft.libraries,
            },
            "Shared libraries to load links from, each then available by its link's name. Paths are relative to the \
             folder of the file. A library runs in the program, with all its rights.",
        )
        .option("-ORBLibrary")
        .example("[[library]]\npath = \"libmy_protocol.so\""),
        Setting::new(
            "initial_references",
            field!(initial_references),
            "Initial references by name: IOR:…, corbaloc:…, corbaname:… or file://…. They are checked at the start; \
             a file is read when its reference is resolved.",
        )
        .option("-ORBInitRef")
        .example("[initial_references]\nNameService = \"corbaloc::names.example:2809/NameService\""),
        Setting::new(
            "link",
            field!(link_properties),
            "Properties of connections and acceptors by link, as endpoints (uiop://|send_buffer=65536) and policies \
             have them, which override these. A property that only connections have, or only endpoints, is applied to \
             those alone. Each link documents its own: dscp of iiop is the priority of packets \
             in the network, 0 to 63 or a name of RFC 4594; spin_us of shmiop the time to poll before sleeping; \
             trust of shmiop whether sequences that a peer lends are used in its memory (same_user) or copied first \
             (never); common_pool of shmiop the bytes of memory in which long data for several peers are copied once, \
             and which all of these peers can read; receive_buffer of vsock the bytes that a peer may send before this side \
             reads.",
        )
        .example("[link.iiop]\ndscp = \"EF\"\n[link.shmiop]\nspin_us = 20\ntrust = \"never\""),
    ],
};
