// Events of the notification cases, and the numbers in them.

import org.omg.CORBA.Any;
import org.omg.CORBA.ORB;
import org.omg.CORBA.TCKind;
import org.omg.CosNotification.EventHeader;
import org.omg.CosNotification.EventType;
import org.omg.CosNotification.FixedEventHeader;
import org.omg.CosNotification.Property;
import org.omg.CosNotification.StructuredEvent;
import org.omg.CosNotification.StructuredEventHelper;

final class Alarms {
    private final ORB orb;

    Alarms(ORB orb) {
        this.orb = orb;
    }

    /** An event with that number in its body, of which all constraints in `constraints.txt` speak. */
    StructuredEvent event(int number) {
        return event("Telecom", "NT_ALARM", number);
    }

    /** One that states no priority. */
    StructuredEvent plain(int number) {
        return event("Telecom", "NT_ALARM", number, false);
    }

    StructuredEvent event(String domain, String type, int number) {
        return event(domain, type, number, true);
    }

    /** One whose priority is its number, or that states none. */
    StructuredEvent event(String domain, String type, int number, boolean hasPriority) {
        Property[] none = {}, priority = {new Property("Priority", ofShort((short) number))};
        EventHeader header = new EventHeader(
            new FixedEventHeader(new EventType(domain, type), "link down"), hasPriority ? priority : none);
        Property[] data = {
            new Property("severity", ofLong(number)),
            new Property("probability", ofDouble(0.5)),
            new Property("place", ofString("north/pump")),
            new Property("cleared", ofBoolean(false)),
            new Property("octets", ofUlonglong(5_000_000_000L)),
            new Property("type", ofType(new EventType("Plant", "Pump"))),
            new Property("causes", ofCauses(new Property("power", ofLong(7)), new Property("text", ofString("x")))),
            new Property("words", ofWords("a", "b")),
        };
        return new StructuredEvent(header, data, ofLong(number));
    }

    static int number(StructuredEvent event) {
        return event.remainder_of_body.extract_long();
    }

    /** Of a number, or of a whole event. */
    static int number(Any data) {
        if (data.type().kind().value() == TCKind._tk_long) return data.extract_long();
        return number(StructuredEventHelper.extract(data));
    }

    Any ofLong(int value) {
        Any any = orb.create_any();
        any.insert_long(value);
        return any;
    }

    Any ofShort(short value) {
        Any any = orb.create_any();
        any.insert_short(value);
        return any;
    }

    Any ofDouble(double value) {
        Any any = orb.create_any();
        any.insert_double(value);
        return any;
    }

    Any ofString(String value) {
        Any any = orb.create_any();
        any.insert_string(value);
        return any;
    }

    Any ofBoolean(boolean value) {
        Any any = orb.create_any();
        any.insert_boolean(value);
        return any;
    }

    Any ofUlonglong(long value) {
        Any any = orb.create_any();
        any.insert_ulonglong(value);
        return any;
    }

    /** Of the type of times. */
    Any ofTime(long value) {
        Any any = orb.create_any();
        org.omg.TimeBase.TimeTHelper.insert(any, value);
        return any;
    }

    private Any ofType(EventType value) {
        Any any = orb.create_any();
        org.omg.CosNotification.EventTypeHelper.insert(any, value);
        return any;
    }

    private Any ofCauses(Property... value) {
        Any any = orb.create_any();
        org.omg.CosNotification.PropertySeqHelper.insert(any, value);
        return any;
    }

    private Any ofWords(String... value) {
        Any any = orb.create_any();
        org.omg.CORBA.StringSeqHelper.insert(any, value);
        return any;
    }
}
