// Server of a device with omniORB: activates objects, prints the reference of the first, and serves.
#include "hello.hh"
#include <cstdlib>
#include <iostream>
#include <string>

class Greeter : public POA_Hello {
public:
    char *greet(const char *name) override {
        return CORBA::string_dup(("Hello, " + std::string(name) + "!").c_str());
    }
};

int main(int argc, char **argv) {
    CORBA::ORB_var orb = CORBA::ORB_init(argc, argv);
    int objects = argc > 1 ? std::atoi(argv[1]) : 1;
    CORBA::Object_var root = orb->resolve_initial_references("RootPOA");
    PortableServer::POA_var poa = PortableServer::POA::_narrow(root);
    CORBA::String_var reference;
    for (int at = 0; at < objects; ++at) {
        Greeter *greeter = new Greeter;
        PortableServer::ObjectId_var id = poa->activate_object(greeter);
        if (at == 0) {
            Hello_var hello = greeter->_this();
            reference = orb->object_to_string(hello);
        }
        greeter->_remove_ref();
    }
    PortableServer::POAManager_var manager = poa->the_POAManager();
    manager->activate();
    std::cout << reference.in() << std::endl;
    orb->run();
}
