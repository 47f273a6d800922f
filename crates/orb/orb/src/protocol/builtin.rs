//! Built-in protocols, which every ORB has.

use super::ProtocolBundle;
use crate::config::OrbConfig;
use crate::messaging::Giop;
#[cfg(feature = "giop-lite")]
use crate::messaging::{Frames, GiopLite};
#[cfg(feature = "datagrams")]
use crate::profile::DiopCodec;
use crate::profile::{IiopCodec, PairCodec, UiopCodec};
#[cfg(feature = "datagrams")]
use punctual_link::diop::Diop;
use punctual_link::iiop::Iiop;
#[cfg(feature = "reliable")]
use punctual_link::reliable::Reliable;
#[cfg(feature = "shared-memory")]
use punctual_link::shmiop::Shmiop;
use punctual_link::uiop::Uiop;
#[cfg(feature = "vsock")]
use punctual_vsock::Vsock;
use std::sync::Arc;

/// Returns the built-in protocols, with the options of a configuration.
pub(crate) fn builtin(config: &OrbConfig) -> ProtocolBundle {
    let bundle = ProtocolBundle::new()
        .messaging(Arc::new(Giop::new()))
        .link(Arc::new(Iiop::new(config.iiop)))
        .link(Arc::new(Uiop::new(config.uiop)))
        .profile_codec(Arc::new(IiopCodec))
        .profile_codec(Arc::new(UiopCodec));
    #[cfg(feature = "giop-lite")]
    let bundle = bundle
        .messaging(Arc::new(GiopLite))
        .messaging(Arc::new(Frames));
    #[cfg(feature = "shared-memory")]
    let bundle = bundle.link(Arc::new(Shmiop::new(config.shmiop.clone())));
    #[cfg(feature = "datagrams")]
    let bundle = bundle
        .messaging(Arc::new(Giop::one_way()))
        .link(Arc::new(Diop::new(config.diop)))
        .profile_codec(Arc::new(DiopCodec));
    #[cfg(feature = "reliable")]
    let bundle = bundle.adapter(Arc::new(Reliable::new(config.reliable)));
    #[cfg(feature = "vsock")]
    let bundle = bundle.link(Arc::new(Vsock::default()));
    bundle.profile_codec(Arc::new(PairCodec))
}
