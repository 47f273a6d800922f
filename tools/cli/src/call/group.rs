//! Calls to multicast groups.

use punctual::{ObjectRef, OrbConfig};

use super::problem::Problem;

/// Profile tag of multicast groups.
const UIPMC: u32 = punctual_ior::tags::profile::UIPMC;

/// Name of the link of multicast.
const LINK: &str = "miop";

/// Properties of the link for a call, by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct GroupProperties(Vec<(String, String)>);

impl GroupProperties {
    /// Sets the properties in a configuration, in place of those that it has.
    pub(super) fn apply(&self, config: &mut OrbConfig) {
        let of_link = config.link_properties.entry(LINK.to_owned()).or_default();
        of_link.extend(self.0.iter().cloned());
    }
}

/// Parses properties: `interface=eth0,ttl=4`, or nothing.
pub(super) fn properties(text: &str) -> Result<GroupProperties, String> {
    let all = text.split(',').filter(|one| !one.is_empty());
    let pairs = all.map(|one| match one.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err(format!(
            "`{one}` is no property: interface=eth0, for example"
        )),
    });
    pairs.collect::<Result<_, _>>().map(GroupProperties)
}

/// Returns whether an object is a multicast group.
pub(super) fn is_group(object: &ObjectRef) -> bool {
    object.ior().profiles.iter().any(|one| one.tag == UIPMC)
}

/// Checks that an object is a group.
pub(super) fn check(object: &ObjectRef) -> Result<(), Problem> {
    if !is_group(object) {
        return Err(Problem::usage(
            "the reference is not one of a multicast group",
            "the URL of a group is like corbaloc:miop:1.0@1.0-plant-7/239.255.0.1:5555",
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_replace_those_of_the_configuration() {
        let mut config = OrbConfig::default();
        properties("ttl=1").unwrap().apply(&mut config);
        let given = properties("interface=eth0,ttl=4").unwrap();
        given.apply(&mut config);
        let set = &config.link_properties[LINK];
        assert_eq!(
            (set["interface"].as_str(), set["ttl"].as_str()),
            ("eth0", "4")
        );
        assert_eq!(properties(""), Ok(GroupProperties(Vec::new())));
        assert!(properties("ttl").is_err());
    }
}
