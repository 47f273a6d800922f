/* The smallest link in C that passes the conformance suite: TCP over IPv4, on non-blocking sockets.
 * Compiled by the tests; with one of BAD_MAGIC and the others defined, a library that must be refused. */
#define _GNU_SOURCE
#include "punctual_link.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

struct punctual_link {
    int unused;
};

struct punctual_acceptor {
    int socket;
    atomic_int closed;
    char place[32];
};

struct punctual_connection {
    int socket;
    char peer[32];
    char local[32];
};

static int os(punctual_failure *failure) {
    failure->number = (uint64_t)errno;
    return PUNCTUAL_OS;
}

static void lend(const char *string, punctual_text *text) {
    text->octets = string;
    text->length = strlen(string);
}

static void print(const struct sockaddr_in *address, char place[32]) {
    char number[INET_ADDRSTRLEN];
    inet_ntop(AF_INET, &address->sin_addr, number, sizeof number);
    snprintf(place, 32, "%s:%u", number, (unsigned)ntohs(address->sin_port));
}

static int parse(punctual_text place, struct sockaddr_in *address, punctual_failure *failure) {
    char text[32] = {0};
    static const char expected[] = "number:port";
    failure->phase = PUNCTUAL_RESOLVE;
    failure->expected_length = sizeof expected - 1;
    memcpy(failure->expected, expected, sizeof expected - 1);
    if (place.length >= sizeof text) return PUNCTUAL_BAD_ADDRESS;
    if (place.length > 0) memcpy(text, place.octets, place.length);
    char *colon = strchr(text, ':');
    if (colon == NULL) return PUNCTUAL_BAD_ADDRESS;
    *colon = 0;
    char *end = NULL;
    unsigned long port = strtoul(colon + 1, &end, 10);
    memset(address, 0, sizeof *address);
    address->sin_family = AF_INET;
    address->sin_port = htons((uint16_t)port);
    if (end == colon + 1 || *end != 0 || port > 65535) return PUNCTUAL_BAD_ADDRESS;
    if (inet_pton(AF_INET, text, &address->sin_addr) != 1) return PUNCTUAL_BAD_ADDRESS;
    memset(failure, 0, sizeof *failure);
    return PUNCTUAL_OK;
}

static int known(const punctual_property *properties, size_t count, punctual_failure *failure) {
    if (count == 0) return PUNCTUAL_OK;
    int length = snprintf(failure->text, sizeof failure->text, "%.*s=%.*s",
                          (int)properties[0].key.length, properties[0].key.octets,
                          (int)properties[0].value.length, properties[0].value.octets);
    failure->text_length = length < (int)sizeof failure->text ? (uint32_t)length : 255;
    memcpy(failure->expected, "no property", 11);
    failure->expected_length = 11;
    return PUNCTUAL_BAD_PROPERTY;
}

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* Waits for a socket until a moment, PUNCTUAL_NEVER for none. */
static int await(int socket, short events, int64_t end, punctual_failure *failure) {
    struct pollfd one = {.fd = socket, .events = events};
    for (;;) {
        int64_t left = end == PUNCTUAL_NEVER ? 0 : end - now();
        if (left < 0) return PUNCTUAL_TIMED_OUT;
        struct timespec timeout = {.tv_sec = left / 1000000000, .tv_nsec = left % 1000000000};
        int ready = ppoll(&one, 1, end == PUNCTUAL_NEVER ? NULL : &timeout, NULL);
        if (ready > 0) return PUNCTUAL_OK;
        if (ready == 0) return PUNCTUAL_TIMED_OUT;
        if (errno != EINTR) return os(failure);
    }
}

static int64_t end_of(int64_t deadline) {
    int64_t from = now();
    if (deadline == PUNCTUAL_NEVER || deadline > INT64_MAX - from) return PUNCTUAL_NEVER;
    return from + deadline;
}

static int adopt(int socket, punctual_failure *failure, punctual_connection **connection) {
    struct sockaddr_in peer, local;
    socklen_t size = sizeof peer;
    punctual_connection *made = calloc(1, sizeof *made);
    if (made == NULL) errno = ENOMEM;
    if (made == NULL || getpeername(socket, (struct sockaddr *)&peer, &size) != 0 ||
        (size = sizeof local, getsockname(socket, (struct sockaddr *)&local, &size)) != 0) {
        int cause = os(failure);
        free(made);
        close(socket);
        return cause;
    }
    made->socket = socket;
    print(&peer, made->peer);
    print(&local, made->local);
    *connection = made;
    return PUNCTUAL_OK;
}

