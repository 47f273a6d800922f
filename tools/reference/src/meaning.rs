//! Meaning of components, in words.

use punctual_cdr::CdrError;
use punctual_ior::{
    ClientProtocol, CodeSetComponent, Component, CompoundMechanism, IiopProfile, IorError,
    MechanismTransport, PolicyMeaning, PolicyValue, PriorityModel, TaggedComponent, TaoEndpoint,
    TaoPlace, tags,
};
use serde::Serialize;

/// Fact that a tagged component states, as a name and a value.
#[derive(Debug, Serialize)]
pub struct Meaning {
    /// Name of the fact that the component states.
    pub what: &'static str,
    /// Value of the fact that the component states, as text.
    pub value: String,
}

fn fact(what: &'static str, value: impl Into<String>) -> Meaning {
    Meaning {
        what,
        value: value.into(),
    }
}

fn yes(value: bool) -> &'static str {
    if value { "yes" } else { "no" }
}

/// Returns the contents of a component in a profile with this tag; empty if unknown.
///
/// # Errors
/// The reason, if the component's data does not match its tag.
pub(crate) fn of(component: &TaggedComponent, profile: u32) -> Result<Vec<Meaning>, CdrError> {
    // JacORB gives the gateway of a multicast group the tag of an IIOP profile.
    let is_of_jacorb = component.tag == tags::profile::INTERNET_IOP && component.data.len() > 8;
    if profile == tags::profile::UIPMC && is_of_jacorb {
        return gateway(&component.data);
    }
    if let Some(endpoints) = component.tao_endpoints(profile)? {
        return Ok(endpoints.iter().map(tao_endpoint).collect());
    }
    Ok(match component.decode()? {
        Component::OrbType(id) => {
            let name = tags::orb_type_name(id);
            let name = name.map_or_else(String::new, |name| format!(" ({name})"));
            vec![fact("ORB type", format!("{id:#010x}{name}"))]
        }
        Component::CodeSets(info) => {
            let mut facts = code_sets("char", "char conversion", &info.char_data);
            facts.extend(code_sets("wchar", "wchar conversion", &info.wchar_data));
            facts
        }
        Component::AlternateIiopAddress(endpoint) => {
            vec![fact("address", endpoint.to_string())]
        }
        Component::SslSecTrans(ssl) => vec![
            fact("port", ssl.port.to_string()),
            fact("supports", ssl.target_supports.to_string()),
            fact("requires", ssl.target_requires.to_string()),
        ],
        Component::CsiMechanisms(mechanisms) => mechanisms.iter().flat_map(mechanism).collect(),
        Component::UnixTrans(socket) => vec![fact("host", socket.host), fact("path", socket.path)],
        Component::Policies(policies) => policies.iter().flat_map(policy).collect(),
        Component::FtGroup(group) => vec![
            fact("object group", group.id.to_string()),
            fact("domain", format!("{:?}", group.domain)),
            fact("version of the reference", group.version.to_string()),
        ],
        Component::Group(group) => vec![
            fact("multicast group", group.id.to_string()),
            fact("domain", format!("{:?}", group.domain)),
            fact(
                "version of the reference",
                group.reference_version.to_string(),
            ),
        ],
        Component::GroupIiop(data) => gateway(&data)?,
        Component::FtPrimary(primary) => vec![fact("primary member", yes(primary))],
        Component::FtHeartbeatEnabled(enabled) => vec![fact("answers heartbeats", yes(enabled))],
        _ => Vec::new(),
    })
}

/// Returns the facts of the IIOP profile by which calls with replies to a multicast group go.
fn gateway(data: &[u8]) -> Result<Vec<Meaning>, CdrError> {
    let profile = IiopProfile::decode(data).map_err(|error| match error {
        IorError::Cdr(error) => error,
        _ => CdrError::Invalid("the version of the IIOP profile is not 1.x"),
    })?;
    let mut facts: Vec<Meaning> = profile
        .endpoints()
        .map(|at| fact("calls with replies go to", at.to_string()))
        .collect();
    let key = String::from_utf8_lossy(&profile.object_key);
    facts.push(fact("object key", format!("{key:?}")));
    Ok(facts)
}

