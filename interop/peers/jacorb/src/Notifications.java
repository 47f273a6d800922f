// A client of a Notification Service: suppliers and consumers of each form, what it says of channels, and the ends of connections.

import java.util.Arrays;
import java.util.List;
import org.omg.CORBA.IntHolder;
import org.omg.CORBA.ORB;
import org.omg.CosNotification.EventType;
import org.omg.CosNotification.Property;
import org.omg.CosNotifyChannelAdmin.AdminNotFound;
import org.omg.CosNotifyChannelAdmin.ChannelNotFound;
import org.omg.CosNotifyChannelAdmin.ClientType;
import org.omg.CosNotifyChannelAdmin.ConsumerAdmin;
import org.omg.CosNotifyChannelAdmin.EventChannel;
import org.omg.CosNotifyChannelAdmin.EventChannelFactory;
import org.omg.CosNotifyChannelAdmin.EventChannelFactoryHelper;
import org.omg.CosNotifyChannelAdmin.InterFilterGroupOperator;
import org.omg.CosNotifyChannelAdmin.ProxyNotFound;
import org.omg.CosNotifyChannelAdmin.ProxyType;
import org.omg.CosNotifyChannelAdmin.SupplierAdmin;
import org.omg.PortableServer.POA;
import org.omg.PortableServer.POAHelper;

final class Notifications {
    static final ClientType[] FORMS = {ClientType.ANY_EVENT, ClientType.STRUCTURED_EVENT, ClientType.SEQUENCE_EVENT};
    static final EventType[] NO_TYPES = {};

    final ORB orb;
    final Alarms alarms;
    final EventChannelFactory factory;

    Notifications(ORB orb, String reference) throws Exception {
        this.orb = orb;
        alarms = new Alarms(orb);
        POA root = POAHelper.narrow(orb.resolve_initial_references("RootPOA"));
        root.the_POAManager().activate();
        factory = EventChannelFactoryHelper.narrow(orb.string_to_object(reference));
    }

    /** Prints how each case went at the service with that factory; `constraints` is the file of constraints. */
    static int call(ORB orb, String reference, String constraints) throws Exception {
        Notifications place = new Notifications(orb, reference);
        for (ClientType from : FORMS) {
            for (boolean pushes : new boolean[] {true, false}) place.cross(from, pushes);
        }
        place.ends();
        place.topology();
        new Qualities(place).all();
        new Filters(place).all(constraints);
        new Types(place).all();
        return Cases.done();
    }

    EventChannel channel(Property... quality) throws Exception {
        return factory.create_channel(quality, new Property[0], new IntHolder());
    }

    Consumer consumer(EventChannel channel, ClientType form, boolean pushed) throws Exception {
        return Consumer.connect(this, channel.default_consumer_admin(), form, pushed);
    }

    /** A consumer of structured events that pulls. */
    Pulling pulling(EventChannel channel) throws Exception {
        return (Pulling) consumer(channel, ClientType.STRUCTURED_EVENT, false);
    }

    Supplier supplier(EventChannel channel, ClientType form, boolean pushes) throws Exception {
        return Supplier.connect(this, channel.default_supplier_admin(), form, pushes);
    }

    /** A supplier of structured events that pushes. */
    Pushing pushing(EventChannel channel) throws Exception {
        return (Pushing) supplier(channel, ClientType.STRUCTURED_EVENT, true);
    }

    static String name(ClientType form) {
        return form == ClientType.ANY_EVENT ? "any" : form == ClientType.STRUCTURED_EVENT ? "structured" : "sequence";
    }

    /** Events of suppliers of one kind reach consumers of each kind. */
    private void cross(ClientType from, boolean pushes) {
        for (ClientType to : FORMS) {
            for (boolean pushed : new boolean[] {true, false}) {
                String row = name(from) + (pushes ? " pushed" : " pulled") + ", " + name(to)
                    + (pushed ? " pushed" : " pulled");
                Cases.test(row, () -> {
                    EventChannel channel = channel();
                    Consumer consumer = consumer(channel, to, pushed);
                    Supplier supplier = supplier(channel, from, pushes);
                    for (int number = 1; number <= 3; ++number) supplier.supply(alarms.plain(number));
                    Cases.same(consumer.take(3), Arrays.asList(1, 2, 3));
                    channel.destroy();
                });
            }
        }
    }

