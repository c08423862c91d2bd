/* Lookups in the table of requests: by key and view, by name. */
#include "tui/core/requests.h"
#include "tui/core/key.h"

#define REQUEST_ROW(id, name, keys, views, argument, group, help)                                            \
    [REQ_##id] = {name, keys, views, ARG_##argument, group, help},
const struct request_row request_rows[REQ_COUNT] = {REQUESTS(REQUEST_ROW)};
#undef REQUEST_ROW

/* Keys that the user gave to a request; empty: the default ones. The only variable here. */
static char given[REQ_COUNT][40];

const char *request_keys(enum request r)
{
    return given[r][0] ? given[r] : request_rows[r].keys;
}

static bool requests_has_key(const char *keys, uint32_t code)
{
    lx_status st;
    struct key k;
    while (*keys) {
        if (!key_parse(&keys, &k, &st)) return false;
        if (k.code == code) return true;
        if (*keys == ' ') keys++;
    }
    return false;
}

enum request request_of_key(uint32_t code, enum view_id view)
{
    enum request found = REQ_COUNT;
    for (int i = 0; i < REQ_COUNT; i++) {
        const struct request_row *row = &request_rows[i];
        if (!(row->views & 1u << view) || !requests_has_key(request_keys((enum request)i), code)) continue;
        if (row->views != EVERYWHERE) return (enum request)i;
        if (found == REQ_COUNT) found = (enum request)i;
    }
    return found;
}

enum request request_find(const char *name)
{
    enum request found = REQ_COUNT;
    int near = 0;
    for (int i = 0; i < REQ_COUNT; i++) {
        if (strcmp(request_rows[i].name, name) == 0) return (enum request)i;
        if (*name && strncmp(request_rows[i].name, name, strlen(name)) == 0) near++, found = (enum request)i;
    }
    return near == 1 ? found : REQ_COUNT;
}

struct key_name request_key(enum request r)
{
    const char *keys = request_keys(r);
    struct key_name name;
    struct key k;
    lx_status st;
    if (*keys && key_parse(&keys, &k, &st))
        name_of_key(k.code, name.at);
    else
        snprintf(name.at, sizeof name.at, ":%s", request_rows[r].name);
    return name;
}

/* Requests of the same views, or that both hold everywhere, must not share a key. */
bool request_bind(enum request r, const char *keys, lx_status *st)
{
    unsigned own = request_rows[r].views;
    const char *at = keys;
    char name[16];
    struct key k;
    if (strlen(keys) >= sizeof given[r]) return status_set(st, LX_E_USAGE, "these are too many keys");
    while (*at) {
        if (!key_parse(&at, &k, st)) return false;
        if (k.code > AT_F1) return status_set(st, LX_E_USAGE, "%s is no key", name_of_key(k.code, name));
        for (int i = 0; i < REQ_COUNT; i++) {
            unsigned other = request_rows[i].views;
            bool clash = (int)r != i && (own & other) && (own == EVERYWHERE) == (other == EVERYWHERE);
            if (clash && requests_has_key(request_keys((enum request)i), k.code))
                return status_set(st, LX_E_USAGE, "%s is the key of %s already; give that another one first",
                                  name_of_key(k.code, name), request_rows[i].name);
        }
        while (*at == ' ') at++;
    }
    snprintf(given[r], sizeof given[r], "%s", keys);
    return true;
}