/// Returns the facts of a mechanism of CSIv2: its transport with the addresses, and the demands.
fn mechanism(mechanism: &CompoundMechanism) -> Vec<Meaning> {
    let requires = |what, options: punctual_ior::AssociationOptions| match options.0 {
        0 => None,
        _ => Some(fact(what, options.to_string())),
    };
    let mut facts = Vec::new();
    match &mechanism.transport {
        MechanismTransport::Tls(tls) => {
            facts.push(fact("mechanism", "over TLS"));
            let addresses = tls.addresses.iter();
            facts.extend(addresses.map(|at| fact("address", at.to_string())));
            facts.push(fact("supports", tls.target_supports.to_string()));
            facts.extend(requires("requires", tls.target_requires));
        }
        MechanismTransport::Null => facts.push(fact("mechanism", "over any transport")),
        MechanismTransport::Other(tag) => {
            let name = tags::component_name(*tag);
            let name = name.map_or_else(|| format!("{tag:#x}"), str::to_owned);
            facts.push(fact("mechanism", format!("over {name}")));
        }
        other => facts.push(fact("mechanism", format!("over {other:?}"))),
    }
    facts.extend(requires(
        "requires on all layers",
        mechanism.target_requires,
    ));
    facts
}

fn tao_endpoint(endpoint: &TaoEndpoint) -> Meaning {
    let place = match &endpoint.place {
        TaoPlace::Host(at) => at.to_string(),
        TaoPlace::Path(path) => path.clone(),
    };
    fact(
        "endpoint",
        format!("{place}, priority {}", endpoint.priority),
    )
}

fn code_sets(
    native: &'static str,
    conversion: &'static str,
    component: &CodeSetComponent,
) -> Vec<Meaning> {
    let name = |id: u32| match tags::code_set_name(id) {
        Some(name) => format!("{id:#010x} ({name})"),
        None => format!("{id:#010x}"),
    };
    let native = (component.native != 0).then(|| fact(native, name(component.native)));
    let conversions = component.conversion.iter();
    let conversions = conversions.map(|&id| fact(conversion, name(id)));
    native.into_iter().chain(conversions).collect()
}

fn policy(policy: &PolicyValue) -> Vec<Meaning> {
    let raw = |why: &str| {
        let name = match tags::policy_name(policy.kind) {
            Some(name) => format!("{name} ({})", policy.kind),
            None => format!("{:#x}", policy.kind),
        };
        let octets = data_encoding::HEXLOWER.encode(&policy.data);
        vec![fact("policy", format!("{name}{why}, octets {octets}"))]
    };
    match policy.decode() {
        Ok(PolicyMeaning::PriorityModel {
            model,
            server_priority,
        }) => {
            let model = match model {
                PriorityModel::ClientPropagated => "CLIENT_PROPAGATED",
                PriorityModel::ServerDeclared => "SERVER_DECLARED",
            };
            vec![
                fact("priority model", model),
                fact("server priority", server_priority.to_string()),
            ]
        }
        Ok(PolicyMeaning::PriorityBands(bands)) => bands
            .iter()
            .map(|(low, high)| fact("priority band", format!("{low} to {high}")))
            .collect(),
        Ok(PolicyMeaning::ClientProtocols(protocols)) => {
            protocols.iter().map(client_protocol).collect()
        }
        Ok(_) => raw(""),
        Err(error) => raw(&format!(" does not decode: {error}")),
    }
}

fn client_protocol(protocol: &ClientProtocol) -> Meaning {
    let name = tags::profile_name(protocol.profile);
    let name = name.map_or_else(|| format!("{:#x}", protocol.profile), str::to_owned);
    let properties = &protocol.properties;
    let yes = |value: bool| yes(value).to_owned();
    let file = |(file, lock): &(String, String)| format!("file {file:?}, lock {lock:?}");
    let told = [
        ("send buffer", properties.send_buffer.map(|n| n.to_string())),
        (
            "receive buffer",
            properties.receive_buffer.map(|n| n.to_string()),
        ),
        ("keep alive", properties.keep_alive.map(yes)),
        ("do not route", properties.dont_route.map(yes)),
        ("no delay", properties.no_delay.map(yes)),
        (
            "preallocated",
            properties.preallocated.map(|n| n.to_string()),
        ),
        ("shared memory", properties.shared_memory.as_ref().map(file)),
    ];
    let told: Vec<String> = told
        .into_iter()
        .filter_map(|(what, value)| Some(format!("{what} {}", value?)))
        .collect();
    let told = match told.as_slice() {
        [] => String::new(),
        told => format!(": {}", told.join(", ")),
    };
    fact("protocol", format!("{name}{told}"))
}
