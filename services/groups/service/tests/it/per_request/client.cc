// A client of omniORB that calls `whoami` of an object a number of times, and prints the answers. Arguments: reference, number.

#include <cstdlib>
#include <iostream>
#include <omniORB4/CORBA.h>

int main(int argc, char** argv) {
  CORBA::ORB_var orb = CORBA::ORB_init(argc, argv);
  CORBA::Object_var object = orb->string_to_object(argv[1]);
  for (int left = std::atoi(argv[2]); left > 0; --left) {
    CORBA::Request_var request = object->_request("whoami");
    request->set_return_type(CORBA::_tc_string);
    request->invoke();
    if (request->env()->exception() != 0) {
      std::cout << request->env()->exception()->_name() << std::endl;
      return 1;
    }
    const char* name = 0;
    request->return_value() >>= name;
    std::cout << name << std::endl;
  }
  orb->destroy();
  return 0;
}
