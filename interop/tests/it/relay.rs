//! Tests of the generated C++ class that relays each call.

#[path = "../../src/relay.rs"]
mod written;

use written::class;

#[test]
fn each_operation_and_attribute_is_passed_on() {
    let example = "\
class m_I_i : public POA_m::I {
public:
  m_I_i();

  // methods corresponding to defined IDL attributes and operations
  char* both(const char* a, char*& b, ::CORBA::String_out c);
  void post(::CORBA::Long value);
  ::CORBA::Long posted()
  void counter(::CORBA::Long)
};
";
    let class = class(example, "m", "I").unwrap();
    for expected in [
        "class relay_m_I : public POA_m::I {",
        "char* both(const char* a, char*& b, ::CORBA::String_out c) override \
         { return target_->both(a, b, c); }",
        "void post(::CORBA::Long value) override { target_->post(value); }",
        "::CORBA::Long posted() override { return target_->posted(); }",
        "void counter(::CORBA::Long value) override { target_->counter(value); }",
    ] {
        assert!(class.contains(expected), "{expected}\nin\n{class}");
    }
}

#[test]
fn an_example_of_another_form_is_no_class() {
    assert_eq!(class("class other {};", "m", "I"), None);
}
