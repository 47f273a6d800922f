// Filters and mapping filters of a Notification Service, used by a client.

import java.nio.file.Files;
import java.nio.file.Paths;
import org.omg.CORBA.Any;
import org.omg.CORBA.AnyHolder;
import org.omg.CORBA.IntHolder;
import org.omg.CosNotification.EventType;
import org.omg.CosNotification.Property;
import org.omg.CosNotification.StructuredEventHelper;
import org.omg.CosNotifyChannelAdmin.ClientType;
import org.omg.CosNotifyChannelAdmin.ConsumerAdmin;
import org.omg.CosNotifyChannelAdmin.EventChannel;
import org.omg.CosNotifyChannelAdmin.InterFilterGroupOperator;
import org.omg.CosNotifyChannelAdmin.StructuredProxyPushSupplier;
import org.omg.CosNotifyChannelAdmin.StructuredProxyPushSupplierHelper;
import org.omg.CosNotifyFilter.ConstraintExp;
import org.omg.CosNotifyFilter.ConstraintInfo;
import org.omg.CosNotifyFilter.ConstraintNotFound;
import org.omg.CosNotifyFilter.Filter;
import org.omg.CosNotifyFilter.FilterNotFound;
import org.omg.CosNotifyFilter.InvalidConstraint;
import org.omg.CosNotifyFilter.InvalidGrammar;
import org.omg.CosNotifyFilter.InvalidValue;
import org.omg.CosNotifyFilter.MappingConstraintPair;
import org.omg.CosNotifyFilter.MappingFilter;
import org.omg.CosNotifyComm.NotifySubscribePOA;

final class Filters {
    private final Notifications place;
    private final Alarms alarms;
    private EventChannel channel;

    Filters(Notifications place) {
        this.place = place;
        alarms = place.alarms;
    }

    void all(String constraints) throws Exception {
        channel = place.channel();
        for (String line : Files.readAllLines(Paths.get(constraints))) {
            int space = line.indexOf(' ');
            boolean expected = line.substring(0, space).equals("true");
            String text = line.substring(space + 1);
            Cases.test(text, () -> Cases.same(filter(text).match_structured(alarms.event(3)), expected));
        }
        kept();
        placed();
        mappings();
        channel.destroy();
    }

    private Filter filter(String text) throws Exception {
        Filter filter = channel.default_filter_factory().create_filter("EXTENDED_TCL");
        filter.add_constraints(new ConstraintExp[] {of(text)});
        return filter;
    }

    private static ConstraintExp of(String text, EventType... types) {
        return new ConstraintExp(types, text);
    }

    private void kept() {
        Cases.test("grammars", () -> {
            Cases.same(channel.default_filter_factory().create_filter("EXTENDED_TCL").constraint_grammar(), "EXTENDED_TCL");
            Cases.raises(InvalidGrammar.class, () -> channel.default_filter_factory().create_filter("SQL"));
        });
        Cases.test("a wrong constraint is refused", () -> {
            InvalidConstraint refused = Cases.raises(InvalidConstraint.class, () -> filter("$severity >"));
            Cases.same(refused.constr.constraint_expr, "$severity >");
        });
        Cases.test("constraints are changed by their ids", () -> {
            Filter filter = filter("$severity > 5");
            ConstraintInfo[] all = filter.get_all_constraints();
            Cases.same(all.length, 1);
            Cases.same(filter.match_structured(alarms.event(3)), false);
            int id = all[0].constraint_id;
            filter.modify_constraints(new int[0], new ConstraintInfo[] {new ConstraintInfo(of("$severity > 2"), id)});
            Cases.same(filter.get_constraints(new int[] {id})[0].constraint_expression.constraint_expr, "$severity > 2");
            Cases.same(filter.match_structured(alarms.event(3)), true);
            Cases.raises(ConstraintNotFound.class, () -> filter.get_constraints(new int[] {id + 1_000}));
            filter.modify_constraints(new int[] {id}, new ConstraintInfo[0]);
            Cases.same(filter.get_all_constraints().length, 0);
            filter.destroy();
        });
        Cases.test("constraints of types", () -> {
            Filter filter = channel.default_filter_factory().create_filter("EXTENDED_TCL");
            filter.add_constraints(new ConstraintExp[] {of("TRUE", new EventType("Tele*", "NT_ALARM"))});
            Cases.same(filter.match_structured(alarms.event("Telecom", "NT_ALARM", 1)), true);
            Cases.same(filter.match_structured(alarms.event("Telecom", "NT_HEARTBEAT", 1)), false);
        });
        Cases.test("an Any that holds an event", () -> {
            Any data = place.orb.create_any();
            StructuredEventHelper.insert(data, alarms.event(3));
            Cases.same(filter("$severity == 3").match(data), true);
        });
        Cases.test("properties of a typed event", () -> {
            Property[] properties = {new Property("severity", alarms.ofLong(3))};
            Cases.same(filter("$severity == 3").match_typed(properties), true);
        });
        Cases.test("callbacks of a filter", () -> {
            Arrivals<String> heard = new Arrivals<>();
            NotifySubscribePOA callback = new NotifySubscribePOA() {
                @Override public void subscription_change(EventType[] added, EventType[] removed) {
                    for (EventType type : added) heard.add(type.type_name);
                }
            };
            Filter filter = channel.default_filter_factory().create_filter("EXTENDED_TCL");
            int id = filter.attach_callback(callback._this(place.orb));
            Cases.hold(Notifications.has(filter.get_callbacks(), id), "it is not among all");
            filter.add_constraints(new ConstraintExp[] {of("TRUE", new EventType("Telecom", "NT_ALARM"))});
            Cases.same(heard.first(1).get(0), "NT_ALARM");
            filter.detach_callback(id);
            filter.destroy();
        });
    }

