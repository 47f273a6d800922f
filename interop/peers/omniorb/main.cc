// An omniORB peer: `peer serve TARGET`, `peer ask DESCRIBE`, `peer visit BANK`, `peer offer`, `peer exchange
// EXCHANGE`, `peer answer`, `peer send CLERK HANDLER`, `peer ask-later CLERK`, `peer bidirectional-notify`, `peer [bidirectional-]listen SUBJECT`,
// `peer desk`, `peer tell HANDLER`, `peer notifications FACTORY CONSTRAINTS`, `peer survive-notifications FACTORY`,
// `peer events CHANNEL`, `peer survive-events CHANNEL kept|lost` or
// `peer call PARAMETERS DESCRIBE WHOLE FORWARDER UNKNOWN CUBIT narrow|wide latin-1|utf-8`,
// with options of the ORB anywhere.
#include "roles.hh"
#include <csignal>
#include <cstring>
#include <iostream>
#include <sstream>
#include <sys/prctl.h>

std::string exception_words(const CORBA::SystemException& exception) {
    static const char* const completed[] = {"YES", "NO", "MAYBE"};
    std::ostringstream out;
    out << exception._name() << " minor 0x" << std::hex << exception.minor() << " completed "
        << completed[exception.completed()];
    return out.str();
}

int main(int argc, char** argv) {
    // It does not outlive who started it.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    int status = 2;
    try {
        CORBA::ORB_var orb = CORBA::ORB_init(argc, argv);
        if (argc == 3 && !std::strcmp(argv[1], "serve")) {
            status = serve(orb, argv[2]);
        } else if (argc == 3 && !std::strcmp(argv[1], "ask")) {
            CORBA::Object_var target = orb->string_to_object(argv[2]);
            status = ask(target);
        } else if (argc == 3 && !std::strcmp(argv[1], "visit")) {
            status = visit(orb, argv[2]);
        } else if (argc == 2 && !std::strcmp(argv[1], "offer")) {
            status = offer(orb);
        } else if (argc == 2 && !std::strcmp(argv[1], "answer")) {
            status = answer(orb);
        } else if (argc == 4 && !std::strcmp(argv[1], "send")) {
            status = send(orb, argv[2], argv[3]);
        } else if (argc == 2 && !std::strcmp(argv[1], "desk")) {
            status = desk(orb);
        } else if (argc == 3 && !std::strcmp(argv[1], "tell")) {
            status = tell(orb, argv[2]);
        } else if (argc == 3 && !std::strcmp(argv[1], "ask-later")) {
            status = ask_later(orb, argv[2]);
        } else if (argc == 2 && !std::strcmp(argv[1], "bidirectional-notify")) {
            status = notify(orb);
        } else if (argc == 3 && !std::strcmp(argv[1], "bidirectional-listen")) {
            status = listen(orb, argv[2], true);
        } else if (argc == 3 && !std::strcmp(argv[1], "listen")) {
            status = listen(orb, argv[2], false);
        } else if (argc == 4 && !std::strcmp(argv[1], "notifications")) {
            status = notifications(orb, argv[2], argv[3]);
        } else if (argc == 3 && !std::strcmp(argv[1], "survive-notifications")) {
            status = survive(orb, argv[2]);
        } else if (argc == 3 && !std::strcmp(argv[1], "events")) {
            status = events(orb, argv[2]);
        } else if (argc == 4 && !std::strcmp(argv[1], "survive-events")) {
            status = survive_events(orb, argv[2], !std::strcmp(argv[3], "kept"));
        } else if (argc == 3 && !std::strcmp(argv[1], "exchange")) {
            status = exchange(orb, argv[2]);
        } else if (argc == 10 && !std::strcmp(argv[1], "call")) {
            Targets targets;
            targets.parameters = orb->string_to_object(argv[2]);
            targets.describe = orb->string_to_object(argv[3]);
            targets.whole = orb->string_to_object(argv[4]);
            targets.forwarder = orb->string_to_object(argv[5]);
            targets.unknown = orb->string_to_object(argv[6]);
            targets.cubit = orb->string_to_object(argv[7]);
            targets.has_wide = !std::strcmp(argv[8], "wide");
            targets.has_utf8 = !std::strcmp(argv[9], "utf-8");
            status = call(orb, targets);
        } else {
            std::cerr << "see the top of main.cc for the arguments\n";
        }
        orb->destroy();
    } catch (const CORBA::SystemException& exception) {
        std::cerr << exception_words(exception) << '\n';
        status = 1;
    }
    return status;
}
