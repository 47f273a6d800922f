// Clients of the Event Service: a supplier and a consumer of each kind at a channel.

import java.util.Arrays;
import java.util.List;
import org.omg.CORBA.Any;
import org.omg.CORBA.BooleanHolder;
import org.omg.CORBA.OBJECT_NOT_EXIST;
import org.omg.CORBA.ORB;
import org.omg.CosEventChannelAdmin.AlreadyConnected;
import org.omg.CosEventChannelAdmin.EventChannel;
import org.omg.CosEventChannelAdmin.EventChannelHelper;
import org.omg.CosEventChannelAdmin.ProxyPullConsumer;
import org.omg.CosEventChannelAdmin.ProxyPullSupplier;
import org.omg.CosEventChannelAdmin.ProxyPushConsumer;
import org.omg.CosEventChannelAdmin.ProxyPushSupplier;
import org.omg.CosEventComm.Disconnected;
import org.omg.CosEventComm.PullConsumerPOA;
import org.omg.CosEventComm.PullSupplierPOA;
import org.omg.CosEventComm.PushConsumerPOA;
import org.omg.CosEventComm.PushSupplierPOA;
import org.omg.PortableServer.POAHelper;

/** A client of each kind at one channel, connected. */
final class EventClients {
    final Arrivals<Any> received = new Arrivals<>();
    final Arrivals<String> ended = new Arrivals<>();
    private final Arrivals<Any> waiting = new Arrivals<>();
    private final ORB orb;
    final ProxyPushSupplier toConsumer;
    final ProxyPullSupplier pulls;
    final ProxyPushConsumer pushes;
    final ProxyPullConsumer fromSupplier;

    EventClients(ORB orb, EventChannel channel) throws Exception {
        this.orb = orb;
        toConsumer = channel.for_consumers().obtain_push_supplier();
        toConsumer.connect_push_consumer(new PushedTo()._this(orb));
        pulls = channel.for_consumers().obtain_pull_supplier();
        pulls.connect_pull_consumer(new Puller()._this(orb));
        pushes = channel.for_suppliers().obtain_push_consumer();
        pushes.connect_push_supplier(new Pusher()._this(orb));
        fromSupplier = channel.for_suppliers().obtain_pull_consumer();
        fromSupplier.connect_pull_supplier(new Source()._this(orb));
    }

    /** Prints how each case went at that channel. */
    static int call(ORB orb, String reference) throws Exception {
        POAHelper.narrow(orb.resolve_initial_references("RootPOA")).the_POAManager().activate();
        EventChannel channel = EventChannelHelper.narrow(orb.string_to_object(reference));
        Cases.test("pushed and pulled", () -> cross(orb, channel));
        Cases.test("Anys of each kind", () -> payloads(orb, channel));
        Cases.test("a second connection is refused", () -> {
            EventClients clients = new EventClients(orb, channel);
            Cases.raises(AlreadyConnected.class, () -> clients.toConsumer.connect_push_consumer(clients.new PushedTo()._this(orb)));
            Cases.raises(AlreadyConnected.class, () -> clients.pushes.connect_push_supplier(clients.new Pusher()._this(orb)));
            clients.end();
        });
        Cases.test("there is nothing to pull", () -> {
            EventClients clients = new EventClients(orb, channel);
            BooleanHolder has = new BooleanHolder(true);
            clients.pulls.try_pull(has);
            Cases.hold(!has.value, "there is an event");
            clients.end();
        });
        Cases.test("all are told of the end", () -> {
            EventClients clients = new EventClients(orb, channel);
            clients.end();
            clients.ended.first(4);
        });
        Cases.test("a push behind the end is refused", () -> {
            EventClients clients = new EventClients(orb, channel);
            clients.end();
            try {
                clients.pushes.push(clients.number(1));
            } catch (Disconnected | OBJECT_NOT_EXIST refused) {
                return;
            }
            throw new AssertionError("it is taken");
        });
        return Cases.done();
    }

    /** Events of suppliers of each kind reach consumers of each kind. */
    static void cross(ORB orb, EventChannel channel) throws Exception {
        EventClients clients = new EventClients(orb, channel);
        for (int number = 1; number <= 3; ++number) clients.pushes.push(clients.number(number));
        Cases.same(numbers(clients.received.first(3)), Arrays.asList(1, 2, 3));
        for (int number = 4; number <= 6; ++number) clients.waiting.add(clients.number(number));
        Cases.same(numbers(clients.received.first(6)), Arrays.asList(1, 2, 3, 4, 5, 6));
        for (int number = 1; number <= 6; ++number) Cases.same(clients.pulls.pull().extract_long(), number);
        clients.end();
    }

    private static void payloads(ORB orb, EventChannel channel) throws Exception {
        EventClients clients = new EventClients(orb, channel);
        Alarms alarms = new Alarms(orb);
        Any[] sent = {orb.create_any(), orb.create_any(), orb.create_any(), orb.create_any(), orb.create_any(), orb.create_any()};
        sent[0].insert_string("grün");
        sent[1].insert_wstring("żółw");
        sent[2].insert_TypeCode(org.omg.CosNotification.StructuredEventHelper.type());
        org.omg.CosNotification.StructuredEventHelper.insert(sent[3], alarms.event(7));
        org.omg.CORBA.OctetSeqHelper.insert(sent[4], new byte[500_000]);
        sent[5].insert_any(alarms.ofDouble(1.5));
        for (Any one : sent) clients.pushes.push(one);
        List<Any> got = clients.received.first(sent.length);
        for (int at = 0; at < sent.length; ++at) {
            Cases.hold(got.get(at).equal(sent[at]), "another Any of " + sent[at].type());
            Cases.hold(clients.pulls.pull().equal(sent[at]), "another Any is pulled");
        }
        clients.end();
    }

    void end() {
        toConsumer.disconnect_push_supplier();
        pulls.disconnect_pull_supplier();
        pushes.disconnect_push_consumer();
        fromSupplier.disconnect_pull_consumer();
    }

    Any number(int number) {
        Any any = orb.create_any();
        any.insert_long(number);
        return any;
    }

    static List<Integer> numbers(List<Any> all) {
        return all.stream().map(Any::extract_long).collect(java.util.stream.Collectors.toList());
    }

    private final class PushedTo extends PushConsumerPOA {
        @Override public void push(Any data) { received.add(data); }
        @Override public void disconnect_push_consumer() { ended.add("push consumer"); }
    }

    private final class Puller extends PullConsumerPOA {
        @Override public void disconnect_pull_consumer() { ended.add("pull consumer"); }
    }

    private final class Pusher extends PushSupplierPOA {
        @Override public void disconnect_push_supplier() { ended.add("push supplier"); }
    }

    private final class Source extends PullSupplierPOA {
        @Override public Any pull() { return waiting.take(); }
        @Override public Any try_pull(BooleanHolder has) {
            Any next = waiting.poll();
            has.value = next != null;
            return has.value ? next : number(0);
        }
        @Override public void disconnect_pull_supplier() { ended.add("pull supplier"); }
    }
}
