// A client of the bank: what servant managers, default servants, forwards and a restart look like from
// here.
#include "adapters.hh"
#include "cases.hh"
#include "roles.hh"

using std::string;
using adapters::Account;
using adapters::Account_ptr;
using adapters::Account_var;

namespace {

/** What has happened at the server since this was asked last, with `; ` between. */
string events(adapters::Bank_ptr bank) {
    adapters::Strings_var all = bank->events();
    string joined;
    for (CORBA::ULong i = 0; i < all->length(); ++i) joined += (i ? "; " : "") + string(all[i]);
    return joined;
}

/** The account says itself which it is. */
void is(Account_ptr account, const char* adapter, const char* id) {
    same(account->id(), id);
    same(account->adapter(), adapter);
}

void servant_locator(adapters::Bank_ptr bank) {
    test("servant locator, cookies", [&] {
        Account_var anna = bank->open("located", "anna"), bert = bank->open("located", "bert");
        events(bank);
        same(anna->id(), "anna");
        same(bert->adapter(), "located");
        hold(anna->deposit(5) == 5, "another sum");
        same(events(bank),
             "preinvoke anna _get_id, cookie 1; postinvoke anna _get_id, cookie 1; "
             "preinvoke bert _get_adapter, cookie 2; postinvoke bert _get_adapter, cookie 2; "
             "preinvoke anna deposit, cookie 3; postinvoke anna deposit, cookie 3");
    });
    test("servant locator, user exception", [&] {
        Account_var anna = bank->open("located", "anna");
        try {
            anna->deposit(-100);
            throw Wrong{"Overdrawn was not raised"};
        } catch (const adapters::Overdrawn& overdrawn) {
            hold(overdrawn.balance == 5, "another balance");
        }
        events(bank);
    });
    test("servant locator, forward", [&] {
        Account_var moved = bank->open("located", "moved");
        is(moved, "shared", "here");
        hold(moved->_is_a("IDL:adapters/Account:1.0"), "what it is forwarded to is no Account");
    });
    test("servant locator, refusal", [&] {
        Account_var missing = bank->open("located", "missing");
        raises<CORBA::OBJECT_NOT_EXIST>("OBJECT_NOT_EXIST", [&] { missing->deposit(1); });
        Account_var anna = bank->open("located", "anna");
        is(anna, "located", "anna");
    });
    test("servant locator, panic", [&] {
        Account_var panics = bank->open("located", "panic");
        raises<CORBA::UNKNOWN>("UNKNOWN", [&] { panics->deposit(1); });
        Account_var anna = bank->open("located", "anna");
        is(anna, "located", "anna");
    });
}

void default_servant(adapters::Bank_ptr bank) {
    test("default servant", [&] {
        Account_var anna = bank->open("shared", "anna"), bert = bank->open("shared", "bert");
        is(anna, "shared", "anna");
        is(bert, "shared", "bert");
        hold(anna->deposit(3) == 3 && bert->deposit(4) == 4, "another sum at first");
        hold(anna->deposit(3) == 6 && bert->deposit(4) == 8, "another sum");
        hold(!anna->_is_equivalent(bert), "two accounts are one");
    });
}

void servant_activator(adapters::Bank_ptr bank) {
    test("servant activator", [&] {
        Account_var anna = bank->open("activated", "anna");
        events(bank);
        is(anna, "activated", "anna");
        hold(anna->deposit(7) == 7, "another sum");
        same(events(bank), "incarnate anna");
        bank->close("activated", "anna");
        hold(anna->deposit(1) == 8, "another sum after etherealization");
        same(events(bank), "etherealize anna; incarnate anna");
    });
    test("servant activator, forward", [&] {
        Account_var moved = bank->open("activated", "moved");
        is(moved, "shared", "here");
    });
    test("servant activator, refusal", [&] {
        Account_var missing = bank->open("activated", "missing");
        raises<CORBA::OBJECT_NOT_EXIST>("OBJECT_NOT_EXIST", [&] { missing->deposit(1); });
    });
    test("is_a, non_existent, by an activator", [&] {
        Account_var sleeper = bank->open("activated", "sleeper");
        hold(!sleeper->_non_existent(), "it does not exist");
        hold(sleeper->_is_a("IDL:adapters/Account:1.0"), "it is no Account");
        hold(sleeper->_is_a("IDL:adapters/Identified:1.0"), "it is not Identified");
        hold(!sleeper->_is_a("IDL:adapters/Bank:1.0"), "it is a Bank");
        Account_var missing = bank->open("activated", "missing");
        hold(missing->_non_existent(), "what the activator does not know exists");
    });
}

adapters::Bank_ptr bank_at(CORBA::ORB_ptr orb, const char* url) {
    CORBA::Object_var object = orb->string_to_object(url);
    // It has no type id, so that the server is asked.
    return adapters::Bank::_narrow(object);
}

}  // namespace

int visit(CORBA::ORB_ptr orb, const char* url) {
    adapters::Bank_var bank;
    test("corbaloc of a plain key", [&] {
        bank = bank_at(orb, url);
        hold(!CORBA::is_nil(bank), "it is no Bank");
        events(bank);
    });
    if (CORBA::is_nil(bank)) return done() ? 0 : 1;
    test("corbaloc of an unknown key", [&] {
        CORBA::Object_var nobody = orb->string_to_object((string(url) + "rupt").c_str());
        raises<CORBA::OBJECT_NOT_EXIST>("OBJECT_NOT_EXIST", [&] {
            adapters::Bank_var none = adapters::Bank::_unchecked_narrow(nobody);
            adapters::Strings_var all = none->events();
        });
    });
    servant_locator(bank);
    default_servant(bank);
    servant_activator(bank);

    Account_var lasting, branch, transient;
    test("adapter activator", [&] {
        events(bank);
        lasting = bank->open("lasting", "anna");
        branch = bank->open("branch", "bert");
        transient = bank->open("shared", "anna");
        same(events(bank), "unknown adapter lasting; unknown adapter branch");
        is(lasting, "lasting", "anna");
        is(branch, "branch", "bert");
        same(events(bank), "incarnate bert");
    });
    next_step();
    test("persistent reference after a restart", [&] {
        is(lasting, "lasting", "anna");
        hold(lasting->deposit(2) == 2, "another sum");
        is(branch, "branch", "bert");
    });
    test("adapter activators after a restart", [&] {
        bank = bank_at(orb, url);
        same(events(bank), "unknown adapter lasting; unknown adapter branch; incarnate bert");
    });
    test("transient reference after a restart", [&] {
        raises<CORBA::OBJECT_NOT_EXIST>("OBJECT_NOT_EXIST", [&] { transient->deposit(1); });
    });
    next_step();
    test("persistent reference after a crash", [&] {
        try {
            CORBA::String_var id = branch->id();
        } catch (const CORBA::COMM_FAILURE&) {
            // Whoever was connected may learn once that the server has gone without a word.
        }
        is(branch, "branch", "bert");
        is(lasting, "lasting", "anna");
    });
    return done() ? 0 : 1;
}
