//! Registered parts of an ORB's protocols: connectors and acceptors by link, messaging protocols,
//! adapters, profile codecs (Schmidt et al. 2001, §4.1: the connector and acceptor registries).
//!
//! A [`Registry`] is immutable; a change creates a new one, which is checked as a whole before it
//! replaces the old one. References detect the change by the registry's number.

use super::bundle::ProtocolBundle;
use super::error::{ProtocolCatalogue, ProtocolError};
use crate::messaging::{Frames, Giop, GiopLite, Messaging};
use crate::policy::KnownProtocols;
use crate::profile::ProfileCodec;
use arc_swap::ArcSwap;
use punctual_link::{Link, LinkAdapter, LinkCount, Protection};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Maximum number of parts of a protocol: a messaging protocol, two adapters and a link.
const MAX_PARTS: usize = 4;

/// Name of the TLS link, which is implemented in a separate crate.
const TLS: &str = "ssliop";

/// Messaging protocol together with the link that carries it.
#[derive(Clone, Debug)]
pub(crate) struct Pair {
    /// Name of the protocol in endpoints and references.
    pub(crate) name: Box<str>,
    pub(crate) messaging: Arc<dyn Messaging>,
    pub(crate) link: Arc<dyn Link>,
}

impl Pair {
    /// Returns whether a link, messaging protocol or adapter of this name is part of the pair.
    pub(crate) fn involves(&self, name: &str) -> bool {
        self.messaging.name() == name || self.link.name().split('+').any(|part| part == name)
    }

    /// Returns whether the pair's messages may leave this host unencrypted.
    pub(crate) fn is_in_clear(&self) -> bool {
        self.link.protection() != Protection::Encryption && !self.link.is_local()
    }
}

/// Set of an ORB's links, messaging protocols, link adapters and profile codecs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Registry {
    /// Number of this version of the protocol registry.
    pub(crate) number: u64,
    links: BTreeMap<Box<str>, Arc<dyn Link>>,
    messaging: BTreeMap<Box<str>, Arc<dyn Messaging>>,
    adapters: BTreeMap<Box<str>, Arc<dyn LinkAdapter>>,
    /// Links combined with adapters, by name.
    adapted: Adapted,
    codecs: Vec<Arc<dyn ProfileCodec>>,
}

/// Links made by adapters, by name. As an adapted link may have a thread, each is made only once.
#[derive(Debug, Default)]
struct Adapted(Mutex<BTreeMap<String, Arc<dyn Link>>>);

impl Clone for Adapted {
    fn clone(&self) -> Self {
        let made = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Self(Mutex::new(made.clone()))
    }
}

impl Adapted {
    fn over(&self, adapter: &dyn LinkAdapter, link: Arc<dyn Link>) -> Arc<dyn Link> {
        let name = format!("{}+{}", adapter.name(), link.name());
        let mut made = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        made.entry(name)
            .or_insert_with(|| adapter.over(link))
            .clone()
    }

    /// Removes the adapted links that contain a part of this name.
    fn forget(&self, part: &str) {
        let mut made = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        made.retain(|name, _| !name.split('+').any(|one| one == part));
    }
}

impl Registry {
    /// Returns the pair with this name, if its parts exist and are compatible.
    pub(crate) fn pair(&self, protocol: &str) -> Result<Pair, ProtocolError> {
        // The name may come from a peer, in a reference.
        let count = protocol.split('+').take(MAX_PARTS + 1).count();
        let mut parts = Vec::with_capacity(count);
        parts.extend(protocol.splitn(MAX_PARTS + 1, '+'));
        if count > MAX_PARTS {
            return Err(ProtocolError::TooManyParts(MAX_PARTS));
        }
        let link_name = parts.pop().unwrap_or_default();
        let mut link = self
            .links
            .get(link_name)
            .cloned()
            .ok_or_else(|| self.unknown_link(protocol, link_name))?;
        let messaging = match parts.first().and_then(|name| self.messaging.get(*name)) {
            Some(messaging) => {
                parts.remove(0);
                messaging.clone()
            }
            None => self
                .messaging
                .get(Giop::NAME)
                .cloned()
                .ok_or_else(|| self.unknown_part(protocol, Giop::NAME))?,
        };
        for part in parts.iter().rev() {
            let adapter = self
                .adapters
                .get(*part)
                .ok_or_else(|| self.unknown_part(protocol, part))?;
            if adapter.supplies(link.guarantees()) == link.guarantees() {
                return Err(ProtocolError::NothingToSupply {
                    adapter: (*part).to_owned(),
                    link: link.name().to_owned(),
                });
            }
            link = self.adapted.over(&**adapter, link);
        }
        let lacks = messaging.needs().lacking(link.guarantees());
        if !lacks.is_empty() {
            return Err(self.unfit(&*messaging, &link, &lacks));
        }
        Ok(Pair {
            name: short_name(messaging.name(), link.name()),
            messaging,
            link,
        })
    }

