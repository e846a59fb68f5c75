#pragma once
#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netdb.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

// Swift does not import variadic functions. These give the calls of libmicrohttpd that are variadic the one shape
// the server uses, and keep `errno` and socket addresses, which are clumsy in Swift, on this side.

#define TALLY_HTTP_BAD_ADDRESS (-1)

// Starts a daemon on a numeric IPv4 or IPv6 address. On failure returns null and sets `*failure` to
// TALLY_HTTP_BAD_ADDRESS or to `errno`, which is 0 where libmicrohttpd gave up for a reason of its own.
static inline struct MHD_Daemon *tally_http_start(
    const char *address, uint16_t port, MHD_AccessHandlerCallback handle,
    void *(*begin)(void *, const char *, struct MHD_Connection *), MHD_RequestCompletedCallback end, void *context,
    unsigned int connections, unsigned int per_address, unsigned int timeout, size_t memory, const char *certificate,
    const char *key, int *failure) {
    struct sockaddr_in v4 = {0};
    struct sockaddr_in6 v6 = {0};
    const struct sockaddr *socket_address;
    // One thread a connection: a handler waiting for the database's writer must hold up nobody else. `poll`, as
    // `select` cannot watch descriptors above 1023. ITC, as `MHD_quiesce_daemon` needs it.
    unsigned int flags =
        MHD_USE_POLL | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION | MHD_USE_ITC;
    if (inet_pton(AF_INET, address, &v4.sin_addr) == 1) {
        v4.sin_family = AF_INET;
        v4.sin_port = htons(port);
        socket_address = (const struct sockaddr *) &v4;
    } else if (inet_pton(AF_INET6, address, &v6.sin6_addr) == 1) {
        v6.sin6_family = AF_INET6;
        v6.sin6_port = htons(port);
        socket_address = (const struct sockaddr *) &v6;
        flags |= IN6_IS_ADDR_UNSPECIFIED(&v6.sin6_addr) ? MHD_USE_DUAL_STACK : MHD_USE_IPv6;
    } else {
        *failure = TALLY_HTTP_BAD_ADDRESS;
        return NULL;
    }
    struct MHD_OptionItem tls[] = {
        {MHD_OPTION_HTTPS_MEM_CERT, 0, (void *) certificate},
        {MHD_OPTION_HTTPS_MEM_KEY, 0, (void *) key},
        {MHD_OPTION_HTTPS_PRIORITIES, 0, (void *) "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"},
        {MHD_OPTION_END, 0, NULL},
    };
    struct MHD_OptionItem *extra = tls + 3;
    if (certificate && key) {
        flags |= MHD_USE_TLS;
        extra = tls;
    }
    errno = 0;
    struct MHD_Daemon *daemon = MHD_start_daemon(
        flags, port, NULL, NULL, handle, context,
        MHD_OPTION_SOCK_ADDR, socket_address,
        MHD_OPTION_URI_LOG_CALLBACK, begin, context,
        MHD_OPTION_NOTIFY_COMPLETED, end, context,
        MHD_OPTION_CONNECTION_LIMIT, connections,
        MHD_OPTION_PER_IP_CONNECTION_LIMIT, per_address,
        MHD_OPTION_CONNECTION_TIMEOUT, timeout,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, memory,
        MHD_OPTION_LISTEN_BACKLOG_SIZE, 511u,
        MHD_OPTION_STRICT_FOR_CLIENT, 1,
        MHD_OPTION_ARRAY, extra,
        MHD_OPTION_END);
    *failure = daemon ? 0 : errno;
    return daemon;
}

// The port the daemon listens on, or 0 where it does not know.
static inline uint16_t tally_http_port(struct MHD_Daemon *daemon) {
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT);
    return info ? info->port : 0;
}

// Sets after how many seconds without traffic a connection is closed; 0 for never.
static inline enum MHD_Result tally_http_timeout(struct MHD_Connection *connection, unsigned int seconds) {
    return MHD_set_connection_option(connection, MHD_CONNECTION_OPTION_TIMEOUT, seconds);
}

// Writes the client's address, without the port, as text; returns 0, or another number where there is none.
static inline int tally_http_peer(struct MHD_Connection *connection, char *text, size_t size) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    if (!info || !info->client_addr) return -1;
    socklen_t length =
        info->client_addr->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
    return getnameinfo(info->client_addr, length, text, (socklen_t) size, NULL, 0, NI_NUMERICHOST);
}

// Makes a response with a copy of the bytes, or null.
static inline struct MHD_Response *tally_http_response(const void *bytes, size_t size) {
    return MHD_create_response_from_buffer(size, (void *) bytes, MHD_RESPMEM_MUST_COPY);
}
