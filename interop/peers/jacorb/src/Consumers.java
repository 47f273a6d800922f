// Consumers at a notification channel: of Anys, structured events and sequences, pushed to and pulling.

import java.util.ArrayList;
import java.util.List;
import org.omg.CORBA.Any;
import org.omg.CORBA.BooleanHolder;
import org.omg.CORBA.IntHolder;
import org.omg.CosNotification.EventType;
import org.omg.CosNotification.StructuredEvent;
import org.omg.CosNotifyChannelAdmin.ClientType;
import org.omg.CosNotifyChannelAdmin.ConsumerAdmin;
import org.omg.CosNotifyChannelAdmin.ProxyPullSupplier;
import org.omg.CosNotifyChannelAdmin.ProxyPullSupplierHelper;
import org.omg.CosNotifyChannelAdmin.ProxyPushSupplierHelper;
import org.omg.CosNotifyChannelAdmin.ProxySupplier;
import org.omg.CosNotifyChannelAdmin.SequenceProxyPullSupplier;
import org.omg.CosNotifyChannelAdmin.SequenceProxyPullSupplierHelper;
import org.omg.CosNotifyChannelAdmin.SequenceProxyPushSupplierHelper;
import org.omg.CosNotifyChannelAdmin.StructuredProxyPullSupplier;
import org.omg.CosNotifyChannelAdmin.StructuredProxyPullSupplierHelper;
import org.omg.CosNotifyChannelAdmin.StructuredProxyPushSupplierHelper;
import org.omg.CosNotifyComm.PullConsumerPOA;
import org.omg.CosNotifyComm.PushConsumerPOA;
import org.omg.CosNotifyComm.SequencePullConsumerPOA;
import org.omg.CosNotifyComm.SequencePushConsumerPOA;
import org.omg.CosNotifyComm.StructuredPullConsumerPOA;
import org.omg.CosNotifyComm.StructuredPushConsumerPOA;

/** A consumer that is connected, and what it has got. */
abstract class Consumer {
    final Arrivals<Integer> received = new Arrivals<>();
    /** Sizes of the sequences that have come. */
    final Arrivals<Integer> batches = new Arrivals<>();
    final Arrivals<String> offered = new Arrivals<>();
    final Arrivals<String> ended = new Arrivals<>();
    final Notifications place;
    final ClientType form;
    ProxySupplier proxy;
    int id;

    Consumer(Notifications place, ClientType form) {
        this.place = place;
        this.form = form;
    }

    /** The numbers of the first events; waits until there are so many. */
    List<Integer> take(int count) throws Exception {
        return received.first(count);
    }

    /** The number of the next event, if there is one at once. Only consumers that pull can tell. */
    Integer poll() throws Exception {
        throw new AssertionError("it does not pull");
    }

    void arrived(StructuredEvent... events) {
        batches.add(events.length);
        for (StructuredEvent event : events) received.add(Alarms.number(event));
    }

    void changed(EventType[] added, EventType[] removed) {
        Types.note(added, removed, offered);
    }

    static Consumer connect(Notifications place, ConsumerAdmin admin, ClientType form, boolean pushed)
            throws Exception {
        Consumer made = pushed ? new Pushed(place, form) : new Pulling(place, form);
        IntHolder id = new IntHolder();
        made.proxy = made.obtain(admin, id);
        made.id = id.value;
        made.connect();
        return made;
    }

    abstract ProxySupplier obtain(ConsumerAdmin admin, IntHolder id) throws Exception;

    abstract void connect() throws Exception;
}

/** One that events are pushed to. */
final class Pushed extends Consumer {
    Pushed(Notifications place, ClientType form) {
        super(place, form);
    }

    @Override ProxySupplier obtain(ConsumerAdmin admin, IntHolder id) throws Exception {
        return admin.obtain_notification_push_supplier(form, id);
    }

    @Override void connect() throws Exception {
        if (form == ClientType.ANY_EVENT) {
            ProxyPushSupplierHelper.narrow(proxy).connect_any_push_consumer(new OfAnys()._this(place.orb));
        } else if (form == ClientType.STRUCTURED_EVENT) {
            StructuredProxyPushSupplierHelper.narrow(proxy)
                .connect_structured_push_consumer(new OfEvents()._this(place.orb));
        } else {
            SequenceProxyPushSupplierHelper.narrow(proxy)
                .connect_sequence_push_consumer(new OfSequences()._this(place.orb));
        }
    }

