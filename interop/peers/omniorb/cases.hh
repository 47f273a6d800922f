// Cases of a client: a line `ok CASE` or `FAIL CASE: why` for each.
#ifndef CASES_HH
#define CASES_HH

#include <functional>
#include <string>

/** What is wrong about an answer. */
struct Wrong {
    std::string what;
};

/** Tries a case and prints how it went. */
void test(const char* name, const std::function<void()>& body);

/** Whether all cases so far went well, after a last line. */
bool done();

void same(const std::string& got, const std::string& expected);
/** The same, of a string that is freed. */
void same(char* got, const char* expected);
void hold(bool condition, const char* what);

/** Has the server take its next step, such as to stop or to start again: a line `restart`, answered by one on standard input. */
void next_step();

/** The body raises that exception. */
template <class E> void raises(const char* what, const std::function<void()>& body) {
    try {
        body();
    } catch (const E&) {
        return;
    }
    throw Wrong{std::string(what) + " was not raised"};
}

#endif
