/* Lookups in the table of requests: by key and view, by name. */
#include "tui/requests.h"
#include "tui/key.h"

#include <stdio.h>
#include <string.h>

#define REQUEST_ROW(id, name, keys, views, argument, group, help)                                            \
    [REQ_##id] = {name, keys, views, ARG_##argument, group, help},
const struct request_row request_rows[REQ_COUNT] = {REQUESTS(REQUEST_ROW)};
#undef REQUEST_ROW

static bool has_key(const char *keys, uint32_t code)
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
        if (!(row->views & 1u << view) || !has_key(row->keys, code)) continue;
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

const char *request_key(enum request r, char *out)
{
    const char *keys = request_rows[r].keys;
    struct key k;
    lx_status st;
    out[0] = 0;
    if (*keys && key_parse(&keys, &k, &st)) name_of_key(k.code, out);
    return out;
}
