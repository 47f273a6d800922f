// Does everything to a naming service as a client of JacORB, and prints what comes of it.
import org.omg.CORBA.ORB;
import org.omg.CosNaming.Binding;
import org.omg.CosNaming.BindingIterator;
import org.omg.CosNaming.BindingIteratorHolder;
import org.omg.CosNaming.BindingListHolder;
import org.omg.CosNaming.BindingHolder;
import org.omg.CosNaming.NameComponent;
import org.omg.CosNaming.NamingContext;
import org.omg.CosNaming.NamingContextExt;
import org.omg.CosNaming.NamingContextExtHelper;
import org.omg.CosNaming.NamingContextHelper;
import org.omg.CosNaming.NamingContextPackage.AlreadyBound;
import org.omg.CosNaming.NamingContextPackage.CannotProceed;
import org.omg.CosNaming.NamingContextPackage.InvalidName;
import org.omg.CosNaming.NamingContextPackage.NotEmpty;
import org.omg.CosNaming.NamingContextPackage.NotFound;

public class Names {
    static NamingContextExt root;

    public static void main(String[] arguments) throws Exception {
        ORB orb = ORB.init(new String[0], System.getProperties());
        root = NamingContextExtHelper.narrow(orb.string_to_object(arguments[0]));
        root.bind_new_context(name("plants"));
        root.bind_new_context(name("plants/north.site"));
        root.bind(name("plants/north.site/pump"), root);
        say("resolved", root.resolve(name("plants/north.site/pump"))._is_equivalent(root));
        say("as text", root.resolve_str("plants/north.site/pump")._is_equivalent(root));
        say("text", root.to_string(new NameComponent[] {new NameComponent("a.b", "c/d")}));
        say("url", root.to_url(":host:9", "a b"));
        try {
            root.bind(name("plants/north.site/pump"), root);
        } catch (AlreadyBound it) {
            say("bind", "AlreadyBound");
        }
        try {
            root.resolve(name("plants/x/y"));
        } catch (NotFound it) {
            say("missing", it.why.value() + " " + text(it.rest_of_name));
        }
        try {
            root.resolve(name("plants/north.site/pump/y"));
        } catch (NotFound it) {
            say("no context", it.why.value() + " " + text(it.rest_of_name));
        }
        try {
            root.rebind(name("plants"), root);
        } catch (NotFound it) {
            say("no object", it.why.value() + " " + text(it.rest_of_name));
        }
        try {
            root.resolve(new NameComponent[0]);
        } catch (InvalidName it) {
            say("empty", "InvalidName");
        }
        NamingContext loose = root.new_context();
        root.bind_context(name("loose"), loose);
        root.rebind_context(name("loose"), loose);
        root.rebind(name("plants/north.site/pump"), loose);
        say("rebound", root.resolve(name("plants/north.site/pump"))._is_equivalent(loose));
        NamingContext plants = NamingContextHelper.narrow(root.resolve(name("plants")));
        try {
            plants.destroy();
        } catch (NotEmpty it) {
            say("destroy", "NotEmpty");
        }
        loose.destroy();
        say("gone", loose._non_existent());
        try {
            root.resolve(name("loose/x"));
        } catch (CannotProceed it) {
            say("through", it.cxt._is_equivalent(loose) + " " + text(it.rest_of_name));
        }
        root.unbind(name("loose"));
        for (int at = 0; at < 5; at++) {
            root.bind(name("object" + at), root);
        }
        listed();
    }

    static void listed() throws Exception {
        BindingListHolder some = new BindingListHolder();
        BindingIteratorHolder rest = new BindingIteratorHolder();
        root.list(2, some, rest);
        for (Binding one : some.value) {
            say("first", text(one.binding_name) + " " + one.binding_type.value());
        }
        BindingHolder one = new BindingHolder();
        say("one", rest.value.next_one(one) + " " + text(one.value.binding_name));
        rest.value.next_n(2, some);
        say("two", some.value.length);
        rest.value.next_n(9, some);
        say("rest", some.value.length + " " + text(some.value[0].binding_name) + " " + some.value[0].binding_type.value());
        say("end", rest.value.next_n(9, some));
        rest.value.destroy();
        say("destroyed", rest.value._non_existent());
    }

    static NameComponent[] name(String text) throws Exception {
        return root.to_name(text);
    }

    static String text(NameComponent[] name) throws Exception {
        return root.to_string(name);
    }

    static void say(String what, Object value) {
        System.out.println(what + ": " + value);
    }
}
