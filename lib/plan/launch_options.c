/* Parses and prints orders and tiles: words, files of numbers; "128x128/32x32". */
#include "plan/launch_options.h"
#include "base/file.h"

enum { LARGEST_SIDE = 1 << 20 };

static bool set_order(struct lx_launch_options *o, const char *text, lx_status *st)
{
    enum lx_tile_order word = lx_tile_order_find(text);
    if (word < LX_LISTED) {
        o->order = word;
        o->by[0] = 0;
        return true;
    }
    if (text[0] != '@') {
        SCOPED(text_free) struct text known = {0};
        for (int i = 0; i < LX_LISTED; i++)
            text_format(&known, "%s%s", i ? ", " : "", lx_tile_order_word((enum lx_tile_order)i));
        status_set(st, LX_E_UNKNOWN_NAME, "there is no tile order \"%.40s\"; there are: %s, and @FILE", text,
                   known.at);
        return false;
    }
    if (strlen(text) >= sizeof o->by)
        return status_set(st, LX_E_USAGE, "a name of a list of tiles has at most %d characters",
                          LX_ORDER_TEXT - 1);
    if (!text[1]) return status_set(st, LX_E_USAGE, "the tile order @ names no file; write @FILE");
    o->order = LX_LISTED;
    memcpy(o->by, text, strlen(text) + 1);
    return true;
}

/* Reads "32x64" and advances `*at`. */
static bool take_pair(const char **at, int64_t pair[2])
{
    for (int i = 0; i < 2; i++) {
        int64_t v = 0;
        if (!isdigit((unsigned char)**at)) return false;
        for (; isdigit((unsigned char)**at) && v <= LARGEST_SIDE; ++*at) v = v * 10 + (**at - '0');
        if (v < 1 || v > LARGEST_SIDE) return false;
        pair[i] = v;
        if (i == 0 && *(*at)++ != 'x') return false;
    }
    return true;
}

static bool set_tiles(struct lx_launch_options *o, const char *text, lx_status *st)
{
    int64_t tile[2], inner[2] = {0, 0};
    const char *at = text;
    bool ok = take_pair(&at, tile);
    if (ok && *at == '/') {
        at++;
        ok = take_pair(&at, inner);
    }
    if (!ok || *at)
        return status_set(
            st, LX_E_USAGE,
            "tiles \"%.40s\": they are ROWSxCOLUMNS, and tiles inside them /ROWSxCOLUMNS, each side from 1 "
            "to %d: 128x128/32x32",
            text, LARGEST_SIDE);
    if (inner[0] > tile[0] || inner[1] > tile[1])
        return status_set(st, LX_E_USAGE, "tiles \"%.40s\": a tile inside another is not larger than it",
                          text);
    memcpy(o->tile, tile, sizeof tile);
    memcpy(o->inner, inner, sizeof inner);
    return true;
}

bool launch_option_set(struct lx_launch_options *o, int row, const char *text, lx_status *st)
{
    return row == LX_OPTION_ORDER ? set_order(o, text, st) : set_tiles(o, text, st);
}

void launch_option_text(const struct lx_launch_options *o, int row, struct text *t)
{
    if (row == LX_OPTION_ORDER) {
        text_add(t, o->order == LX_LISTED ? o->by : lx_tile_order_word(o->order));
        return;
    }
    text_format(t, "%" PRId64 "x%" PRId64, o->tile[0], o->tile[1]);
    if (o->inner[0]) text_format(t, "/%" PRId64 "x%" PRId64, o->inner[0], o->inner[1]);
}

void launch_option_clear(struct lx_launch_options *o, int row)
{
    if (row == LX_OPTION_ORDER) {
        o->order = LX_ROW_MAJOR;
        memset(o->by, 0, sizeof o->by);
        return;
    }
    for (int i = 0; i < 2; i++) o->tile[i] = o->inner[i] = 0;
}

bool launch_options_same(const struct lx_launch_options *a, const struct lx_launch_options *b)
{
    return a->order == b->order && strcmp(a->by, b->by) == 0 && a->share == b->share &&
           a->assign == b->assign && memcmp(a->tile, b->tile, sizeof a->tile) == 0 &&
           memcmp(a->inner, b->inner, sizeof a->inner) == 0;
}

/* Reads numbers separated by commas and blanks. */
static bool take_numbers(const char *file, const char *text, int64_t *out, int64_t *count, lx_status *st)
{
    int line = 1;
    for (const char *at = text; *at;) {
        line += *at == '\n';
        if (isspace((unsigned char)*at) || *at == ',') {
            at++;
            continue;
        }
        char *end;
        int64_t v = strtoll(at, &end, 10);
        if (!isdigit((unsigned char)*at) || v > LX_LISTED_TILES)
            return status_set_at(st, LX_E_SYNTAX, file, line, 0,
                                 "a list of tiles has numbers from 0 on, blanks or commas between them");
        if (*count == LX_LISTED_TILES)
            return status_set_at(st, LX_E_LIMIT, file, line, 0, "more than %d tiles", LX_LISTED_TILES);
        out[(*count)++] = v;
        at = end;
    }
    return true;
}

static bool each_once(const char *file, const int64_t *list, int64_t count, lx_status *st)
{
    OWNED char *seen = mem_zeroed((size_t)count + 1, 1);
    bool ok = true;
    for (int64_t i = 0; ok && i < count; i++) {
        if (list[i] >= count || seen[list[i]])
            ok = status_set_at(st, LX_E_USAGE, file, 0, 0,
                               "a list of %" PRId64 " tiles has each number from 0 to %" PRId64
                               " once; %" PRId64 " is %s",
                               count, count - 1, list[i], list[i] >= count ? "none of them" : "there twice");
        else
            seen[list[i]] = 1;
    }
    return ok;
}

bool launch_list_read(struct lx_launch_options *o, struct arena *memory, lx_status *st)
{
    const char *file = o->by + 1;
    size_t length;
    int64_t count = 0;
    if (o->order != LX_LISTED) return true;
    OWNED char *text = file_read(file, &length, st);
    if (!text) return false;
    /* a number and its separator take two characters */
    int64_t *list = arena_array(memory, length / 2 + 1, sizeof *list);
    bool ok = take_numbers(file, text, list, &count, st);
    if (ok && count == 0)
        ok = status_set_at(st, LX_E_USAGE, file, 0, 0,
                           "a list of tiles without any; write their numbers, each once");
    o->list = list;
    o->list_count = count;
    return ok && each_once(file, list, count, st);
}