static int open_link(punctual_failure *failure, punctual_link **link) {
#ifdef FAILS_TO_OPEN
    memcpy(failure->text, "not today", 9);
    failure->text_length = 9;
    return PUNCTUAL_OS;
#endif
    *link = calloc(1, sizeof **link);
    if (*link != NULL) return PUNCTUAL_OK;
    failure->number = sizeof **link;
    return PUNCTUAL_NO_MEMORY;
}

static void drop_link(punctual_link *link) { free(link); }

static void name(const punctual_link *link, punctual_text *text) {
    (void)link;
#ifdef BAD_NAME
    lend("a/b", text);
#else
    lend("loopback", text);
#endif
}

static void guarantees(const punctual_link *link, punctual_guarantees *given) {
    (void)link;
    given->reliable = 1;
    given->ordered = 1;
    given->framing = PUNCTUAL_STREAM;
}

static int connect_to(const punctual_link *link, punctual_failure *failure, punctual_text place,
                      const punctual_property *properties, size_t count, int64_t deadline,
                      punctual_connection **connection) {
    (void)link;
    struct sockaddr_in address;
    int64_t end = end_of(deadline);
    int cause = parse(place, &address, failure);
    if (cause == PUNCTUAL_OK) cause = known(properties, count, failure);
    if (cause != PUNCTUAL_OK) return cause;
    int made = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (made < 0) return os(failure);
    if (connect(made, (struct sockaddr *)&address, sizeof address) != 0) {
        cause = errno == EINPROGRESS ? await(made, POLLOUT, end, failure) : os(failure);
        socklen_t size = sizeof errno;
        if (cause == PUNCTUAL_OK) {
            int error = 0;
            getsockopt(made, SOL_SOCKET, SO_ERROR, &error, &size);
            errno = error;
            if (error != 0) cause = os(failure);
        }
        if (cause != PUNCTUAL_OK) {
            close(made);
            return cause;
        }
    }
    return adopt(made, failure, connection);
}