    private final class OfAnys extends PushConsumerPOA {
        @Override public void push(Any data) { received.add(Alarms.number(data)); }
        @Override public void disconnect_push_consumer() { ended.add("any"); }
        @Override public void offer_change(EventType[] added, EventType[] removed) { changed(added, removed); }
    }

    private final class OfEvents extends StructuredPushConsumerPOA {
        @Override public void push_structured_event(StructuredEvent event) { arrived(event); }
        @Override public void disconnect_structured_push_consumer() { ended.add("structured"); }
        @Override public void offer_change(EventType[] added, EventType[] removed) { changed(added, removed); }
    }

    private final class OfSequences extends SequencePushConsumerPOA {
        @Override public void push_structured_events(StructuredEvent[] events) { arrived(events); }
        @Override public void disconnect_sequence_push_consumer() { ended.add("sequence"); }
        @Override public void offer_change(EventType[] added, EventType[] removed) { changed(added, removed); }
    }
}

/** One that pulls. */
final class Pulling extends Consumer {
    private ProxyPullSupplier anys;
    private StructuredProxyPullSupplier events;
    private SequenceProxyPullSupplier sequences;

    Pulling(Notifications place, ClientType form) {
        super(place, form);
    }

    @Override ProxySupplier obtain(ConsumerAdmin admin, IntHolder id) throws Exception {
        return admin.obtain_notification_pull_supplier(form, id);
    }

    @Override void connect() throws Exception {
        if (form == ClientType.ANY_EVENT) {
            anys = ProxyPullSupplierHelper.narrow(proxy);
            anys.connect_any_pull_consumer(new OfAnys()._this(place.orb));
        } else if (form == ClientType.STRUCTURED_EVENT) {
            events = StructuredProxyPullSupplierHelper.narrow(proxy);
            events.connect_structured_pull_consumer(new OfEvents()._this(place.orb));
        } else {
            sequences = SequenceProxyPullSupplierHelper.narrow(proxy);
            sequences.connect_sequence_pull_consumer(new OfSequences()._this(place.orb));
        }
    }

    /** By `pull`, which waits. */
    @Override List<Integer> take(int count) throws Exception {
        List<Integer> taken = new ArrayList<>();
        while (taken.size() < count) {
            if (anys != null) {
                taken.add(Alarms.number(anys.pull()));
            } else if (events != null) {
                taken.add(Alarms.number(events.pull_structured_event()));
            } else {
                for (StructuredEvent event : sequences.pull_structured_events(count - taken.size())) {
                    taken.add(Alarms.number(event));
                }
            }
        }
        return taken;
    }

    @Override Integer poll() throws Exception {
        BooleanHolder has = new BooleanHolder();
        if (anys != null) {
            Any data = anys.try_pull(has);
            return has.value ? (Integer) Alarms.number(data) : null;
        }
        if (events != null) {
            StructuredEvent event = events.try_pull_structured_event(has);
            return has.value ? (Integer) Alarms.number(event) : null;
        }
        StructuredEvent[] some = sequences.try_pull_structured_events(1, has);
        return has.value ? (Integer) Alarms.number(some[0]) : null;
    }

    private final class OfAnys extends PullConsumerPOA {
        @Override public void disconnect_pull_consumer() { ended.add("any"); }
        @Override public void offer_change(EventType[] added, EventType[] removed) { changed(added, removed); }
    }

    private final class OfEvents extends StructuredPullConsumerPOA {
        @Override public void disconnect_structured_pull_consumer() { ended.add("structured"); }
        @Override public void offer_change(EventType[] added, EventType[] removed) { changed(added, removed); }
    }

    private final class OfSequences extends SequencePullConsumerPOA {
        @Override public void disconnect_sequence_pull_consumer() { ended.add("sequence"); }
        @Override public void offer_change(EventType[] added, EventType[] removed) { changed(added, removed); }
    }
}
