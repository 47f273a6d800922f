// A client of the bank: what servant managers, default servants, forwards and a restart look like from
// here.

import adapters.Account;
import adapters.Bank;
import adapters.BankHelper;
import adapters.Overdrawn;
import java.io.IOException;
import org.omg.CORBA.INTF_REPOS;
import org.omg.CORBA.OBJECT_NOT_EXIST;
import org.omg.CORBA.ORB;
import org.omg.CORBA.UNKNOWN;

final class Accounts {
    private final ORB orb;
    private final String url;
    private Bank bank;

    private Accounts(ORB orb, String url) {
        this.orb = orb;
        this.url = url;
    }

    /**
     * Visits the accounts of the bank at that URL, and prints lines as other clients do. At a line
     * `restart` the server is to be stopped, the second time killed, and started again, and a line is to
     * come on standard input.
     */
    static int visit(ORB orb, String url) throws IOException {
        new Accounts(orb, url).visit();
        return Cases.done();
    }

    private void visit() throws IOException {
        Cases.test("corbaloc of a plain key", () -> {
            bank = bank();
            events();
        });
        if (bank == null) return;
        Cases.test("corbaloc of an unknown key", () -> {
            Bank nobody = BankHelper.unchecked_narrow(orb.string_to_object(url + "rupt"));
            Cases.raises(OBJECT_NOT_EXIST.class, nobody::events);
        });
        servantLocator();
        defaultServant();
        servantActivator();
        restart();
    }

    private Bank bank() {
        // It has no type id, so that the server is asked.
        return BankHelper.narrow(orb.string_to_object(url));
    }

    /** What has happened at the server since this was asked last. */
    private String events() {
        return String.join("; ", bank.events());
    }

    /** The account says itself which it is. */
    private static void is(Account account, String adapter, String id) {
        Cases.same(account.id(), id);
        Cases.same(account.adapter(), adapter);
    }

    private void servantLocator() {
        Account anna = bank.open("located", "anna");
        Account bert = bank.open("located", "bert");
        Cases.test("servant locator, cookies", () -> {
            events();
            Cases.same(anna.id(), "anna");
            Cases.same(bert.adapter(), "located");
            Cases.same(anna.deposit(5), 5);
            Cases.same(events(),
                "preinvoke anna _get_id, cookie 1; postinvoke anna _get_id, cookie 1; "
                    + "preinvoke bert _get_adapter, cookie 2; postinvoke bert _get_adapter, cookie 2; "
                    + "preinvoke anna deposit, cookie 3; postinvoke anna deposit, cookie 3");
        });
        Cases.test("servant locator, user exception", () ->
            Cases.same(Cases.raises(Overdrawn.class, () -> anna.deposit(-100)).balance, 5));
        Cases.test("servant locator, forward", () -> {
            Account moved = bank.open("located", "moved");
            is(moved, "shared", "here");
            Cases.hold(moved._is_a("IDL:adapters/Account:1.0"), "what it is forwarded to is no Account");
        });
        Cases.test("servant locator, refusal", () -> {
            Account missing = bank.open("located", "missing");
            Cases.raises(OBJECT_NOT_EXIST.class, () -> missing.deposit(1));
            is(anna, "located", "anna");
        });
        Cases.test("servant locator, panic", () -> {
            Account panics = bank.open("located", "panic");
            Cases.raises(UNKNOWN.class, () -> panics.deposit(1));
            is(anna, "located", "anna");
        });
    }

    private void defaultServant() {
        Cases.test("default servant", () -> {
            Account anna = bank.open("shared", "anna");
            Account bert = bank.open("shared", "bert");
            is(anna, "shared", "anna");
            is(bert, "shared", "bert");
            Cases.same(anna.deposit(3), 3);
            Cases.same(bert.deposit(4), 4);
            Cases.same(anna.deposit(3), 6);
            Cases.same(bert.deposit(4), 8);
            Cases.hold(!anna._is_equivalent(bert), "two accounts are one");
        });
    }

    private void servantActivator() {
        Cases.test("servant activator", () -> {
            Account anna = bank.open("activated", "anna");
            events();
            is(anna, "activated", "anna");
            Cases.same(anna.deposit(7), 7);
            Cases.same(events(), "incarnate anna");
            bank.close("activated", "anna");
            Cases.same(anna.deposit(1), 8);
            Cases.same(events(), "etherealize anna; incarnate anna");
        });
        Cases.test("servant activator, forward", () ->
            is(bank.open("activated", "moved"), "shared", "here"));
        Cases.test("servant activator, refusal", () -> {
            Account missing = bank.open("activated", "missing");
            Cases.raises(OBJECT_NOT_EXIST.class, () -> missing.deposit(1));
        });
        Cases.test("is_a, non_existent, by an activator", () -> {
            Account sleeper = bank.open("activated", "sleeper");
            Cases.hold(!sleeper._non_existent(), "it does not exist");
            Cases.hold(sleeper._is_a("IDL:adapters/Account:1.0"), "it is no Account");
            Cases.hold(sleeper._is_a("IDL:adapters/Identified:1.0"), "it is not Identified");
            Cases.hold(!sleeper._is_a("IDL:adapters/Bank:1.0"), "it is a Bank");
            Cases.hold(bank.open("activated", "missing")._non_existent(),
                "what the activator does not know exists");
        });
        Cases.test("repository_id, interface", () -> {
            Account sleeper = bank.open("activated", "sleeper");
            Cases.same(sleeper._repository_id(), "IDL:adapters/Account:1.0");
            Cases.raises(INTF_REPOS.class, sleeper::_get_interface_def);
        });
    }

    /** The server stops, or is killed, and starts again at the same endpoint. */
    private void restart() throws IOException {
        events();
        Account lasting = bank.open("lasting", "anna");
        Account branch = bank.open("branch", "bert");
        Account passing = bank.open("shared", "anna");
        Cases.test("adapter activator", () -> {
            Cases.same(events(), "unknown adapter lasting; unknown adapter branch");
            is(lasting, "lasting", "anna");
            is(branch, "branch", "bert");
            Cases.same(events(), "incarnate bert");
        });
        Cases.nextStep();
        Cases.test("persistent reference after a restart", () -> {
            is(lasting, "lasting", "anna");
            Cases.same(lasting.deposit(2), 2);
            is(branch, "branch", "bert");
        });
        Cases.test("adapter activators after a restart", () -> {
            bank = bank();
            Cases.same(events(), "unknown adapter lasting; unknown adapter branch; incarnate bert");
        });
        Cases.test("transient reference after a restart", () ->
            Cases.raises(OBJECT_NOT_EXIST.class, () -> passing.deposit(1)));
        Cases.nextStep();
        Cases.test("persistent reference after a crash", () -> {
            is(branch, "branch", "bert");
            is(lasting, "lasting", "anna");
        });
    }
}