    /// Returns the link of this name; `place` is the part of the configuration that contains the name, for the error.
    pub(crate) fn link(&self, place: &str, link: &str) -> Result<&Arc<dyn Link>, ProtocolError> {
        let known = self.links.get(link);
        known.ok_or_else(|| self.unknown_link(place, link))
    }

    /// Returns a link with each adapter over it that supplies what it lacks.
    pub(super) fn adapted_over(&self, link: &Arc<dyn Link>) -> Vec<Arc<dyn Link>> {
        let below = link.guarantees();
        let fitting = self.adapters.values();
        let fitting = fitting.filter(|adapter| adapter.supplies(below) != below);
        fitting
            .map(|adapter| self.adapted.over(&**adapter, link.clone()))
            .collect()
    }

    /// Returns the names of all registered protocol parts.
    pub(crate) fn catalogue(&self) -> ProtocolCatalogue {
        let all = |names: Vec<&Box<str>>| names.into_iter().map(ToString::to_string).collect();
        ProtocolCatalogue {
            messaging: all(self.messaging.keys().collect()),
            adapters: all(self.adapters.keys().collect()),
            links: all(self.links.keys().collect()),
        }
    }

    /// Returns what each link that counts something has counted, by its name.
    pub(crate) fn link_counts(&self) -> Vec<(String, Vec<LinkCount>)> {
        let each = self.links.iter();
        let counted = each.map(|(name, link)| (name.to_string(), link.counts()));
        counted.filter(|(_, counts)| !counts.is_empty()).collect()
    }

    /// Returns the codec for profiles with this tag.
    pub(crate) fn codec(&self, tag: u32) -> Option<&Arc<dyn ProfileCodec>> {
        self.codecs.iter().find(|codec| codec.tag() == tag)
    }

    /// Returns the codec whose profiles carry endpoints of this protocol.
    pub(crate) fn codec_for(&self, protocol: &str) -> Option<&Arc<dyn ProfileCodec>> {
        self.codecs.iter().find(|codec| codec.carries(protocol))
    }

    /// Returns a copy of this registry with a bundle added, if all its parts are valid and
    /// compatible.
    fn with(&self, bundle: &ProtocolBundle) -> Result<Self, ProtocolError> {
        let mut next = self.clone();
        for link in &bundle.links {
            next.name_is_free(link.name())?;
            next.links.insert(link.name().into(), link.clone());
        }
        for messaging in &bundle.messaging {
            next.name_is_free(messaging.name())?;
            next.messaging
                .insert(messaging.name().into(), messaging.clone());
        }
        for adapter in &bundle.adapters {
            next.name_is_free(adapter.name())?;
            next.adapters.insert(adapter.name().into(), adapter.clone());
        }
        for codec in bundle.codecs.iter().rev() {
            next.codecs.insert(0, codec.clone());
        }
        for pair in &bundle.pairs {
            next.pair(pair)?;
        }
        Ok(next)
    }

    /// Returns a copy of this registry without the part of this name.
    fn without(&self, name: &str) -> Result<Self, ProtocolError> {
        let mut next = self.clone();
        let found = next.links.remove(name).is_some()
            || next.messaging.remove(name).is_some()
            || next.adapters.remove(name).is_some();
        next.adapted.forget(name);
        if found {
            Ok(next)
        } else {
            Err(ProtocolError::NotThere(name.to_owned()))
        }
    }

