//! All links of a channel.

use super::crossing;
use super::link::{Link, UdpLink};
use super::udp::{Receiver, Sender, UdpCounts};
use crate::client::{Subscriber, SubscriberCounts, SubscriberOptions};
use crate::options::ServiceOptions;
use crate::wire::{Form, disjunction};
use crate::{Data, Event};
use punctual::Poa;
use punctual_rtevent::{
    Channel, Consumer, ConsumerHandle, Dependency, Filter, Observer, ObserverId, Publications,
    Pushed, Selector, Subscription, Supplier, SupplierHandle,
};
use std::fmt;
use std::sync::Arc;
use thiserror::Error;

/// Links between a channel and others, which end when this is dropped.
pub struct Federation {
    channel: Channel<Data>,
    senders: Vec<(UdpLink, Arc<Sender>, ConsumerHandle<Data>)>,
    receivers: Vec<(UdpLink, Receiver)>,
    remotes: Vec<(String, Subscriber, ObserverId)>,
}

/// Reason why a link to another channel cannot be made.
#[derive(Clone, PartialEq, Eq, Error)]
#[error("the link {link} cannot be made: {reason}")]
pub struct FederationError {
    /// The link, as settings name it.
    pub link: String,
    /// Cause of the error.
    pub reason: String,
}

/// Shows the error as `Display` does, for a `main` that returns it.
impl fmt::Debug for FederationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Debug for Federation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Federation")
            .field("sends", &self.senders.len())
            .field("receives", &(self.receivers.len() + self.remotes.len()))
            .finish_non_exhaustive()
    }
}

/// Supplier of a link, which ends with its service.
struct Silent;

impl Supplier for Silent {}

/// Consumer of another channel that passes events on to this one.
struct Gateway(SupplierHandle<Data>, Form);

impl Consumer<Data> for Gateway {
    fn push(&self, events: &[Event]) -> Pushed {
        let mut events: Vec<_> = crossing(events).collect();
        self.1.stamp(&mut events);
        if events.is_empty() {
            return Pushed::Done;
        }
        match self.0.push(&events) {
            Ok(()) => Pushed::Done,
            Err(error) => Pushed::Failed(error.to_string()),
        }
    }
}

/// Observer that subscribes at the other channel to the events to which this channel's consumers have subscribed.
struct Subscriptions(Box<dyn Fn(Vec<Dependency>) + Send + Sync>);

impl Observer for Subscriptions {
    fn consumers_changed(&self, subscriptions: &[Selector]) {
        self.0(match subscriptions {
            [] => Vec::new(),
            subscriptions => disjunction(subscriptions),
        });
    }

    fn suppliers_changed(&self, _: &[Selector]) {}
}

impl Federation {
    /// Starts links of a channel: those to which it sends, and those from which it receives, as the options name them.
    /// Objects for the latter are activated in `poa`.
    ///
    /// # Errors
    /// The first link that cannot be made. A channel elsewhere that cannot be reached is no error: the link connects
    /// when it can.
    pub fn start(
        channel: &Channel<Data>,
        options: &ServiceOptions,
        poa: &Poa,
    ) -> Result<Self, FederationError> {
        let mut this = Self {
            channel: channel.clone(),
            senders: Vec::new(),
            receivers: Vec::new(),
            remotes: Vec::new(),
        };
        for link in &options.sends {
            this.send(options, link)
                .map_err(|reason| failed(link, reason))?;
        }
        for link in &options.receives {
            this.receive(options, poa, link)
                .map_err(|reason| failed(link, reason))?;
        }
        Ok(this)
    }

    /// Returns the counts of the links over UDP: those that send, then those that receive, in the order of their start. A
    /// link that receives at port 0 has the port that the system chose.
    #[must_use]
    pub fn udp_counts(&self) -> Vec<(UdpLink, UdpCounts)> {
        let senders = self.senders.iter();
        let senders = senders.map(|(link, sender, _)| (link.clone(), sender.counts()));
        let receivers = self.receivers.iter();
        let receivers = receivers.map(|(link, receiver)| (link.clone(), receiver.counts()));
        senders.chain(receivers).collect()
    }

    /// Returns the counts of the links from other servers' channels, by their references.
    #[must_use]
    pub fn remote_counts(&self) -> Vec<(String, SubscriberCounts)> {
        let remotes = self.remotes.iter();
        remotes
            .map(|(name, remote, _)| (name.clone(), remote.counts()))
            .collect()
    }

    fn send(&mut self, options: &ServiceOptions, link: &Link) -> Result<(), String> {
        let Link::Udp(link) = link else {
            let text = "events are received from channels of other servers, and not sent: name this channel there";
            return Err(text.to_owned());
        };
        let sender = Sender::new(link.clone(), options.form).map_err(|error| error.to_string())?;
        let sender = Arc::new(sender);
        let wanted = link.selectors();
        let filters = wanted.iter().map(|it| Filter::event(it.kind, it.source));
        let subscription = Subscription::new(Filter::any_of(filters))
            .level(options.gateway_level)
            .queue(options.queue)
            .gateway();
        let handle = self.channel.connect_consumer(subscription, sender.clone());
        let handle = handle.map_err(|error| error.to_string())?;
        self.senders.push((link.clone(), sender, handle));
        Ok(())
    }

    fn receive(&mut self, options: &ServiceOptions, poa: &Poa, link: &Link) -> Result<(), String> {
        match link {
            Link::Udp(link) => self.receive_datagrams(options, link),
            Link::Reference(channel) => self.receive_from(options, poa, channel),
        }
    }

    fn receive_datagrams(
        &mut self,
        options: &ServiceOptions,
        link: &UdpLink,
    ) -> Result<(), String> {
        let own = self
            .senders
            .iter()
            .filter_map(|(_, sender, _)| sender.address().ok());
        let own = own.collect();
        let largest = options.channel.largest_event;
        let supplier = self.supplier(link.selectors())?;
        let receiver = Receiver::start(link, options.form, largest, own, supplier);
        let receiver = receiver.map_err(|error| error.to_string())?;
        let mut link = link.clone();
        link.address.set_port(receiver.port());
        self.receivers.push((link, receiver));
        Ok(())
    }

    fn receive_from(
        &mut self,
        options: &ServiceOptions,
        poa: &Poa,
        channel: &str,
    ) -> Result<(), String> {
        let gateway = Gateway(self.supplier(Vec::new())?, options.form);
        let subscriber = SubscriberOptions {
            form: options.form,
            is_gateway: true,
            ..SubscriberOptions::default()
        };
        let remote = Subscriber::start(poa, channel, Vec::new(), subscriber, Arc::new(gateway));
        let remote = remote.map_err(|exception| exception.to_string())?;
        let subscriptions = Subscriptions(Box::new(remote.setter()));
        let observer = self.channel.append_observer(Arc::new(subscriptions));
        self.remotes.push((channel.to_owned(), remote, observer));
        Ok(())
    }

    fn supplier(&self, published: Vec<Selector>) -> Result<SupplierHandle<Data>, String> {
        let publications = Publications::new(published).gateway();
        let supplier = self
            .channel
            .connect_supplier(publications, Arc::new(Silent));
        supplier.map_err(|error| error.to_string())
    }
}

/// Ends the links.
impl Drop for Federation {
    fn drop(&mut self) {
        for (_, _, handle) in &self.senders {
            handle.disconnect();
        }
        for (_, _, observer) in &self.remotes {
            self.channel.remove_observer(*observer);
        }
    }
}

fn failed(link: &Link, reason: String) -> FederationError {
    FederationError {
        link: link.to_string(),
        reason,
    }
}
