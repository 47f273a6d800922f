/* punctual_link.h: links for Punctual in shared libraries, version 1 of the ABI.
 *
 * A library exports punctual_link_plugin(), which returns a table of functions. The ORB opens the
 * link in it, listens and connects through it, and moves octets: a link knows nothing of requests.
 *
 * Rules, for the library:
 * - Every function of the table is there; none is null. None may throw, longjmp or unwind out.
 * - Every function but the drop_... may be called from any thread, several at once. On one connection
 *   at most one thread sends and at most one receives; pending, close, peer, local and descriptor may
 *   be called beside them. accept and close_acceptor may be called at the same time.
 * - A handle is used until it is given to its drop_... function, once; nobody is in another function
 *   of it then. All acceptors and connections are dropped before their link, and the link before
 *   the library is unmapped. Without PUNCTUAL_RESIDENT, none of the library's threads may live then.
 * - What the ORB lends (texts, properties, parts, buffers, the failure) is lent for the call. What the
 *   library lends (name, places, the descriptor) lives as long as the handle that it is of.
 * - What a peer controls must be checked and bounded by the library: counts, lengths, memory, time.
 *
 * Rust's side of this file is crates/link/plugin/src/abi.rs; a test compares the two.
 */
#ifndef PUNCTUAL_LINK_H
#define PUNCTUAL_LINK_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PUNCTUAL_MAGIC UINT64_C(0x50554e434c494e4b) /* "PUNCLINK" */
#define PUNCTUAL_VERSION UINT32_C(1)
/* Over the names, parameters and places of the table's functions and the sizes of all structs here:
 * a library that was built against another layout is refused. */
#define PUNCTUAL_SIGNATURE UINT64_C(0xf9e8740da7e969e6)

/* flags of the table */
#define PUNCTUAL_RESIDENT UINT64_C(1) /* never unmap: threads of the library may outlive its handles */

/* deadlines: nanoseconds left, 0 if it has passed, or this */
#define PUNCTUAL_NEVER INT64_C(-1)

/* what functions that can fail return: 0, or a cause. What else the failure has to say: */
enum {
    PUNCTUAL_OK = 0,
    PUNCTUAL_TIMED_OUT = 1,    /* the deadline passed; receiving may go on later */
    PUNCTUAL_CLOSED = 2,       /* closed by the other side, or the acceptor by this side */
    PUNCTUAL_BAD_ADDRESS = 3,  /* expected: what an address of this link looks like */
    PUNCTUAL_BAD_PROPERTY = 4, /* text: name=value; expected: what fits */
    PUNCTUAL_BAD_PEER = 5,     /* text: how it broke the link's protocol, in constant words: at most 64
                                * different ones are kept, and as many of what is expected */
    PUNCTUAL_TOO_LARGE = 6,    /* number: the octets that the link carries in one piece */
    PUNCTUAL_NO_MEMORY = 7,    /* number: the octets that were wanted */
    PUNCTUAL_OS = 8,           /* number: the errno, or 0 and text */
    PUNCTUAL_PANICKED = 9      /* text: with what; for languages that panic */
};

/* phases of a failure */
enum {
    PUNCTUAL_PHASE_OF_THE_CALL = 0, /* what the function itself is */
    PUNCTUAL_RESOLVE = 1,
    PUNCTUAL_CONNECT = 2,
    PUNCTUAL_LISTEN = 3,
    PUNCTUAL_ACCEPT = 4,
    PUNCTUAL_SEND = 5,
    PUNCTUAL_RECEIVE = 6
};

/* what pending returns */
enum {
    PUNCTUAL_QUIET = 0, /* nothing waits */
    PUNCTUAL_DATA = 1,  /* something to receive */
    PUNCTUAL_END = 2    /* the other side has closed */
};

/* framing */
enum { PUNCTUAL_STREAM = 0, PUNCTUAL_DATAGRAM = 1 };

/* sizes, in octets */
enum { PUNCTUAL_LONGEST_REASON = 256, PUNCTUAL_LONGEST_PLACE = 4096, PUNCTUAL_LONGEST_NAME = 64 };

/* UTF-8 without control characters, not terminated; octets may be null where length is 0 */
typedef struct {
    const char *octets;
    size_t length;
} punctual_text;

typedef struct {
    punctual_text key;
    punctual_text value;
} punctual_property;

/* POSIX's struct iovec, by other names */
typedef struct {
    const void *octets;
    size_t length;
} punctual_part;

