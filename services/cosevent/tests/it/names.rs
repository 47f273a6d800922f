//! Names of the factory and of channels in a Naming Service.

use punctual::{Interface, ListenEndpoint, NotNil, Orb, RootPoa};
use punctual_cosevent::omni_events::{EventChannel, EventChannelFactory};
use punctual_cosevent::{EventService, NamesToBind};
use punctual_naming::{NamingService, ServeOptions};
use punctual_naming_client::Names;

use crate::support::{Served, until};

#[test]
fn the_factory_and_named_channels_are_bound_while_they_exist() {
    let naming = Orb::builder()
        .listen(ListenEndpoint::iiop("127.0.0.1", 0))
        .build()
        .unwrap();
    let poa = naming.root_poa().unwrap();
    let root = NamingService::in_memory()
        .unwrap()
        .serve(&poa, ServeOptions::default())
        .unwrap();
    poa.manager().activate().unwrap();
    let service = EventService::in_memory();
    service.set_names(NamesToBind {
        naming: Some(naming.object_to_string(root.as_object()).unwrap()),
        factory: Some("EventChannelFactory".to_owned()),
        channels: Some("channels".to_owned()),
    });
    let served = Served::of(service, ("127.0.0.1", 0));
    let names = Names::below(
        &punctual_naming_client::cos_naming::NamingContext::from_object(root.as_object().clone()),
    );
    let factory = || names.resolve::<EventChannelFactory>("EventChannelFactory");
    until(|| factory().is_ok());
    let made = factory().unwrap().create_channel("north.1").unwrap();
    let made = made.not_nil().unwrap();
    let channel = || names.resolve::<EventChannel>("channels/north\\.1");
    until(|| channel().is_ok());
    assert!(channel().unwrap().is_alive().unwrap());
    made.destroy().unwrap();
    until(|| channel().is_err());
    drop(served);
    let _ = naming.shutdown(true);
}
