// A client in C++, by omniORB, of the server that `punctual new` makes: greeter.idl is compiled by both.

#include "greeter.hh"

#include <iostream>

int main(int argc, char **argv)
{
    try {
        CORBA::ORB_var orb = CORBA::ORB_init(argc, argv);
        if (argc != 2) {
            std::cerr << "usage: client REFERENCE" << std::endl;
            return 2;
        }
        CORBA::Object_var object = orb->string_to_object(argv[1]);
        Greeter_var greeter = Greeter::_narrow(object);
        if (CORBA::is_nil(greeter)) {
            std::cerr << "the object is no Greeter" << std::endl;
            return 1;
        }
        CORBA::String_var said = greeter->greet("C++");
        std::cout << said << std::endl;
        std::cout << greeter->greeted() << " greeted so far" << std::endl;
        try {
            greeter->greet("");
        } catch (const Greeter::Nameless &refused) {
            std::cout << "not greeted: " << refused.why << std::endl;
        }
        orb->destroy();
        return 0;
    } catch (const CORBA::SystemException &failed) {
        std::cerr << failed._name() << ", minor code " << failed.NP_minorString() << std::endl;
        return 1;
    }
}
