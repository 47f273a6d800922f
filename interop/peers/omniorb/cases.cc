// Cases of a client.
#include "cases.hh"
#include "roles.hh"
#include <iostream>

using std::string;

namespace {

int failures = 0;

}  // namespace

void test(const char* name, const std::function<void()>& body) {
    string why;
    try {
        body();
    } catch (const Wrong& wrong) {
        why = wrong.what;
    } catch (const CORBA::SystemException& exception) {
        why = exception_words(exception);
    } catch (const CORBA::UserException& exception) {
        why = exception._name();
    }
    if (why.empty()) {
        std::cout << "ok " << name << std::endl;
    } else {
        ++failures;
        std::cout << "FAIL " << name << ": " << why << std::endl;
    }
}

bool done() {
    std::cout << "done" << std::endl;
    return failures == 0;
}

void same(const string& got, const string& expected) {
    if (got != expected) throw Wrong{"got `" + got + "` instead of `" + expected + "`"};
}

void same(char* got, const char* expected) {
    CORBA::String_var owned = got;
    same(string(got), string(expected));
}

void hold(bool condition, const char* what) {
    if (!condition) throw Wrong{what};
}

void next_step() {
    std::cout << "restart" << std::endl;
    string line;
    if (!std::getline(std::cin, line)) throw Wrong{"nobody has answered"};
}