    fn name_is_free(&self, name: &str) -> Result<(), ProtocolError> {
        let refused = |reason| {
            Err(ProtocolError::BadName {
                name: name.to_owned(),
                reason,
            })
        };
        let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        if name.is_empty() || !name.chars().all(allowed) {
            return refused("a name has lower-case letters, digits and `_`, and at least one");
        }
        let taken = self.links.contains_key(name)
            || self.messaging.contains_key(name)
            || self.adapters.contains_key(name);
        if taken {
            return refused("the name is taken; retire the protocol of that name first");
        }
        Ok(())
    }

    fn unknown_link(&self, protocol: &str, link: &str) -> ProtocolError {
        ProtocolError::UnknownLink {
            protocol: protocol.to_owned(),
            link: link.to_owned(),
            known: names(self.links.keys()),
            hint: hint(link),
        }
    }

    fn unknown_part(&self, protocol: &str, part: &str) -> ProtocolError {
        ProtocolError::UnknownPart {
            protocol: protocol.to_owned(),
            part: part.to_owned(),
            messaging: names(self.messaging.keys()),
            adapters: match missing_feature(part) {
                Some(feature) => {
                    format!("this program was built without the feature `{feature}`, which has it")
                }
                None => names(self.adapters.keys()),
            },
        }
    }

    fn unfit(
        &self,
        messaging: &dyn Messaging,
        link: &Arc<dyn Link>,
        lacks: &[&str],
    ) -> ProtocolError {
        let fits = self.adapters.values().find(|adapter| {
            let supplied = adapter.supplies(link.guarantees());
            messaging.needs().lacking(supplied).is_empty()
        });
        let hint = fits.map_or_else(String::new, |adapter| {
            let messaging = messaging.name();
            format!(
                "; `{messaging}+{}+{}` would work",
                adapter.name(),
                link.name()
            )
        });
        ProtocolError::Unfit {
            messaging: messaging.name().to_owned(),
            link: link.name().to_owned(),
            lacks: lacks.join(" and "),
            hint,
        }
    }
}

fn names<'n>(names: impl Iterator<Item = &'n Box<str>>) -> String {
    let quoted: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    if quoted.is_empty() {
        "none".to_owned()
    } else {
        quoted.join(", ")
    }
}

/// Returns the feature that has a messaging protocol or an adapter, if this program was built without it.
fn missing_feature(part: &str) -> Option<&'static str> {
    match part {
        "reliable" if cfg!(not(feature = "reliable")) => Some("reliable"),
        Giop::ONE_WAY_NAME if cfg!(not(feature = "datagrams")) => Some("datagrams"),
        GiopLite::NAME | Frames::NAME if cfg!(not(feature = "giop-lite")) => Some("giop-lite"),
        _ => None,
    }
}

/// Returns the text that says how a link that needs configuration can be made available.
fn hint(link: &str) -> &'static str {
    match link {
        TLS if cfg!(feature = "tls") => {
            "; that is TLS, which needs the configuration [tls] (OrbConfig::tls): for calls, with the authorities in \
             `trusted`"
        }
        TLS => "; that is TLS, for which this program was built without the feature `tls`",
        "diop" if cfg!(not(feature = "datagrams")) => {
            "; that is datagrams, for which this program was built without the feature `datagrams`"
        }
        "shmiop" if cfg!(not(feature = "shared-memory")) => {
            "; that is shared memory, for which this program was built without the feature `shared-memory`"
        }
        "vsock" if cfg!(not(feature = "vsock")) => {
            "; that is AF_VSOCK, for which this program was built without the feature `vsock`"
        }
        "miop" => {
            "; that is multicast, for which a program needs the feature `miop` and adds it to its ORB (`Multicast::extend`)"
        }
        _ => "",
    }
}

/// Returns the protocol's name, without the name of the default messaging protocol.
fn short_name(messaging: &str, link: &str) -> Box<str> {
    if messaging == Giop::NAME {
        link.into()
    } else {
        format!("{messaging}+{link}").into()
    }
}

