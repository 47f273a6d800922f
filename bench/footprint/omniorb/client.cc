// Client of a device with omniORB: calls the object that its argument names, and prints the reply.
#include "hello.hh"
#include <iostream>

int main(int argc, char **argv) {
    CORBA::ORB_var orb = CORBA::ORB_init(argc, argv);
    CORBA::Object_var object = orb->string_to_object(argv[1]);
    Hello_var hello = Hello::_narrow(object);
    CORBA::String_var reply = hello->greet("world");
    std::cout << reply.in() << std::endl;
}
