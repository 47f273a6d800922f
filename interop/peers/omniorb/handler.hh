// A reply handler of `ami::Clerk` that hands on what it is told, as words.
#ifndef HANDLER_HH
#define HANDLER_HH

#include "asynchronous.hh"
#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>

class Handler : public POA_ami::AMI_ClerkHandler {
public:
    /** One that prints lines `told WHAT`, or keeps what it is told. */
    explicit Handler(bool prints) : prints_(prints) {}

    /** What it is told next; waits for that. */
    std::string next();
    /** Whether it has been told nothing more. */
    bool is_quiet();

    void get_rate(CORBA::Long value) override;
    void get_rate_excep(Messaging::ExceptionHolder* holder) override;
    void set_rate() override;
    void set_rate_excep(Messaging::ExceptionHolder* holder) override;
    void add(CORBA::Long sum) override;
    void add_excep(Messaging::ExceptionHolder* holder) override;
    void copies(const char* text, CORBA::Long number, CORBA::Boolean many) override;
    void copies_excep(Messaging::ExceptionHolder* holder) override;

private:
    void excep(const char* what, Messaging::ExceptionHolder* holder);
    void tell(const std::string& what);

    const bool prints_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::string> told_;
};

#endif
