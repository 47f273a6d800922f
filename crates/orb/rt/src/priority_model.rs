//! PriorityModelPolicy: the policy that decides at which priority a request is served (Real-time
//! CORBA 1.2, §5.7).

use punctual_cdr::{CdrError, Decoder, Encoder, Marshal, Unmarshal};
use punctual_ior::{PriorityModel, tags};
use punctual_orb::{PolicyCodec, PolicyLevels, PolicyType, Priority};

/// Policy that decides at which priority the requests for a POA's objects are served (RTCORBA::PriorityModelPolicy). Published in
/// references (TAG_POLICIES), as TAO does: `enum PriorityModel; short server_priority`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PriorityModelPolicy {
    /// Priority model: whether the client or the server determines the priority.
    pub model: PriorityModel,
    /// The server's priority. With SERVER_DECLARED it applies to all requests; with
    /// CLIENT_PROPAGATED, to those that carry none, such as those of clients without Real-time
    /// CORBA. Threads of Real-time ORBs that set no priority carry that of their native priority: the
    /// lowest, if they are not real-time threads.
    pub server_priority: Priority,
}

impl PriorityModelPolicy {
    /// CLIENT_PROPAGATED: each request is served at the priority of the thread that makes it.
    #[must_use]
    pub const fn client_propagated(server_priority: Priority) -> Self {
        Self {
            model: PriorityModel::ClientPropagated,
            server_priority,
        }
    }

    /// SERVER_DECLARED: all requests are served at this priority.
    #[must_use]
    pub const fn server_declared(server_priority: Priority) -> Self {
        Self {
            model: PriorityModel::ServerDeclared,
            server_priority,
        }
    }
}

impl PolicyType for PriorityModelPolicy {
    const NUMBER: u32 = tags::policy::PRIORITY_MODEL;
    const NAME: &'static str = "PriorityModelPolicy";
    const LEVELS: PolicyLevels = PolicyLevels::POA.and(PolicyLevels::POA_DEFAULT);
    const CODEC: Option<PolicyCodec<Self>> = Some(PolicyCodec { write, read });
    const SURROUNDS_UPCALLS: bool = true;
}

fn write(policy: &PriorityModelPolicy, out: &mut Encoder<'_>) -> Result<(), CdrError> {
    policy.model.marshal(out)?;
    out.put_i16(policy.server_priority.get());
    Ok(())
}

fn read(input: &mut Decoder<'_>) -> Result<PriorityModelPolicy, CdrError> {
    let model = PriorityModel::unmarshal(input)?;
    let priority = Priority::new(input.get_i16()?);
    Ok(PriorityModelPolicy {
        model,
        server_priority: priority.map_err(|_| CdrError::Invalid("a negative priority"))?,
    })
}
