//! Channels: connecting, pushing, disconnecting.

use crate::support::peers::Setting;
use punctual_rtevent::{ChannelOptions, Filter};

#[test]
fn a_consumer_receives_the_events_that_its_filter_accepts() {
    let setting = Setting::new(ChannelOptions::default());
    let (typed, _handle) = setting.filter(Filter::event(20, 0));
    let (sourced, _handle) = setting.filter(Filter::event(0, 7));
    setting.push(20, 7, 1);
    setting.push(21, 7, 2);
    setting.push(20, 8, 3);
    assert_eq!(typed.data(), [1, 3]);
    assert_eq!(sourced.data(), [1, 2]);
}