static int listen_at(const punctual_link *link, punctual_failure *failure, punctual_text place,
                     const punctual_property *properties, size_t count,
                     punctual_acceptor **acceptor) {
    (void)link;
    struct sockaddr_in address;
    int cause = parse(place, &address, failure);
    if (cause == PUNCTUAL_OK) cause = known(properties, count, failure);
    if (cause != PUNCTUAL_OK) return cause;
    punctual_acceptor *made = calloc(1, sizeof *made);
    int listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    socklen_t size = sizeof address;
    if (made == NULL || listening < 0 ||
        bind(listening, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(listening, 64) != 0 ||
        getsockname(listening, (struct sockaddr *)&address, &size) != 0) {
        cause = os(failure);
        if (listening >= 0) close(listening);
        free(made);
        return cause;
    }
    made->socket = listening;
    print(&address, made->place);
    *acceptor = made;
    return PUNCTUAL_OK;
}

static void acceptor_place(const punctual_acceptor *acceptor, punctual_text *place) {
    lend(acceptor->place, place);
}

static int accept_one(const punctual_acceptor *acceptor, punctual_failure *failure,
                      punctual_connection **connection) {
    for (;;) {
        if (atomic_load(&acceptor->closed)) return PUNCTUAL_CLOSED;
        int made = accept4(acceptor->socket, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (made >= 0) return adopt(made, failure, connection);
        if (atomic_load(&acceptor->closed)) return PUNCTUAL_CLOSED;
        if (errno != EINTR && errno != ECONNABORTED) return os(failure);
    }
}

static void close_acceptor(const punctual_acceptor *acceptor) {
    atomic_store(&((punctual_acceptor *)acceptor)->closed, 1);
    shutdown(acceptor->socket, SHUT_RDWR);
}

static void drop_acceptor(punctual_acceptor *acceptor) {
    close(acceptor->socket);
    free(acceptor);
}

static int send_parts(const punctual_connection *connection, punctual_failure *failure,
                      const punctual_part *parts, size_t count, int64_t deadline, size_t *sent) {
    int64_t end = end_of(deadline);
    for (size_t part = 0; part < count; part++) {
        const char *octets = parts[part].octets;
        size_t done = 0;
        while (done < parts[part].length) {
            ssize_t wrote =
                send(connection->socket, octets + done, parts[part].length - done, MSG_NOSIGNAL);
            if (wrote >= 0) {
                done += (size_t)wrote;
                *sent += (size_t)wrote;
            } else if (errno == EAGAIN) {
                int cause = await(connection->socket, POLLOUT, end, failure);
                if (cause != PUNCTUAL_OK) return cause;
            } else if (errno != EINTR) {
                return os(failure);
            }
        }
    }
    return PUNCTUAL_OK;
}

static int receive_some(const punctual_connection *connection, punctual_failure *failure,
                        uint8_t *buffer, size_t capacity, size_t wanted, int64_t deadline,
                        size_t *received, size_t *more) {
    (void)wanted;
    (void)more;
    int64_t end = end_of(deadline);
    for (;;) {
        ssize_t came = recv(connection->socket, buffer, capacity, 0);
        if (came == 0) return PUNCTUAL_CLOSED;
        if (came > 0) {
            *received = (size_t)came;
            return PUNCTUAL_OK;
        }
        if (errno == EAGAIN) {
            int cause = await(connection->socket, POLLIN, end, failure);
            if (cause != PUNCTUAL_OK) return cause;
        } else if (errno != EINTR) {
            return os(failure);
        }
    }
}

static int pending(const punctual_connection *connection) {
    char one;
    ssize_t came = recv(connection->socket, &one, 1, MSG_PEEK | MSG_DONTWAIT);
    if (came > 0) return PUNCTUAL_DATA;
    return came < 0 && errno == EAGAIN ? PUNCTUAL_QUIET : PUNCTUAL_END;
}

static void close_connection(const punctual_connection *connection) {
    shutdown(connection->socket, SHUT_RDWR);
}

static void peer(const punctual_connection *connection, punctual_text *place) {
    lend(connection->peer, place);
}

static void local(const punctual_connection *connection, punctual_text *place) {
    lend(connection->local, place);
}

static int descriptor(const punctual_connection *connection) { return connection->socket; }

static void drop_connection(punctual_connection *connection) {
    close(connection->socket);
    free(connection);
}

static const punctual_table table = {
#ifdef BAD_MAGIC
    .magic = 0x0102030405060708,
#else
    .magic = PUNCTUAL_MAGIC,
#endif
#ifdef WRONG_VERSION
    .version = 2,
#else
    .version = PUNCTUAL_VERSION,
#endif
#ifdef TOO_SMALL
    .size = offsetof(punctual_table, drop_connection),
#else
    .size = sizeof(punctual_table),
#endif
#ifdef BAD_SIGNATURE
    .signature = PUNCTUAL_SIGNATURE ^ 1,
#else
    .signature = PUNCTUAL_SIGNATURE,
#endif
#ifdef UNKNOWN_FLAGS
    .flags = 0x10,
#endif
#ifdef RESIDENT
    .flags = PUNCTUAL_RESIDENT,
#endif
    .open = open_link,
    .drop_link = drop_link,
    .name = name,
    .guarantees = guarantees,
    .connect = connect_to,
    .listen = listen_at,
    .acceptor_place = acceptor_place,
    .accept = accept_one,
    .close_acceptor = close_acceptor,
    .drop_acceptor = drop_acceptor,
    .send = send_parts,
#ifndef NULL_FUNCTION
    .receive = receive_some,
#endif
    .pending = pending,
    .close = close_connection,
    .peer = peer,
    .local = local,
    .descriptor = descriptor,
    .drop_connection = drop_connection,
};

#ifdef UNDEFINED_SYMBOL
void defined_nowhere(void);
#endif

#ifdef MISSING_SYMBOL
const punctual_table *punctual_link_module(void);
const punctual_table *punctual_link_module(void) {
#else
const punctual_table *punctual_link_plugin(void) {
#endif
#ifdef UNDEFINED_SYMBOL
    defined_nowhere();
#endif
#ifdef NULL_FUNCTION
    (void)receive_some;
#endif
#ifdef NO_TABLE
    return NULL;
#endif
    return &table;
}
