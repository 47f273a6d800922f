//! The protocols that every ORB has.

use super::ProtocolBundle;
use crate::config::OrbConfig;
use crate::messaging::Giop;
use crate::profile::IiopCodec;
use punctual_link::iiop::Iiop;
use std::sync::Arc;

/// Those, with the options of a configuration.
pub(crate) fn builtin(config: &OrbConfig) -> ProtocolBundle {
    ProtocolBundle::new()
        .messaging(Arc::new(Giop::new()))
        .messaging(Arc::new(Giop::one_way()))
        .link(Arc::new(Iiop::new(config.iiop)))
        .profile_codec(Arc::new(IiopCodec))
}
