// Browses an Interface Repository as a client of JacORB, and prints what it finds.
import org.omg.CORBA.AttributeDescription;
import org.omg.CORBA.Contained;
import org.omg.CORBA.ContainedHelper;
import org.omg.CORBA.DefinitionKind;
import org.omg.CORBA.InterfaceDef;
import org.omg.CORBA.InterfaceDefHelper;
import org.omg.CORBA.InterfaceDefPackage.FullInterfaceDescription;
import org.omg.CORBA.ModuleDefHelper;
import org.omg.CORBA.ORB;
import org.omg.CORBA.OperationDescription;
import org.omg.CORBA.ParameterDescription;
import org.omg.CORBA.Repository;
import org.omg.CORBA.RepositoryHelper;
import org.omg.CORBA.StructDef;
import org.omg.CORBA.StructDefHelper;
import org.omg.CORBA.StructMember;
import org.omg.CORBA.TypeCode;

public class Browse {
    public static void main(String[] arguments) throws Exception {
        ORB orb = ORB.init(new String[0], System.getProperties());
        Repository repository = RepositoryHelper.narrow(orb.string_to_object(arguments[0]));
        show(repository.contents(DefinitionKind.dk_all, true), "");
        InterfaceDef store = InterfaceDefHelper.narrow(repository.lookup("::shop::Store"));
        FullInterfaceDescription described = store.describe_interface();
        for (OperationDescription operation : described.operations) {
            StringBuilder text = new StringBuilder(operation.name + ":");
            for (ParameterDescription parameter : operation.parameters) {
                text.append(' ').append(parameter.name).append(' ').append(kind(parameter.type));
            }
            text.append(" -> ").append(kind(operation.result));
            for (var exception : operation.exceptions) {
                text.append(" raises ").append(exception.id);
            }
            System.out.println(text);
        }
        for (AttributeDescription attribute : described.attributes) {
            System.out.println(attribute.name + ": " + kind(attribute.type));
        }
        StructDef item = StructDefHelper.narrow(repository.lookup_id("IDL:shop/Item:1.0"));
        for (StructMember member : item.members()) {
            System.out.println(member.name + ": " + kind(member.type));
        }
        System.out.println("equal " + item.type().equal(member(repository)));
        System.out.println("is_a " + store.is_a("IDL:shop/Base:1.0"));
        // The object's own interface, by the repository that its ORB knows.
        System.out.println(repository._get_interface_def() == null ? "unknown" : "known");
        orb.shutdown(true);
    }

    private static TypeCode member(Repository repository) throws Exception {
        return StructDefHelper.narrow(repository.lookup("shop::Item")).type();
    }

    private static void show(Contained[] contents, String indent) {
        for (Contained one : contents) {
            System.out.println(indent + one.def_kind().value() + " " + one.absolute_name());
            if (one.def_kind() == DefinitionKind.dk_Module) {
                show(ModuleDefHelper.narrow(one).contents(DefinitionKind.dk_all, true), indent + "  ");
            }
        }
    }

    private static int kind(TypeCode type) {
        return type.kind().value();
    }
}
