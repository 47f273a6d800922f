// Offers and subscriptions: what suppliers and consumers at a Notification Service hear of each other.

import java.util.Arrays;
import java.util.stream.Collectors;
import org.omg.CosNotification.EventType;
import org.omg.CosNotifyChannelAdmin.ClientType;
import org.omg.CosNotifyChannelAdmin.EventChannel;
import org.omg.CosNotifyChannelAdmin.ObtainInfoMode;
import org.omg.CosNotifyChannelAdmin.StructuredProxyPullSupplierHelper;
import org.omg.CosNotifyChannelAdmin.StructuredProxyPushSupplierHelper;

final class Types {
    private static final EventType ALARM = new EventType("Telecom", "NT_ALARM");
    private static final EventType HEARTBEAT = new EventType("Telecom", "NT_HEARTBEAT");

    private final Notifications place;

    Types(Notifications place) {
        this.place = place;
    }

    void all() {
        Cases.test("consumers hear of offers", () -> {
            EventChannel channel = place.channel();
            Consumer consumer = place.consumer(channel, ClientType.STRUCTURED_EVENT, true);
            Pushing supplier = place.pushing(channel);
            supplier.offer(types(ALARM), types());
            Cases.hold(heard(consumer.offered, "+Telecom/NT_ALARM"), "it does not hear");
            supplier.offer(types(HEARTBEAT), types(ALARM));
            Cases.hold(heard(consumer.offered, "-Telecom/NT_ALARM"), "it does not hear of the end");
            channel.destroy();
        });
        Cases.test("suppliers hear of subscriptions", () -> {
            EventChannel channel = place.channel();
            Pushing supplier = place.pushing(channel);
            Consumer consumer = place.consumer(channel, ClientType.STRUCTURED_EVENT, true);
            subscribe(consumer, types(HEARTBEAT), types());
            Cases.hold(heard(supplier.subscribed, "+Telecom/NT_HEARTBEAT"), "it does not hear");
            channel.destroy();
        });
        Cases.test("offers are asked for", () -> {
            EventChannel channel = place.channel();
            place.pushing(channel).offer(types(ALARM), types());
            Pulling consumer = place.pulling(channel);
            Cases.hold(text(consumer.proxy.obtain_offered_types(ObtainInfoMode.ALL_NOW_UPDATES_ON))
                .contains("Telecom/NT_ALARM"), "the type is not there");
            Cases.same(consumer.proxy.obtain_offered_types(ObtainInfoMode.NONE_NOW_UPDATES_OFF).length, 0);
            channel.destroy();
        });
        Cases.test("subscriptions are asked for", () -> {
            EventChannel channel = place.channel();
            Pulling consumer = place.pulling(channel);
            StructuredProxyPullSupplierHelper.narrow(consumer.proxy)
                .subscription_change(types(HEARTBEAT), types());
            Cases.hold(text(place.pushing(channel).proxy.obtain_subscription_types(ObtainInfoMode.ALL_NOW_UPDATES_OFF))
                .contains("Telecom/NT_HEARTBEAT"), "the type is not there");
            channel.destroy();
        });
        Cases.test("no updates are wanted", () -> {
            EventChannel channel = place.channel();
            Consumer consumer = place.consumer(channel, ClientType.STRUCTURED_EVENT, true);
            Consumer other = place.consumer(channel, ClientType.STRUCTURED_EVENT, true);
            consumer.proxy.obtain_offered_types(ObtainInfoMode.NONE_NOW_UPDATES_OFF);
            place.pushing(channel).offer(types(ALARM), types());
            Cases.hold(heard(other.offered, "+Telecom/NT_ALARM"), "nobody hears");
            consumer.proxy.obtain_offered_types(ObtainInfoMode.NONE_NOW_UPDATES_ON);
            Cases.same(consumer.offered.size(), 0);
            channel.destroy();
        });
        Cases.test("a consumer gets what it subscribes to", () -> {
            EventChannel channel = place.channel();
            Consumer consumer = place.consumer(channel, ClientType.STRUCTURED_EVENT, true);
            subscribe(consumer, types(HEARTBEAT), types(new EventType("*", "%ALL")));
            Pushing supplier = place.pushing(channel);
            supplier.supply(place.alarms.event("Telecom", "NT_ALARM", 1));
            supplier.supply(place.alarms.event("Telecom", "NT_HEARTBEAT", 2));
            Cases.same(consumer.take(1), Notifications.numbers(2));
            channel.destroy();
        });
        Cases.test("types with wildcards", () -> {
            EventChannel channel = place.channel();
            Consumer consumer = place.consumer(channel, ClientType.STRUCTURED_EVENT, true);
            subscribe(consumer, types(new EventType("Tele*", "NT_*")), types(new EventType("*", "%ALL")));
            Pushing supplier = place.pushing(channel);
            supplier.supply(place.alarms.event("Plant", "NT_ALARM", 1));
            supplier.supply(place.alarms.event("Telecom", "NT_ALARM", 2));
            Cases.same(consumer.take(1), Notifications.numbers(2));
            channel.destroy();
        });
    }

    private static void subscribe(Consumer consumer, EventType[] added, EventType[] removed) throws Exception {
        StructuredProxyPushSupplierHelper.narrow(consumer.proxy).subscription_change(added, removed);
    }

    private static EventType[] types(EventType... types) {
        return types;
    }

    private static String text(EventType type) {
        return type.domain_name + "/" + type.type_name;
    }

    private static String text(EventType[] types) {
        return Arrays.stream(types).map(Types::text).collect(Collectors.joining(" "));
    }

    /** Adds a change of types to those that have been heard of. */
    static void note(EventType[] added, EventType[] removed, Arrivals<String> heard) {
        for (EventType type : added) heard.add("+" + text(type));
        for (EventType type : removed) heard.add("-" + text(type));
    }

    /** Waits until that has come. Other changes may come before it, such as that of the types that all had before. */
    private static boolean heard(Arrivals<String> all, String wanted) throws InterruptedException {
        for (int count = 1; ; ++count) {
            if (all.first(count).contains(wanted)) return true;
        }
    }
}