    private void ends() {
        for (boolean push : new boolean[] {true, false}) {
            Cases.test("the end, consumers that " + (push ? "are pushed to" : "pull"), () -> {
                EventChannel channel = channel();
                Consumer[] consumers = new Consumer[FORMS.length];
                for (int at = 0; at < FORMS.length; ++at) consumers[at] = consumer(channel, FORMS[at], push);
                channel.destroy();
                for (Consumer consumer : consumers) consumer.ended.first(1);
            });
            Cases.test("the end, suppliers that " + (push ? "push" : "are pulled from"), () -> {
                EventChannel channel = channel();
                Supplier[] suppliers = new Supplier[FORMS.length];
                for (int at = 0; at < FORMS.length; ++at) suppliers[at] = supplier(channel, FORMS[at], push);
                channel.destroy();
                for (Supplier supplier : suppliers) supplier.ended.first(1);
            });
        }
    }

    private void topology() {
        Cases.test("channels are found by their ids", () -> {
            IntHolder id = new IntHolder();
            EventChannel channel = factory.create_channel(new Property[0], new Property[0], id);
            Cases.hold(has(factory.get_all_channels(), id.value), "it is not among all");
            Cases.hold(factory.get_event_channel(id.value)._is_equivalent(channel), "it is another");
            Cases.hold(channel.MyFactory()._is_equivalent(factory), "it has another factory");
            channel.destroy();
            Cases.raises(ChannelNotFound.class, () -> factory.get_event_channel(id.value));
        });
        Cases.test("administrators are found by their ids", () -> {
            EventChannel channel = channel();
            IntHolder id = new IntHolder();
            ConsumerAdmin consumers = channel.new_for_consumers(InterFilterGroupOperator.OR_OP, id);
            Cases.same(consumers.MyID(), id.value);
            Cases.hold(consumers.MyOperator() == InterFilterGroupOperator.OR_OP, "another operator");
            Cases.hold(has(channel.get_all_consumeradmins(), id.value), "it is not among all");
            Cases.hold(channel.get_consumeradmin(id.value)._is_equivalent(consumers), "it is another");
            SupplierAdmin suppliers = channel.new_for_suppliers(InterFilterGroupOperator.AND_OP, id);
            Cases.hold(channel.get_supplieradmin(id.value)._is_equivalent(suppliers), "it is another");
            Cases.raises(AdminNotFound.class, () -> channel.get_consumeradmin(9_999));
            Cases.same(channel.default_consumer_admin().MyID(), 0);
            channel.destroy();
        });
        Cases.test("proxies are found by their ids", () -> {
            EventChannel channel = channel();
            Consumer consumer = consumer(channel, ClientType.SEQUENCE_EVENT, false);
            ConsumerAdmin admin = consumer.proxy.MyAdmin();
            Cases.hold(has(admin.pull_suppliers(), consumer.id), "it is not among all");
            Cases.hold(admin.get_proxy_supplier(consumer.id)._is_equivalent(consumer.proxy), "it is another");
            Cases.hold(consumer.proxy.MyType() == ProxyType.PULL_SEQUENCE, "another type");
            Supplier supplier = supplier(channel, ClientType.ANY_EVENT, true);
            Cases.hold(supplier.proxy.MyType() == ProxyType.PUSH_ANY, "another type");
            Cases.hold(has(supplier.proxy.MyAdmin().push_consumers(), supplier.id), "it is not among all");
            Cases.raises(ProxyNotFound.class, () -> admin.get_proxy_supplier(9_999));
            channel.destroy();
        });
        Cases.test("a second connection is refused", () -> {
            EventChannel channel = channel();
            Consumer consumer = consumer(channel, ClientType.STRUCTURED_EVENT, true);
            Cases.raises(org.omg.CosEventChannelAdmin.AlreadyConnected.class, consumer::connect);
            channel.destroy();
        });
        Cases.test("there is nothing to pull", () -> {
            EventChannel channel = channel();
            for (ClientType form : FORMS) {
                Cases.hold(consumer(channel, form, false).poll() == null, "there is an event");
            }
            channel.destroy();
        });
        Cases.test("clients of the Event Service", () -> {
            EventChannel channel = channel();
            EventClients.cross(orb, channel);
            channel.destroy();
        });
    }

    static boolean has(int[] ids, int wanted) {
        return Arrays.stream(ids).anyMatch(id -> id == wanted);
    }

    static List<Integer> numbers(Integer... numbers) {
        return Arrays.asList(numbers);
    }
}
