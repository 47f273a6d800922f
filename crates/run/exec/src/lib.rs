//! Who executes: threads by name, thread per connection
