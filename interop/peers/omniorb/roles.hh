// What a process of this program can be.
#ifndef ROLES_HH
#define ROLES_HH

#include "params.hh"
#include <string>

/** Serves until standard input ends; passes calls of `params::Parameters` on to `target`. */
int serve(CORBA::ORB_ptr orb, const char* target);

/** What a client is given. */
struct Targets {
    CORBA::Object_var parameters, describe, whole, forwarder, unknown, cubit;
    /** Whether wide text can travel, and whether text travels in UTF-8. */
    bool has_wide, has_utf8;
};

/** Calls the targets and prints a line `ok CASE` or `FAIL CASE: why` for each case. */
int call(CORBA::ORB_ptr orb, const Targets& targets);

/** Calls a `params::Describe` once and prints a line: `name NAME`, or `raised EXCEPTION`. */
int ask(CORBA::Object_ptr target);

/**
 * Visits the accounts of the bank at that URL, and prints lines as `call` does. At a line `restart` the
 * server is to be stopped, the second time killed, and started again, and a line is to come on standard
 * input.
 */
int visit(CORBA::ORB_ptr orb, const char* bank);

/** Serves a `values::Exchange` until standard input ends. */
int offer(CORBA::ORB_ptr orb);

/** Exchanges values and Anys with the one of that reference, and prints lines as `call` does. */
int exchange(CORBA::ORB_ptr orb, const char* target);

/** Serves an `ami::Clerk` and a reply handler until standard input ends. */
int answer(CORBA::ORB_ptr orb);

/**
 * Calls the clerk asynchronously, with handlers of its own and with that one, and prints lines as `call` does; ends when standard
 * input does.
 */
int send(CORBA::ORB_ptr orb, const char* clerk, const char* handler);

/** Serves a `plain::Desk` and a reply handler that prints lines `told WHAT`, until standard input ends. */
int desk(CORBA::ORB_ptr orb);

/** Tells that reply handler results and exceptions, and prints lines as `call` does. */
int tell(CORBA::ORB_ptr orb, const char* handler);

/** Calls a clerk that answers later, in each way that goes on meanwhile, and prints lines as `call` does. */
int ask_later(CORBA::ORB_ptr orb, const char* clerk);

/** Serves a `callbacks::Subject` that calls back by its client's connection, until standard input ends. */
int notify(CORBA::ORB_ptr orb);

/** Has that subject call its listener back, by its own connection or by another; ends when standard input does. */
int listen(CORBA::ORB_ptr orb, const char* subject, bool both);

/** Is suppliers and consumers of each kind at that Notification Service, and prints lines as `call` does; the file has constraints. */
int notifications(CORBA::ORB_ptr orb, const char* factory, const char* constraints);

/**
 * Is suppliers and consumers at that Notification Service, and prints lines as `call` does. At the first line `restart` the service
 * is to be killed, at the second to be started again, and a line is to come on standard input.
 */
int survive(CORBA::ORB_ptr orb, const char* factory);

/** Is a supplier and a consumer of each kind at that event channel, and prints lines as `call` does. */
int events(CORBA::ORB_ptr orb, const char* channel);

/** As `survive`, at an event channel, whose service keeps connections or not. */
int survive_events(CORBA::ORB_ptr orb, const char* channel, bool kept);

std::string exception_words(const CORBA::SystemException& exception);

#endif
