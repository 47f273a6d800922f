//! `punctual notify import`.

use super::check::{check, kind, properties, refused};
use super::connect::{connect, obtain};
use super::file::{self, File, Operator};
use super::found::{Found, all, extended};
use super::source::Source;
use super::stated::{Target, differing};
use super::{DEFAULT, Side, admin_name, channel_name};
use crate::call::Problem;
use crate::notify::channel::{Factory, failed};
use punctual::{Interface, NotNil, ObjectRef, Orb};
use punctual_notification::cos_notification::{
    AdminPropertiesAdminSetAdminError, QoSAdminSetQosError,
};
use punctual_notification::cos_notify_channel_admin::{
    EventChannelFactory, EventChannelFactoryCreateChannelError, InterFilterGroupOperator,
};
use punctual_notification::cos_notify_filter::FilterFactory;
use punctual_notification::punctual_notify::{AdminState, Channel, ProxyState, Statement};
use std::path::PathBuf;
use toml::Spanned;

/// Channels and administrators are found by their names, and made if they are not there; what the file states is set at
/// them. It may be repeated. What the file does not name stays. The whole file is checked before anything is changed.
#[derive(Debug, clap::Args)]
pub(crate) struct Import {
    #[command(flatten)]
    factory: Factory,
    /// The file, as `punctual notify export` writes it.
    file: PathBuf,
}

/// Import that is under way.
struct Importing<'i> {
    source: &'i Source,
    orb: &'i Orb,
    factory: &'i EventChannelFactory,
}

/// Channel that is brought to what the file says.
struct At<'i> {
    source: &'i Source,
    orb: &'i Orb,
    /// Key of the channel's table.
    key: String,
    channel: &'i Channel,
    filters: FilterFactory,
}

pub(crate) fn run(options: &Import, orb_options: &[String]) -> Result<(), Problem> {
    let source = Source::read(&options.file)?;
    let file: File = source.parse()?;
    check(&source, &file)?;
    let (orb, factory) = options.factory.resolve_with_orb(orb_options)?;
    let importing = Importing {
        source: &source,
        orb: &orb,
        factory: &factory,
    };
    let found = all(&factory)?;
    for (name, wanted) in &file.channel {
        let id = importing.channel(name, wanted, &found)?;
        println!("{id}: {name}");
    }
    Ok(())
}

impl Importing<'_> {
    /// Brings a channel to what the file says; returns its id.
    fn channel(&self, name: &str, wanted: &file::Channel, found: &[Found]) -> Result<i32, Problem> {
        let is_it = |one: &&Found| channel_name(&one.topology.name, one.id) == name;
        let key = format!("channel.{name}");
        let made;
        let found = match found.iter().find(is_it) {
            Some(there) => {
                self.set(&key, wanted, there)?;
                there
            }
            None => {
                made = self.create(&key, name, wanted)?;
                &made
            }
        };
        let filters = found.channel.default_filter_factory().map_err(failed)?;
        let at = At {
            source: self.source,
            orb: self.orb,
            channel: &found.channel,
            filters: filters.not_nil().map_err(failed)?,
            key,
        };
        for (side, admins) in [
            (Side::Consumers, &found.topology.consumers),
            (Side::Suppliers, &found.topology.suppliers),
        ] {
            for (name, admin) in wanted.admins(side) {
                at.admin(side, name, admin, admins)?;
            }
        }
        Ok(found.id)
    }

    fn create(&self, key: &str, name: &str, wanted: &file::Channel) -> Result<Found, Problem> {
        use EventChannelFactoryCreateChannelError as Error;
        let (of_quality, of_admin) = (format!("{key}.quality"), format!("{key}.administration"));
        let quality = properties(self.source, &of_quality, &wanted.quality)?;
        let administration = properties(self.source, &of_admin, &wanted.administration)?;
        let created = self.factory.create_channel(&quality, &administration);
        let (channel, id) = created.map_err(|error| match error {
            Error::UnsupportedQoS(unsupported) => refused(
                self.source,
                &of_quality,
                &wanted.quality,
                &unsupported.qos_err,
            ),
            Error::UnsupportedAdmin(unsupported) => refused(
                self.source,
                &of_admin,
                &wanted.administration,
                &unsupported.admin_err,
            ),
            other => failed(other),
        })?;
        let channel = extended(&channel.not_nil().map_err(failed)?)?;
        channel.set_name(name).map_err(failed)?;
        let topology = channel.describe().map_err(failed)?;
        Ok(Found {
            id,
            channel,
            topology,
        })
    }

    /// Sets the properties of a channel that is there.
    fn set(&self, key: &str, wanted: &file::Channel, found: &Found) -> Result<(), Problem> {
        let key_of = |part: &str| format!("{key}.{part}");
        let quality = properties(self.source, &key_of("quality"), &wanted.quality)?;
        let quality = differing(quality, &found.topology.quality);
        if !quality.is_empty() {
            let set = found.channel.set_qos(&quality);
            set.map_err(|error| match error {
                QoSAdminSetQosError::UnsupportedQoS(unsupported) => {
                    let errors = &unsupported.qos_err;
                    refused(self.source, &key_of("quality"), &wanted.quality, errors)
                }
                other => failed(other),
            })?;
        }
        let key = key_of("administration");
        let administration = properties(self.source, &key, &wanted.administration)?;
        let administration = differing(administration, &found.topology.administration);
        if !administration.is_empty() {
            let set = found.channel.set_admin(&administration);
            set.map_err(|error| match error {
                AdminPropertiesAdminSetAdminError::UnsupportedAdmin(unsupported) => {
                    let errors = &unsupported.admin_err;
                    refused(self.source, &key, &wanted.administration, errors)
                }
                other => failed(other),
            })?;
        }
        Ok(())
    }
}

