// Quality of service and administrative properties of a Notification Service, as a client sees them.

import java.util.Arrays;
import org.omg.CORBA.Any;
import org.omg.CORBA.IntHolder;
import org.omg.CosNotification.NamedPropertyRange;
import org.omg.CosNotification.NamedPropertyRangeSeqHolder;
import org.omg.CosNotification.Property;
import org.omg.CosNotification.QoSError_code;
import org.omg.CosNotification.StructuredEvent;
import org.omg.CosNotification.UnsupportedQoS;
import org.omg.CosNotifyChannelAdmin.AdminLimitExceeded;
import org.omg.CosNotifyChannelAdmin.ClientType;
import org.omg.CosNotifyChannelAdmin.ConsumerAdmin;
import org.omg.CosNotifyChannelAdmin.EventChannel;
import org.omg.CosNotifyChannelAdmin.InterFilterGroupOperator;
import org.omg.CosNotifyChannelAdmin.StructuredProxyPushSupplier;
import org.omg.CosNotifyChannelAdmin.StructuredProxyPushSupplierHelper;

final class Qualities {
    private static final short FIFO = 1, PRIORITY = 2;

    private final Notifications place;
    private final Alarms alarms;

    Qualities(Notifications place) {
        this.place = place;
        alarms = place.alarms;
    }

    void all() {
        properties();
        orders();
        connections();
    }

    private Property of(String name, Any value) {
        return new Property(name, value);
    }

    private static Any value(Property[] all, String name) {
        return Arrays.stream(all).filter(one -> one.name.equals(name)).findFirst()
            .orElseThrow(() -> new AssertionError("there is no " + name)).value;
    }

    private void properties() {
        Cases.test("an unknown property is refused", () -> {
            UnsupportedQoS refused = Cases.raises(UnsupportedQoS.class,
                () -> place.channel(of("Colour", alarms.ofShort((short) 1))));
            Cases.hold(refused.qos_err[0].code == QoSError_code.BAD_PROPERTY, "another code");
            Cases.same(refused.qos_err[0].name, "Colour");
        });
        Cases.test("a value of another type is refused", () -> {
            UnsupportedQoS refused = Cases.raises(UnsupportedQoS.class,
                () -> place.channel(of("OrderPolicy", alarms.ofString("fifo"))));
            Cases.hold(refused.qos_err[0].code == QoSError_code.BAD_TYPE, "another code");
        });
        Cases.test("a property is set and read", () -> {
            EventChannel channel = place.channel();
            channel.set_qos(new Property[] {of("OrderPolicy", alarms.ofShort(FIFO))});
            Cases.same(value(channel.get_qos(), "OrderPolicy").extract_short(), FIFO);
            // An administrator begins with the properties of its channel.
            ConsumerAdmin admin = channel.new_for_consumers(InterFilterGroupOperator.AND_OP, new IntHolder());
            Cases.same(value(admin.get_qos(), "OrderPolicy").extract_short(), FIFO);
            channel.destroy();
        });
        Cases.test("properties are validated", () -> {
            EventChannel channel = place.channel();
            NamedPropertyRangeSeqHolder others = new NamedPropertyRangeSeqHolder();
            channel.validate_qos(new Property[] {of("OrderPolicy", alarms.ofShort(FIFO))}, others);
            NamedPropertyRange priority = Arrays.stream(others.value)
                .filter(one -> one.name.equals("Priority")).findFirst()
                .orElseThrow(() -> new AssertionError("there is no range of Priority"));
            Cases.same(priority.range.low_val.extract_short(), (short) -32767);
            Cases.same(priority.range.high_val.extract_short(), (short) 32767);
            channel.destroy();
        });
        Cases.test("consumers beyond MaxConsumers are refused", () -> {
            Property[] most = {of("MaxConsumers", alarms.ofLong(1))};
            EventChannel channel = place.factory.create_channel(new Property[0], most, new IntHolder());
            place.pulling(channel);
            AdminLimitExceeded refused = Cases.raises(AdminLimitExceeded.class, () -> place.pulling(channel));
            Cases.same(refused.admin_property_err.name, "MaxConsumers");
            channel.destroy();
        });
    }

    private void orders() {
        Cases.test("events in order of arrival", () -> {
            EventChannel channel = place.channel(of("OrderPolicy", alarms.ofShort(FIFO)));
            ordered(channel, 1, 3, 2);
        });
        Cases.test("events in order of their priorities", () -> {
            EventChannel channel = place.channel(of("OrderPolicy", alarms.ofShort(PRIORITY)));
            ordered(channel, 3, 2, 1);
        });
        Cases.test("an event whose time is over", () -> {
            EventChannel channel = place.channel();
            Pulling consumer = place.pulling(channel);
            StructuredEvent passing = alarms.event(1);
            // 10 ms, in units of 100 ns.
            passing.header.variable_header = new Property[] {of("Timeout", alarms.ofTime(100_000))};
            Pushing supplier = place.pushing(channel);
            supplier.supply(passing);
            // Not less than that, however late this thread runs; then the service must not deliver it.
            Thread.sleep(100);
            supplier.supply(alarms.event(2));
            Cases.same(consumer.take(1), Notifications.numbers(2));
            channel.destroy();
        });
    }

    private void ordered(EventChannel channel, Integer... expected) throws Exception {
        Consumer consumer = place.consumer(channel, ClientType.STRUCTURED_EVENT, true);
        StructuredProxyPushSupplier proxy = StructuredProxyPushSupplierHelper.narrow(consumer.proxy);
        proxy.suspend_connection();
        Pushing supplier = place.pushing(channel);
        for (int number : new int[] {1, 3, 2}) supplier.supply(alarms.event(number));
        proxy.resume_connection();
        Cases.same(consumer.take(3), Arrays.asList(expected));
        channel.destroy();
    }

    private void connections() {
        Cases.test("a suspended consumer gets nothing", () -> {
            EventChannel channel = place.channel();
            Consumer consumer = place.consumer(channel, ClientType.STRUCTURED_EVENT, true);
            Consumer other = place.consumer(channel, ClientType.STRUCTURED_EVENT, true);
            StructuredProxyPushSupplier proxy = StructuredProxyPushSupplierHelper.narrow(consumer.proxy);
            proxy.suspend_connection();
            place.pushing(channel).supply(alarms.event(1));
            other.take(1);
            Cases.same(consumer.received.size(), 0);
            proxy.resume_connection();
            Cases.same(consumer.take(1), Notifications.numbers(1));
            channel.destroy();
        });
        Cases.test("batches are full", () -> {
            EventChannel channel = place.channel(
                of("MaximumBatchSize", alarms.ofLong(3)), of("PacingInterval", alarms.ofTime(600_000_000L)));
            Consumer consumer = place.consumer(channel, ClientType.SEQUENCE_EVENT, true);
            Pushing supplier = place.pushing(channel);
            for (int number = 1; number <= 6; ++number) supplier.supply(alarms.plain(number));
            Cases.same(consumer.take(6), Notifications.numbers(1, 2, 3, 4, 5, 6));
            Cases.same(consumer.batches.first(2), Notifications.numbers(3, 3));
            channel.destroy();
        });
    }
}
