// A client of a clerk that answers later. What has a first argument of 100 or more the clerk holds: when three are held it answers
// the newest, and then another one each time that its rate is set. What is negative it never answers.

import ami.*;
import org.omg.CORBA.NO_RESPONSE;
import org.omg.CORBA.ORB;
import org.omg.CORBA.Request;
import org.omg.CORBA.TCKind;
import org.omg.PortableServer.POAHelper;

final class Later {
    private Later() {}

    private static Request request(ORB orb, _ClerkStub clerk, int a) {
        Request made = clerk._request("add");
        made.add_in_arg().insert_long(a);
        made.add_in_arg().insert_long(1);
        made.set_return_type(orb.get_primitive_tc(TCKind.tk_long));
        return made;
    }

    static int ask(ORB orb, String target) throws Exception {
        POAHelper.narrow(orb.resolve_initial_references("RootPOA")).the_POAManager().activate();
        _ClerkStub clerk = (_ClerkStub) ClerkHelper.narrow(orb.string_to_object(target));
        Asynchronous.AHandler handler = new Asynchronous.AHandler();
        AMI_ClerkHandler own = handler._this(orb);
        Cases.test("a synchronous call", () -> {
            Cases.same(clerk.add(1, 2), 3);
            Cases.raises(NO_RESPONSE.class, () -> clerk.add(-1, 0));
        });
        // They go by one connection, in their order.
        Cases.test("three calls with a handler, one at a time", () -> {
            for (int a = 100; a < 103; ++a) clerk.sendc_add(own, a, 1);
            Cases.same(handler.next(), "add 103");
            Cases.hold(handler.told.isEmpty(), "an answer that has not been given");
            clerk.rate(0);
            Cases.same(handler.next(), "add 102");
            Cases.hold(handler.told.isEmpty(), "an answer that has not been given");
            clerk.rate(0);
            Cases.same(handler.next(), "add 101");
        });
        // Each is sent by a thread of its own, so that the order is not known.
        Cases.test("three deferred requests, one at a time", () -> {
            Request[] all = {request(orb, clerk, 100), request(orb, clerk, 101), request(orb, clerk, 102)};
            orb.send_multiple_requests_deferred(all);
            int sum = 0;
            for (int answered = 0; answered < 3; ++answered) {
                if (answered > 0) {
                    Cases.hold(!orb.poll_next_response(), "an answer that has not been given");
                    clerk.rate(0);
                }
                sum += orb.get_next_response().return_value().extract_long();
            }
            Cases.same(sum, 101 + 102 + 103);
        });
        Cases.test("one deferred request", () -> {
            Request one = request(orb, clerk, 1);
            one.send_deferred();
            one.get_response();
            Cases.same(one.return_value().extract_long(), 2);
        });
        Cases.test("results and exceptions, to a handler", () -> {
            clerk.sendc_copies(own, "ab", 3);
            Cases.same(handler.next(), "copies ababab 0 true");
            clerk.sendc_copies(own, "ab", 0);
            Cases.same(handler.next(), "copies Refused no copies of ab");
            clerk.sendc_add(own, -1, 0);
            Cases.same(handler.next(), "add NO_RESPONSE");
        });
        return Cases.done();
    }
}