    /** Pushes events 1 to 5, and returns the numbers of the first ones that the consumer gets. */
    private Object got(EventChannel at, Consumer consumer, int count) throws Exception {
        Pushing supplier = place.pushing(at);
        for (int number = 1; number <= 5; ++number) supplier.supply(alarms.plain(number));
        return consumer.take(count);
    }

    private void placed() {
        Cases.test("a filter of a consumer", () -> {
            EventChannel own = place.channel();
            Consumer consumer = place.consumer(own, ClientType.STRUCTURED_EVENT, true);
            int id = consumer.proxy.add_filter(filter("$severity > 3"));
            Cases.hold(Notifications.has(consumer.proxy.get_all_filters(), id), "it is not among all");
            Cases.same(got(own, consumer, 2), Notifications.numbers(4, 5));
            consumer.proxy.remove_filter(id);
            Cases.raises(FilterNotFound.class, () -> consumer.proxy.get_filter(id));
            own.destroy();
        });
        Cases.test("a filter of a supplier", () -> {
            EventChannel own = place.channel();
            Consumer consumer = place.consumer(own, ClientType.SEQUENCE_EVENT, false);
            Pushing supplier = place.pushing(own);
            supplier.proxy.add_filter(filter("$severity == 2"));
            supplier.supply(alarms.event(1));
            supplier.supply(alarms.event(2));
            Cases.same(consumer.take(1), Notifications.numbers(2));
            own.destroy();
        });
        Cases.test("filters of an administrator and a consumer, both", () -> together(InterFilterGroupOperator.AND_OP, 3));
        Cases.test("filters of an administrator and a consumer, either", () -> together(InterFilterGroupOperator.OR_OP, 2, 3, 4));
    }

    /** An administrator lets 2 and 3 through, its consumer 3 and 4. */
    private void together(InterFilterGroupOperator operator, Integer... expected) throws Exception {
        EventChannel own = place.channel();
        ConsumerAdmin admin = own.new_for_consumers(operator, new IntHolder());
        admin.add_filter(filter("$severity == 2 or $severity == 3"));
        Consumer consumer = Consumer.connect(place, admin, ClientType.STRUCTURED_EVENT, true);
        consumer.proxy.add_filter(filter("$severity == 3 or $severity == 4"));
        Cases.same(got(own, consumer, expected.length), Notifications.numbers(expected));
        own.destroy();
    }

    private MappingFilter mapping(Any value, Any other, String text) throws Exception {
        MappingFilter filter = channel.default_filter_factory().create_mapping_filter("EXTENDED_TCL", other);
        filter.add_mapping_constraints(new MappingConstraintPair[] {new MappingConstraintPair(of(text), value)});
        return filter;
    }

    private void mappings() {
        Cases.test("a mapping filter", () -> {
            MappingFilter filter = mapping(alarms.ofShort((short) 9), alarms.ofShort((short) 1), "$severity == 3");
            AnyHolder value = new AnyHolder();
            Cases.same(filter.match_structured(alarms.event(3), value), true);
            Cases.same(value.value.extract_short(), (short) 9);
            Cases.same(filter.match_structured(alarms.event(2), value), false);
            Cases.same(filter.default_value().extract_short(), (short) 1);
            Cases.hold(filter.value_type().equal(alarms.ofShort((short) 0).type()), "another type");
            Cases.same(filter.get_all_mapping_constraints().length, 1);
            filter.destroy();
        });
        Cases.test("a mapping filter, a value of another type", () ->
            Cases.raises(InvalidValue.class, () -> mapping(alarms.ofString("x"), alarms.ofShort((short) 1), "TRUE")));
        Cases.test("priorities by a mapping filter", () -> {
            EventChannel own = place.channel(new Property("OrderPolicy", alarms.ofShort((short) 2)));
            Consumer consumer = place.consumer(own, ClientType.STRUCTURED_EVENT, true);
            consumer.proxy.priority_filter(mapping(alarms.ofShort((short) 9), alarms.ofShort((short) 1), "$severity == 4"));
            StructuredProxyPushSupplier proxy = StructuredProxyPushSupplierHelper.narrow(consumer.proxy);
            proxy.suspend_connection();
            Pushing supplier = place.pushing(own);
            for (int number = 1; number <= 5; ++number) supplier.supply(alarms.plain(number));
            proxy.resume_connection();
            Cases.same(consumer.take(5), Notifications.numbers(4, 1, 2, 3, 5));
            own.destroy();
        });
        Cases.test("lives by a mapping filter", () -> {
            EventChannel own = place.channel();
            Pulling consumer = place.pulling(own);
            // 10 ms, and for ever.
            consumer.proxy.lifetime_filter(mapping(alarms.ofTime(100_000), alarms.ofTime(0), "$severity < 3"));
            Pushing supplier = place.pushing(own);
            for (int number = 1; number <= 2; ++number) supplier.supply(alarms.plain(number));
            // Not less than that, however late this thread runs; then the service must not deliver them.
            Thread.sleep(100);
            supplier.supply(alarms.plain(3));
            Cases.same(consumer.take(1), Notifications.numbers(3));
            own.destroy();
        });
    }
}