typedef struct {
    uint8_t reliable; /* 0 or 1: what was sent arrives, or the connection reports its end */
    uint8_t ordered;  /* 0 or 1: what was sent first arrives first */
    uint8_t framing;  /* PUNCTUAL_STREAM or PUNCTUAL_DATAGRAM */
    uint8_t reserved[5]; /* 0 */
    uint64_t largest;    /* the largest message in one piece, or 0 for no limit */
} punctual_guarantees;

/* lent zeroed; filled by a function that does not return PUNCTUAL_OK */
typedef struct {
    uint32_t phase;
    uint32_t text_length;
    uint32_t expected_length;
    uint32_t reserved; /* 0 */
    uint64_t number;
    char text[PUNCTUAL_LONGEST_REASON];
    char expected[PUNCTUAL_LONGEST_REASON];
} punctual_failure;

/* the library's own; the ORB never looks inside */
typedef struct punctual_link punctual_link;
typedef struct punctual_acceptor punctual_acceptor;
typedef struct punctual_connection punctual_connection;

typedef struct {
    uint64_t magic;     /* PUNCTUAL_MAGIC */
    uint32_t version;   /* PUNCTUAL_VERSION */
    uint32_t size;      /* sizeof(punctual_table) */
    uint64_t signature; /* PUNCTUAL_SIGNATURE */
    uint64_t flags;     /* PUNCTUAL_RESIDENT or 0 */

    /* Opens the link; a library may be opened more than once. */
    int (*open)(punctual_failure *failure, punctual_link **link);
    void (*drop_link)(punctual_link *link);
    /* A letter, then letters, digits, + - . _ : what stands before the :// of an address. */
    void (*name)(const punctual_link *link, punctual_text *name);
    void (*guarantees)(const punctual_link *link, punctual_guarantees *guarantees);

    /* Blocks until connected, refused, or the deadline. The place is what follows name:// ; a property
     * that the link does not know is PUNCTUAL_BAD_PROPERTY. */
    int (*connect)(const punctual_link *link, punctual_failure *failure, punctual_text place,
                   const punctual_property *properties, size_t count, int64_t deadline,
                   punctual_connection **connection);
    /* Chooses what the place leaves open, e.g. a port of 0. */
    int (*listen)(const punctual_link *link, punctual_failure *failure, punctual_text place,
                  const punctual_property *properties, size_t count, punctual_acceptor **acceptor);

    /* Where it really listens. */
    void (*acceptor_place)(const punctual_acceptor *acceptor, punctual_text *place);
    /* Blocks; PUNCTUAL_CLOSED once it is closed. After another error it may be called again. */
    int (*accept)(const punctual_acceptor *acceptor, punctual_failure *failure,
                  punctual_connection **connection);
    /* Stops listening and ends a waiting accept. */
    void (*close_acceptor)(const punctual_acceptor *acceptor);
    void (*drop_acceptor)(punctual_acceptor *acceptor);

    /* Sends all parts, one after the other, as one message. Where it fails, *sent is how many octets
     * the peer may already have; 0 only if it has none and never will. */
    int (*send)(const punctual_connection *connection, punctual_failure *failure,
                const punctual_part *parts, size_t count, int64_t deadline, size_t *sent);
    /* Receives at least 1 and at most capacity octets. wanted is how many the message still lacks, by
     * the peer's own claim. *received says how many came; *more, how many the library holds besides,
     * which the ORB fetches at once: no descriptor would tell of them. */
    int (*receive)(const punctual_connection *connection, punctual_failure *failure, uint8_t *buffer,
                   size_t capacity, size_t wanted, int64_t deadline, size_t *received, size_t *more);
    /* Without blocking, and without taking anything. */
    int (*pending)(const punctual_connection *connection);
    /* Ends both directions and wakes whoever waits; the descriptor stays open until the drop. */
    void (*close)(const punctual_connection *connection);
    void (*peer)(const punctual_connection *connection, punctual_text *place);
    void (*local)(const punctual_connection *connection, punctual_text *place);
    /* Readable when there is something to receive; -1 for a link that has none. */
    int (*descriptor)(const punctual_connection *connection);
    void (*drop_connection)(punctual_connection *connection);
} punctual_table;

/* The one symbol of the library. What it returns stays as it is while the library is mapped. */
#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
const punctual_table *punctual_link_plugin(void);

#ifdef __cplusplus
}
#endif

#endif
