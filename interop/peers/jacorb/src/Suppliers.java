// Suppliers at a notification channel: of Anys, structured events and sequences, pushing and pulled from.

import org.omg.CORBA.Any;
import org.omg.CORBA.BooleanHolder;
import org.omg.CORBA.IntHolder;
import org.omg.CosNotification.EventType;
import org.omg.CosNotification.StructuredEvent;
import org.omg.CosNotifyChannelAdmin.ClientType;
import org.omg.CosNotifyChannelAdmin.ProxyConsumer;
import org.omg.CosNotifyChannelAdmin.ProxyPullConsumerHelper;
import org.omg.CosNotifyChannelAdmin.ProxyPushConsumer;
import org.omg.CosNotifyChannelAdmin.ProxyPushConsumerHelper;
import org.omg.CosNotifyChannelAdmin.SequenceProxyPullConsumerHelper;
import org.omg.CosNotifyChannelAdmin.SequenceProxyPushConsumer;
import org.omg.CosNotifyChannelAdmin.SequenceProxyPushConsumerHelper;
import org.omg.CosNotifyChannelAdmin.StructuredProxyPullConsumerHelper;
import org.omg.CosNotifyChannelAdmin.StructuredProxyPushConsumer;
import org.omg.CosNotifyChannelAdmin.StructuredProxyPushConsumerHelper;
import org.omg.CosNotifyChannelAdmin.SupplierAdmin;
import org.omg.CosNotifyComm.PullSupplierPOA;
import org.omg.CosNotifyComm.PushSupplierPOA;
import org.omg.CosNotifyComm.SequencePullSupplierPOA;
import org.omg.CosNotifyComm.SequencePushSupplierPOA;
import org.omg.CosNotifyComm.StructuredPullSupplierPOA;
import org.omg.CosNotifyComm.StructuredPushSupplierPOA;

/** A supplier that is connected. */
abstract class Supplier {
    final Arrivals<String> subscribed = new Arrivals<>();
    final Arrivals<String> ended = new Arrivals<>();
    ProxyConsumer proxy;
    int id;

    abstract void supply(StructuredEvent event) throws Exception;

    void changed(EventType[] added, EventType[] removed) {
        Types.note(added, removed, subscribed);
    }

    static Supplier connect(Notifications place, SupplierAdmin admin, ClientType form, boolean pushes)
            throws Exception {
        return pushes ? new Pushing(place, admin, form) : new PulledFrom(place, admin, form);
    }
}

/** One that pushes. Its events of Anys are their numbers alone. */
final class Pushing extends Supplier {
    private final Notifications place;
    private ProxyPushConsumer anys;
    private StructuredProxyPushConsumer events;
    private SequenceProxyPushConsumer sequences;

    Pushing(Notifications place, SupplierAdmin admin, ClientType form) throws Exception {
        this.place = place;
        IntHolder held = new IntHolder();
        proxy = admin.obtain_notification_push_consumer(form, held);
        id = held.value;
        if (form == ClientType.ANY_EVENT) {
            anys = ProxyPushConsumerHelper.narrow(proxy);
            anys.connect_any_push_supplier(new OfAnys()._this(place.orb));
        } else if (form == ClientType.STRUCTURED_EVENT) {
            events = StructuredProxyPushConsumerHelper.narrow(proxy);
            events.connect_structured_push_supplier(new OfEvents()._this(place.orb));
        } else {
            sequences = SequenceProxyPushConsumerHelper.narrow(proxy);
            sequences.connect_sequence_push_supplier(new OfSequences()._this(place.orb));
        }
    }

    @Override void supply(StructuredEvent event) throws Exception {
        if (anys != null) {
            anys.push(place.alarms.ofLong(Alarms.number(event)));
        } else if (events != null) {
            events.push_structured_event(event);
        } else {
            sequences.push_structured_events(new StructuredEvent[] {event});
        }
    }

    void offer(EventType[] added, EventType[] removed) throws Exception {
        events.offer_change(added, removed);
    }

    private final class OfAnys extends PushSupplierPOA {
        @Override public void disconnect_push_supplier() { ended.add("any"); }
        @Override public void subscription_change(EventType[] added, EventType[] gone) { changed(added, gone); }
    }

    private final class OfEvents extends StructuredPushSupplierPOA {
        @Override public void disconnect_structured_push_supplier() { ended.add("structured"); }
        @Override public void subscription_change(EventType[] added, EventType[] gone) { changed(added, gone); }
    }

    private final class OfSequences extends SequencePushSupplierPOA {
        @Override public void disconnect_sequence_push_supplier() { ended.add("sequence"); }
        @Override public void subscription_change(EventType[] added, EventType[] gone) { changed(added, gone); }
    }
}

/** One that is pulled from. */
final class PulledFrom extends Supplier {
    private final Notifications place;
    private final Arrivals<StructuredEvent> waiting = new Arrivals<>();

    PulledFrom(Notifications place, SupplierAdmin admin, ClientType form) throws Exception {
        this.place = place;
        IntHolder held = new IntHolder();
        proxy = admin.obtain_notification_pull_consumer(form, held);
        id = held.value;
        if (form == ClientType.ANY_EVENT) {
            ProxyPullConsumerHelper.narrow(proxy).connect_any_pull_supplier(new OfAnys()._this(place.orb));
        } else if (form == ClientType.STRUCTURED_EVENT) {
            StructuredProxyPullConsumerHelper.narrow(proxy)
                .connect_structured_pull_supplier(new OfEvents()._this(place.orb));
        } else {
            SequenceProxyPullConsumerHelper.narrow(proxy)
                .connect_sequence_pull_supplier(new OfSequences()._this(place.orb));
        }
    }

    @Override void supply(StructuredEvent event) {
        waiting.add(event);
    }

    /** What is returned where there is no event; the standard leaves it open. */
    private StructuredEvent next(BooleanHolder has) {
        StructuredEvent event = waiting.poll();
        has.value = event != null;
        return event != null ? event : place.alarms.event(0);
    }

    private final class OfAnys extends PullSupplierPOA {
        @Override public Any pull() { return place.alarms.ofLong(Alarms.number(waiting.take())); }
        @Override public Any try_pull(BooleanHolder has) {
            return place.alarms.ofLong(Alarms.number(next(has)));
        }
        @Override public void disconnect_pull_supplier() { ended.add("any"); }
        @Override public void subscription_change(EventType[] added, EventType[] gone) { changed(added, gone); }
    }

    private final class OfEvents extends StructuredPullSupplierPOA {
        @Override public StructuredEvent pull_structured_event() { return waiting.take(); }
        @Override public StructuredEvent try_pull_structured_event(BooleanHolder has) { return next(has); }
        @Override public void disconnect_structured_pull_supplier() { ended.add("structured"); }
        @Override public void subscription_change(EventType[] added, EventType[] gone) { changed(added, gone); }
    }

    private final class OfSequences extends SequencePullSupplierPOA {
        @Override public StructuredEvent[] pull_structured_events(int most) {
            return new StructuredEvent[] {waiting.take()};
        }
        @Override public StructuredEvent[] try_pull_structured_events(int most, BooleanHolder has) {
            StructuredEvent event = next(has);
            return has.value ? new StructuredEvent[] {event} : new StructuredEvent[0];
        }
        @Override public void disconnect_sequence_pull_supplier() { ended.add("sequence"); }
        @Override public void subscription_change(EventType[] added, EventType[] gone) { changed(added, gone); }
    }
}