/// Holder of an ORB's current protocol registry.
#[derive(Debug, Default)]
pub(crate) struct Protocols {
    now: ArcSwap<Registry>,
    changing: Mutex<()>,
    numbers: AtomicU64,
}

impl Protocols {
    /// Returns the current protocol registry, without taking a lock.
    pub(crate) fn now(&self) -> arc_swap::Guard<Arc<Registry>> {
        self.now.load()
    }

    /// Adds a bundle of protocol parts, or changes nothing if that fails.
    pub(crate) fn add(&self, bundle: &ProtocolBundle) -> Result<(), ProtocolError> {
        self.change(|registry| registry.with(bundle))
    }

    /// Removes the part of this name; it is not used for anything new.
    pub(crate) fn retire(
        &self,
        name: &str,
        still_fits: impl FnOnce(&Registry) -> Result<(), ProtocolError>,
    ) -> Result<(), ProtocolError> {
        self.change(|registry| {
            let next = registry.without(name)?;
            still_fits(&next)?;
            Ok(next)
        })
    }

    fn change(
        &self,
        change: impl FnOnce(&Registry) -> Result<Registry, ProtocolError>,
    ) -> Result<(), ProtocolError> {
        let _changing = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut next = change(&self.now.load())?;
        next.number = self.numbers.fetch_add(1, Ordering::Relaxed) + 1;
        self.now.store(Arc::new(next));
        Ok(())
    }
}

impl KnownProtocols for Protocols {
    fn check(&self, name: &str) -> Result<(), String> {
        let pair = self.now().pair(name);
        pair.map(drop).map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use punctual_link::iiop::{Iiop, IiopOptions};

    fn protocols() -> Protocols {
        let protocols = Protocols::default();
        let bundle = ProtocolBundle::new()
            .link(Arc::new(Iiop::new(IiopOptions::default())))
            .messaging(Arc::new(Giop::new()))
            .messaging(Arc::new(Giop::one_way()))
            .pair("iiop");
        protocols.add(&bundle).unwrap();
        protocols
    }

    #[test]
    fn a_pair_without_a_messaging_protocol_means_giop() {
        let protocols = protocols();
        assert_eq!(&*protocols.now().pair("iiop").unwrap().name, "iiop");
        assert_eq!(&*protocols.now().pair("giop+iiop").unwrap().name, "iiop");
        let one_way = protocols.now().pair("giop_oneway+iiop").unwrap();
        assert_eq!(&*one_way.name, "giop_oneway+iiop");
    }

    #[test]
    fn unknown_parts_are_named_with_what_there_is() {
        let protocols = protocols();
        let error = protocols.now().pair("giop+pigeon").unwrap_err().to_string();
        assert!(
            error.contains("`pigeon`") && error.contains("`iiop`"),
            "{error}"
        );
        let error = protocols.now().pair("sturdy+iiop").unwrap_err().to_string();
        assert!(
            error.contains("`sturdy`") && error.contains("`giop`"),
            "{error}"
        );
    }

    #[test]
    fn a_bundle_that_is_refused_leaves_everything_as_it_was() {
        let protocols = protocols();
        let before = protocols.now().number;
        let taken = ProtocolBundle::new().link(Arc::new(Iiop::new(IiopOptions::default())));
        let error = protocols.add(&taken).unwrap_err().to_string();
        assert!(error.contains("taken"), "{error}");
        let unfit = ProtocolBundle::new().pair("giop+nothing");
        assert!(protocols.add(&unfit).is_err());
        assert_eq!(protocols.now().number, before);
    }

    #[test]
    fn what_is_retired_is_gone_and_the_rest_stays() {
        let protocols = protocols();
        protocols.retire("giop_oneway", |_| Ok(())).unwrap();
        assert!(protocols.now().pair("giop_oneway+iiop").is_err());
        assert!(protocols.now().pair("iiop").is_ok());
        let error = protocols.retire("giop_oneway", |_| Ok(())).unwrap_err();
        assert_eq!(error, ProtocolError::NotThere("giop_oneway".to_owned()));
    }
}