impl At<'_> {
    fn admin(
        &self,
        side: Side,
        name: &Spanned<String>,
        wanted: &file::Admin,
        now: &[AdminState],
    ) -> Result<(), Problem> {
        let key = format!("{}.{}.{}", self.key, side.key(), name.get_ref());
        let is_it = |one: &&AdminState| admin_name(&one.name, one.id) == *name.get_ref();
        let there = now.iter().find(is_it);
        let object = match there {
            Some(there) => self.found(side, &key, wanted, there)?,
            None => self.made(side, &key, name, wanted)?,
        };
        let fresh;
        let now = match there {
            Some(there) => there,
            None => {
                fresh = self.described(side, name.get_ref())?;
                &fresh
            }
        };
        let target = self.target(key, side, object.clone());
        target.state(&wanted.stated(), &now.stated)?;
        for proxy in &wanted.proxies {
            self.proxy(&target, proxy, &now.proxies)?;
        }
        Ok(())
    }

    fn target(&self, key: String, side: Side, object: ObjectRef) -> Target<'_> {
        Target {
            source: self.source,
            filters: &self.filters,
            key,
            side,
            object,
        }
    }

    /// Returns an administrator that is there, if it has the operator of the file.
    fn found(
        &self,
        side: Side,
        key: &str,
        wanted: &file::Admin,
        there: &AdminState,
    ) -> Result<ObjectRef, Problem> {
        if let Some(stated) = &wanted.operator
            && operator(*stated.get_ref()) != there.op
        {
            let reason = "the administrator is there with the other operator, which cannot be changed: give it another name";
            return Err(self
                .source
                .problem(stated.span(), &format!("{key}.operator"), reason));
        }
        let id = there.id;
        Ok(match side {
            Side::Consumers => {
                let admin = self.channel.get_consumeradmin(id).map_err(failed)?;
                admin.not_nil().map_err(failed)?.as_object().clone()
            }
            Side::Suppliers => {
                let admin = self.channel.get_supplieradmin(id).map_err(failed)?;
                admin.not_nil().map_err(failed)?.as_object().clone()
            }
        })
    }

    fn made(
        &self,
        side: Side,
        key: &str,
        name: &Spanned<String>,
        wanted: &file::Admin,
    ) -> Result<ObjectRef, Problem> {
        if name.get_ref() == DEFAULT {
            let reason = "the channel has no default administrator";
            return Err(self.source.problem(name.span(), key, reason));
        }
        let op = wanted
            .operator
            .as_ref()
            .map_or(Operator::And, |one| *one.get_ref());
        let (object, id) = match side {
            Side::Consumers => {
                let made = self
                    .channel
                    .new_for_consumers(operator(op))
                    .map_err(failed)?;
                (
                    made.0.not_nil().map_err(failed)?.as_object().clone(),
                    made.1,
                )
            }
            Side::Suppliers => {
                let made = self
                    .channel
                    .new_for_suppliers(operator(op))
                    .map_err(failed)?;
                (
                    made.0.not_nil().map_err(failed)?.as_object().clone(),
                    made.1,
                )
            }
        };
        let named = self
            .channel
            .set_admin_name(side == Side::Consumers, id, name.get_ref());
        named.map_err(failed)?;
        Ok(object)
    }

    /// Returns what an administrator has that was made just now.
    fn described(&self, side: Side, name: &str) -> Result<AdminState, Problem> {
        let topology = self.channel.describe().map_err(failed)?;
        let admins = match side {
            Side::Consumers => topology.consumers,
            Side::Suppliers => topology.suppliers,
        };
        let found = admins.into_iter().find(|one| one.name == name);
        found.ok_or_else(|| Problem::Usage(format!("administrator `{name}` was removed"), None))
    }

    /// Connects a proxy, unless its client has one of this kind.
    fn proxy(
        &self,
        admin: &Target<'_>,
        wanted: &file::Proxy,
        now: &[ProxyState],
    ) -> Result<(), Problem> {
        let key = format!("{}.proxies", admin.key);
        let kind = kind(self.source, &key, wanted)?;
        let text = wanted.client.get_ref();
        let wrong = |reason: &dyn std::fmt::Display| {
            let key = format!("{key}.client");
            self.source
                .problem(wanted.client.span(), &key, &reason.to_string())
        };
        let client = self
            .orb
            .string_to_object(text)
            .map_err(|error| wrong(&error))?;
        let text = self
            .orb
            .object_to_string(&client)
            .map_err(|error| wrong(&error))?;
        if now
            .iter()
            .any(|one| one.kind == kind.proxy_type && one.client == text)
        {
            return Ok(());
        }
        let proxy = obtain(admin.side, &admin.object, kind)?;
        let target = self.target(key, admin.side, proxy.clone());
        target.state(&wanted.stated(), &Statement::default())?;
        connect(admin.side, kind, proxy, client)
    }
}

const fn operator(operator: Operator) -> InterFilterGroupOperator {
    match operator {
        Operator::And => InterFilterGroupOperator::AndOp,
        Operator::Or => InterFilterGroupOperator::OrOp,
    }
}
