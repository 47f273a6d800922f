// Suppliers and consumers whose service is killed and started again: what they see, and how they come back.

import java.util.Arrays;
import org.omg.CORBA.COMM_FAILURE;
import org.omg.CORBA.OBJECT_NOT_EXIST;
import org.omg.CORBA.ORB;
import org.omg.CORBA.TRANSIENT;
import org.omg.CosEventChannelAdmin.EventChannelHelper;
import org.omg.CosNotification.Property;
import org.omg.CosNotifyChannelAdmin.ClientType;
import org.omg.CosNotifyChannelAdmin.EventChannel;
import org.omg.PortableServer.POAHelper;

final class Survivors {
    private Survivors() {}

    private static void isAway(Cases.Body call) {
        try {
            call.run();
        } catch (COMM_FAILURE | TRANSIENT away) {
            return;
        } catch (Exception other) {
            throw new AssertionError(other + " instead of TRANSIENT or COMM_FAILURE");
        }
        throw new AssertionError("the call succeeds");
    }

    /** The clients at a channel of a Notification Service. */
    private static final class Clients {
        final EventChannel channel;
        final Consumer consumer;
        final Pulling pulling;
        final Pushing supplier;

        Clients(Notifications place, Property... quality) throws Exception {
            channel = place.channel(quality);
            consumer = place.consumer(channel, ClientType.STRUCTURED_EVENT, true);
            pulling = place.pulling(channel);
            supplier = place.pushing(channel);
        }

        void pass(Notifications place, int number, Integer... all) throws Exception {
            supplier.supply(place.alarms.plain(number));
            Cases.same(consumer.take(all.length), Arrays.asList(all));
            Cases.same(pulling.take(1), Notifications.numbers(number));
        }
    }

    /** At a Notification Service with a store, of which one channel is kept and another is not. */
    static int ofNotifications(ORB orb, String url) throws Exception {
        Notifications place = new Notifications(orb, url);
        Clients kept = new Clients(place, new Property("ConnectionReliability", place.alarms.ofShort((short) 1)));
        Clients lost = new Clients(place);
        Cases.test("before the kill", () -> {
            kept.pass(place, 1, 1);
            lost.pass(place, 1, 1);
        });
        Cases.nextStep();
        Cases.test("killed, suppliers that push", () -> isAway(() -> kept.supplier.supply(place.alarms.plain(2))));
        Cases.test("killed, consumers that pull", () -> isAway(kept.pulling::poll));
        Cases.nextStep();
        Cases.test("kept channel, all go on", () -> kept.pass(place, 3, 1, 3));
        Cases.test("lost channel, suppliers that push", () ->
            Cases.raises(OBJECT_NOT_EXIST.class, () -> lost.supplier.supply(place.alarms.plain(4))));
        Cases.test("lost channel, consumers that pull", () -> Cases.raises(OBJECT_NOT_EXIST.class, lost.pulling::poll));
        Cases.test("lost channel, consumers that ask", () -> Cases.hold(lost.consumer.proxy._non_existent(), "it exists"));
        Cases.test("lost channel, all connect again", () -> new Clients(place).pass(place, 5, 5));
        return Cases.done();
    }

    /** At an Event Service that keeps connections, or not. */
    static int ofEvents(ORB orb, String url, boolean kept) throws Exception {
        POAHelper.narrow(orb.resolve_initial_references("RootPOA")).the_POAManager().activate();
        String prefix = kept ? "kept, " : "lost, ";
        EventClients[] at = {new EventClients(orb, EventChannelHelper.narrow(orb.string_to_object(url)))};
        Cases.test(prefix + "before the kill", () -> pass(at[0], 1, 1));
        Cases.nextStep();
        Cases.test(prefix + "killed, suppliers that push", () -> isAway(() -> at[0].pushes.push(at[0].number(2))));
        Cases.test(prefix + "killed, consumers that pull", () -> isAway(() -> at[0].pulls.pull()));
        Cases.nextStep();
        if (kept) {
            Cases.test("kept, all go on", () -> pass(at[0], 3, 1, 3));
            return Cases.done();
        }
        Cases.test("lost, suppliers that push", () ->
            Cases.raises(OBJECT_NOT_EXIST.class, () -> at[0].pushes.push(at[0].number(4))));
        Cases.test("lost, consumers that pull", () -> Cases.raises(OBJECT_NOT_EXIST.class, () -> at[0].pulls.pull()));
        Cases.test("lost, consumers that ask", () -> Cases.hold(at[0].toConsumer._non_existent(), "it exists"));
        Cases.test("lost, all connect again", () ->
            pass(new EventClients(orb, EventChannelHelper.narrow(orb.string_to_object(url))), 5, 5));
        return Cases.done();
    }

    private static void pass(EventClients clients, int number, Integer... all) throws Exception {
        clients.pushes.push(clients.number(number));
        Cases.same(EventClients.numbers(clients.received.first(all.length)), Arrays.asList(all));
        Cases.same(clients.pulls.pull().extract_long(), number);
    }
}
