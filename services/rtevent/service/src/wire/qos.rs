//! Subscriptions and publications.

use super::event::{header_of, plain_header, read_entry, write_data, write_header};
use crate::Form;
use crate::RtecEventData;
use crate::rtec_base::DependencyInfo;
use crate::rtec_event_channel_admin::{
    ConsumerQos, Dependency as PlainDependency, Publication, SupplierQos,
};
use crate::rtec_event_comm::Event as PlainEvent;
use punctual::stub::{CdrError, Decoder, Encoder, Marshal, Unmarshal};
use punctual_rtevent::{Dependency, Header, Selector, codes};

/// Subscription of a consumer, without data of events.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Subscribed {
    pub(crate) dependencies: Vec<Dependency>,
    pub(crate) is_gateway: bool,
}

/// Publication of a supplier, without data of events.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Published {
    pub(crate) headers: Vec<Header>,
    pub(crate) is_gateway: bool,
}

/// Reads a `ConsumerQOS`.
pub(crate) fn read_consumer(form: Form, input: &mut Decoder<'_>) -> Result<Subscribed, CdrError> {
    let count = input.get_length(form.least() + 4)?;
    let dependencies = (0..count).map(|_| {
        let header = read_entry(form, input)?;
        let rt_info = input.get_i32()?;
        Ok(Dependency { header, rt_info })
    });
    Ok(Subscribed {
        dependencies: dependencies.collect::<Result<_, CdrError>>()?,
        is_gateway: input.get_bool()?,
    })
}

/// Reads a `SupplierQOS`.
pub(crate) fn read_supplier(form: Form, input: &mut Decoder<'_>) -> Result<Published, CdrError> {
    let count = input.get_length(form.least() + 20)?;
    let headers = (0..count).map(|_| {
        let header = read_entry(form, input)?;
        DependencyInfo::unmarshal(input)?;
        Ok(header)
    });
    Ok(Published {
        headers: headers.collect::<Result<_, CdrError>>()?,
        is_gateway: input.get_bool()?,
    })
}

/// Writes a `ConsumerQOS`.
pub(crate) fn write_consumer(
    form: Form,
    qos: &ConsumerQos,
    out: &mut Encoder<'_>,
) -> Result<(), CdrError> {
    out.put_length(qos.dependencies.len())?;
    for dependency in &qos.dependencies {
        write_header(form, &header_of(&dependency.event.header), out);
        write_data(form, &dependency.event.data, None, out)?;
        out.put_i32(dependency.rt_info);
    }
    out.put_bool(qos.is_gateway);
    Ok(())
}

/// Writes a `SupplierQOS`.
pub(crate) fn write_supplier(
    form: Form,
    qos: &SupplierQos,
    out: &mut Encoder<'_>,
) -> Result<(), CdrError> {
    out.put_length(qos.publications.len())?;
    for publication in &qos.publications {
        write_header(form, &header_of(&publication.event.header), out);
        write_data(form, &publication.event.data, None, out)?;
        publication.dependency_info.marshal(out)?;
    }
    out.put_bool(qos.is_gateway);
    Ok(())
}

/// Returns the filter of events of any of these types and sources.
pub(crate) fn disjunction(selectors: &[Selector]) -> Vec<Dependency> {
    let count = i32::try_from(selectors.len()).unwrap_or(i32::MAX);
    let group = Header::new(codes::DISJUNCTION, count);
    let headers = std::iter::once(group).chain(selectors.iter().map(header));
    headers
        .map(|header| Dependency { header, rt_info: 0 })
        .collect()
}

/// Converts a subscription to the generated type of stubs.
pub(crate) fn plain_consumer(filter: &[Dependency], is_gateway: bool) -> ConsumerQos {
    let dependencies = filter.iter().map(|entry| PlainDependency {
        event: event(&entry.header),
        rt_info: entry.rt_info,
    });
    ConsumerQos {
        dependencies: dependencies.collect(),
        is_gateway,
    }
}

/// Returns the publication of events of these types and sources.
pub(crate) fn published(selectors: &[Selector]) -> SupplierQos {
    let publications = selectors.iter().map(|selector| Publication {
        event: event(&header(selector)),
        dependency_info: DependencyInfo::default(),
    });
    SupplierQos {
        publications: publications.collect(),
        is_gateway: false,
    }
}

const fn header(selector: &Selector) -> Header {
    Header::new(selector.kind, selector.source)
}

fn event(header: &Header) -> PlainEvent {
    PlainEvent {
        header: plain_header(header),
        data: RtecEventData::default(),
    }
}
